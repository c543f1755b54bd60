// Statements: lists of words, functions of the array API standard, by which Python has written down what an operation or
// its rule computes. This is all that the page knows of computing; no operation of pullback is named here.
import { count, encode, type Raw } from "./trace";

export type Word =
  | [name: string, operands: number[], dtype: string, shape: number[]]
  | [name: string, operands: number[], dtype: string, shape: number[], settings: Settings];

interface Settings {
  axis?: number | number[];
  axes?: number[];
  keepdims?: boolean;
  data?: Raw[];
  places?: number[];
  how?: string;
}

export interface Statement {
  inputs: number;
  words: Word[];
  results: (number | null)[];
}

/** Numbers in the order of their axes; truth values are 0 and 1. */
export interface Numbers {
  shape: number[];
  dtype: string;
  data: number[];
}

type Two = (a: number, b: number) => number;

const halfEven = (x: number) => {
  const below = Math.floor(x);
  const rest = x - below;
  if (rest !== 0.5) return rest < 0.5 ? below : below + 1;
  return below % 2 === 0 ? below : below + 1;
};
const negativeSign = (x: number) => x < 0 || Object.is(x, -0);
const truth = (test: (a: number, b: number) => boolean): Two => (a, b) => Number(test(a, b));

const UNARY: Record<string, (x: number) => number> = {
  abs: Math.abs, acos: Math.acos, acosh: Math.acosh, asin: Math.asin, asinh: Math.asinh, atan: Math.atan, atanh: Math.atanh,
  ceil: Math.ceil, cos: Math.cos, cosh: Math.cosh, exp: Math.exp, expm1: Math.expm1, floor: Math.floor, log: Math.log,
  log10: Math.log10, log1p: Math.log1p, log2: Math.log2, sin: Math.sin, sinh: Math.sinh, sqrt: Math.sqrt, tan: Math.tan,
  tanh: Math.tanh, trunc: Math.trunc, sign: Math.sign, round: halfEven,
  negative: (x) => -x,
  positive: (x) => x,
  reciprocal: (x) => 1 / x,
  square: (x) => x * x,
  isfinite: (x) => Number(Number.isFinite(x)),
  isinf: (x) => Number(Math.abs(x) === Infinity),
  isnan: (x) => Number(Number.isNaN(x)),
  signbit: (x) => Number(negativeSign(x)),
  logical_not: (x) => Number(x === 0),
  bitwise_invert: (x) => ~x,
  erf,
};

/** The error function: by its series, and far out by the continued fraction of what is missing to 1. */
function erf(x: number): number {
  const size = Math.abs(x);
  if (!(size < 6)) return Math.sign(x);
  if (size < 3) {
    let [term, total] = [x, x];
    for (let n = 1; Math.abs(term) > 1e-18 * Math.abs(total); n++) total += term *= (2 * x * x) / (2 * n + 1);
    return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * total;
  }
  let rest = size;
  for (let n = 60; n; n--) rest = size + n / 2 / rest;
  return Math.sign(x) * (1 - Math.exp(-x * x) / Math.sqrt(Math.PI) / rest);
}

const BINARY: Record<string, Two> = {
  add: (a, b) => a + b,
  subtract: (a, b) => a - b,
  multiply: (a, b) => a * b,
  divide: (a, b) => a / b,
  floor_divide: (a, b) => Math.floor(a / b),
  remainder: (a, b) => (Math.abs(b) === Infinity && Number.isFinite(a) ? (a === 0 || negativeSign(a) === b < 0 ? a : b) : modulo(a, b)),
  pow: (a, b) => (a === 1 || (a === -1 && Math.abs(b) === Infinity) ? 1 : Math.pow(a, b)),
  maximum: Math.max,
  minimum: Math.min,
  atan2: Math.atan2,
  hypot: Math.hypot,
  copysign: (a, b) => (negativeSign(b) ? -Math.abs(a) : Math.abs(a)),
  logaddexp: (a, b) => (a === b ? a + Math.LN2 : Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b)))),
  equal: truth((a, b) => a === b),
  not_equal: truth((a, b) => a !== b),
  less: truth((a, b) => a < b),
  less_equal: truth((a, b) => a <= b),
  greater: truth((a, b) => a > b),
  greater_equal: truth((a, b) => a >= b),
  logical_and: truth((a, b) => a !== 0 && b !== 0),
  logical_or: truth((a, b) => a !== 0 || b !== 0),
  logical_xor: truth((a, b) => (a !== 0) !== (b !== 0)),
  bitwise_and: (a, b) => a & b,
  bitwise_or: (a, b) => a | b,
  bitwise_xor: (a, b) => a ^ b,
};

