// v @ J as arrows in the plane of a leaf of two elements: each row of J, stretched by its weight, head to tail.
import { number } from "../format";
import { jacobianRow } from "../replay";
import type { Story } from "../page";
import { count, nameOf, reals } from "../trace";

export type Vector = [number, number];

export interface Arrow {
  from: Vector;
  to: Vector;
  label: string;
  kind: "row" | "rest" | "sum";
}

export interface Plane {
  name: string;
  arrows: Arrow[];
  /** The sum in words. */
  said: string;
  /** The columns of J, where it is 2 by 2: the image of the unit square. */
  image: { columns: [Vector, Vector]; output: string; area: number } | null;
}

/** More rows than these are not drawn one by one. */
const MOST_ROWS = 6;
const LONGEST = 3;
const MOST_SOUGHT = 200;

export const vector = (v: readonly number[]) => `[${v.map((value) => number(value)).join(", ")}]`;
const plus = (a: Vector, b: Vector): Vector => [a[0] + b[0], a[1] + b[1]];

/** The weights of v and the rows of J that they stretch, of all outputs; null where they are not known or not finite. */
function weighed(page: Story): { weight: number; row: Vector }[] | null {
  const { call, flow, state } = page;
  if (call.outputs.reduce((sum, output) => sum + count(output.gradient.shape), 0) > MOST_SOUGHT) return null;
  const found: { weight: number; row: Vector }[] = [];
  for (const [k, v] of flow.v.entries()) {
    const weights = reals(v);
    if (!weights) return null;
    for (const [i, weight] of weights.entries()) {
      const row = jacobianRow(call, state.leaf, k, i, page.stuck === null);
      if (!row || ![weight, ...row.flat()].every(Number.isFinite)) return null;
      found.push({ weight, row: row as Vector });
    }
  }
  return found;
}

/** Whether the leaf has a plane: two real elements. */
export function hasPlane({ call, state }: Story): boolean {
  const leaf = call.leaves[state.leaf];
  return leaf !== undefined && count(leaf.grad.shape) === 2 && (reals(leaf.grad)?.every(Number.isFinite) ?? false);
}

export function plane(page: Story): Plane | null {
  const rows = hasPlane(page) ? weighed(page) : null;
  if (!rows) return null;
  const { call, state } = page;
  const name = nameOf(call, call.leaves[state.leaf]!.tensor);
  const parts = rows.map(({ weight, row }) => ({ moved: [weight * row[0], weight * row[1]] as Vector, label: `${number(weight)}·${vector(row)}` }));
  const sum = parts.reduce<Vector>((sum, { moved }) => plus(sum, moved), [0, 0]);
  const many = parts.length > MOST_ROWS;
  const shown = many ? [...parts].sort((a, b) => Math.hypot(...b.moved) - Math.hypot(...a.moved)).slice(0, LONGEST) : parts;
  const arrows: Arrow[] = [];
  let at: Vector = [0, 0];
  for (const { moved, label } of shown) {
    const to = plus(at, moved);
    arrows.push({ from: at, to, label, kind: "row" });
    at = to;
  }
  const rest = `the other ${parts.length - shown.length}`;
  if (many) arrows.push({ from: at, to: sum, label: rest, kind: "rest" });
  arrows.push({ from: [0, 0], to: sum, label: `${name}.grad = ${vector(sum)}`, kind: "sum" });
  const said = `${[...shown.map(({ label }) => label.replace("·", " times ")), ...(many ? [rest] : [])].join(" plus ")} is ${vector(sum)}, ${name}.grad`;
  return { name, arrows, said, image: image(page, rows) };
}

function image(page: Story, rows: { row: Vector }[]): Plane["image"] {
  const [first, second, ...more] = rows;
  if (!first || !second || more.length || page.call.outputs.length > 1) return null;
  const [a, b] = [first.row, second.row];
  return { columns: [[a[0], b[0]], [a[1], b[1]]], output: nameOf(page.call, page.call.outputs[0]!.tensor), area: a[0] * b[1] - a[1] * b[0] };
}

/** The distance of ticks: 1, 2 or 5 times a power of ten, at most so many of them. */
export function tickStep(range: number, most: number): number {
  const rough = range / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((times) => times * power).find((step) => step >= rough)!;
}
