// What is in the picture: boxes with their text, edges with what passes along them, at one moment.
import { array, bytes, seconds, shapeText } from "./format";
import { isGroup, type Group, type Item } from "./fold";
import { fit, textWidth } from "./measure";
import type { BoxSize, EdgeSize } from "./layers";
import { findingName, gradAt, isAlarm, type Drawing, type Model, type Unit } from "./model";
import { total, type Flow } from "./replay";
import type { Density, Measure } from "./state";
import { isZero } from "./trace";

export type Phase = "unmade" | "pending" | "passed" | "zero" | "now";

/** The size of a box and what does not change in it from step to step. */
export interface Box extends BoxSize {
  kind: "tensor" | "group" | "op";
  item: Item;
  tensors: number[];
  full: boolean;
  /** Height above the box for what is arriving. */
  above: number;
  role: "leaf" | "output" | "inner";
}

export interface Edge extends EdgeSize {
  /** Indices into steps and their terms. */
  sent: { step: number; term: number }[];
}

export interface Scene {
  boxes: Box[];
  edges: Edge[];
  key: string;
}

const TITLE = 12.5;
export const SMALL = 11;
const PAD = 9;
const FULL_BOXES = 12;
const FULL_ENDS = 4;
const LINE = 16;
const NARROWEST = 132;
const WIDEST = 208;

export const itemId = (item: Item) => (isGroup(item) ? item.id : `t${item}`);

/** The five attributes that a tensor's box shows. */
const ATTRIBUTES = ["data", "grad", "grad_fn", "is_leaf", "requires_grad"] as const;

function role(model: Model, item: Item): Box["role"] {
  return isGroup(item) ? "inner" : model.call.tensors[item]!.role;
}

function pillText(flow: Flow, sent: Edge["sent"]): string {
  const outs = sent.map(({ step, term }) => flow.sent[step]![term]!.out);
  if (outs.length === 0) return "";
  if (outs.length === 1) return array(outs[0]!, "short", 16);
  const all = outs.map((out) => array(out, "short", 10)).join(" + ");
  return all.length <= 18 ? all : `${outs.length} vectors`;
}

export function scene(model: Model, drawing: Drawing, density: Density, flow: Flow, crowded = false): Scene {
  const boxes: Box[] = [];
  const isEnd = (item: Item) => !isGroup(item) && model.call.tensors[item]!.role !== "inner";
  const fullEnds = drawing.items.filter(isEnd).length <= FULL_ENDS;
  for (const item of drawing.items) {
    const roomy = (drawing.items.length <= FULL_BOXES && !crowded) || (fullEnds && isEnd(item));
    boxes.push(box(model, item, density === "full" || (density === "auto" && roomy), flow));
  }
  const edges = new Map<string, Edge>();
  const link = (from: string, to: string, sent?: { step: number; term: number }) => {
    if (from === to) return;
    const key = `${from}>${to}`;
    let edge = edges.get(key);
    if (!edge) edges.set(key, (edge = { from, to, width: 0, height: 0, sent: [] }));
    if (sent) edge.sent.push(sent);
  };
  const pills = operations(model, drawing, boxes, link);
  model.call.tensors.forEach((tensor, i) => {
    const to = pills.get(tensor.node) ?? itemId(drawing.shown[i]!);
    const step = tensor.op === null ? undefined : model.call.steps[model.backward[i]!];
    const sentTo = new Set<number>();
    if (step && step.outputs[0] === i) {
      step.terms.forEach((term, k) => {
        sentTo.add(term.to);
        link(itemId(drawing.shown[term.to]!), to, { step: model.backward[i]!, term: k });
      });
    }
    for (const input of tensor.inputs) if (!sentTo.has(input)) link(itemId(drawing.shown[input]!), to);
  });
  for (const edge of edges.values()) {
    const text = pillText(flow, edge.sent);
    if (text) Object.assign(edge, { width: textWidth(text, SMALL) + 22, height: 20 });
  }
  const key = [...boxes.map(({ id, width, height }) => `${id} ${width} ${height}`), ...edges.keys()].join(" ");
  return { boxes, edges: [...edges.values()], key };
}

/** An operation with several outputs has a small box of its own when all of them are drawn. */
function operations(
  model: Model,
  drawing: Drawing,
  boxes: Box[],
  link: (from: string, to: string) => void,
): Map<number, string> {
  const pills = new Map<number, string>();
  for (const [node, tensors] of model.multiple) {
    if (tensors.some((tensor) => isGroup(drawing.shown[tensor]!))) continue;
    const id = `op${node}`;
    const op = model.call.tensors[tensors[0]!]!.op!;
    const width = textWidth(op, TITLE) + 2 * PAD + 8;
    boxes.push({ id, kind: "op", item: tensors[0]!, tensors, full: false, above: 0, role: "inner", width, height: 26 });
    pills.set(node, id);
    for (const tensor of tensors) link(id, itemId(tensor));
  }
  return pills;
}

