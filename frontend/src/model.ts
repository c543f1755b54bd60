// What the page asks of one call again and again: where things are, and what may be stepped over together.
import { ancestors, isGroup, opening, tree, visible, walk, type Group, type Item } from "./fold";
import { array } from "./format";
import { total, type Flow } from "./replay";
import type { Arr, Call, Finding, Place, Tensor, Trace } from "./trace";

/** A place to stop at: one step, or all steps in a row that a closed group hides. Steps count from 1. */
export interface Unit {
  first: number;
  last: number;
  item: Item;
}

export interface Drawing {
  items: Item[];
  /** For every tensor the item in which it is drawn. */
  shown: Item[];
  units: Unit[];
}

export class Model {
  readonly root: Group;
  readonly homes: Map<number, Group>;
  readonly groups: Map<string, Group>;
  /** Indices into steps, per tensor: what made it, and what sent its gradient on. -1: never. */
  readonly forward: number[];
  readonly backward: number[];
  /** Indices into steps and terms of what is sent to each tensor. */
  readonly sentTo: { step: number; term: number }[][];
  readonly firstBackward: number;
  readonly multiple: Map<number, number[]>;
  private opened: Set<string> | null = null;
  private readonly drawings = new Map<string, Drawing>();

  constructor(
    readonly trace: Trace,
    readonly call: Call,
  ) {
    this.root = tree(trace, call);
    const { groups, homes } = walk(this.root);
    this.homes = homes;
    this.groups = new Map(groups.map((group) => [group.id, group]));
    this.forward = call.tensors.map(() => -1);
    this.backward = call.tensors.map(() => -1);
    this.sentTo = call.tensors.map(() => []);
    call.steps.forEach((step, at) => {
      const index = step.phase === "forward" ? this.forward : this.backward;
      for (const tensor of step.outputs) index[tensor] = at;
      step.terms.forEach((term, k) => this.sentTo[term.to]!.push({ step: at, term: k }));
    });
    const begin = call.steps.findIndex((step) => step.phase === "backward");
    this.firstBackward = begin < 0 ? call.steps.length : begin;
    this.multiple = new Map();
    call.tensors.forEach((tensor, i) => {
      if (tensor.op !== null) this.multiple.set(tensor.node, [...(this.multiple.get(tensor.node) ?? []), i]);
    });
    for (const [node, tensors] of this.multiple) if (tensors.length < 2) this.multiple.delete(node);
  }

  opening(): Set<string> {
    const failed = this.trace.error?.tensor;
    return (this.opened ??= opening(this.root, this.homes, [
      ...(typeof failed === "number" && this.call.tensors[failed] ? [failed] : []),
      ...this.call.findings.slice(0, 50).map((finding) => finding.tensor),
    ]));
  }

  drawing(open: ReadonlySet<string>): Drawing {
    const key = [...open].sort().join(" ");
    let drawing = this.drawings.get(key);
    if (!drawing) {
      drawing = this.draw(open);
      this.drawings.set(key, drawing);
    }
    return drawing;
  }

  private draw(open: ReadonlySet<string>): Drawing {
    const items = visible(this.root, open);
    const shown: Item[] = [];
    for (const item of items) {
      const inside: Item[] = [item];
      for (const part of inside) {
        if (isGroup(part)) inside.push(...part.children);
        else shown[part] = item;
      }
    }
    const units: Unit[] = [];
    this.call.steps.forEach((step, at) => {
      const item = shown[step.outputs[0]!]!;
      const before = units.at(-1);
      const same = before && isGroup(item) && before.item === item && this.call.steps[before.last - 1]!.phase === step.phase;
      if (same) before.last = at + 1;
      else units.push({ first: at + 1, last: at + 1, item });
    });
    return { items, shown, units };
  }

  /** The position at which a finding was born. */
  birth({ step, tensor }: Finding): number {
    return Math.max(0, step ?? Math.max(this.forward[tensor]!, this.backward[tensor]!)) + 1;
  }

  ancestors(tensor: number): Group[] {
    return ancestors(this.homes, tensor);
  }

  tensors(item: Item): number[] {
    const out: number[] = [];
    const inside: Item[] = [item];
    for (const part of inside) {
      if (isGroup(part)) inside.push(...part.children);
      else out.push(part);
    }
    return out;
  }

  name(tensor: number): string {
    return this.call.tensors[tensor]!.name;
  }

  line(place: Place | null): string {
    return place ? `line ${place.line}` : "line not recorded";
  }

  isFloat(): boolean {
    return this.call.tensors.every((tensor: Tensor) => tensor.dtype === "float64");
  }
}

/** A tensor's .grad at a position: None, or what was there, until its gradient has arrived complete. */
export function gradAt(model: Model, flow: Flow, tensor: number, position: number): { text: string; value: Arr | null; written: boolean } {
  const at = model.call.leaves.findIndex((leaf) => leaf.tensor === tensor);
  if (at < 0) return { text: "None", value: null, written: false };
  const leaf = model.call.leaves[at]!;
  const step = model.backward[tensor]!;
  const ran = step >= 0 && step < position;
  const value = ran ? total(leaf.grad_before, flow.grads[at]!) : leaf.grad_before;
  return { text: array(value, "python", 22), value, written: ran };
}

/** The unit in which a position lies, as an index; -1 before the first step. */
export function unitAt(units: Unit[], position: number): number {
  let [low, high] = [0, units.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (units[middle]!.first <= position) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

const WORDS: Record<Finding["kind"], string> = {
  nan: "NaN",
  inf: "inf",
  zero: "zero gradient",
  dead: "dead activation",
  tiny: "tiny gradient",
  huge: "huge gradient",
  saturated: "saturated activation",
  missing: "no gradient",
  diverged: "diverged loss",
  double: "probabilities for logits",
};

export function findingName(kind: Finding["kind"]): string {
  return WORDS[kind];
}

export function isAlarm(kind: Finding["kind"]): boolean {
  return kind === "nan" || kind === "inf";
}
