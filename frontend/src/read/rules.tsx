// Rules with a picture of their own: v, J and what is sent, in the shapes of the tensors.
import { Fragment, h } from "preact";
import type { ComponentChildren } from "preact";
import { clip, number, plural } from "../format";
import type { Story } from "../page";
import { count, nameOf, reals, values, type Arr, type Jacobian, type Step, type Tensor, type Term } from "../trace";
import { gridFrom, gridOf, type Grid, type Look, type Part } from "./matrix";

/** What a rule is given: one term of one step, with what flows now. */
export interface Given {
  page: Story;
  step: Step;
  term: Term;
  tensor: Tensor;
  v: Arr;
  out: Arr;
  jacobian: Jacobian | null;
}

export interface Picture {
  says?: ComponentChildren;
  parts: Part[];
}

const ROOM = 28;
const name = (page: Story, tensor: number) => clip(nameOf(page.call, tensor), ROOM);
const times = (shape: number[]) => shape.join("×");

export function norm(array: Arr): number {
  const all = values(array);
  return all ? Math.hypot(...all.flat()) : array.stats?.norm ?? NaN;
}

/** The value that a rule saved under a name. */
function held({ page, tensor }: Given, wanted: string): Arr | null {
  const saved = tensor.saved.find((each) => each.name === wanted);
  if (!saved) return null;
  return saved.value ?? (saved.tensor === null ? null : page.call.tensors[saved.tensor]!.data);
}

const setting = ({ tensor }: Given, wanted: string) => tensor.saved.find((each) => each.name === wanted)?.text;

/** How the rows and columns of an array are called, if they are examples and classes of a cross-entropy. */
function titles(page: Story, array: Arr): Pick<Look, "rowNames" | "colNames"> {
  const { call } = page;
  const loss = call.loss?.kind === "cross_entropy" ? call.loss : null;
  const scores = loss && call.tensors[call.tensors[call.outputs[0]!.tensor]!.inputs[0] ?? -1];
  if (!scores || array.shape.length !== 2 || array.shape[0] !== scores.shape[0]) return {};
  const rowNames = (i: number) => (loss!.examples ? `${clip(loss!.examples, 12)}[${i}]` : String(i));
  if (array.shape[1] !== scores.shape[1]) return { rowNames };
  return { rowNames, colNames: (j) => (scores.shape[1]! <= 4 ? `class ${j}` : String(j)) };
}

export const short = (array: Arr) => (array.shape.length ? `${times(array.shape)}, norm ${number(norm(array))}` : "one number");

function sent({ page, term, out }: Given): Look {
  return { grid: gridOf(out), caption: "v @ J", note: <>to <code>{name(page, term.to)}</code>, {short(out)}</>, told: true, label: "v @ J", colored: true, ...titles(page, out) };
}

function arriving({ page, step, v }: Given): Look {
  return { grid: gridOf(v), caption: "v", note: <>at <code>{name(page, step.outputs[0]!)}</code>, {short(v)}</>, told: true, label: "v", colored: true, ...titles(page, v) };
}

const plain = (page: Story, array: Arr, caption: string, note: ComponentChildren = short(array)): Look => ({ grid: gridOf(array), caption, note, label: caption, ...titles(page, array) });

function transposed(grid: Grid): Grid {
  const turn = <T,>(all: T[] | null, [rows, cols]: [number, number]) => all && Array.from({ length: all.length }, (_, k) => all[(k % rows) * cols + Math.floor(k / rows)]!);
  const [rows, cols] = grid.cells;
  return { array: { ...grid.array, shape: [grid.cols, grid.rows] }, rows: grid.cols, cols: grid.rows, numbers: turn(grid.numbers, [grid.rows, grid.cols]), shades: turn(grid.shades, [rows, cols]), cells: [cols, rows] };
}

const turned = (look: Look, caption: string): Look => ({ ...look, grid: transposed(look.grid), caption, note: times([look.grid.cols, look.grid.rows]), rowNames: undefined, colNames: undefined });

/** A v of one number: 1, or a factor that is said. */
function factor(v: Arr): { one: boolean; sign: string } {
  const value = reals(v)?.[0] ?? 1;
  return { one: value === 1, sign: value === 1 ? "" : `× ${number(value)} ` };
}