function box(model: Model, item: Item, full: boolean, flow: Flow): Box {
  const id = itemId(item);
  const tensors = model.tensors(item);
  const common = { id, item, tensors, role: role(model, item), above: 0 };
  if (isGroup(item)) {
    const rows = groupRows(model, item);
    const wide = Math.max(textWidth(item.label, TITLE) + 62, ...rows.map((text) => textWidth(text, SMALL)));
    return { ...common, kind: "group", full: false, width: clamp(wide + 2 * PAD), height: 14 + TITLE + LINE * rows.length };
  }
  const tensor = model.call.tensors[item]!;
  const sent = model.sentTo[item]!;
  const above = sent.length > 1 && (full || tensor.role === "leaf") ? LINE : 0;
  if (full) {
    const long = Math.max(14, ...[array(tensor.data, "python", 22), gradText(model, item, flow), tensor.grad_fn ?? ""].map((text) => text.length));
    const wide = 2 * PAD + textWidth("requires_grad  ", SMALL) + textWidth("0", SMALL) * Math.min(22, long) + 4;
    return { ...common, kind: "tensor", full, width: Math.max(190, wide), height: 32 + LINE * 5 + above, above };
  }
  const value = valueText(model, item);
  const inline = value.length <= 7;
  const wide = Math.max(
    textWidth(tensor.name.slice(0, 60), TITLE) + (inline ? textWidth(value, TITLE) + 14 : 0),
    textWidth(tensor.grad_fn ?? "leaf", SMALL),
    inline ? 0 : textWidth(value, SMALL),
  );
  const height = 14 + TITLE + LINE * (inline ? 1 : 2) + above;
  return { ...common, kind: "tensor", full, width: clamp(wide + 2 * PAD), height, above };
}

const clamp = (width: number) => Math.ceil(Math.min(WIDEST, Math.max(NARROWEST, width)));

function gradText(model: Model, tensor: number, flow: Flow): string {
  const leaf = model.call.leaves.findIndex((one) => one.tensor === tensor);
  return leaf < 0 ? "None" : array(total(model.call.leaves[leaf]!.grad_before, flow.grads[leaf]!), "python", 22);
}

function valueText(model: Model, tensor: number, room = 22): string {
  const { data, shape, dtype } = model.call.tensors[tensor]!;
  return data ? array(data, "short", room) : `${dtype} ${shapeText(shape)}`;
}

const rowsOf = new WeakMap<Group, string[]>();

function groupRows(model: Model, group: Group): string[] {
  const known = rowsOf.get(group);
  if (known) return known;
  const rows: string[] = [];
  rowsOf.set(group, rows);
  if (group.detail) rows.push(group.detail);
  const cost = groupCost(model, group);
  const times = cost.forward + cost.backward > 0 ? `${seconds(cost.forward + cost.backward)}, ` : "";
  rows.push(`${times}${bytes(cost.bytes)} kept`);
  const worst = worstFinding(model, group);
  if (worst) rows.push(worst);
  return rows;
}

export interface Cost {
  forward: number;
  backward: number;
  bytes: number;
}

const costs = new WeakMap<Group, Cost>();

function tensorCost(model: Model, tensor: number): Cost {
  const step = model.call.steps[model.backward[tensor]!];
  const { time, bytes: kept } = model.call.tensors[tensor]!;
  // A node's time is counted with its first output.
  return { forward: time ?? 0, backward: step && step.outputs[0] === tensor ? step.time ?? 0 : 0, bytes: kept };
}

export function groupCost(model: Model, item: Item): Cost {
  if (!isGroup(item)) return tensorCost(model, item);
  let cost = costs.get(item);
  if (!cost) {
    cost = { forward: 0, backward: 0, bytes: 0 };
    for (const tensor of model.tensors(item)) {
      const one = tensorCost(model, tensor);
      cost.forward += one.forward;
      cost.backward += one.backward;
      cost.bytes += one.bytes;
    }
    costs.set(item, cost);
  }
  return cost;
}

export function amount(cost: Cost, measure: Measure): number {
  return measure === "time" ? cost.forward + cost.backward : cost.bytes;
}

/** The worst of the findings inside, as a few words. */
function worstFinding(model: Model, group: Group): string | null {
  const inside = new Set(model.tensors(group));
  const found = model.call.findings.filter((finding) => inside.has(finding.tensor));
  const worst = found.find((finding) => isAlarm(finding.kind)) ?? found[0];
  return worst ? `${findingName(worst.kind)}${found.length > 1 ? ` and ${found.length - 1} more` : ""}` : null;
}

/** What the picture shows at one moment, by box and by edge. */
export interface Moment {
  phase: (box: Box) => Phase;
  edges: { phase: Phase; text: string }[];
  /** What has arrived at a tensor of several contributions, while the current step adds to it. */
  arriving: Map<number, string>;
  grad: (tensor: number) => { text: string; written: boolean };
  made: (tensor: number) => boolean;
}

const zerosOf = new WeakMap<Flow, boolean[]>();

