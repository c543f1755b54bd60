// The stages of a network, by its module tree: what a reader would draw on a board, at most twelve.
import type { Model } from "../model";
import { gradSoFar } from "./lines";
import type { Flow } from "../replay";
import type { Arr, Call, Scope, Trace } from "../trace";

export const MOST_STAGES = 12;
/** A tree with fewer parts is opened one level deeper. */
const FEWEST = 4;

export interface Stage {
  /** A scope's index, or a text that tells stages apart. */
  key: string;
  name: string;
  /** The class, with its sizes where they are known: Linear(3, 5). */
  type: string;
  /** The scopes that it is made of; none where operations stand outside of modules. */
  scopes: number[];
  /** What it made, in order, without leaves. */
  tensors: number[];
  /** What it hands on. */
  result: number;
  /** How many stages it stands for, where there are too many. */
  folded: number;
}

const last = (name: string) => name.split(".").at(-1)!;

function chain(trace: Trace, scope: number | null): number[] {
  const found: number[] = [];
  for (let at = scope; at !== null; at = trace.scopes[at]!.parent) if (trace.scopes[at]!.kind === "module") found.unshift(at);
  return found;
}

/** The class and what its weight says of its sizes: Linear(3, 5), Embedding(27, 32), Conv2d(3, 16). */
function typeOf({ tensors }: Call, { name, type }: Scope): string {
  const weight = tensors.find((tensor) => tensor.op === null && tensor.name === `${name}.weight`)?.shape;
  if (!weight || weight.length < 2 || !/^(Linear|Embedding|Conv\w*)$/.test(type)) return type;
  const [first, second] = type === "Embedding" || type.startsWith("ConvTranspose") ? weight : [weight[1], weight[0]];
  return `${type}(${first}, ${second})`;
}

/** Runs of tensors that lie in the same part of the tree, as deep as `depth` says for it. */
function runs(trace: Trace, call: Call, open: ReadonlySet<number>): Stage[] {
  const found: Stage[] = [];
  call.tensors.forEach((tensor, i) => {
    if (tensor.op === null) return;
    const path = chain(trace, tensor.scope);
    const scope = path.find((each) => !open.has(each)) ?? null;
    const key = scope === null ? "" : String(scope);
    const before = found.at(-1);
    if (before && before.key === key) {
      before.tensors.push(i);
      before.result = i;
    } else {
      const of = scope === null ? null : trace.scopes[scope]!;
      found.push({ key, name: of ? of.name + (of.nth > 1 ? ` (${of.nth})` : "") : "", type: of ? typeOf(call, of) : "", scopes: scope === null ? [] : [scope], tensors: [i], result: i, folded: 1 });
    }
  });
  return found;
}

/** Operations between modules: those that combine modules of their line are one stage with them, others belong to the one before. */
function joined(call: Call, all: Stage[]): Stage[] {
  const line = (i: number) => `${call.tensors[i]!.place?.source} ${call.tensors[i]!.place?.line}`;
  const found: Stage[] = [];
  const end = all.findLastIndex(({ scopes }) => scopes.length > 0);
  all.forEach((stage, at) => {
    if (stage.scopes.length || !found.length || at > end) {
      found.push(stage);
      return;
    }
    const used = new Set(stage.tensors.flatMap((i) => call.tensors[i]!.inputs));
    const here = line(stage.tensors[0]!);
    const combines = (other: Stage) => other.scopes.length === 1 && used.has(other.result) && other.tensors.every((i) => line(i) === here);
    const parts: Stage[] = [];
    while (found.length && combines(found.at(-1)!)) parts.unshift(found.pop()!);
    if (parts.length === 1) found.push(parts.pop()!);
    const base = parts.length ? parts : [found.pop()!];
    found.push({ ...merged(base), tensors: [...base, stage].flatMap(({ tensors }) => tensors), result: stage.result });
  });
  return found;
}