function modulo(a: number, b: number): number {
  const rest = a % b;
  return rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest;
}

const largest = (line: number[]) => line.reduce((a, b) => Math.max(a, b));
const smallest = (line: number[]) => line.reduce((a, b) => Math.min(a, b));
const placeOf = (find: (line: number[]) => number) => (line: number[]) => {
  const missing = line.findIndex(Number.isNaN);
  return missing < 0 ? line.indexOf(find(line)) : missing;
};

const REDUCTIONS: Record<string, (line: number[]) => number> = {
  sum: (line) => line.reduce((a, b) => a + b, 0),
  prod: (line) => line.reduce((a, b) => a * b, 1),
  max: largest,
  min: smallest,
  any: (line) => Number(line.some((x) => x !== 0)),
  all: (line) => Number(line.every((x) => x !== 0)),
  argmax: placeOf(largest),
  argmin: placeOf(smallest),
};

const RUNNING: Record<string, Two> = { cumulative_sum: BINARY.add!, cumulative_prod: BINARY.multiply! };
const COMBINED: Record<string, Two> = {
  put: (_, b) => b,
  add: BINARY.add!,
  multiply: BINARY.multiply!,
  maximum: Math.max,
  minimum: Math.min,
};

/** A number as an array of a dtype holds it. */
export function held(value: number, dtype: string): number {
  if (dtype === "float32") return Math.fround(value);
  if (dtype === "float64") return value;
  if (dtype === "bool") return Number(value !== 0);
  const whole = Math.trunc(value);
  const bits = Number(/\d+$/.exec(dtype)![0]);
  if (bits < 64) return dtype.startsWith("u") ? Number(BigInt.asUintN(bits, BigInt(whole))) : Number(BigInt.asIntN(bits, BigInt(whole)));
  if (!Number.isSafeInteger(whole)) throw new Error(`${whole} is no number that the page can hold as ${dtype}`);
  return whole;
}

function stepsOf(shape: number[]): number[] {
  const steps = new Array<number>(shape.length).fill(1);
  for (let i = shape.length - 2; i >= 0; i--) steps[i] = steps[i + 1]! * shape[i + 1]!;
  return steps;
}

/** The place in an array of `from` for each element of an array of `shape`, to which it is repeated. */
function repeated(from: number[], shape: number[]): number[] {
  const lead = shape.length - from.length;
  const steps = stepsOf(from).map((step, i) => (from[i] === 1 ? 0 : step));
  return walked(shape, [...new Array<number>(lead).fill(0), ...steps]);
}

/** For each element of an array of a shape a place: the sum of steps along its axes. */
function walked(shape: number[], steps: number[], start = 0): number[] {
  let found = [start];
  shape.forEach((size, axis) => {
    found = found.flatMap((place) => Array.from({ length: size }, (_, i) => place + i * steps[axis]!));
  });
  return found;
}

const axesOf = (axis: number | number[] | undefined, rank: number) =>
  (axis === undefined ? Array.from({ length: rank }, (_, i) => i) : [axis].flat()).map((i) => (i < 0 ? i + rank : i));

function reduce(x: Numbers, axis: number | number[] | undefined, function_: (line: number[]) => number): number[] {
  const axes = axesOf(axis, x.shape.length);
  const steps = stepsOf(x.shape);
  const kept = x.shape.map((_, i) => i).filter((i) => !axes.includes(i));
  const within = walked(axes.map((i) => x.shape[i]!), axes.map((i) => steps[i]!));
  const starts = walked(kept.map((i) => x.shape[i]!), kept.map((i) => steps[i]!));
  return starts.map((start) => function_(within.map((place) => x.data[start + place]!)));
}

