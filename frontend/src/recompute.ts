// A call computed anew, after its inputs have been changed: values, local Jacobians and gradients, by the statements that
// Python has written down. What cannot be known here is blank, and says why: a number that the program would not give now
// is never shown.
import { arrayAt, changeable } from "./inputs";
import { add, replay, unit } from "./replay";
import { count, reals, type Account, type Arr, type Call, type Jacobian, type Leaf, type Line, type Step, type Tensor, type Term } from "./trace";
import { held, raw, stated, type Numbers, type Statement } from "./words";

/** New numbers of tensors and constants, by their places: the tensors of the call come first, then its constants. */
export type Changes = ReadonlyMap<number, number[]>;

export interface Recomputed {
  call: Call;
  /** For each place that is not known now, why. */
  unknown: ReadonlyMap<number, string>;
  /** For each place, its numbers now. */
  values: (Arr | null)[];
}

export type Answer = Recomputed | { why: string };

declare global {
  /** There if the page has the script that computes. */
  var recompute: ((call: Call, statements: Statement[], changes: Changes) => Answer) | undefined;
}

type State = { numbers: Numbers | null; changed: boolean; why?: undefined } | { why: string };

const text = (error: unknown) => (error instanceof Error ? error.message : String(error));
/** A tensor or the value of a constant: what has a shape and a dtype. */
const likeAt = (call: Call, place: number) => call.tensors[place] ?? arrayAt(call, place);
const same = (a: number[], b: number[]) => a.length === b.length && a.every((value, i) => Object.is(value, b[i]));

function numbersOf(array: Arr | null): Numbers | null {
  const data = array && reals(array);
  return data && { shape: array.shape, dtype: array.dtype, data: data.map((value) => held(value, array.dtype)) };
}

/** Why a call cannot be computed anew at all; null if it can. */
function refusal(call: Call): string | null {
  if (!call.account) return "the program was not recorded, so it is not known what its numbers depend on";
  return call.account.why;
}

export function recompute(call: Call, statements: Statement[], changes: Changes): Answer {
  const why = refusal(call);
  if (why !== null) return { why };
  try {
    const forward = new Forward(call, call.account!, statements, changes);
    forward.run();
    return new Backward(forward, statements).made();
  } catch (error) {
    return { why: text(error) };
  }
}

/** The values, line by line. */
class Forward {
  states: State[];
  private barrier: string | null = null;
  private used = new Set<number>();

  constructor(readonly call: Call, readonly account: Account, private statements: Statement[], private changes: Changes) {
    const arrays = [...call.tensors.map((tensor) => tensor.data), ...account.constants.map((constant) => constant.value)];
    this.states = arrays.map((array, i): State => {
      const constant = account.constants[i - call.tensors.length];
      if (constant?.why && changes.size) return { why: constant.why };
      return { numbers: numbersOf(array), changed: false };
    });
    for (const [place, data] of changes) {
      const { shape, dtype } = likeAt(call, place)!;
      if (!changeable(call).has(place)) throw new Error("this is no input of the program");
      if (data.length !== count(shape)) throw new Error(`${count(shape)} numbers are needed, and there are ${data.length}`);
      this.states[place] = { numbers: { shape, dtype, data: data.map((value) => held(value, dtype)) }, changed: true };
    }
  }

  run(): void {
    if (!this.changes.size) return;
    for (const line of this.account.lines) {
      if (line.look) this.look(line);
      else this.line(line);
      line.inputs?.forEach((place) => this.used.add(place));
    }
  }

  private look(line: Line): void {
    if (this.barrier !== null) return;
    const [place] = line.inputs!;
    if (place === undefined) {
      this.stop(line.why!);
      return;
    }
    const state = this.states[place]!;
    if (state.why !== undefined) this.stop(state.why);
    else if (state.changed && !same(state.numbers!.data, numbersOf(arrayAt(this.call, place))?.data ?? [])) {
      const where = line.place ? ` on line ${line.place.line}` : "";
      this.stop(`the program asks for a number${where} which is another one now: what it does then is not known`);
    }
  }

  /** From here on the program may do something else: all that is not known yet stays unknown. */
  private stop(why: string): void {
    this.barrier = why;
    this.call.tensors.forEach((tensor, i) => {
      if (tensor.is_leaf && !this.used.has(i) && !this.changes.has(i)) this.states[i] = { why };
    });
  }

