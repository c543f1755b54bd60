// The trace: what Python wrote, as src/pullback/explain/schema.json describes it.
import type { Statement } from "./words";

export type Raw = number | boolean | "NaN" | "Infinity" | "-Infinity" | [Raw, Raw];
/** A number of the page: booleans are 0 and 1, a complex number is [real, imaginary]. */
export type Value = number | [number, number];

export interface Stats {
  min: number | null;
  max: number | null;
  mean: number | null;
  norm: number;
  zeros: number;
  nans: number;
  infs: number;
}

export interface Arr {
  shape: number[];
  dtype: string;
  data?: Raw[];
  head?: Raw[];
  tail?: Raw[];
  stats?: Stats;
  /** A picture of an array that is not there in full: each letter of `data` is a cell. */
  cells?: { rows: number; cols: number; most: number; data: string };
  /** In the quiz: not shown yet. */
  hidden?: boolean;
  /** After a change: why the page does not know it. */
  unknown?: string;
}

export interface Jacobian {
  form: "dense" | "diagonal";
  rows: number;
  cols: number;
  data: Raw[];
}

export interface Place {
  source: number;
  line: number;
  column: number | null;
  end_line: number | null;
  end_column: number | null;
}

export interface Source {
  file: string;
  first: number;
  lines: string[];
}

export interface Scope {
  kind: "module" | "function";
  name: string;
  type: string;
  parent: number | null;
  nth: number;
}

export interface Saved {
  name: string;
  text: string;
  tensor: number | null;
  value: Arr | null;
}

export interface Tensor {
  name: string;
  expr: string | null;
  role: "leaf" | "output" | "inner";
  op: string | null;
  grad_fn: string | null;
  node: number;
  output: number;
  inputs: number[];
  shape: number[];
  dtype: string;
  is_leaf: boolean;
  requires_grad: boolean;
  version: number | null;
  data: Arr | null;
  value_from: "recorded" | "leaf" | "output" | "variable" | "saved" | "not kept";
  saved: Saved[];
  bytes: number;
  place: Place | null;
  scope: number | null;
  time: number | null;
  /** Where its line ran several times: which time this was, and of how many. */
  round?: [number, number];
}

export interface Term {
  to: number;
  input: number;
  jacobians: (Jacobian | null)[];
  missing: string | null;
  ran: string | null;
  out: Arr;
  before: Arr | null;
  after: Arr;
  nth: number;
  of: number;
  derivation: number | null;
  /** The derivation with this step's numbers; the last may be an element of v @ J. */
  numbers: string[];
}

/** Why a rule is what it is; formulas are Python expressions. */
export interface Derivation {
  why: string;
  value: string | null;
  slope: string | null;
  reason: string | null;
}

export interface Step {
  phase: "forward" | "backward";
  number: number;
  node: string;
  op: string | null;
  outputs: number[];
  v: (Arr | null)[];
  terms: Term[];
  derivation: number | null;
  ran: string | null;
  note: string | null;
  place: Place | null;
  scope: number | null;
  time: number | null;
  live_bytes: number;
}

export interface Leaf {
  tensor: number;
  grad: Arr;
  grad_before: Arr | null;
  grad_after: Arr | null;
  contributions: { step: number; term: number }[];
  jacobians: (Jacobian | null)[];
  missing: string | null;
}

export interface Finding {
  kind: "nan" | "inf" | "zero" | "dead" | "tiny" | "huge" | "saturated" | "missing" | "diverged" | "double";
  phase: "forward" | "backward";
  step: number | null;
  tensor: number;
  element: number[] | null;
  place: Place | null;
  why: string;
  fix: string;
  path: number[];
  /** Of nan and inf: which number it is and why, what else it has reached, and its way from its birth. */
  told?: string;
  extent?: string;
  way?: Hop[];
  /** Changes of the program that help, and those that do not, as was tried. */
  fixes?: Fix[];
  vain?: Fix[];
  /** Its kind at its birth, if it was another. */
  began?: string;
}

/** A step on the way of one number: the element of a tensor's value or gradient that it has become. */
export interface Hop {
  step: number;
  to: number;
  element: number[] | null;
  said: string;
}

export interface Output {
  tensor: number;
  gradient: Arr;
  implicit: boolean;
}

export interface Call {
  text: string;
  said: string | null;
  /** Of each leaf, in a call of one number by several: norms and shares, and the name under which it is folded. */
  gradients: { norm: number | string; weight: number | string; zeros: number; group: string | null }[] | null;
  /** What the output is measured by, if it is a loss of a known kind. */
  loss?: { kind: "cross_entropy" | "squared_error"; guess: number; said: string; examples: string | null; largest: string | null } | null;
  kind: "backward" | "explain";
  place: Place | null;
  outputs: Output[];
  tensors: Tensor[];
  steps: Step[];
  /** The backward steps with which a line begins, one of the times that it ran. */
  stops: number[];
  leaves: Leaf[];
  findings: Finding[];
  /** What is needed to compute the call anew; traces of older versions have none. */
  account?: Account | null;
  cost: {
    forward: number | null;
    backward: number | null;
    kept_bytes: number;
    peak_bytes: number;
    estimated: boolean;
  };
}

/** A value that is no tensor of the call: one that the program has given, or that follows from others. */
export interface Constant {
  value: Arr | null;
  given: boolean;
  why: string | null;
}

