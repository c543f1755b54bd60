// The numbers that travel through the tape: those of the recorded call, or those of another v, computed here.
import { count, encode, entry, product, reals, type Arr, type Call, type Value } from "./trace";

export interface Sent {
  out: Arr;
  before: Arr | null;
  after: Arr;
}

/** What flows when one v is sent through the tape; lists run parallel to the call's steps, terms and leaves. */
export interface Flow {
  v: Arr[];
  arrived: (Arr | null)[][];
  sent: Sent[][];
  grads: Arr[];
  /** Whether this is not the call in the script. */
  whatIf: boolean;
  /** Whether the quiz hides a part of it. */
  hidden?: boolean;
}

export function recorded(call: Call): Flow {
  return {
    v: call.outputs.map((output) => output.gradient),
    arrived: call.steps.map((step) => step.v),
    sent: call.steps.map((step) => step.terms),
    grads: call.leaves.map((leaf) => leaf.grad),
    whatIf: false,
  };
}

/** Why another v cannot be sent through this call's tape here, or null if it can. */
export function obstacle(call: Call): string | null {
  if (call.outputs.some((output) => !reals(output.gradient))) {
    return call.outputs.some((output) => output.gradient.data)
      ? "v is complex"
      : `v has ${count(call.outputs.find((output) => !output.gradient.data)!.gradient.shape)} elements`;
  }
  for (const step of call.steps) {
    for (const term of step.terms) {
      if (term.jacobians.some((jacobian, k) => !jacobian && step.v[k] !== null)) {
        const [rows, columns] = [step.outputs[term.jacobians.indexOf(null)]!, term.to].map((tensor) => count(call.tensors[tensor]!.shape));
        const why = /elements/.test(term.missing ?? "") ? ` (record with jacobian=${rows! * columns!})` : term.missing ? `: ${term.missing}` : "";
        return `a ${rows}×${columns} local Jacobian, of ${step.node}, was not stored${why}`;
      }
      if (term.jacobians.some((jacobian) => jacobian && !reals(jacobian))) return "the tape is complex";
    }
  }
  return null;
}

function pack(numbers: number[], shape: number[], dtype: string): Arr {
  return { shape, dtype, data: numbers.map(encode) };
}

export function add(before: number[] | undefined, out: number[]): number[] {
  return before ? before.map((value, i) => value + out[i]!) : out;
}

/** Another v, sent through the stored local Jacobians. Linear in v, so exact up to rounding. */
export function replay(call: Call, vs: number[][]): Flow {
  const gathered = new Map<number, number[]>();
  call.outputs.forEach((output, k) => gathered.set(output.tensor, add(gathered.get(output.tensor), vs[k]!)));
  const dress = (numbers: number[], tensor: number) =>
    pack(numbers, call.tensors[tensor]!.shape, call.tensors[tensor]!.dtype);

  const arrived: (Arr | null)[][] = [];
  const sent: Sent[][] = [];
  for (const step of call.steps) {
    const v = step.phase === "backward" ? step.outputs.map((tensor) => gathered.get(tensor) ?? null) : [];
    arrived.push(v.map((numbers, k) => numbers && dress(numbers, step.outputs[k]!)));
    sent.push(
      step.terms.map((term) => {
        let out: number[] = new Array<number>(count(call.tensors[term.to]!.shape)).fill(0);
        let none = true;
        term.jacobians.forEach((jacobian, k) => {
          const weights = v[k];
          if (!jacobian || !weights) return;
          const part = product(weights, jacobian)!;
          out = none ? part : add(out, part);
          none = false;
        });
        const before = gathered.get(term.to);
        const after = add(before, out);
        gathered.set(term.to, after);
        return { out: dress(out, term.to), before: before ? dress(before, term.to) : null, after: dress(after, term.to) };
      }),
    );
  }
  const grads = call.leaves.map((leaf) =>
    dress(gathered.get(leaf.tensor) ?? new Array<number>(count(leaf.grad.shape)).fill(0), leaf.tensor),
  );
  return { v: call.outputs.map((output, k) => dress(vs[k]!, output.tensor)), arrived, sent, grads, whatIf: true };
}

/** Row i of the Jacobian of output k by a leaf: stored, or made by sending e_i through the tape; null if neither can be. */
export function jacobianRow(call: Call, leaf: number, k: number, i: number, able: boolean): Value[] | null {
  const stored = call.leaves[leaf]!.jacobians[k];
  if (stored) return Array.from({ length: stored.cols }, (_, j) => entry(stored, i, j));
  if (!able) return null;
  return reals(replay(call, unit(call, k, i)).grads[leaf]!);
}

/** The v's that pick element i of output k. */
export function unit(call: Call, k: number, i: number): number[][] {
  return call.outputs.map((output, at) =>
    Array.from({ length: count(output.gradient.shape) }, (_, j) => (at === k && i === j ? 1 : 0)),
  );
}

/** The sum of the leaf's gradient before the call and what the call computed. */
export function total(before: Arr | null, grad: Arr): Arr {
  if (before === null) return grad;
  const [a, b] = [reals(before), reals(grad)];
  return a && b ? pack(a.map((value, i) => value + b[i]!), grad.shape, grad.dtype) : grad;
}
