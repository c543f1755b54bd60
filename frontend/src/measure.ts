// How wide text is, so that boxes are as large as what they say.

export const MONO = 'ui-monospace, "JetBrains Mono", "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';

const widths = new Map<string, number>();
let context: CanvasRenderingContext2D | null | undefined;

export function textWidth(text: string, size: number, weight: 400 | 600 = 400): number {
  const key = `${weight} ${size} ${text}`;
  let width = widths.get(key);
  if (width === undefined) {
    context ??= typeof document === "undefined" ? null : document.createElement("canvas").getContext("2d");
    if (context) context.font = `${weight} ${size}px ${MONO}`;
    width = context ? context.measureText(text).width : text.length * size * 0.61;
    if (widths.size > 20_000) widths.clear();
    widths.set(key, width);
  }
  return width;
}

const fitted = new Map<string, string>();

/** The text, or as much of it as fits with a mark that some is missing. Letters are kept whole. */
export function fit(text: string, room: number, size: number, weight: 400 | 600 = 400): string {
  const key = `${room} ${size} ${weight} ${text}`;
  let found = fitted.get(key);
  if (found === undefined) {
    found = cut(text, room, size, weight);
    if (fitted.size > 5000) fitted.clear();
    fitted.set(key, found);
  }
  return found;
}

function cut(text: string, room: number, size: number, weight: 400 | 600): string {
  const short = text.length > 400 ? text.slice(0, 400) : text;
  if (short === text && textWidth(text, size, weight) <= room) return text;
  const letters = [...short];
  let [low, high] = [0, letters.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (textWidth(`${letters.slice(0, middle).join("")}…`, size, weight) <= room) low = middle;
    else high = middle - 1;
  }
  return `${letters.slice(0, low).join("")}…`;
}
