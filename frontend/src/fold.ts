// Folding: a tree of groups over the tensors of a call, and which of them are open.
//
// Tensors come in the order in which they were made, and a group is always an interval of that order (leaves apart,
// which only start edges), so folding never makes a cycle and never moves anything past anything else.
import { clip } from "./format";
import type { Call, Tensor, Trace } from "./trace";

export type Kind = "root" | "scope" | "line" | "loop" | "iteration" | "chain" | "part" | "leaves";

export interface Group {
  id: string;
  kind: Kind;
  label: string;
  detail: string;
  parent: Group | null;
  children: Item[];
  /** How many tensors are inside, at any depth. */
  size: number;
}

export type Item = Group | number;

export const MOST_BOXES = 150;
/** Up to so many boxes everything is open at first; of more, about as many as a screen holds. */
const ALL_BOXES = 30;
const FIRST_BOXES = 14;
const FAN = 24;
const LONGEST_PERIOD = 24;

export function isGroup(item: Item): item is Group {
  return typeof item !== "number";
}

class Builder {
  private made = 0;
  private readonly consumers: number[][];

  constructor(
    private readonly trace: Trace,
    private readonly call: Call,
  ) {
    this.consumers = call.tensors.map(() => []);
    call.tensors.forEach((tensor, i) => tensor.inputs.forEach((input) => this.consumers[input]!.push(i)));
  }

  group(kind: Kind, label: string, detail: string, children: Item[]): Group {
    const group: Group = { id: `${kind}${this.made++}`, kind, label, detail, parent: null, children, size: 0 };
    return group;
  }

  build(): Group {
    const root = this.group("root", "everything", "", []);
    const home = new Map<number, Group>();
    const depth = new Map<Group, number>([[root, 0]]);
    let open: { scope: number; group: Group }[] = [];
    this.call.tensors.forEach((tensor, i) => {
      if (!tensor.inputs.length && tensor.op === null) return;
      const chain = this.chain(tensor);
      let same = 0;
      while (same < open.length && same < chain.length && open[same]!.scope === chain[same]) same++;
      open = open.slice(0, same);
      for (const scope of chain.slice(same)) {
        const parent = open.at(-1)?.group ?? root;
        const { name, type, nth } = this.trace.scopes[scope]!;
        const group = this.group("scope", nth > 1 ? `${name} call ${nth}` : name, type === name ? "" : type, []);
        group.parent = parent;
        parent.children.push(group);
        depth.set(group, depth.get(parent)! + 1);
        open.push({ scope, group });
      }
      const parent = open.at(-1)?.group ?? root;
      parent.children.push(i);
      home.set(i, parent);
    });
    this.placeLeaves(root, home, depth);
    this.finish(root);
    return root;
  }

  private chain(tensor: Tensor): number[] {
    const chain: number[] = [];
    for (let at = tensor.scope; at !== null; at = this.trace.scopes[at]!.parent) chain.unshift(at);
    return chain;
  }

  /** A leaf lies in the smallest scope that holds all its uses. */
  private placeLeaves(root: Group, home: Map<number, Group>, depth: Map<Group, number>): void {
    const placed = new Map<Group, number[]>();
    this.call.tensors.forEach((_, i) => {
      if (home.has(i)) return;
      let at: Group | null = null;
      for (const consumer of this.consumers[i]!) {
        let other: Group = home.get(consumer) ?? root;
        at ??= other;
        while (at !== other) {
          if (depth.get(at)! >= depth.get(other)!) at = at.parent!;
          else other = other.parent!;
        }
      }
      const where = at ?? root;
      if (!placed.has(where)) placed.set(where, []);
      placed.get(where)!.push(i);
    });
    for (const [where, leaves] of placed) {
      const folded = leaves.length > FAN ? [this.parts("leaves", leaves, (a, b) => `leaves ${a} to ${b}`, "leaves")] : leaves;
      where.children.unshift(...folded);
    }
  }

  /** Folds what is inside every scope, counts, and links children to parents; with a stack of its own. */
  private finish(root: Group): void {
    const scopes: Group[] = [root];
    for (const scope of scopes) scopes.push(...scope.children.filter(isGroup).filter((child) => child.kind === "scope"));
    for (const scope of scopes.reverse()) {
      const isLeaf = (item: Item) => (isGroup(item) ? item.kind === "leaves" : this.call.tensors[item]!.op === null);
      const rest = scope.children.filter((item) => !isLeaf(item));
      scope.children = [...scope.children.filter(isLeaf), ...this.arrange(rest)];
    }
    const order: Group[] = [root];
    for (const group of order) {
      for (const child of group.children.filter(isGroup)) {
        child.parent = group;
        order.push(child);
      }
    }
    for (const group of order.reverse()) {
      group.size = group.children.reduce<number>((sum, child) => sum + (isGroup(child) ? child.size : 1), 0);
    }
  }

