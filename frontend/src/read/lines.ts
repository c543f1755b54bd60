// What the lines of the program made, and what has been sent to it.
import { total, type Flow } from "../replay";
import { forwardSteps } from "./stops";
import { encode, isZero, product, reals, type Arr, type Call } from "../trace";

export interface Lines {
  /** For each tensor the one that its line made of it: a step inside of an expression belongs to the expression's result. */
  owner: number[];
  /** What each line made, by file and line, for each time it ran. */
  made: Map<string, number[][]>;
  /** What is sent to each tensor: indices into steps and their terms. */
  sentTo: { step: number; term: number }[][];
}

const known = new WeakMap<Call, Lines>();

export const lineKey = (source: number | null, line: number | null) => `${source}:${line}`;

function group(call: Call, i: number): string | null {
  const { place, op, round } = call.tensors[i]!;
  return place && op !== null ? `${lineKey(place.source, place.line)}:${round?.[0] ?? 1}` : null;
}

export function linesOf(call: Call): Lines {
  let lines = known.get(call);
  if (!lines) known.set(call, (lines = found(call)));
  return lines;
}

function found(call: Call): Lines {
  const { tensors } = call;
  const groups = tensors.map((_, i) => group(call, i));
  const users: number[][] = tensors.map(() => []);
  tensors.forEach(({ inputs }, i) => inputs.forEach((input) => users[input]!.push(i)));
  const owner: number[] = [];
  for (let i = tensors.length - 1; i >= 0; i--) {
    const within = groups[i] !== null && tensors[i]!.role === "inner" && users[i]!.length > 0 && users[i]!.every((user) => groups[user] === groups[i]);
    owner[i] = within ? owner[users[i]![0]!]! : i;
  }
  const made = new Map<string, number[][]>();
  tensors.forEach(({ place, round }, i) => {
    if (!place || owner[i] !== i) return;
    const key = lineKey(place.source, place.line);
    const times = made.get(key) ?? [];
    made.set(key, times);
    (times[(round?.[0] ?? 1) - 1] ??= []).push(i);
  });
  const sentTo: Lines["sentTo"] = tensors.map(() => []);
  call.steps.forEach((step, at) => step.terms.forEach((term, k) => sentTo[term.to]!.push({ step: at, term: k })));
  return { owner, made, sentTo };
}

/** The gradient that has arrived at a tensor so far. */
export function gradSoFar(call: Call, flow: Flow, tensor: number, position: number): Arr | null {
  if (position < forwardSteps(call)) return null;
  const last = linesOf(call).sentTo[tensor]!.filter(({ step }) => step < position).at(-1);
  if (last) return flow.sent[last.step]![last.term]!.after;
  return call.outputs.reduce<Arr | null>((sum, output, k) => (output.tensor === tensor ? total(sum, flow.v[k]!) : sum), null);
}

/** Along what an edge sends: one output of a step, through one of its terms. */
export interface Way {
  step: number;
  term: number;
  output: number;
}

/** What one output of a step sends; null where it is not known apart from what the others send. */
function sentBy(call: Call, flow: Flow, { step, term, output }: Way): Arr | null {
  const { out } = flow.sent[step]![term]!;
  const { outputs, terms } = call.steps[step]!;
  if (outputs.length === 1) return out;
  const [v, jacobian] = [reals(flow.arrived[step]![output]!), terms[term]!.jacobians[output]];
  const part = v && jacobian && product(v, jacobian);
  return part ? { shape: out.shape, dtype: out.dtype, data: part.map(encode) } : null;
}

/** What was sent along some ways so far, added up if it is known; null before anything was. */
export function sentSoFar(call: Call, flow: Flow, ways: Way[], position: number): { sum: Arr | null; zero: boolean } | null {
  const past = ways.filter(({ step, output }) => step < position && flow.arrived[step]![output] !== null);
  if (!past.length) return null;
  const outs = past.map((way) => sentBy(call, flow, way));
  if (outs.includes(null)) return { sum: null, zero: false };
  const sum = outs.reduce((sum, out) => total(sum, out!), null)!;
  return { sum, zero: isZero(sum) };
}