function crossEntropy(given: Given): Picture | null {
  const { page, term, v, out } = given;
  const [scores, right] = [held(given, "self"), held(given, "indices")];
  const reduction = setting(given, "reduction");
  if (!scores || scores.shape.length !== 2 || !right || !reduction || reduction === "none") return null;
  const [examples, classes] = scores.shape as [number, number];
  const all = reals(scores);
  const target = reals(right);
  const { one, sign } = factor(v);
  const shared = reduction === "mean" ? <>, shared among the {examples} examples</> : null;
  const says = (
    <>
      <b>cross_entropy</b> sends to <code>{name(page, term.to)}</code> what was predicted minus what was right{shared}.{" "}
      {one ? <>v is 1, so the one row of J <em>is</em> the result; it is drawn in the shape of <code>{name(page, term.to)}</code>, {times(out.shape)}, not as a row of {count(out.shape)}.</> : null}
    </>
  );
  const result = sent(given);
  if (!all || !target) return { says, parts: [`(softmax − target) ${sign}${shared ? `÷ ${examples} ` : ""}=`, result] };
  const shares = all.map((_, k) => {
    const row = all.slice(Math.floor(k / classes) * classes, (Math.floor(k / classes) + 1) * classes);
    const most = Math.max(...row);
    return Math.exp(all[k]! - most) / row.reduce((sum, score) => sum + Math.exp(score - most), 0);
  });
  const framed = (i: number, j: number) => target[i] === j;
  return {
    says,
    parts: [
      { ...plain(page, scores, `softmax(${name(page, term.to)})`, "predicted"), grid: gridFrom(shares, scores.shape) },
      "−",
      { ...plain(page, scores, "target", "right class, framed"), grid: gridFrom(all.map((_, k) => Number(framed(Math.floor(k / classes), k % classes))), scores.shape), framed },
      `${sign}${shared ? `÷ ${examples} ` : ""}=`,
      { ...result, framed },
    ],
  };
}

function relu(given: Given): Picture | null {
  const { page, term, v } = given;
  const result = held(given, "result") ?? given.tensor.data;
  const grid = result && gridOf(result);
  if (!grid?.shades || grid.cells[0] !== grid.rows || grid.cells[1] !== grid.cols || result!.shape.length !== v.shape.length) return null;
  const passes = grid.shades.map((shade) => Number(shade > 0));
  const dimmed = (i: number, j: number) => !passes[i * grid.cols + j];
  const some = passes.reduce((sum, each) => sum + each, 0);
  return {
    says: <>v passes where <code>{name(page, term.to)}</code> was above 0: {some} of {plural(passes.length, "cell")}. Elsewhere it stops.</>,
    parts: [{ ...arriving(given), dimmed }, "→", { ...sent(given), dimmed }],
  };
}

/** The sides of a matrix product: input @ weight.T, or self @ other. */
function matrices(given: Given): Picture | null {
  const { page, step, term, v } = given;
  const [self, weight, other] = [held(given, "self"), held(given, "weight"), held(given, "other")];
  const x = term.input === 0 && step.op === "addmm" ? "the input" : <code>{name(page, term.to)}</code>;
  if (v.shape.length < 2) return null;
  if (step.op === "addmm" && term.input === 2) {
    return { says: <>The bias was added to each row, so it gets the sum of the rows of v.</>, parts: [arriving(given), "sum of the rows =", sent(given)] };
  }
  if (term.input === 0 && (weight ?? other)) {
    const [W, caption] = weight ? [plain(page, weight, "W"), "W"] : [turned(plain(page, other!, "W"), "otherᵀ"), ""];
    const code = weight ? <code>v @ W</code> : <code>v @ other.T</code>;
    return { says: <>To {x} goes {code}: each weight sends v back the way its value came.</>, parts: [arriving(given), "@", { ...W, note: caption ? "the weights" : W.note }, "=", sent(given)] };
  }
  if (term.input !== 1 || !self) return null;
  if (weight) return { says: <>To {x} goes <code>v.T @ x</code>: each weight gets v times the input that it was multiplied by.</>, parts: [turned(arriving(given), "vᵀ"), "@", plain(page, self, "x", `the input, ${times(self.shape)}`), "=", sent(given)] };
  return { says: <>To {x} goes <code>self.T @ v</code>.</>, parts: [turned(plain(page, self, "self"), "selfᵀ"), "@", arriving(given), "=", sent(given)] };
}

