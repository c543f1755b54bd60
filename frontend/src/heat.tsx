// A map of many parameters over the steps, a row each: modules at first, of which one can be opened.
import { h } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { number, plural } from "./format";
import { isNumber, robust, type Line } from "./loss";

/** A parameter in each of the runs. */
export interface Row {
  name: string;
  shape: string;
  lines: Line[];
}
export interface Group {
  label: string;
  inside: Row[];
}
interface Band {
  label: string;
  lines: Line[];
  said: string;
  key: string;
  /** The module that pressing it opens, or closes. */
  module: string | null;
}

const COLUMNS = 500;
/** From small to large; they are told apart on light and dark, and by those who do not see red and green apart. */
const COLORS = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
const BAD = [230, 30, 50];
const HEIGHT = 16;

/** The place of the last recorded step up to one. */
export function before(steps: number[], step: number): number {
  let [low, high] = [0, steps.length];
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if (steps[middle]! <= step) low = middle;
    else high = middle;
  }
  return low;
}

/** The mean of some lines at each step, of those that have a number there; NaN and inf stay. */
export function mean(lines: Line[]): Line {
  const { steps } = lines.find((line) => line.steps.length) ?? { steps: [] };
  const values = steps.map((_, i) => {
    const there = lines.flatMap((line) => line.values[i] ?? []);
    return there.length ? there.reduce((sum, each) => sum + each, 0) / there.length : null;
  });
  return { steps, values };
}

/** What a row is: each module, and the parameters of the one that is open. */
export function bands(groups: Group[], runs: number, open: string | null): Band[] {
  return groups.flatMap(({ label, inside }) => {
    const rows = inside.map(({ name, shape, lines }) => ({ label: name.slice(inside.length > 1 && name.startsWith(`${label}.`) ? label.length + 1 : 0), key: `${label} ${name}`, lines, said: `${name} ${shape}`, module: null }));
    if (inside.length === 1) return rows;
    const lines = Array.from({ length: runs }, (_, k) => mean(inside.map((row) => row.lines[k]!)));
    const said = `${label || "all"}, mean of ${plural(inside.length, "parameter")}`;
    const whole = { label: `${open === label ? "▾" : "▸"} ${label || "all"}`, key: label, lines, said, module: label };
    return open === label ? [whole, ...rows] : [whole];
  });
}

/** Where a value lies in the range of all, from 0 to 1; logarithmic where they differ by more than a factor of 20. */
export function scale(values: number[]): { low: number; high: number; log: boolean; part: (value: number) => number } {
  const order = Float64Array.from(values).sort(); // of numbers, ten times as fast as an array of anything
  const positive = order.subarray(order.findIndex((each) => each > 0));
  const log = positive.length > 0 && positive[0]! > 0 && positive.at(-1)! > 20 * positive[0]! && order[0]! >= 0;
  const scaled = log ? Math.log10 : Number;
  const [low, high] = robust(log ? positive : order, scaled);
  const span = scaled(high) - scaled(low) || 1;
  return { low, high, log, part: (each) => Math.max(0, Math.min(1, (scaled(each) - scaled(low)) / span)) };
}

function color(value: number, part: (value: number) => number): number[] {
  if (!Number.isFinite(value)) return BAD;
  const place = part(value) * (COLORS.length - 1);
  const from = Math.min(COLORS.length - 2, Math.floor(place));
  return COLORS[from]!.map((each, i) => each + (place - from) * (COLORS[from + 1]![i]! - each));
}

/** One run's pixels: what has no number is left clear. */
function paint(canvas: HTMLCanvasElement, lines: Line[], last: number, part: (value: number) => number): void {
  const pen = canvas.getContext("2d")!;
  const image = pen.createImageData(COLUMNS, lines.length);
  lines.forEach(({ steps, values }, row) => {
    const colors = values.map((each) => (each === null ? null : color(each, part)));
    for (let x = 0; x < COLUMNS; x++) {
      const found = colors[before(steps, ((x + 0.5) / COLUMNS) * last)];
      if (found) image.data.set([...found, 255], 4 * (row * COLUMNS + x));
    }
  });
  pen.putImageData(image, 0, 0);
}

interface Seen {
  groups: Group[];
  names: string[];
  measure: string;
  last: number;
  at: number;
  /** The place `at` in words. */
  place: string;
  go: (step: number) => void;
}