  private line(line: Line): void {
    const found = this.results(line);
    line.outputs.forEach((place, i) => {
      if (typeof found === "string") this.states[place] = { why: found };
      else if (found && !this.changes.has(place)) this.states[place] = { numbers: found[i]!, changed: true };
    });
  }

  /** What a line gives now, or why that is not known; null if it is what it was. */
  private results(line: Line): (Numbers | null)[] | string | null {
    if (this.barrier !== null) return this.barrier;
    if (line.inputs === null) return line.why!;
    const states = line.inputs.map((place) => this.states[place]!);
    const unknown = states.find((state) => state.why !== undefined);
    if (unknown) return unknown.why!;
    if (!states.some((state) => (state as { changed: boolean }).changed)) return null;
    if (line.statement === null) return line.why!;
    const inputs = this.numbers(line.inputs);
    if (typeof inputs === "string") return inputs;
    try {
      return stated(this.statements[line.statement]!, inputs);
    } catch (error) {
      return text(error);
    }
  }

  /** The numbers at places, or why they are not all there. */
  numbers(places: number[]): Numbers[] | string {
    const found: Numbers[] = [];
    for (const place of places) {
      const state = this.states[place]!;
      if (state.why !== undefined) return state.why;
      if (!state.numbers) return this.absent(place);
      found.push(state.numbers);
    }
    return found;
  }

  private absent(place: number): string {
    const array = likeAt(this.call, place);
    if (array?.dtype.startsWith("complex")) return "complex numbers are not computed here";
    return array ? `the trace does not hold all ${count(array.shape)} elements of an operand: record with values=${count(array.shape)}` : "an operand was not kept";
  }

  /** A value as the page shows it. */
  shown(place: number): Arr | null {
    const [state, recorded] = [this.states[place]!, arrayAt(this.call, place)];
    if (state.why !== undefined) {
      const like = likeAt(this.call, place);
      return like ? { shape: like.shape, dtype: like.dtype, unknown: state.why } : null;
    }
    return state.changed ? raw(state.numbers!) : recorded;
  }

  isChanged(place: number): boolean {
    const state = this.states[place]!;
    return state.why !== undefined || state.changed;
  }
}

/** How large a leaf and its gradient are; NaN where that is not known. */
function sizes(call: Call, leaf: number): { norm: number; weight: number; zeros: number } {
  const { grad, tensor } = call.leaves[leaf]!;
  const [gradient, weight] = [reals(grad), reals(call.tensors[tensor]!.data ?? {})];
  const norm = (numbers: number[] | null) => (numbers ? Math.hypot(...numbers) : NaN);
  return { norm: norm(gradient), weight: norm(weight), zeros: gradient ? gradient.filter((value) => value === 0).length / Math.max(1, gradient.length) : 0 };
}

type Sum = { data: number[]; changed: boolean; why?: undefined } | { why: string };

/** The gradients, step by step. */
class Backward {
  private call: Call;
  private sums = new Map<number, Sum>();
  private recordedSums = new Map<number, number[]>();
  private lines = new Map<number, Line>();

  constructor(private forward: Forward, private statements: Statement[]) {
    this.call = forward.call;
    for (const line of forward.account.lines) line.outputs.forEach((place) => this.lines.set(place, line));
  }

  made(): Recomputed {
    const { forward, call } = this;
    call.outputs.forEach((output, k) => this.put(output.tensor, this.start(k)));
    const tensors = call.tensors.map((tensor, i) => this.tensor(tensor, i));
    const steps = call.steps.map((step) => (step.phase === "backward" ? this.step(step) : step));
    const touched = forward.states.some((state) => state.why !== undefined || state.changed);
    const { kind, place, outputs, leaves, cost, stops } = call;
    // Only what does not tell of numbers is taken over: a field that is not named here is one that the page does not know.
    const made: Call = touched ? { text: call.text, kind, place, outputs, leaves, cost, account: forward.account, tensors, steps, stops, said: null, gradients: null, loss: null, findings: [] } : call;
    if (touched) {
      made.leaves = call.leaves.map((_, i) => this.leaf(made, i));
      made.gradients = call.gradients && call.gradients.map(({ group }, i) => ({ ...sizes(made, i), group }));
    }
    const unknown = new Map(forward.states.flatMap((state, i) => (state.why === undefined ? [] : [[i, state.why] as const])));
    return { call: made, unknown, values: forward.states.map((_, i) => forward.shown(i)) };
  }