/** An operation, or a look at a number: places of values, the tensors of the call first, then its constants. */
export interface Line {
  /** Null where not all are known. */
  inputs: number[] | null;
  outputs: number[];
  look: boolean;
  statement: number | null;
  /** The statement of its rules: of the cotangents of the outputs, the inputs and the outputs. */
  pull: number | null;
  why: string | null;
  place: Place | null;
}

export interface Account {
  why: string | null;
  constants: Constant[];
  /** For each output of the call, the place of v, if that follows from other values. */
  v: (number | null)[];
  lines: Line[];
}

/** A tensor that backward needed as it was, and that the program has written since. */
export interface Overwritten {
  name: string;
  tensor: number | null;
  expected: number;
  version: number;
  place: Place | null;
}

export interface Failure {
  type: string;
  message: string;
  place: Place | null;
  call: number | null;
  /** The tensor in whose backward step the pass ended. */
  tensor: number | null;
  overwritten: Overwritten | null;
  /** What follows is not in traces of older versions. */
  said?: string;
  /** The module and the operation that failed; neither where nothing of pullback's did. */
  scope?: number | null;
  op?: string | null;
  arguments?: Argument[];
  clash?: Clash | null;
  made?: Place | null;
  stages?: Stage[];
  frames?: { name: string; place: Place | null }[];
  fixes?: Fix[];
}

/** An argument of what failed: of a tensor its shape and dtype. */
export interface Argument {
  name: string;
  shape: number[] | null;
  dtype: string | null;
  text: string | null;
}

/** Two axes that do not fit: where they meet in a product of matrices, or that were to be equal. */
export interface Clash {
  kind: "product" | "equal";
  sides: [Side, Side];
}

export interface Side {
  argument: number;
  axis: number;
}

/** A module that was called beside the one that failed, which is the last. */
export interface Stage {
  scope: number;
  title: string;
  shape: number[] | null;
}

/** A change of the program that may help; `tried` is what happened when it was run. */
export interface Fix {
  why: string;
  tried: string | null;
  changes: { place: Place; text: string }[];
}

/** What was found beside the calls: a sentence, and a table of which a row may be marked. */
export interface Sheet {
  kind: string;
  title: string;
  answer: string;
  said: string;
  columns: string[];
  rows: string[][];
  bars: number[];
  marked: number | null;
}

export interface Trace {
  schema: "pullback-trace";
  version: number;
  pullback: string;
  title: string | null;
  recorded: boolean;
  primary: number | null;
  sources: Source[];
  scopes: Scope[];
  calls: Call[];
  derivations: Derivation[];
  /** What operations and their rules compute; traces of older versions have none. */
  statements?: Statement[];
  /** Digits lost, the first difference from another run, the gradient of each example; traces of older versions have none. */
  sheets?: Sheet[];
  error: Failure | null;
  limits: { values: number; jacobian: number; max_nodes: number; redacted: boolean; notes: string[] };
}

/** Whether the times of operations were measured. */
export const isTimed = ({ cost, steps }: Call): boolean => cost.forward !== null || steps.some(({ time }) => time !== null);

export function decode(raw: Raw): Value {
  if (typeof raw === "number") return raw;
  if (Array.isArray(raw)) return [decode(raw[0]) as number, decode(raw[1]) as number];
  return Number(raw);
}

/** The number as JSON can carry it. */
export function encode(value: number): Raw {
  return Number.isFinite(value) ? value : (String(value) as Raw);
}

const decoded = new WeakMap<object, Value[]>();

/** All elements of an array, or null when the trace does not hold them all. */
export function values(array: { data?: Raw[] }): Value[] | null {
  if (!array.data) return null;
  let found = decoded.get(array);
  if (!found) decoded.set(array, (found = array.data.map(decode)));
  return found;
}

/** The elements as real numbers; null when they are complex or not all there. */
export function reals(array: { data?: Raw[] }): number[] | null {
  const all = values(array);
  return all && all.every((value) => typeof value === "number") ? (all as number[]) : null;
}

export function nameOf(call: Call, tensor: number): string {
  return call.tensors[tensor]!.name;
}

export function count(shape: number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

export function isZero(array: Arr): boolean {
  const all = values(array);
  if (all) return all.every((value) => (typeof value === "number" ? value === 0 : value[0] === 0 && value[1] === 0));
  return array.stats !== undefined && array.stats.zeros === count(array.shape);
}

/** Element [i][j] of a Jacobian. */
export function entry(jacobian: Jacobian, i: number, j: number): Value {
  const all = values(jacobian)!;
  if (jacobian.form === "diagonal") return i === j ? all[i]! : 0;
  return all[i * jacobian.cols + j]!;
}

export function row(jacobian: Jacobian, i: number): Value[] {
  return Array.from({ length: jacobian.cols }, (_, j) => entry(jacobian, i, j));
}

/** v @ J for real numbers. A zero of a dense J says that two elements have nothing to do with each other. */
export function product(v: number[], jacobian: Jacobian): number[] | null {
  const all = reals(jacobian);
  if (!all) return null;
  if (jacobian.form === "diagonal") return v.map((weight, i) => weight * all[i]!);
  const out = new Array<number>(jacobian.cols).fill(0);
  for (let i = 0; i < jacobian.rows; i++) {
    for (let j = 0; j < jacobian.cols; j++) {
      const slope = all[i * jacobian.cols + j]!;
      if (slope !== 0) out[j] = out[j]! + v[i]! * slope;
    }
  }
  return out;
}