function merged(base: Stage[]): Stage {
  if (base.length === 1) return base[0]!;
  const classes = [...new Set(base.map(({ type }) => type.replace(/\(.*/, "")))];
  return {
    key: base.map(({ key }) => key).join("+"), name: base.map(({ name }, k) => (k ? last(name) : name)).join(" + "), type: classes.length === 1 ? `${base.length} × ${classes[0]}` : classes.join(" + "),
    scopes: base.flatMap(({ scopes }) => scopes), tensors: [], result: 0, folded: 1,
  };
}

/** What follows the last module is the loss. */
function withLoss(call: Call, all: Stage[]): Stage[] {
  const end = all.findLastIndex(({ scopes }) => scopes.length > 0);
  const rest = all.slice(end + 1).flatMap(({ tensors }) => tensors);
  if (!rest.length) return all;
  const output = call.outputs[0]!.tensor;
  const result = rest.includes(output) ? output : rest.at(-1)!;
  const { name, op } = call.tensors[result]!;
  return [...all.slice(0, end + 1), { key: "loss", name, type: op === "nll_loss" ? "cross_entropy" : op ?? "", scopes: [], tensors: rest, result, folded: 1 }];
}

/** Of a longest run of one class, or else of all, the middle becomes one stage. */
function fewer(all: Stage[]): Stage[] {
  if (all.length <= MOST_STAGES) return all;
  const kind = ({ type }: Stage) => type.replace(/\(.*/, "");
  let best = [0, 0];
  for (let i = 0; i < all.length; ) {
    let end = i + 1;
    while (end < all.length && kind(all[end]!) === kind(all[i]!)) end++;
    if (end - i > best[1]! - best[0]!) best = [i, end];
    i = end;
  }
  const out = all.length - MOST_STAGES + 1;
  const [start, end] = best[1]! - best[0]! >= out + 2 ? best as [number, number] : [0, all.length];
  const first = start + Math.floor((end - start - out) / 2);
  const middle = all.slice(first, first + out);
  const types = new Set(middle.map(kind));
  const one: Stage = {
    key: `${middle[0]!.key}…`, name: `${middle[0]!.name} … ${last(middle.at(-1)!.name)}`, type: `${out} × ${types.size === 1 ? [...types][0] : "modules"}`,
    scopes: middle.flatMap(({ scopes }) => scopes), tensors: middle.flatMap(({ tensors }) => tensors), result: middle.at(-1)!.result, folded: out,
  };
  return [...all.slice(0, first), one, ...all.slice(first + out)];
}

/** Names without the name of the model that they all are parts of, if what is left says something. */
function short(all: Stage[]): Stage[] {
  const modules = all.filter(({ scopes }) => scopes.length > 0);
  const prefix = /^\w+\./.exec(modules[0]?.name ?? "")?.[0];
  const fits = prefix && modules.every(({ name }) => name.startsWith(prefix) && /^[A-Za-z_]/.test(name.slice(prefix.length)));
  return fits ? all.map((stage) => (stage.scopes.length ? { ...stage, name: stage.name.slice(prefix.length) } : stage)) : all;
}

function staged(trace: Trace, call: Call): Stage[] {
  const open = new Set<number>();
  for (;;) {
    const all = withLoss(call, joined(call, runs(trace, call, open)));
    const modules = all.filter(({ scopes }) => scopes.length > 0);
    // The largest part that has parts is opened until there are enough.
    const next = modules.length >= FEWEST ? undefined : modules.filter(({ scopes }) => scopes.length === 1 && trace.scopes.some(({ parent, kind }) => parent === scopes[0] && kind === "module")).sort((a, b) => b.tensors.length - a.tensors.length)[0];
    if (!next) return fewer(short(all));
    open.add(next.scopes[0]!);
  }
}

const known = new WeakMap<Call, Stage[]>();

export function stages(trace: Trace, call: Call): Stage[] {
  let found = known.get(call);
  if (!found) known.set(call, (found = staged(trace, call)));
  return found;
}

/** Whether a call is of a network: one number by parameters of modules. */
export function isNetwork({ trace, call }: { trace: Trace; call: Call }): boolean {
  return call.gradients !== null && call.tensors.some(({ scope }) => scope !== null && trace.scopes[scope]!.kind === "module");
}

/** In a network, the part that made a tensor. */
export function partsOf(trace: Trace, call: Call): ((tensor: number) => unknown) | undefined {
  if (!isNetwork({ trace, call })) return undefined;
  const all = stages(trace, call);
  return (tensor) => stageOf(all, call, tensor);
}

/** The stage that made a tensor; for a leaf, the one that uses it first. */
export function stageOf(all: Stage[], call: Call, tensor: number): Stage | undefined {
  const op = call.tensors[tensor]!.op;
  return all.find(({ tensors }) => (op === null ? tensors.some((i) => call.tensors[i]!.inputs.includes(tensor)) : tensors.includes(tensor)));
}

/** What went into the first stage and needs no gradient: its rule saved it. */
export function inputOf(trace: Trace, call: Call): { name: string; value: Arr } | null {
  const first = stages(trace, call)[0];
  for (const i of first?.tensors ?? []) {
    const saved = call.tensors[i]!.saved.find(({ name, tensor, value }) => tensor === null && value !== null && ["self", "indices"].includes(name));
    if (saved) return { name: call.loss?.examples ?? "the input", value: saved.value! };
  }
  return null;
}

/** The gradient that has arrived at what a stage hands on. */
export function gradOf(call: Call, flow: Flow, stage: Stage, position: number): Arr | null {
  return gradSoFar(call, flow, stage.result, position);
}

/** The position at which a stage's first step of backward has run; null where it has none. */
export function positionIn(model: Model, stage: Stage): number | null {
  const steps = stage.tensors.map((i) => model.backward[i]!).filter((at) => at >= model.firstBackward);
  return steps.length ? Math.min(...steps) + 1 : null;
}
