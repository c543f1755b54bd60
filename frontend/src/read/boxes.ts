// The graph of "read": a box for what a line made, with its value and its gradient; or one for each operation.
import { array, shapeText } from "../format";
import { arrange, type BoxSize, type EdgeSize, type Layout } from "../layers";
import { fit, textWidth } from "../measure";
import type { Flow } from "../replay";
import type { Pacing } from "../state";
import { gradSoFar, linesOf, sentSoFar, type Way } from "./lines";
import type { Tensor, Arr, Call } from "../trace";

export const [NAME, SMALL, PAD, HEIGHT] = [13.5, 12, 9, 60] as const;
const [NARROWEST, WIDEST] = [124, 240];
/** The letters of a value, in a box and beside its line. */
export const ROOM = 24;
/** Room beside a box and above a sum, for the curves. */
const [BESIDE, BETWEEN] = [14, 42];
/** Above so many, the graph of the workbench is drawn, which folds. */
export const MOST_BOXES = 36;

export interface Box extends BoxSize {
  tensor: number;
  name: string;
  /** Where it comes from: an expression, an operation, or "leaf". */
  from: string;
  role: Tensor["role"];
}

export interface Edge extends EdgeSize {
  ways: Way[];
}

export interface Diagram {
  boxes: Box[];
  edges: Edge[];
  layout: Layout;
}

export const short = (value: Arr | null) => (value ? array(value, "short", ROOM) : "not yet");

export function valueOf({ data, dtype, shape }: Tensor): string {
  return data ? array(data, "short", ROOM) : `${dtype} ${shapeText(shape)}`;
}

function origin({ op, expr, name }: Tensor): string {
  if (op === null) return "leaf";
  // Of `a, b = x` the names are recorded, not the right side.
  return expr && expr !== name && !expr.split(", ").includes(name) ? expr : op;
}

function boxOf(call: Call, flow: Flow, i: number): Box {
  const tensor = call.tensors[i]!;
  const rows = [valueOf(tensor), short(gradSoFar(call, flow, i, Infinity))];
  const wide = Math.max(textWidth(tensor.name.slice(0, 60), NAME) + 12 + Math.min(90, textWidth(origin(tensor), SMALL)), ...rows.map((text) => 46 + textWidth(text, SMALL)));
  const width = Math.ceil(Math.min(WIDEST, Math.max(NARROWEST, wide + 2 * PAD)));
  const name = fit(tensor.name, width - 2 * PAD - 30, NAME);
  const from = fit(origin(tensor), width - 2 * PAD - 10 - textWidth(name, NAME), SMALL);
  return { id: `t${i}`, tensor: i, name, from, role: tensor.role, width, height: HEIGHT };
}

/** How many boxes there would be. */
export function boxCount(call: Call, by: Pacing): number {
  const { owner } = linesOf(call);
  return by === "operation" ? owner.length : owner.filter((one, i) => one === i).length;
}

export function diagram(call: Call, by: Pacing, flow: Flow): Diagram {
  const lines = linesOf(call);
  const owner = by === "line" ? lines.owner : lines.owner.map((_, i) => i);
  const boxes = owner.flatMap((one, i) => (one === i ? [boxOf(call, flow, i)] : []));
  const edges = new Map<string, Edge>();
  const link = (from: number, to: number, way?: Way) => {
    if (owner[from] === owner[to]) return;
    const key = `t${owner[from]}>t${owner[to]}`;
    const edge = edges.get(key) ?? { from: `t${owner[from]}`, to: `t${owner[to]}`, width: 0, height: 0, ways: [] };
    edges.set(key, edge);
    if (way) edge.ways.push(way);
  };
  call.tensors.forEach(({ inputs }, i) => inputs.forEach((input) => link(input, i)));
  call.steps.forEach((step, at) => step.terms.forEach((term, k) => step.outputs.forEach((made, output) => link(term.to, made, { step: at, term: k, output }))));
  for (const edge of edges.values()) {
    const sent = sentSoFar(call, flow, edge.ways, Infinity);
    if (sent?.sum) Object.assign(edge, { width: textWidth(`↑ ${short(sent.sum)}`, SMALL) + 22, height: BETWEEN });
  }
  const all = [...edges.values()];
  const layout = arrange(boxes.map((box) => ({ ...box, width: box.width + 2 * BESIDE })), all);
  for (const at of Object.values(layout.boxes)) at.x += BESIDE;
  return { boxes, edges: all, layout };
}