/** softmax and log_softmax along the last axis. */
function softmax(given: Given): Picture | null {
  const { page, step, v } = given;
  const result = held(given, "result") ?? given.tensor.data;
  const [s, given_] = [result && reals(result), reals(v)];
  const classes = v.shape.at(-1) ?? 0;
  const axis = Number(setting(given, "axis"));
  if (!s || !given_ || !classes || (axis !== v.shape.length - 1 && axis !== -1)) return null;
  const logs = step.op === "log_softmax";
  const shares = logs ? s.map(Math.exp) : s;
  const sums = Array.from({ length: s.length / classes }, (_, i) => given_.slice(i * classes, (i + 1) * classes).reduce((sum, each, j) => sum + each * (logs ? 1 : shares[i * classes + j]!), 0));
  const column: Look = { grid: gridFrom(sums, [...v.shape.slice(0, -1), 1]), caption: "row sums", note: logs ? "of v" : "of v ∘ softmax", label: "row sums", colored: true };
  const shown: Look = { ...plain(page, v, "softmax"), grid: gridFrom(shares, v.shape) };
  return logs
    ? { says: <>Each row of v, less its sum times the softmax.</>, parts: [arriving(given), "−", column, "∘", shown, "=", sent(given)] }
    : { says: <>Of each row of v the mean, weighted by the softmax, is taken away; what is left is multiplied by the softmax.</>, parts: [shown, "∘ (", arriving(given), "−", column, ") =", sent(given)] };
}

function copied(given: Given): Picture {
  const { v, out, step } = given;
  const copies = count(out.shape) / Math.max(1, count(v.shape));
  const mean = step.op === "mean" || step.op === "mse_loss";
  const one = !v.shape.length;
  if (copies === 1) return { says: <>A {mean ? "mean" : "sum"} of one element hands v on as it is.</>, parts: [arriving(given), "=", sent(given)] };
  return {
    says: <>{mean ? "A mean sends each element the same share of v: " : "A sum hands v on to each element: "}{one ? "it" : "v"} is copied {plural(copies, "time")}{mean ? <> and divided by {copies}</> : null}.</>,
    parts: [arriving(given), mean ? `÷ ${copies}, copied =` : "copied =", sent(given)],
  };
}

/** The opposite: what was copied gets a sum. */
function summed(given: Given): Picture {
  return { says: <>What was copied gets the sum of what its copies get.</>, parts: [arriving(given), "added up =", sent(given)] };
}

/** An index: the cells that were read get v, the others nothing. */
function indexed(given: Given): Picture {
  const { page, step, term, out, jacobian } = given;
  const rows = step.op === "embedding" ? held(given, "indices") : null;
  const read = rows && reals(rows);
  const cols = out.shape.at(-1) ?? 1;
  const all = jacobian?.form === "dense" ? values(jacobian) : null;
  const used = all && new Set(all.flatMap((value, k) => (value !== 0 ? [k % jacobian!.cols] : [])));
  const framed = read ? (i: number) => read.includes(i) : used ? (i: number, j: number) => used.has(i * cols + j) : undefined;
  const which = rows ? <>The rows of <code>{name(page, term.to)}</code> that were looked up</> : <>The cells of <code>{name(page, term.to)}</code> that were read</>;
  return {
    says: <>{which} get v{framed ? " (framed)" : ""}{rows ? ", added up where a row was looked up twice" : ""}; all others get 0.</>,
    parts: [arriving(given), "→", { ...sent(given), framed }],
  };
}

/** What only moves numbers: they are drawn once, where they go. */
const moved = (given: Given): Picture => ({ parts: [sent(given)] });

/** Each element has a factor of its own. */
function elementwise(given: Given): Picture | null {
  const { page, v, out, jacobian } = given;
  const slopes = jacobian?.form === "diagonal" ? reals(jacobian) : null;
  if (!slopes || times(v.shape) !== times(out.shape)) return null;
  if (slopes.every((slope) => slope === 1)) return { says: "v passes as it is.", parts: [sent(given)] };
  const same = slopes.every((slope) => slope === slopes[0]);
  if (same && slopes.length > 1) return { says: <>Each element of v is multiplied by {number(slopes[0]!)}.</>, parts: [arriving(given), `× ${number(slopes[0]!)} =`, sent(given)] };
  const J: Look = { grid: gridFrom(slopes, out.shape, out.dtype), caption: "J", note: "a factor for each element", label: "the diagonal of J", ...titles(page, out) };
  return { parts: [arriving(given), "∘", J, "=", sent(given)] };
}