/** Lines along an axis, each changed into another; the results lie where the lines did. */
function along(x: Numbers, axis: number, function_: (line: number[]) => number[]): number[] {
  const steps = stepsOf(x.shape);
  const size = x.shape[axis]!;
  const out = new Array<number>(x.data.length);
  for (const start of walked(x.shape.map((n, i) => (i === axis ? 1 : n)), steps)) {
    const places = Array.from({ length: size }, (_, i) => start + i * steps[axis]!);
    function_(places.map((place) => x.data[place]!)).forEach((value, i) => (out[places[i]!] = value));
  }
  return out;
}

function matmul(a: Numbers, b: Numbers): number[] {
  const left = a.shape.length === 1 ? [1, ...a.shape] : a.shape;
  const right = b.shape.length === 1 ? [...b.shape, 1] : b.shape;
  const [rows, inner, columns] = [left.at(-2)!, left.at(-1)!, right.at(-1)!];
  const [one, two] = [left.slice(0, -2), right.slice(0, -2)];
  const batch = (one.length > two.length ? one : two).map((_, i, { length }) =>
    Math.max(one[i - length + one.length] ?? 1, two[i - length + two.length] ?? 1));
  const [ofA, ofB] = [repeated(one, batch), repeated(two, batch)];
  return ofA.flatMap((lead, k) =>
    Array.from({ length: rows * columns }, (_, place) => {
      const [i, j] = [Math.floor(place / columns), place % columns];
      let total = 0;
      for (let m = 0; m < inner; m++) {
        total += a.data[lead * rows * inner + i * inner + m]! * b.data[ofB[k]! * inner * columns + m * columns + j]!;
      }
      return total;
    }),
  );
}

function take(x: Numbers, places: number[], axis: number): number[] {
  const size = x.shape[axis]!;
  const inner = count(x.shape.slice(axis + 1));
  return Array.from({ length: count(x.shape.slice(0, axis)) }, (_, i) => i).flatMap((outer) =>
    places.flatMap((place) => {
      const start = (outer * size + place + (place < 0 ? size : 0)) * inner;
      if (place >= size || place < -size) throw new Error(`the index ${place} is outside of ${size} elements`);
      return x.data.slice(start, start + inner);
    }),
  );
}

function concat(arrays: Numbers[], axis: number): number[] {
  const lengths = arrays.map((x) => count(x.shape.slice(axis)));
  return Array.from({ length: count(arrays[0]!.shape.slice(0, axis)) }, (_, i) => i).flatMap((outer) =>
    arrays.flatMap((x, k) => x.data.slice(outer * lengths[k]!, (outer + 1) * lengths[k]!)),
  );
}

function sorted(line: number[]): number[] {
  const order = (a: number, b: number) => (Number.isNaN(a) || Number.isNaN(b) ? Number(Number.isNaN(a)) - Number(Number.isNaN(b)) : a - b);
  return line.map((_, i) => i).sort((i, j) => order(line[i]!, line[j]!) || i - j);
}

type Moving = (arrays: Numbers[], shape: number[], settings: Settings) => number[];