/** For every step whether all that arrives there is zero. */
function zeros(flow: Flow): boolean[] {
  let found = zerosOf.get(flow);
  if (!found) {
    found = flow.arrived.map((vs) => vs.every((v) => v === null || isZero(v)));
    zerosOf.set(flow, found);
  }
  return found;
}

export function moment(model: Model, scene: Scene, flow: Flow, position: number, unit: Unit | null): Moment {
  const { call } = model;
  const backwards = position > model.firstBackward;
  const within = (step: number) => unit !== null && step >= unit.first - 1 && step < unit.last && step < position;
  const made = (tensor: number) => {
    const at = model.forward[tensor]!;
    return backwards || at < position;
  };
  const zero = zeros(flow);
  const phase = (box: Box): Phase => {
    if (unit && (unit.item === box.item || (box.kind === "op" && box.tensors.includes(unit.item as number)))) return "now";
    if (!backwards) return box.tensors.every(made) ? "pending" : "unmade";
    let found: Phase = "pending";
    for (const tensor of box.tensors) {
      const step = model.backward[tensor]!;
      if (step < 0 || step >= position) continue;
      if (!zero[step]) return "passed";
      found = "zero";
    }
    return found === "pending" && model.sentTo[box.tensors[0]!]!.some(({ step }) => step < position) ? "passed" : found;
  };
  const edges = scene.edges.map((edge) => {
    const passed = edge.sent.filter(({ step }) => step < position);
    if (passed.length === 0) return { phase: "pending" as const, text: "" };
    const text = pillText(flow, passed);
    if (passed.some(({ step }) => within(step))) return { phase: "now" as const, text };
    const none = passed.every(({ step, term }) => isZero(flow.sent[step]![term]!.out));
    return { phase: none ? ("zero" as const) : ("passed" as const), text };
  });
  const arriving = new Map<number, string>();
  if (unit && backwards) {
    for (let at = unit.first - 1; at < unit.last; at++) {
      call.steps[at]!.terms.forEach((term, k) => {
        if (term.of < 2) return;
        arriving.set(term.to, `${array(flow.sent[at]![k]!.after, "short", 18)} (${term.nth} of ${term.of})`);
      });
    }
  }
  return { phase, edges, arriving, made, grad: (tensor) => gradAt(model, flow, tensor, position) };
}

export interface BoxText {
  title: string;
  right: string;
  rows: { label: string; value: string; strong?: boolean }[];
}

/** The text in a box at a moment, cut to fit. */
export function boxText(model: Model, box: Box, at: Moment, measure: Measure | null): BoxText {
  const room = box.width - 2 * PAD;
  const small = (text: string) => fit(text, room, SMALL);
  const cost = measure && box.kind !== "op" && box.role !== "leaf" ? costText(groupCost(model, box.item), measure) : null;
  if (isGroup(box.item)) {
    const rows = groupRows(model, box.item).map((text) => ({ label: "", value: small(text) }));
    if (cost) rows[rows.length - 1] = { label: "", value: small(cost) };
    return { title: fit(box.item.label, room - 38 - textWidth(`×${box.item.size}`, TITLE), TITLE), right: `${box.item.size}`, rows };
  }
  const tensor = model.call.tensors[box.item]!;
  if (box.kind === "op") return { title: tensor.op ?? "", right: "", rows: [] };
  const made = at.made(box.item);
  if (box.full) {
    const place = tensor.role === "leaf" ? "leaf" : `${tensor.op ?? ""}${tensor.place ? `, line ${tensor.place.line}` : ""}`;
    const right = fit(place, room * 0.55, SMALL);
    const label = textWidth("requires_grad  ", SMALL);
    const grad = at.grad(box.item);
    const data = made ? (tensor.data ? array(tensor.data, "python", 22) : "not kept") : "not made yet";
    const values: Record<(typeof ATTRIBUTES)[number], string> = {
      data,
      grad: grad.text,
      grad_fn: cost ?? tensor.grad_fn ?? "None",
      is_leaf: tensor.is_leaf ? "True" : "False",
      requires_grad: tensor.requires_grad ? "True" : "False",
    };
    return {
      title: fit(tensor.name, room - textWidth(right, SMALL) - 12, TITLE),
      right,
      rows: ATTRIBUTES.map((name) => ({
        label: name === "grad_fn" && cost ? "cost" : name,
        value: fit(values[name], room - label, SMALL),
        strong: name === "grad" && grad.written,
      })),
    };
  }
  const value = valueText(model, box.item);
  const inline = value.length <= 7;
  const right = inline && made ? value : "";
  const lines = [cost ?? tensor.grad_fn ?? "leaf", ...(inline ? [] : [made ? value : ""])];
  return {
    title: fit(tensor.name, room - (inline ? textWidth(value, TITLE) + 14 : 0), TITLE),
    right,
    rows: lines.map((text) => ({ label: "", value: small(text) })),
  };
}

function costText(cost: Cost, measure: Measure): string {
  return measure === "bytes" ? `keeps ${bytes(cost.bytes)}` : `${seconds(cost.forward)} + ${seconds(cost.backward)}`;
}

export { PAD, TITLE, LINE };