  private arrange(items: Item[]): Item[] {
    const lines = this.lines(items);
    const loops = this.loops(lines, (item) => this.signature(item), (part, times, last) => this.loopLabel(part, times, last));
    const chains = this.chains(loops);
    return this.narrow(chains, "part", (a, b) => `operations ${a} to ${b}`);
  }

  private line(item: Item): string | null {
    if (isGroup(item)) return null;
    const place = this.call.tensors[item]!.place;
    return place && `${place.source}:${place.line}`;
  }

  private op(item: Item): string {
    return isGroup(item) ? item.id : this.call.tensors[item]!.op ?? "leaf";
  }

  /** Neighbours from one source line become one group, unless there is nothing else. */
  private lines(items: Item[]): Item[] {
    const out: Item[] = [];
    for (let i = 0; i < items.length; ) {
      const line = this.line(items[i]!);
      let end = i + 1;
      while (line !== null && end < items.length && this.line(items[end]!) === line) end++;
      const run = items.slice(i, end);
      i = end;
      if (run.length === 1) out.push(run[0]!);
      else out.push(this.lineGroup(run));
    }
    return out.length === 1 && isGroup(out[0]!) && out[0].kind === "line" ? out[0].children : out;
  }

  private lineGroup(run: Item[]): Group {
    const place = this.call.tensors[run[0] as number]!.place!;
    const source = this.trace.sources[place.source]!;
    const text = (source.lines[place.line - source.first] ?? "").trim();
    const inner = this.loops(run, (item) => this.repeated(item), (_, times) => `line ${place.line} ×${times}`, 3);
    const only = inner.length === 1 ? inner[0] : undefined;
    if (only !== undefined && isGroup(only)) {
      only.detail = text;
      return only;
    }
    return this.group("line", `line ${place.line}`, text, this.narrow(inner, "part", (a, b) => `operations ${a} to ${b}`));
  }

  /** What a loop in one line repeats: an operation at its place in the line, since `a * b * c` is no loop. */
  private repeated(item: Item): string {
    const place = isGroup(item) ? null : this.call.tensors[item]!.place;
    return `${this.op(item)} ${place?.column}`;
  }

  private signature(item: Item): string {
    if (!isGroup(item)) return this.line(item) ?? this.op(item);
    if (item.kind === "scope") return `scope ${item.detail || item.label.replace(/\d+/g, "#")}`;
    return item.label;
  }

  private loopLabel(part: Item[], times: number, finish: Item): string {
    const groups = part.filter(isGroup);
    const [start, end] = [part[0]!, finish].map((item) => (isGroup(item) && item.kind === "scope" ? /^(.*?)(\d+)$/.exec(item.label) : null));
    if (part.length === 1 && start && end && start[1] === end[1]) return `${start[0]} … ${end[2]}`;
    if (groups.length === part.length && groups.every((group) => group.kind === "scope")) {
      return `${groups.map((group) => group.detail || group.label).join(", ")} ×${times}`;
    }
    const lines = part.map((item) => Number(isGroup(item) ? /^line (\d+)/.exec(item.label)?.[1] : this.line(item)?.split(":")[1]));
    const known = lines.filter((line) => !Number.isNaN(line));
    if (!known.length) return `${clip(part.map((item) => this.op(item)).join(", "), 24)} ×${times}`;
    const [first, last] = [Math.min(...known), Math.max(...known)];
    return first === last ? `line ${first} ×${times}` : `lines ${first} to ${last} ×${times}`;
  }

  /** Finds what repeats itself without a gap. Of several periods, the one that covers most; then the shortest. */
  private loops(items: Item[], sign: (item: Item) => string, label: (part: Item[], times: number, last: Item) => string, least = 2): Item[] {
    const signs = items.map(sign);
    const out: Item[] = [];
    for (let i = 0; i < items.length; ) {
      let best = { period: 0, times: 0 };
      for (let period = 1; period <= LONGEST_PERIOD && i + least * period <= items.length; period++) {
        let end = i + period;
        while (end < items.length && signs[end] === signs[end - period]) end++;
        const times = Math.floor((end - i) / period);
        if (times >= least && times * period > best.times * best.period) best = { period, times };
      }
      if (best.period === 0 || best.period * best.times < 3) {
        out.push(items[i++]!);
        continue;
      }
      const { period, times } = best;
      const part = items.slice(i, i + period);
      const rounds = Array.from({ length: times }, (_, k) => {
        const round = items.slice(i + k * period, i + (k + 1) * period);
        return period === 1 ? round[0]! : this.group("iteration", `iteration ${k + 1} of ${times}`, label(part, times, round.at(-1)!), round);
      });
      out.push(this.group("loop", label(part, times, items[i + period * times - 1]!), period === 1 && isGroup(part[0]!) ? `${part[0].detail} ×${times}` : "", this.narrow(rounds, "part", (a, b) => `iterations ${a} to ${b}`)));
      i += period * times;
    }
    return out;
  }