  /** v, which may follow from what the program has computed. */
  private start(k: number): Sum {
    const data = reals(this.call.outputs[k]!.gradient);
    const place = this.forward.account.v[k] ?? null;
    if (place === null || !this.forward.isChanged(place)) return data ? { data, changed: false } : { why: "v is not known in full" };
    const numbers = this.forward.numbers([place]);
    return typeof numbers === "string" ? { why: numbers } : { data: numbers[0]!.data, changed: true };
  }

  private tensor(tensor: Tensor, place: number): Tensor {
    const changed = this.forward.isChanged(place);
    const line = this.lines.get(place);
    const stale = line?.inputs == null || line.inputs.some((input) => this.forward.isChanged(input));
    const saved = tensor.saved.map((each) => {
      if (each.tensor !== null) return { ...each, value: this.forward.shown(each.tensor) };
      return { ...each, value: stale ? this.operand(line?.inputs ?? [], each.value) : each.value };
    });
    return { ...tensor, data: changed ? this.forward.shown(place) : tensor.data, saved };
  }

  /** What stands now in the place of an operand that a rule has saved; null if it is none. */
  private operand(inputs: number[], saved: Arr | null): Arr | null {
    const [wanted, text] = [numbersOf(saved), JSON.stringify(saved)];
    const place = wanted ? inputs.find((each) => JSON.stringify(arrayAt(this.call, each)) === text) : undefined;
    return place === undefined ? null : this.forward.shown(place);
  }

  private put(tensor: number, sum: Sum): void {
    this.sums.set(tensor, sum);
    if (sum.why === undefined && !sum.changed) this.recordedSums.set(tensor, sum.data);
  }

  private array(sum: Sum, place: number): Arr {
    const { shape, dtype } = this.call.tensors[place]!;
    return sum.why !== undefined ? { shape, dtype, unknown: sum.why } : raw({ shape, dtype, data: sum.data });
  }

  private step(step: Step): Step {
    const vs = step.outputs.map((place, k) => (step.v[k] === null ? null : this.arrived(step, place, k)));
    const v = step.outputs.map((place, k) => (vs[k] === null ? null : vs[k]!.why === undefined && !vs[k]!.changed ? step.v[k]! : this.array(vs[k]!, place)));
    const fresh = step.op === null ? [] : step.terms.map((term) => this.term(step, term, vs));
    return { ...step, v, terms: fresh, note: null };
  }

  /** What has arrived at an output; a hook of the program may have changed it on its way. */
  private arrived(step: Step, place: number, k: number): Sum {
    const sum = this.sums.get(place);
    const told = reals(step.v[k]!);
    const before = this.recordedSums.get(place);
    if (!sum) return { why: "it is not known what has arrived" };
    if (sum.why !== undefined) return sum;
    if (!told) return { why: "the trace does not hold all of the gradient" };
    const scale = Math.max(...told.map(Math.abs), 1e-30);
    if (before && before.some((value, i) => Math.abs(value - told[i]!) > 1e-4 * scale)) return { why: "a hook has changed the gradient" };
    return sum;
  }

  private term(step: Step, term: Term, vs: (Sum | null)[]): Term {
    const out = this.out(step, term, vs);
    const before = this.sums.get(term.to) ?? null;
    const told = [reals(term.out), this.recordedSums.get(term.to) ?? null];
    const after = before === null ? out : this.added(before, out, this.call.tensors[term.to]!.dtype);
    this.sums.set(term.to, after);
    if (told[0]) this.recordedSums.set(term.to, add(told[1] ?? undefined, told[0]));
    const kept = (sum: Sum, array: Arr) => (sum.why === undefined && !sum.changed ? array : this.array(sum, term.to));
    const fresh = this.isFresh(step);
    return {
      ...term,
      out: kept(out, term.out),
      before: before && term.before && kept(before, term.before),
      after: kept(after, term.after),
      jacobians: fresh ? this.jacobians(step, term) : term.jacobians,
      missing: fresh && term.missing === null && this.numbersOf(step) === null ? "run again" : term.missing,
      numbers: fresh || (out.why === undefined && out.changed) || out.why !== undefined ? [] : term.numbers,
    };
  }

  private added(a: Sum, b: Sum, dtype: string): Sum {
    if (a.why !== undefined) return a;
    if (b.why !== undefined) return b;
    return { data: add(a.data, b.data).map((value) => held(value, dtype)), changed: a.changed || b.changed };
  }

  /** Whether the values that a step's rule needs are other ones now. */
  private isFresh(step: Step): boolean {
    const line = this.lines.get(step.outputs[0]!);
    const places = [...(line?.inputs ?? []), ...step.outputs];
    return line?.inputs == null ? this.forward.isChanged(step.outputs[0]!) : places.some((place) => this.forward.isChanged(place));
  }

