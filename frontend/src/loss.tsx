// The loss over the steps: raw values faint, smoothed strong, on axes with ticks, and a line at the step that is shown.
import { h } from "preact";
import { useMemo } from "preact/hooks";
import { number, seconds } from "./format";

export interface Line {
  steps: number[];
  values: (number | null)[];
  /** Of losses that were thinned out: the mean of those up to each, which is smoothed in their place. */
  means?: (number | null)[];
}

export const isNumber = (each: number | null | undefined): each is number => each != null && Number.isFinite(each);
/** So many values at each end of the order are not what the range is chosen for: one in 200. */
const LEFT_OUT = 1 / 200;
/** Of fewer values none is an outlier. */
const FEW = 20;
const WIDTH = 1000;
const HEIGHT = 220;

/** Exponential means with bias correction, so that the first is the first value; what is not finite is left out. */
export function smoothed(values: (number | null)[], keep: number): (number | null)[] {
  let mean = 0;
  let weight = 0;
  return values.map((each) => {
    if (!isNumber(each)) return each;
    mean = keep * mean + (1 - keep) * each;
    weight = keep * weight + (1 - keep);
    return mean / weight;
  });
}

/** The range, at each end without the few last values if these widen it by more than a fifth of the rest, as the axis shows it. */
export function robust(values: ArrayLike<number>, scaled: (value: number) => number = Number): [number, number] {
  if (!values.length) return [0, 1];
  const order = Float64Array.from(values).sort();
  const out = Math.max(order.length < FEW ? 0 : 1, Math.floor(order.length * LEFT_OUT));
  const [least, low, high, most] = [order[0]!, order[out]!, order[order.length - 1 - out]!, order.at(-1)!];
  const room = (scaled(high) - scaled(low)) / 5;
  return [scaled(low) - scaled(least) > room ? low : least, scaled(most) - scaled(high) > room ? high : most];
}

/** At least four round numbers between two, or powers of ten with 2 and 5 where they have room. */
export function ticks(low: number, high: number, log: boolean): number[] {
  if (log) {
    const first = Math.floor(Math.log10(low));
    const decades = Math.ceil(Math.log10(high)) - first + 1;
    const every = Math.ceil(decades / 8);
    const powers = Array.from({ length: decades }, (_, i) => Number(`1e${first + i}`)).filter((_, i) => i % every === 0);
    const found = (decades > 5 ? [1] : [1, 2, 5]).flatMap((times) => powers.map((power) => Number((times * power).toPrecision(3))));
    const inside = found.filter((each) => each >= low && each <= high).sort((a, b) => a - b);
    if (inside.length >= 4) return inside;
  }
  const rough = (high - low || Math.abs(high) || 1) / 4;
  const unit = Number(`1e${Math.floor(Math.log10(rough))}`);
  const step = unit * [5, 2, 1].find((times) => times * unit <= rough)!;
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor((high - first * step) / step + 1e-9) + 1;
  return Array.from({ length: Math.max(1, count) }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

function path({ steps, values }: Line, x: (step: number) => number, y: (value: number) => number): string {
  let pen = "M";
  return values.map((each, i) => {
    if (!isNumber(each)) { pen = "M"; return ""; }
    const text = `${pen}${x(steps[i]!).toFixed(1)} ${y(each).toFixed(1)}`;
    pen = "L";
    return text;
  }).join("");
}

const within = (height: number): number => Math.max(-HEIGHT, Math.min(2 * HEIGHT, height)); // dashes of a line to 1e9 take a second

export function Loss({ lines, keep, log, last, at, marks, timed, go }: { lines: Line[]; keep: number; log: boolean; last: number; at: number; marks: number[]; timed: boolean; go: (step: number) => void }) {
  const drawn = useMemo(() => {
    const ended = lines.filter(({ values }) => isNumber(values.at(-1) ?? null)); // one that diverged hides no other
    const all = (ended.length ? ended : lines).flatMap(({ values }) => values.filter(isNumber)).filter((each) => !log || each > 0);
    const [low, high] = robust(all, log ? Math.log10 : Number);
    const scaled = (each: number) => (log ? Math.log10(Math.max(each, low / 10)) : each);
    const span = scaled(high) - scaled(low) || 1;
    const from = scaled(low) - 0.05 * span;
    const part = (each: number) => (scaled(each) - from) / (1.1 * span);
    const x = (step: number) => (step / last) * WIDTH;
    const y = (each: number) => within(HEIGHT * (1 - part(each)));
    const paths = lines.flatMap((line, k) => [
      <path class={`raw run${k}`} d={path(line, x, y)} />,
      <path class={`run${k}`} d={path({ steps: line.steps, values: smoothed(line.means ?? line.values, keep) }, x, y)} />,
    ]);
    const rows = all.length ? ticks(low, high, log) : [];
    const columns = ticks(0, last, false).filter(Number.isInteger);
    const said = all.length ? `${number(low)} to ${number(high)}` : "no numbers";
    const picture = (
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={`loss: ${said}${log ? ", logarithmic" : ""}`}>
        {rows.map((tick) => <line class="grid" x1="0" x2={WIDTH} y1={y(tick)} y2={y(tick)} />)}
        {columns.map((tick) => <line class="grid" x1={x(tick)} x2={x(tick)} y1="0" y2={HEIGHT} />)}
        {marks.map((step) => <line class="alarm-mark" x1={x(step)} x2={x(step)} y1="0" y2={HEIGHT} />)}
        {paths}
      </svg>
    );
    return { rows, part, columns, picture };
  }, [lines, keep, log, last, marks]);
  const point = (event: PointerEvent) => {
    const { left, width } = (event.currentTarget as Element).getBoundingClientRect();
    go(Math.max(0, Math.min(last, Math.round(((event.clientX - left) / width) * last))));
  };
  return (
    <figure class="chart loss">
      <div class="ticks" aria-hidden="true">{drawn.rows.map((tick) => <span style={{ bottom: `${100 * drawn.part(tick)}%` }}>{number(tick)}</span>)}</div>
      <div class="plot" onPointerMove={point} onPointerDown={point}>
        {drawn.picture}
        <i style={{ left: `${(100 * at) / last}%` }} />
      </div>
      <div class="ticks steps" aria-hidden="true">{drawn.columns.map((tick) => <span style={{ left: `${(100 * tick) / last}%` }}>{timed && tick ? seconds(tick / 1000) : tick}</span>)}</div>
    </figure>
  );
}