  /** Straight chains of operations whose lines are not known. */
  private chains(items: Item[]): Item[] {
    const out: Item[] = [];
    for (let i = 0; i < items.length; ) {
      let end = i + 1;
      while (end < items.length && this.follows(items[end - 1]!, items[end]!)) end++;
      if (end - i < 4 || end - i === items.length) out.push(...items.slice(i, end));
      else {
        const run = items.slice(i, end);
        const label = `${this.op(run[0]!)} … ${this.op(run.at(-1)!)}`;
        out.push(this.group("chain", label, "", this.narrow(run, "part", (a, b) => `operations ${a} to ${b}`)));
      }
      i = end;
    }
    return out;
  }

  private follows(a: Item, b: Item): boolean {
    if (isGroup(a) || isGroup(b) || this.line(a) !== null || this.line(b) !== null) return false;
    const inputs = this.call.tensors[b]!.inputs.filter((input) => this.call.tensors[input]!.op !== null);
    return inputs.length === 1 && inputs[0] === a && this.consumers[a]!.length === 1;
  }

  /** At most FAN children, by parts of equal size, and parts of parts. */
  private narrow(items: Item[], kind: Kind, label: (first: number, last: number) => string): Item[] {
    let level = items.map((item, i) => ({ item, first: i + 1, last: i + 1 }));
    while (level.length > FAN) {
      const parts = Math.ceil(level.length / FAN);
      const size = Math.ceil(level.length / parts);
      const above: typeof level = [];
      for (let i = 0; i < level.length; i += size) {
        const some = level.slice(i, i + size);
        const [first, last] = [some[0]!.first, some.at(-1)!.last];
        above.push({ item: this.group(kind, label(first, last), `of ${items.length}`, some.map(({ item }) => item)), first, last });
      }
      level = above;
    }
    return level.map(({ item }) => item);
  }

  private parts(kind: Kind, items: Item[], label: (first: number, last: number) => string, name: string): Group {
    return this.group(kind, `${name} ×${items.length}`, "", this.narrow(items, kind, label));
  }
}

export function tree(trace: Trace, call: Call): Group {
  return new Builder(trace, call).build();
}

/** The groups that hold a tensor, from the outermost. */
export function ancestors(homes: Map<number, Group>, tensor: number): Group[] {
  const chain: Group[] = [];
  for (let at = homes.get(tensor) ?? null; at && at.kind !== "root"; at = at.parent) chain.unshift(at);
  return chain;
}

export function walk(root: Group): { groups: Group[]; homes: Map<number, Group> } {
  const groups: Group[] = [root];
  const homes = new Map<number, Group>();
  for (const group of groups) {
    for (const child of group.children) {
      if (isGroup(child)) groups.push(child);
      else homes.set(child, group);
    }
  }
  return { groups, homes };
}

/** What is drawn when these groups are open: tensors and closed groups, in order. */
export function visible(root: Group, open: ReadonlySet<string>): Item[] {
  const out: Item[] = [];
  const stack: Item[] = [root];
  while (stack.length) {
    const item = stack.pop()!;
    if (isGroup(item) && (item === root || open.has(item.id))) {
      for (let i = item.children.length - 1; i >= 0; i--) stack.push(item.children[i]!);
    } else out.push(item);
  }
  return out;
}

function last(group: Group): number {
  for (let at: Item = group; ; at = at.children.at(-1)!) if (!isGroup(at)) return at;
}

/** Which groups are open at first: all if that fits, else those around findings, and then those nearest the output. */
export function opening(root: Group, homes: Map<number, Group>, wanted: number[], most = MOST_BOXES): Set<string> {
  const open = new Set<string>();
  const room = root.size <= ALL_BOXES || most < MOST_BOXES ? most : FIRST_BOXES;
  let boxes = root.children.length;
  const tryOpen = (group: Group, limit: number) => {
    if (open.has(group.id)) return true;
    if (boxes + group.children.length - 1 > limit) return false;
    open.add(group.id);
    boxes += group.children.length - 1;
    return true;
  };
  for (const tensor of wanted) for (const group of ancestors(homes, tensor)) if (!tryOpen(group, most)) break;
  let edge = [...visible(root, open)].filter(isGroup);
  while (edge.length) {
    edge.sort((a, b) => last(a) - last(b));
    const group = edge.pop()!;
    if (tryOpen(group, room)) edge = edge.concat(group.children.filter(isGroup));
  }
  return open;
}

/** The open groups after opening one more, with others folded so that at most MOST_BOXES are drawn. */
export function unfold(root: Group, open: ReadonlySet<string>, group: Group): { open: Set<string>; folded: number } {
  const next = new Set(open);
  const keep = new Set<string>();
  for (let at: Group | null = group; at; at = at.parent) {
    keep.add(at.id);
    next.add(at.id);
  }
  let folded = 0;
  for (const id of open) {
    if (visible(root, next).length <= MOST_BOXES) break;
    if (!keep.has(id)) {
      next.delete(id);
      folded++;
    }
  }
  return { open: next, folded };
}
