// Numbers, arrays, times and sizes as text.
import { count, decode, values, type Arr, type Raw, type Value } from "./trace";

/** So many digits tell every number from all others. */
export const EXACT = 17;

function real(value: number, digits: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (digits >= EXACT) return Object.is(value, -0) ? "-0" : String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e7) return String(value); // that of -0 is 0
  // Python rounds what lies in the middle to an even digit, and this language up.
  const [all] = value.toExponential(60).replace(/[-.]/g, "").split("e") as [string];
  if (Number(all[digits - 1]) % 2 === 0 && /^50*$/.test(all.slice(digits))) value *= 1 - 2 ** -40;
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e").map(Number) as [number, number];
  if (exponent < -4 || exponent >= digits) return `${mantissa}e${exponent}`;
  const text = value.toFixed(digits - 1 - exponent);
  const short = text.includes(".") ? text.replace(/\.?0+$/, "") : `${text}.`;
  return /^-?\d+$/.test(short) ? text : short; // 1.000: close to 1, but not 1
}

/** A number as the texts of explain have it, src/pullback/explain/numbers.py: 26, 0.25, 1.2e-7, nan. */
export function number(value: Value, digits = 4): string {
  if (typeof value === "number") return real(value, digits);
  const [one, imaginary] = value;
  const sign = imaginary < 0 || Object.is(imaginary, -0) ? "-" : "+";
  return `${real(one, digits)}${sign}${real(Math.abs(imaginary), digits)}j`;
}

/** The same as Python prints it: floats have a point. */
function literal(value: Value, dtype: string, digits = 4): string {
  if (dtype === "bool") return value ? "True" : "False";
  const text = number(value, digits);
  return typeof value === "number" && dtype.startsWith("float") && /^-?\d+$/.test(text) ? `${text}.` : text;
}

function nested(shape: number[], items: string[]): string {
  if (shape.length === 0) return items[0] ?? "";
  if (shape.length === 1) return `[${items.join(", ")}]`;
  const [outer, ...inner] = shape as [number, ...number[]];
  const size = count(inner);
  return `[${Array.from({ length: outer }, (_, i) => nested(inner, items.slice(i * size, (i + 1) * size))).join(", ")}]`;
}

export function shapeText(shape: number[]): string {
  return shape.length === 0 ? "()" : shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(", ")})`;
}

function plainShape(shape: number[]): string {
  return shape.length === 0 ? "number" : shape.length === 1 ? `${shape[0]} elements` : shape.join("×");
}

/** What is said of an array whose elements do not fit. */
export function summary(array: Arr): string {
  const parts = [plainShape(array.shape)];
  const all = values(array);
  const stats = array.stats;
  if (all) {
    const norm = Math.hypot(...all.flat());
    parts.push(`norm ${number(norm)}`);
  } else if (stats) {
    parts.push(stats.zeros === count(array.shape) ? "all 0" : `norm ${number(stats.norm)}`);
    if (stats.nans) parts.push(`${stats.nans} nan`);
    if (stats.infs) parts.push(`${stats.infs} inf`);
  }
  return parts.join(", ");
}

/** What stands in place of a number that the page cannot know after a change. */
export const RUN_AGAIN = "run again";

/** An array in at most `room` characters, its elements if they fit: "python" as [1., 2.], "short" as [1, 2]. */
export function array(value: Arr | null, style: "python" | "short" = "short", room = 60): string {
  if (value === null) return "None";
  if (value.hidden) return "?";
  if (value.unknown !== undefined) return RUN_AGAIN;
  const all = values(value);
  // Beyond that many elements not even "0," fits into the room.
  if (!all || all.length * 3 > room + 3) return summed(value, room);
  for (const digits of [4, 3, 2]) {
    const text = nested(value.shape, all.map((item) => (style === "python" ? literal(item, value.dtype, digits) : number(item, digits))));
    if (text.length <= room) return text;
  }
  return summed(value, room);
}

/** The shape and the norm; where only one of them fits, the norm. */
function summed(value: Arr, room: number): string {
  const text = summary(value);
  return clip(text.length <= room ? text : text.slice(text.indexOf(", ") + 2), room);
}

export function items(raw: Raw[], dtype: string): string {
  return raw.map((item) => literal(decode(item), dtype)).join(", ");
}

export function clip(text: string, room: number): string {
  if (text.length <= room) return text;
  const letters = [...text.slice(0, 2 * room + 2)];
  return letters.length <= room ? text : `${letters.slice(0, Math.max(1, room - 1)).join("")}…`;
}

export function seconds(time: number | null): string {
  if (time === null) return "not timed";
  for (const [unit, size] of [["s", 1], ["ms", 1e-3], ["µs", 1e-6]] as const) {
    if (time >= size) return `${Number((time / size).toPrecision(3))} ${unit}`;
  }
  return `${Number((time * 1e9).toPrecision(3))} ns`;
}

export function bytes(size: number): string {
  for (const [unit, scale] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]] as const) {
    if (size >= scale) return `${Number((size / scale).toPrecision(3))} ${unit}`;
  }
  return `${size} B`;
}

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${String(n).replace(/\B(?=(\d{3})+$)/g, " ")} ${n === 1 ? one : many}`;
}

/** A name as it may stand before a dot or under a d: in brackets unless it is one word. */
export function operand(name: string): string {
  return /^[\w.[\]]+$/.test(name) ? name : `(${name})`;
}
