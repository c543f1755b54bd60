// How wide text is, so that boxes are as large as what they say.

const MONO = 'ui-monospace, "JetBrains Mono", "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';

/** The size at which letters are measured. */
const MEASURED = 100;
const widths = new Map<string, number>();
let context: CanvasRenderingContext2D | null | undefined;

function measured(text: string): number {
  context ??= typeof document === "undefined" ? null : document.createElement("canvas").getContext("2d");
  if (!context) return text.length * MEASURED * 0.61;
  context.font = `${MEASURED}px ${MONO}`;
  return context.measureText(text).width;
}

/** In these fonts all letters are equally wide, and as wide when they are bold; but those that they lack. */
export function textWidth(text: string, size: number): number {
  const plain = /^[ -~]*$/.test(text);
  const key = plain ? "0" : text;
  let width = widths.get(key);
  if (width === undefined) {
    if (widths.size > 20_000) widths.clear();
    widths.set(key, (width = measured(key)));
  }
  return (width * (plain ? text.length : 1) * size) / MEASURED;
}

const fitted = new Map<string, string>();

/** The text, or as much of it as fits with a mark that some is missing. Letters are kept whole. */
export function fit(text: string, room: number, size: number): string {
  const key = `${room} ${size} ${text}`;
  let found = fitted.get(key);
  if (found === undefined) {
    found = cut(text, room, size);
    if (fitted.size > 5000) fitted.clear();
    fitted.set(key, found);
  }
  return found;
}

function cut(text: string, room: number, size: number): string {
  const short = text.length > 400 ? text.slice(0, 400) : text;
  if (short === text && textWidth(text, size) <= room) return text;
  const letters = [...short];
  let [low, high] = [0, letters.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (textWidth(`${letters.slice(0, middle).join("")}…`, size) <= room) low = middle;
    else high = middle - 1;
  }
  return `${letters.slice(0, low).join("")}…`;
}