export function Heat({ groups, names, measure, last, at, place, go }: Seen) {
  const [chosen, choose] = useState("");
  const [open, setOpen] = useState<string | null>(null);
  const canvases = useRef<(HTMLCanvasElement | null)[]>([]);
  const shown = useMemo(() => bands(groups, names.length, open), [groups, names, open]);
  const { low, high, log, part } = useMemo(() => scale(groups.flatMap(({ inside }) => inside.flatMap(({ lines }) => lines.flatMap(({ values }) => values.filter(isNumber))))), [groups]);
  useEffect(() => canvases.current.forEach((canvas, k) => canvas && paint(canvas, shown.map(({ lines }) => lines[k]!), last, part)), [shown, part, last]);
  const fields = useMemo(() => shown.map(({ label, said, key }) => <span key={key} title={said} style={{ height: `${HEIGHT}px` }}>{label}</span>), [shown]);
  const row = Math.max(0, shown.findIndex((band) => band.key === chosen));
  const band = shown[row]!;
  const values = band.lines.map(({ steps, values }) => values[before(steps, at)] ?? null);
  const told = values.map((each) => (each === null ? "none" : number(each)));
  const move = (by: number) => choose(shown[Math.max(0, Math.min(shown.length - 1, row + by))]!.key);
  const turn = (by: number) => {
    const { steps } = band.lines.find((line) => line.steps.length)!;
    go(steps[Math.max(0, Math.min(steps.length - 1, before(steps, at) + by))]!);
  };
  const toggle = ({ module }: Band) => {
    if (module === null) return;
    setOpen(open === module ? null : module);
    choose(module);
  };
  const keys: Record<string, () => void> = {
    ArrowUp: () => move(-1), ArrowDown: () => move(1), ArrowLeft: () => turn(-1), ArrowRight: () => turn(1),
    Home: () => go(0), End: () => go(last), Enter: () => toggle(band), " ": () => toggle(band),
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]!();
  };
  const under = (event: MouseEvent) => shown[Math.max(0, Math.min(shown.length - 1, Math.floor((event.clientY - (event.currentTarget as Element).getBoundingClientRect().top) / HEIGHT)))]!;
  const point = (event: PointerEvent) => {
    const { left, width } = (event.currentTarget as Element).getBoundingClientRect();
    choose(under(event).key);
    go(Math.max(0, Math.min(last, Math.round(((event.clientX - left) / width) * last))));
  };
  const ratio = values.length === 2 && values.every(isNumber) && values[1] ? `ratio ${number(values[0]! / values[1]!)}` : "";
  return (
    <div class="card pad">
      <p class="small">
        {number(low)} <span class="ramp" style={{ background: `linear-gradient(90deg, ${COLORS.map((each) => `rgb(${each.join()})`).join()})` }} /> {number(high)}{log && ", logarithmic"}; NaN and inf are red.
        A name with ▸ is a module, its row the mean of its parameters: press it to open it.
      </p>
      <p class="mono small">
        {band.said}, {place}: {told.map((text, k) => <b class={`value run${k}`}>{text}</b>)}{ratio}
      </p>
      <div
        class="heat" role="slider" tabIndex={0} onKeyDown={onKeyDown} aria-orientation="vertical" aria-valuemin={0} aria-valuemax={shown.length - 1} aria-valuenow={row}
        aria-valuetext={`${band.said}, ${place}: ${told.join(" and ")}${ratio && `, ${ratio}`}`}
        aria-label={`${measure} by module: up and down choose a row, left and right a step, Enter opens a module`}
      >
        {names.map((name, k) => (
          <div class="map">
            {names.length > 1 && <b class={`value run${k}`}>{name}</b>}
            <div class="labels" onClick={(event) => toggle(under(event))}>{fields}</div>
            <div class="field" style={{ height: `${HEIGHT * shown.length}px` }} onPointerMove={point} onPointerDown={point}>
              <canvas ref={(canvas) => { canvases.current[k] = canvas; }} width={COLUMNS} height={shown.length} />
              <i style={{ left: `${(100 * at) / last}%` }} />
              <s style={{ top: `${HEIGHT * row}px`, height: `${HEIGHT}px` }} />
            </div>
          </div>
        ))}
      </div>
    </div>
  );
}