  private out(step: Step, term: Term, vs: (Sum | null)[]): Sum {
    const unknown = vs.find((v) => v?.why !== undefined);
    if (unknown) return unknown as Sum;
    const moved = vs.some((v) => (v as { changed: boolean } | null)?.changed);
    if (!moved && !this.isFresh(step)) {
      const data = reals(term.out);
      return data ? { data, changed: false } : { why: "the trace does not hold all of the gradient" };
    }
    const found = this.pulled(step, vs.map((v) => (v as { data: number[] } | null)?.data ?? null), term.input);
    return typeof found === "string" ? { why: found } : { data: found.data, changed: true };
  }

  private numbersOf(step: Step): { line: Line; numbers: Numbers[] } | null {
    const line = this.lines.get(step.outputs[0]!);
    if (!line?.inputs || line.pull === null) return null;
    const numbers = this.forward.numbers([...line.inputs, ...line.outputs]);
    return typeof numbers === "string" ? null : { line, numbers };
  }

  /** What a step's rule makes of cotangents for one of its inputs, or why that is not known. */
  private pulled(step: Step, vs: (number[] | null)[], input: number): Numbers | string {
    const line = this.lines.get(step.outputs[0]!);
    if (!line?.inputs || line.pull === null) return line?.why ?? "its rule is not known";
    const numbers = this.forward.numbers([...line.inputs, ...line.outputs]);
    if (typeof numbers === "string") return numbers;
    const gs = line.outputs.map((place, i): Numbers => {
      const { shape, dtype } = numbers[line.inputs!.length + i]!;
      const k = step.outputs.indexOf(place);
      return { shape, dtype, data: vs[k] ?? new Array<number>(count(shape)).fill(0) };
    });
    try {
      const result = stated(this.statements[line.pull]!, [...gs, ...numbers])[input];
      const { shape, dtype } = numbers[input]!;
      return result ?? { shape, dtype, data: new Array<number>(count(shape)).fill(0) };
    } catch (error) {
      return text(error);
    }
  }

  /** The local Jacobians, as Python has them: the rule of unit vectors, row by row; of a diagonal one, of ones. */
  private jacobians(step: Step, term: Term): (Jacobian | null)[] {
    return term.jacobians.map((jacobian, k) => {
      if (!jacobian) return null;
      const units = (row: number[]) => step.outputs.map((_, at) => (at === k ? row : null));
      const rows =
        jacobian.form === "diagonal"
          ? [new Array<number>(jacobian.rows).fill(1)]
          : Array.from({ length: jacobian.rows }, (_, i) => Array.from({ length: jacobian.rows }, (_, j) => Number(i === j)));
      const found = rows.map((row) => this.pulled(step, units(row), term.input));
      if (found.some((row) => typeof row === "string")) return null;
      return { ...jacobian, data: found.flatMap((row) => raw(row as Numbers).data) };
    });
  }

  private leaf(made: Call, index: number): Leaf {
    const leaf = this.call.leaves[index]!;
    const sum = this.sums.get(leaf.tensor);
    const jacobians = this.leafJacobians(made, index);
    const missing = jacobians.every((each) => each) ? leaf.missing : (leaf.missing ?? "run again");
    if (!sum || (sum.why === undefined && !sum.changed)) return { ...leaf, jacobians, missing };
    const before = leaf.grad_before && reals(leaf.grad_before);
    const was: Sum = before ? { data: before, changed: false } : { why: "the trace does not hold all of the gradient" };
    const after = leaf.grad_before ? this.added(was, sum, leaf.grad.dtype) : sum;
    const grad_after = leaf.grad_after && this.array(after, leaf.tensor);
    return { ...leaf, grad: this.array(sum, leaf.tensor), grad_after, jacobians, missing };
  }

  private leafJacobians(made: Call, index: number): (Jacobian | null)[] {
    return this.call.leaves[index]!.jacobians.map((jacobian, k) => {
      if (!jacobian) return null;
      const whole = made.steps.every((step) => step.terms.every((term) => term.jacobians.every((each, at) => each !== null || step.v[at] === null)));
      if (!whole) return null;
      const rows = Array.from({ length: jacobian.rows }, (_, i) => replay(made, unit(made, k, i)).grads[index]!.data!);
      return { ...jacobian, data: rows.flat() };
    });
  }
}