/** One number by many: J is one row, in the shape of what it is sent to. */
function ofOneNumber(given: Given): Picture | null {
  const { page, term, v, out, jacobian } = given;
  if (count(v.shape) !== 1 || count(out.shape) < 2) return null;
  const { one, sign } = factor(v);
  const all = jacobian && reals(jacobian);
  if (one) return { says: <>v is 1, so the one row of J <em>is</em> the result, in the shape of <code>{name(page, term.to)}</code>.</>, parts: [sent(given)] };
  if (!all || jacobian.form !== "dense") return null;
  const J: Look = { grid: gridFrom(all, out.shape, out.dtype), caption: "J", note: <>its one row, as <code>{name(page, term.to)}</code></>, label: "J", ...titles(page, out) };
  return { parts: [J, `${sign}=`, sent(given)] };
}

const RULES: Record<string, (given: Given) => Picture | null> = {
  nll_loss: crossEntropy,
  relu, addmm: matrices, mm: matrices, softmax, log_softmax: softmax, sum: copied, mean: copied, mse_loss: copied, expand: summed,
  ...Object.fromEntries(["select", "slice", "index", "gather", "embedding", "index_select"].map((op) => [op, indexed])),
  ...Object.fromEntries(["view", "reshape", "unsafe_view", "t", "transpose", "permute", "unsqueeze", "squeeze", "flatten", "split", "cat", "stack"].map((op) => [op, moved])),
};

/** Whether an array is so small that its numbers stand in a line. */
const isLine = ({ shape }: Arr) => shape.length < 2 && count(shape) <= 6;

/** The picture of a term: its own rule's, or a general one; null where v @ J = out fits into a line, as it is. */
export function pictureOf(given: Given): Picture | null {
  const { term, v, out, step } = given;
  const small = isLine(v) && isLine(out);
  const own = step.op === null ? undefined : RULES[step.op];
  if (small && own !== relu) return null;
  const picture = (term.jacobians.length === 1 ? own?.(given) : null) ?? elementwise(given) ?? ofOneNumber(given);
  if (picture) return picture;
  if (small) return null;
  return { parts: [arriving(given), `@ J, ${count(v.shape)}×${count(out.shape)} =`, sent(given)] };
}

/** Squares of a difference and their mean, which stand in one line: 2 · (predicted − target) ÷ n. */
export function squaredError(page: Story, steps: number[]): { steps: number[]; given: Given; picture: Picture } | null {
  const { call, flow } = page;
  const [first, second, third] = steps;
  if (first === undefined || second === undefined || third === undefined) return null;
  const [mean, square, minus] = [call.steps[first]!, call.steps[second]!, call.steps[third]!];
  const follows = mean.terms[0]?.to === square.outputs[0] && square.terms[0]?.to === minus.outputs[0] && minus.terms.length === 1;
  if (!follows || !["mse_loss", "mean", "sum"].includes(mean.op ?? "") || square.op !== "pow" || minus.op !== "sub" || minus.terms[0]!.input !== 0) return null;
  const term = minus.terms[0]!;
  const tensor = call.tensors[square.outputs[0]!]!;
  const given: Given = { page, step: minus, term, tensor, v: flow.arrived[first]![0]!, out: flow.sent[third]![0]!.out, jacobian: null };
  const [predicted, difference] = [call.tensors[term.to]!.data, held(given, "self")];
  const [y, d] = [predicted && reals(predicted), difference && reals(difference)];
  if ((setting(given, "exponent") ?? "2") !== "2") return null;
  if (!y || !d || y.length !== d.length || count(given.v.shape) !== 1) return null;
  const elements = mean.op === "sum" ? 1 : d.length;
  // The difference has been rounded: the target shows no more digits than are right.
  const target: Arr = { shape: predicted!.shape, dtype: predicted!.dtype, data: y.map((value, k) => Number((value - d[k]!).toPrecision(6))) };
  const result = sent(given);
  return {
    steps: [first, second, third],
    given,
    picture: {
      says: <>The squared error sends to <code>{name(page, term.to)}</code> twice what was predicted minus what was right{elements > 1 ? <>, divided by the {elements} elements</> : null}.</>,
      parts: [
        `${factor(given.v).sign}2 · (`,
        plain(page, predicted!, name(page, term.to), "predicted"),
        "−",
        plain(page, target, "target"),
        elements > 1 ? `) ÷ ${elements} =` : ") =",
        result,
      ],
    },
  };
}