const MOVING: Record<string, Moving> = {
  constant: (_, __, { data }) => data!.map(Number),
  astype: ([x]) => x!.data,
  reshape: ([x]) => x!.data,
  broadcast_to: ([x], shape) => repeated(x!.shape, shape).map((place) => x!.data[place]!),
  permute_dims: ([x], shape, { axes }) => {
    const steps = stepsOf(x!.shape);
    return walked(shape, axes!.map((axis) => steps[axis]!)).map((place) => x!.data[place]!);
  },
  flip: ([x], shape, { axis }) => {
    const [steps, axes] = [stepsOf(shape), axesOf(axis, shape.length)];
    const start = axes.reduce((total, i) => total + (shape[i]! - 1) * steps[i]!, 0);
    return walked(shape, steps.map((step, i) => (axes.includes(i) ? -step : step)), start).map((place) => x!.data[place]!);
  },
  concat: (arrays, shape, { axis }) => concat(arrays, axesOf(axis, shape.length)[0]!),
  stack: (arrays, shape, { axis }) => {
    const place = axesOf(axis, shape.length)[0]!;
    return concat(arrays.map((x) => ({ ...x, shape: [...x.shape.slice(0, place), 1, ...x.shape.slice(place)] })), place);
  },
  where: ([test, one, other], shape) => {
    const [at, left, right] = [test!, one!, other!].map((x) => repeated(x.shape, shape)) as [number[], number[], number[]];
    return at.map((place, i) => (test!.data[place] ? one!.data[left[i]!]! : other!.data[right[i]!]!));
  },
  matmul: ([a, b]) => matmul(a!, b!),
  take: ([x, places], _, { axis }) => take(x!, places!.data, axesOf(axis, x!.shape.length)[0]!),
  take_along_axis: ([x, places], shape, { axis }) => {
    const at = axesOf(axis, shape.length)[0]!;
    const steps = stepsOf(x!.shape);
    const rest = walked(shape, steps.map((step, i) => (i === at || x!.shape[i] === 1 ? 0 : step)));
    const ofPlaces = repeated(places!.shape, shape);
    return rest.map((start, i) => {
      const place = places!.data[ofPlaces[i]!]!;
      return x!.data[start + (place < 0 ? place + x!.shape[at]! : place) * steps[at]!]!;
    });
  },
  argsort: ([x], shape, { axis }) => along(x!, axesOf(axis, shape.length)[0]!, sorted),
  getitem: ([x], _, { places }) => places!.map((place) => x!.data[place]!),
  put: ([x, value], _, { places }) => {
    const out = x!.data.slice();
    places!.forEach((place, i) => (out[place] = value!.data[i]!));
    return out;
  },
  combine: ([x, places, values], _, { how }) => {
    const out = x!.data.slice();
    places!.data.forEach((place, i) => {
      if (place < 0 || place >= out.length) throw new Error(`the index ${place} is outside of ${out.length} elements`);
      out[place] = COMBINED[how!]!(out[place]!, values!.data[i]!);
    });
    return out;
  },
};

/** The names of all words. */
export const WORDS = [UNARY, BINARY, REDUCTIONS, RUNNING, MOVING].flatMap(Object.keys);

function said([name, , dtype, shape, settings = {}]: Word, arrays: Numbers[]): number[] {
  const [x, y] = arrays as [Numbers, Numbers];
  const own = <T>(table: Record<string, T>) => (Object.hasOwn(table, name) ? table[name] : undefined);
  const [unary, binary, reduction, running, moving] = [own(UNARY), own(BINARY), own(REDUCTIONS), own(RUNNING), own(MOVING)];
  if (unary) return name === "bitwise_invert" && dtype === "bool" ? x.data.map((value) => 1 - value) : x.data.map(unary);
  if (binary) {
    const [left, right] = [repeated(x.shape, shape), repeated(y.shape, shape)];
    return left.map((place, i) => binary(x.data[place]!, y.data[right[i]!]!));
  }
  if (reduction) return reduce(x, settings.axis, reduction);
  if (running) {
    return along(x, axesOf(settings.axis, x.shape.length)[0]!, (line) => {
      let total = line[0]!;
      return line.map((value, i) => (total = i ? running(total, value) : value));
    });
  }
  if (!moving) throw new Error(`the page does not know ${name}`);
  return moving(arrays, shape, settings);
}

/** What a statement gives; throws where its numbers cannot be had. */
export function stated(statement: Statement, inputs: Numbers[]): (Numbers | null)[] {
  const found = [...inputs];
  for (const word of statement.words) {
    const [, operands, dtype, shape] = word;
    const data = said(word, operands.map((place) => found[place]!)).map((value) => held(value, dtype));
    if (data.length !== count(shape)) throw new Error(`${word[0]} gave ${data.length} elements in place of ${count(shape)}`);
    found.push({ shape, dtype, data });
  }
  return statement.results.map((place) => (place === null ? null : found[place]!));
}

/** Numbers as the trace has them. */
export function raw(numbers: Numbers): { shape: number[]; dtype: string; data: Raw[] } {
  const data = numbers.dtype === "bool" ? numbers.data.map((value) => value !== 0) : numbers.data.map(encode);
  return { shape: numbers.shape, dtype: numbers.dtype, data };
}
