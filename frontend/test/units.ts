// The parts of the page that need no browser.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { array, bytes, clip, number, seconds } from "../src/format";
import { isGroup, MOST_BOXES, opening, tree, unfold, visible, walk, type Group } from "../src/fold";
import { arrange, spread } from "../src/layers";
import { visibleText } from "../src/load";
import { Formula } from "../src/math";
import { Model, unitAt } from "../src/model";
import { pieces, program } from "../src/playground/blocks";
import { notebook } from "../src/playground/files";
import { hint } from "../src/playground/hints";
import { packed, unpacked } from "../src/playground/link";
import { literals, range, written } from "../src/playground/numbers";
import { advice, agrees, answer } from "../src/quiz";
import { plane, tickStep } from "../src/read/arrows";
import { isClose, scaleOf } from "../src/read/axis";
import { diagram } from "../src/read/boxes";
import { gradSoFar, linesOf } from "../src/read/lines";
import { listing } from "../src/read/listing";
import { gridOf } from "../src/read/matrix";
import { MOST_STAGES, isNetwork, stages } from "../src/read/stages";
import { positionOf, stopAt, stops } from "../src/read/stops";
import { obstacle, recorded, replay, unit } from "../src/replay";
import { robust, smoothed, ticks } from "../src/loss";
import { byTime, milliseconds, readRun } from "../src/run";
import type { Story } from "../src/page";
import { parseNumber, readHash } from "../src/state";
import { decode, product, type Arr, type Call, type Place, type Scope, type Tensor, type Trace } from "../src/trace";

const scalar = (value: number): Arr => ({ shape: [], dtype: "float64", data: [value] });

function tensor(i: number, inputs: number[], at: { line?: number; scope?: number; op?: string } = {}): Tensor {
  const leaf = inputs.length === 0;
  const place: Place | null = at.line === undefined ? null : { source: 0, line: at.line, column: null, end_line: null, end_column: null };
  return {
    name: `t${i}`, expr: null, role: leaf ? "leaf" : "inner", op: leaf ? null : at.op ?? "mul", grad_fn: leaf ? null : "MulBackward0", node: i, output: 0, inputs,
    shape: [], dtype: "float64", is_leaf: leaf, requires_grad: true, version: 0, data: scalar(i), value_from: "recorded", saved: [], bytes: 8, place,
    scope: at.scope ?? null, time: 1e-6,
  };
}

/** A trace whose tensors are these; every local Jacobian is 2. */
function traced(tensors: Tensor[], scopes: Scope[] = []): Trace {
  const last = tensors.length - 1;
  tensors[last]!.role = "output";
  const common = { op: "mul", derivation: null, ran: null, note: null, place: null, scope: null, time: 1e-6, live_bytes: 8 };
  const inner = tensors.flatMap((one, i) => (one.op === null ? [] : [i]));
  const uses = new Map<number, number>();
  for (const i of inner) for (const to of tensors[i]!.inputs) uses.set(to, (uses.get(to) ?? 0) + 1);
  const gathered = new Map<number, number>([[last, 1]]);
  const seen = new Map<number, number>();
  const backward = [...inner].reverse().map((i, k) => {
    const v = gathered.get(i) ?? 0;
    const terms = tensors[i]!.inputs.map((to, input) => {
      const before = gathered.get(to);
      gathered.set(to, (before ?? 0) + 2 * v);
      seen.set(to, (seen.get(to) ?? 0) + 1);
      return {
        to, input, jacobians: [{ form: "dense" as const, rows: 1, cols: 1, data: [2] }], missing: null, ran: null, out: scalar(2 * v),
        before: before === undefined ? null : scalar(before), after: scalar(gathered.get(to)!), nth: seen.get(to)!, of: uses.get(to)!, derivation: null, numbers: [],
      };
    });
    return { ...common, phase: "backward" as const, number: k + 1, node: "MulBackward0", outputs: [i], v: [scalar(v)], terms };
  });
  const forward = inner.map((i, k) => ({ ...common, phase: "forward" as const, number: k + 1, node: "MulBackward0", outputs: [i], v: [], terms: [] }));
  const call: Call = {
    text: "y.backward()", kind: "backward", place: null, outputs: [{ tensor: last, gradient: scalar(1), implicit: true }], tensors,
    steps: [...forward, ...backward],
    stops: [...forward, ...backward].flatMap(({ phase }, n) => (phase === "backward" ? [n] : [])),
    leaves: tensors.flatMap((one, i) => (one.op === null ? [{ tensor: i, grad: scalar(gathered.get(i) ?? 0), grad_before: null, grad_after: null, contributions: [], jacobians: [null], missing: "" }] : [])),
    findings: [], cost: { forward: null, backward: null, kept_bytes: 0, peak_bytes: 0, estimated: false },
  };
  return {
    schema: "pullback-trace", version: 1, pullback: "0", title: null, recorded: true, primary: 0, sources: [{ file: "a.py", first: 1, lines: [] }], scopes, calls: [call], derivations: [],
    error: null, limits: { values: 64, jacobian: 1024, max_nodes: 20000, redacted: false, notes: [] },
  };
}

const loop = (n: number, lines: number[]) =>
  traced([tensor(0, []), ...Array.from({ length: n }, (_, i) => tensor(i + 1, i % 3 ? [i] : [i, 0], { line: lines[i % lines.length]! }))]);

test("numbers are short and keep what is not finite", () => {
  assert.deepEqual([0, 26, 0.1 + 0.2, 1e-9, 1.5e12, NaN, Infinity, -Infinity].map((value) => number(value)), ["0", "26", "0.3", "1e-9", "1.5e12", "nan", "inf", "-inf"]);
  assert.equal(number([1, -2]), "1-2j");
  assert.equal(number(decode(["Infinity", 0.5])), "inf+0.5j");
  assert.equal(array({ shape: [2, 2], dtype: "float64", data: [1, 2, 3, "NaN"] }, "python"), "[[1., 2.], [3., nan]]");
  assert.equal(array({ shape: [3], dtype: "int64", data: [1, 2, 3] }, "python"), "[1, 2, 3]");
  assert.equal(array(null), "None");
  assert.match(array({ shape: [100, 10], dtype: "float64", stats: { min: 0, max: 1, mean: 0, norm: 3, zeros: 1, nans: 2, infs: 0 } }), /100×10, norm 3, 2 nan/);
  assert.equal(seconds(2.3e-6), "2.3 µs");
  assert.equal(seconds(null), "not timed");
  assert.equal(bytes(312), "312 B");
  assert.equal(clip("😀😀😀😀", 3), "😀😀…");
});

test("texts that would act are seen instead", () => {
  assert.equal(visibleText("a\u202eb\u2028c\u0007"), "a\\u202eb\\u2028c\\u0007");
  assert.equal(visibleText("שלום\tok"), "שלום\tok");
});

test("v @ J: a zero of J joins nothing, a diagonal is one factor each", () => {
  assert.deepEqual(product([1, 10], { form: "dense", rows: 2, cols: 2, data: [6, 0, 2, 24] }), [26, 240]);
  assert.deepEqual(product([Infinity, 1], { form: "dense", rows: 2, cols: 2, data: [1, 0, 0, 1] }), [Infinity, 1]);
  assert.deepEqual(product([0, 2], { form: "diagonal", rows: 2, cols: 2, data: ["Infinity", 3] }), [NaN, 6]);
});

test("the recorded v, replayed, gives the recorded numbers; another is linear in v", () => {
  const trace = loop(30, [5]);
  const call = trace.calls[0]!;
  assert.equal(obstacle(call), null);
  assert.deepEqual(replay(call, [[1]]).grads, recorded(call).grads);
  const twice = replay(call, [[2]]).grads[0]!.data![0] as number;
  assert.equal(twice, 2 * (call.leaves[0]!.grad.data![0] as number));
  assert.deepEqual(unit(call, 0, 0), [[1]]);
  call.steps.at(-1)!.terms[0]!.jacobians = [null];
  assert.match(obstacle(call)!, /not stored/);
});

test("addresses: what is not understood is left out", () => {
  assert.deepEqual(readHash("#step=29&v=0,1,nan;-inf&call=2&theme=dark&view=table&leaf=3"), {
    mode: "workbench",
    step: 29, v: [[0, 1, NaN], [-Infinity]], call: 1, theme: "dark", view: "table", leaf: 2,
  });
  assert.deepEqual(readHash("#step=-1&v=1,x&theme=pink&call=0"), { mode: "workbench" });
  assert.deepEqual(readHash("#why=1&quiz=1&open=scope3,loop12"), { mode: "workbench", why: true, quiz: true, open: ["scope3", "loop12"] });
  for (const open of ["scope3,", "__proto__", "scope3,<b>", "3", "scope3 loop4"]) assert.deepEqual(readHash(`#why=yes&quiz=2&open=${encodeURIComponent(open)}`), { mode: "workbench" }, open);
  assert.deepEqual(readRun("#step=120&sort=largest&show=zeros", 200), { at: 120, timed: false, measure: "zeros", order: 1, log: false, smooth: 90 });
  assert.deepEqual(readRun("#ms=250", 200, 300), { at: 250, timed: true, measure: "gradient", order: 0, log: false, smooth: 90 });
  assert.deepEqual(readRun("#ms=9999", 200, 300).at, 300);
  assert.deepEqual(readRun("#ms=250", 200), { at: 200, timed: false, measure: "gradient", order: 0, log: false, smooth: 90 });
  assert.deepEqual(readRun("#step=9999&sort=constructor&show=toString", 200), { at: 200, timed: false, measure: "gradient", order: 0, log: false, smooth: 90 });
  assert.deepEqual(["1e3", " -2 ", "", "abc", "inf", "0x"].map(parseNumber), [1000, -2, null, null, Infinity, null]);
});

test("runs by time: steps that were not recorded lie evenly between those that were, and a run without times has no such axis", () => {
  assert.deepEqual(milliseconds([0, 10, 20], [0.1, 0.3, 0.9], [0, 5, 10, 19, 22]), [100, 200, 300, 840, 1020]);
  assert.deepEqual(milliseconds([0], [0.5], [0, 1]), [500, 1000]);
  const run = { name: "a", file: "a", every: 2, count: 3, seconds: 1, failure: null, parameters: ["w"], shapes: [[1]], losses: [[0, 1], [1, 2], [2, "nan"]] as [number, number | string][], means: [1, 2, null], steps: [0, 2], times: [0.2, 0.4], rate: [1, 1], gradient: [[1], [1]], update: [[1], [1]], zeros: [[0], [0]], events: [{ kind: "nan", step: 2, parameter: "", why: "", fix: "" }] };
  const [timed] = byTime([run])!;
  assert.deepEqual([timed!.steps, timed!.losses, timed!.events[0]!.step], [[200, 400], [[200, 1], [300, 2], [400, "nan"]], 400]);
  for (const times of [[], [null, 0.4]]) assert.equal(byTime([run, { ...run, times }]), null);
});

test("the axes of a run: at least four ticks, means that begin at the first value, a range that an outlier does not move", () => {
  for (const [low, high, log] of [[0, 1, false], [0.13, 0.7, false], [-3, 1e5, false], [1e-9, 2e3, true], [0.2, 0.9, true], [1, 1e40, true]] as const) {
    const found = ticks(low, high, log);
    assert.ok(found.length >= 4 && found.length <= 16 && found.every((tick) => tick >= low && tick <= high), `${low} ${high} ${found}`);
  }
  assert.deepEqual(smoothed([4, 4, null, NaN, 4], 0.5), [4, 4, null, NaN, 4]);
  assert.deepEqual(smoothed([1, 3], 0.5), [1, (0.25 * 1 + 0.5 * 3) / 0.75]);
  const values = Array.from({ length: 300 }, (_, i) => 1 + i / 300);
  const [low, high] = robust([...values, 1e-6, 1e6]);
  assert.ok(low >= 1 && high < 2);
  assert.deepEqual(robust([]), [0, 1]);
  const few = Array.from({ length: 30 }, (_, i) => 0.2 + i / 60);
  assert.deepEqual(robust([...few, 1e-6, 50], Math.log10), robust(few, Math.log10));
  assert.deepEqual(robust([0.5, 2, 9]), [0.5, 9]);
});

function inside(root: Group): number[] {
  const { homes } = walk(root);
  return [...homes.keys()].sort((a, b) => a - b);
}

test("folding keeps every tensor once and in order, finds loops, and stays under its cap", () => {
  for (const [n, lines] of [[12, [5]], [40, [5, 6, 7]], [2000, [5, 6, 7]], [3000, [5]], [700, []]] as const) {
    const trace = loop(n, [...lines]);
    const call = trace.calls[0]!;
    const root = tree(trace, call);
    assert.deepEqual(inside(root), call.tensors.map((_, i) => i));
    const { groups, homes } = walk(root);
    for (const group of groups.slice(1)) {
      const members = groups.length && group.children.length ? inside(group) : [];
      assert.deepEqual(members, members.map((_, i) => members[0]! + i), `${group.label} is an interval`);
      assert.ok(group.children.length <= 24);
    }
    if (lines.length > 1) assert.ok(groups.some((group) => group.kind === "loop" && /lines 5 to 7 ×/.test(group.label)));
    let open: ReadonlySet<string> = opening(root, homes, [call.tensors.length >> 1]);
    for (let i = 0; i < 40; i++) {
      const items = visible(root, open);
      assert.ok(items.length <= MOST_BOXES);
      const closed = items.find(isGroup);
      if (!closed) break;
      open = unfold(root, open, closed).open;
      assert.ok(open.has(closed.id));
    }
  }
});

test("folding never merges across scopes, and a leaf lies where it is used", () => {
  const scopes: Scope[] = [0, 1, 2].map((i) => ({ kind: "module", name: `model.${i}`, type: "Linear", parent: null, nth: 1 }));
  const tensors = [tensor(0, [])];
  for (let layer = 0; layer < 3; layer++) {
    const [weight, last] = [tensors.length, tensors.length - 1];
    tensors.push(tensor(weight, []), tensor(weight + 1, [last, weight], { scope: layer, op: "matmul" }), tensor(weight + 2, [weight + 1], { scope: layer, op: "relu" }));
  }
  const trace = traced(tensors, scopes);
  const { groups, homes } = walk(tree(trace, trace.calls[0]!));
  assert.ok(groups.some((group) => group.kind === "loop" && group.label === "model.0 … 2" && group.detail === "Linear ×3"));
  for (const layer of [0, 1, 2]) {
    const [weight, product] = [1 + 3 * layer, 2 + 3 * layer];
    assert.equal(homes.get(weight)!.label, `model.${layer}`);
    assert.equal(homes.get(product), homes.get(weight));
  }
  assert.equal(homes.get(0)!.label, "model.0");
});

test("a step over a folded box is one step", () => {
  const model = new Model(loop(2000, [5, 6, 7]), loop(2000, [5, 6, 7]).calls[0]!);
  const { units } = model.drawing(model.opening());
  assert.equal(units[0]!.first, 1);
  assert.equal(units.at(-1)!.last, model.call.steps.length);
  units.slice(1).forEach((one, i) => assert.equal(one.first, units[i]!.last + 1));
  assert.ok(units.length < 400);
  for (const position of [1, 500, 2000, 4000]) {
    const found = units[unitAt(units, position)]!;
    assert.ok(found.first <= position && position <= found.last);
  }
  assert.equal(unitAt(units, 0), -1);
});

test("places are pushed apart no further than they must be", () => {
  assert.deepEqual(spread([0, 0, 10], [1, 1, 1], [4, 4]), [-2, 2, 10]);
  assert.deepEqual(spread([5, 1], [1, 3], [2]), [0.5, 2.5]);
  assert.deepEqual(spread([], [], []), []);
});

test("a drawing: values above what is made of them, nothing on anything, edges clear of boxes", () => {
  const boxes = Array.from({ length: 60 }, (_, i) => ({ id: `b${i}`, width: 120 + (i % 5) * 15, height: 40 + (i % 3) * 16 }));
  const edges = boxes.slice(1).flatMap((box, k) => {
    const i = k + 1;
    return [...new Set([i - 1, i >> 1, Math.max(0, i - 7)])].map((from) => ({ from: `b${from}`, to: box.id, width: 20 + (i % 4) * 20, height: 20 }));
  });
  const drawn = arrange(boxes, edges);
  const frames = boxes.map((box) => ({ ...box, ...drawn.boxes[box.id]! }));
  const labels = edges.map((edge, i) => ({ width: edge.width, height: edge.height, x: drawn.edges[i]!.label.x - edge.width / 2, y: drawn.edges[i]!.label.y - 10, id: "" }));
  const all = [...frames, ...labels];
  all.forEach((one, i) => {
    assert.ok(one.x >= 0 && one.y >= 0 && one.x + one.width <= drawn.width && one.y + one.height <= drawn.height);
    for (const other of all.slice(i + 1)) {
      const apart = one.x + one.width <= other.x || other.x + other.width <= one.x || one.y + one.height <= other.y || other.y + other.height <= one.y;
      assert.ok(apart, `${one.id} and ${other.id}`);
    }
  });
  edges.forEach(({ from, to }, i) => {
    const { points } = drawn.edges[i]!;
    assert.ok(drawn.boxes[from]!.y < drawn.boxes[to]!.y);
    points.slice(1).forEach((point, k) => assert.ok(point.y >= points[k]!.y));
    for (const frame of frames.filter(({ id }) => id !== from && id !== to)) {
      for (const point of points) assert.ok(point.x <= frame.x || point.x >= frame.x + frame.width || point.y < frame.y - 1 || point.y > frame.y + frame.height + 1, `${from} to ${to} through ${frame.id}`);
    }
  });
  assert.deepEqual(arrange(boxes, edges), drawn);
  const ring = arrange(boxes.slice(0, 2), [{ from: "b0", to: "b1", width: 0, height: 0 }, { from: "b1", to: "b0", width: 0, height: 0 }]);
  assert.equal(ring.edges.length, 2);
});

/** What a formula shows, in one line: elements with their signs, a fraction as (a)/(b). */
function shown(node: any): string {
  if (node === null || node === undefined || typeof node === "boolean") return "";
  if (Array.isArray(node)) return node.map(shown).join("");
  if (typeof node !== "object") return String(node);
  if (typeof node.type === "function") return shown(node.type(node.props));
  const inside = [node.props.children].flat(9).map(shown);
  const marks: Record<string, string> = { mfrac: "/", msup: "^", msub: "_", munder: "_" };
  if (node.type === "code") return `CODE ${inside.join("")}`;
  return marks[node.type] ? inside.map((part) => (part.length > 1 ? `{${part}}` : part)).join(marks[node.type]) : inside.join("");
}
const formula = (text: string) => shown(Formula({ text }));

test("formulas are set as they are read: powers before signs, products before sums, fractions without brackets", () => {
  assert.equal(formula("dy/dx = -x**2/(1 + y)"), "{dy}/{dx}=−{x^2}/{1+y}");
  assert.equal(formula("y[i]*((i == j) - y[j])"), "y_i·([i=j]−y_j)");
  assert.equal(formula("y[i, k] = sum(a[i, j]*b[j, k], j)"), "y_{i,k}=∑_ja_{i,j}·b_{j,k}");
  assert.equal(formula("1 if x > 0 and not y else exp(-x)"), "{1if x>0 and not ye^{−x}else");
  assert.equal(formula("(v @ J)[0] = 3*(-0.5) = -1.5"), "{(v@J)}_0=3·(−0.5)=−1.5");
  assert.equal(formula("2**-x**2 + x.T"), "2^{−x^2}+x^T");
  assert.equal(formula("abs(a - b)/sqrt(pi)"), "{|a−b|}/π");
  for (const broken of ["y = (", "a +", "<b>", "1 2", "x[", "f(a b)", "a if b"]) assert.equal(formula(broken), `CODE ${broken}`);
});

test("every formula of the table of derivations is one", () => {
  const table = readFileSync("../src/pullback/explain/derivations.toml", "utf8").split("\n").filter((line) => /^(value|slope|reason) =/.test(line));
  const formulas = table.flatMap((line) => [...line.matchAll(line.startsWith("reason") ? /`([^`]+)`/g : /"([^"]*)"/g)].flatMap((found) => (found[1] ? [found[1].replace(/\{\w+\}/g, "2")] : [])));
  assert.ok(formulas.length > 250);
  for (const text of formulas) assert.doesNotMatch(formula(text), /CODE/, text);
});

test("answers: numbers, fractions and products; nothing else is evaluated", () => {
  assert.deepEqual(["1/4", "-2*0.5", "3", "1e-3", "(1 + 2)*3", "−4", "2 - 3 - 4", "inf", "nan", "-inf"].map(answer), [0.25, -1, 3, 0.001, 9, -4, -5, Infinity, NaN, -Infinity]);
  for (const text of ["", "alert(1)", "1;2", "x", "1/", "(1", "2)", "1 2", "constructor", "1,5", "--", "e"]) assert.equal(answer(text), null, text);
  assert.ok(agrees(0.223, 0.22313) && agrees(1240, 1240) && !agrees(0.22, 0.22313) && !agrees(-2, 2) && agrees(Infinity, Infinity) && !agrees(3, Infinity));
});

test("advice: what is wrong with an answer is said where it can be seen", () => {
  const jacobian = { form: "dense" as const, rows: 2, cols: 2, data: [1, 2, 3, 4] };
  const [v, wanted] = [[5, 10], [35, 50]];
  assert.match(advice([4, 6], wanted, v, jacobian), /slopes of J alone/);
  assert.match(advice([5, 10], wanted, v, jacobian), /v as it arrived/);
  assert.match(advice([25, 55], wanted, v, jacobian), /J @ v/);
  assert.match(advice([-35, -50], wanted, v, jacobian), /sign/);
  assert.match(advice([50, 35], wanted, v, jacobian), /another order/);
  assert.match(advice([70, 100], wanted, v, jacobian), /2 times/);
  assert.match(advice([35, 51], wanted, v, jacobian), /1 of 2 are right. Look at element 1/);
  assert.match(advice([7], [10], undefined, undefined, [7]), /last contribution alone/);
});

test("a link carries a program and its state, and nothing that is not text of a fit length", async () => {
  const state = { program: "print('ü ∂ 漢 </script>')\n".repeat(50), start: "#call=2&step=8", echo: "all" as const, before: "x = 1\n" };
  assert.deepEqual(await unpacked(`#${await packed(state)}`), state);
  assert.ok((await packed(state)).length < 300);
  assert.match(await packed(state), /^p=[\w-]+$/);
  assert.equal(await unpacked("#call=2"), null);
  assert.deepEqual(await unpacked(await packed({ program: "x", start: '#"><script>' })), { program: "x", echo: "last" });
  const large = await packed({ program: "x".repeat(200_001) });
  await assert.rejects(unpacked(large), /no program/);
  await assert.rejects(unpacked("#p=abcdef"));
});

test("sliders find the numbers of a program, with their signs, and leave the others", () => {
  const text = "x = f([1.5, -2], 3e-2)  # 7\ny = x[0] + 0x10 + 2j + name1 - 4 + '5'\n";
  assert.deepEqual(
    literals(text).map(({ text, line, value }) => [text, line, value]),
    [["1.5", 1, 1.5], ["-2", 1, -2], ["3e-2", 1, 0.03], ["0", 2, 0], ["4", 2, 4]],
  );
  for (const { from, to, text: shown } of literals(text)) assert.equal(text.slice(from, to), shown);
  assert.deepEqual(range("3"), { min: 0, max: 6, step: 1 });
  assert.deepEqual(range("-3"), { min: -6, max: 5, step: 1 });
  assert.deepEqual(range("0"), { min: 0, max: 5, step: 1 });
  assert.deepEqual(range("0.5"), { min: -1.5, max: 1.5, step: 0.01 });
  assert.equal(written(2, "1.5"), "2.0");
  assert.equal(written(1.6, "1.5"), "1.6");
  assert.equal(written(0.001, "1e-3"), "0.001");
  assert.equal(written(4, "3"), "4");
});

test("a block of a session is its statements, after those above that do not raise", () => {
  const first = pieces(">>> def f(x):\n...     return x  # doctest: +SKIP\n...\n>>> f(1)\n1\n>>> f()\nTraceback (most recent call last):\n    ...\nTypeError\n");
  assert.deepEqual(first, [
    { source: "def f(x):\n    return x", raises: false },
    { source: "f(1)", raises: false },
    { source: "f()", raises: true },
  ]);
  assert.deepEqual(program([first, pieces(">>> f(2)\n2\n")], 1), { before: "def f(x):\n    return x\nf(1)\n", program: "f(2)\n" });
});

test("a notebook installs pullback and records the program", () => {
  const cells = JSON.parse(notebook("import torch\n\nx = 1\n")).cells.map(({ source }: { source: string[] }) => source.join(""));
  assert.match(cells[0], /^%pip install --quiet pullback\nimport pullback.compat.torch/);
  assert.equal(cells[1], "import pullback\n\nwith pullback.explain.record() as explained:\n    import torch\n\n    x = 1");
});

test("errors have what is behind them", () => {
  assert.match(hint("RuntimeError: Trying to backward through the graph a second time").text, /freed/);
  assert.match(hint("ModuleNotFoundError: No module named 'scipy'").text, /Nothing else/);
  assert.match(hint("KeyError: 3").text, /^The message says/);
});

/** A trace with places: each step is on its tensor's line. */
function placed(tensors: Tensor[], at: number): Trace {
  const trace = traced(tensors);
  const call = trace.calls[0]!;
  call.place = { source: 0, line: at, column: 0, end_line: at, end_column: 9 };
  for (const step of call.steps) step.place = tensors[step.outputs[0]!]!.place;
  return trace;
}

test("what the trace says is of one line is one stop", () => {
  const [call] = placed([tensor(0, []), tensor(1, [0], { line: 2 }), tensor(2, [1, 0], { line: 3 }), tensor(3, [2], { line: 3 }), tensor(4, [3, 1], { line: 4 })], 5).calls;
  call!.stops = [4, 5, 7];
  const found = stops(call!, "line");
  assert.deepEqual(found.map(({ line, steps }) => [line, steps.length]), [[5, 0], [4, 1], [3, 2], [2, 1]]);
  assert.deepEqual(stops(call!, "operation").map(({ line }) => line), [5, 4, 3, 3, 2]);
  assert.deepEqual(found.map((stop) => positionOf(call!, stop)), [4, 5, 7, 8]);
  assert.deepEqual([0, 4, 5, 6, 7, 8, 99].map((position) => stopAt(call!, found, position)), [0, 0, 1, 2, 2, 3, 3]);
});

test("a line's box holds the steps inside of it, and what was sent along one way is added up", () => {
  const [call] = placed([tensor(0, []), tensor(1, [0], { line: 2 }), tensor(2, [1, 0], { line: 2 }), tensor(3, [2], { line: 3 })], 4).calls;
  assert.deepEqual(linesOf(call!).owner, [0, 2, 2, 3]);
  const flow = recorded(call!);
  assert.deepEqual(diagram(call!, "line", flow).boxes.map(({ tensor }) => tensor), [0, 2, 3]);
  const { edges } = diagram(call!, "line", flow);
  assert.deepEqual(edges.map(({ from, to, ways }) => [from, to, ways.length]), [["t0", "t2", 2], ["t2", "t3", 1]]);
  assert.equal(diagram(call!, "operation", flow).boxes.length, 4);
  assert.deepEqual([3, 4, 5, 6].map((position) => gradSoFar(call!, flow, 0, position)?.data), [undefined, undefined, [4], [12]]);
  assert.deepEqual(gradSoFar(call!, flow, 3, 3)!.data, [1], "the output has v from the start");
});

test("the rows of J are arrows in the plane of two elements, and of many the longest", () => {
  const page = (v: number[], rows: number[][], at = 2) => {
    const n = v.length;
    const arr = (data: number[]): Arr => ({ shape: [data.length], dtype: "float64", data });
    const grad = [0, 1].map((j) => v.reduce((sum, weight, i) => sum + weight * rows[i]![j]!, 0));
    const leaf = { tensor: 0, grad: arr(grad), grad_before: null, grad_after: null, contributions: [], jacobians: [{ form: "dense" as const, rows: n, cols: at, data: rows.flat() }], missing: null };
    const call = { outputs: [{ tensor: 1, gradient: arr(v), implicit: false }], leaves: [leaf], tensors: [{ name: "x" }, { name: "y" }], steps: [] } as unknown as Call;
    return { call, flow: { v: [arr(v)] }, state: { leaf: 0 }, stuck: null } as unknown as Story;
  };
  const found = plane(page([1, 2], [[1, 2], [4, 1]]))!;
  assert.deepEqual(found.arrows.map(({ from, to, label }) => [from, to, label]), [[[0, 0], [1, 2], "1·[1, 2]"], [[1, 2], [9, 4], "2·[4, 1]"], [[0, 0], [9, 4], "x.grad = [9, 4]"]]);
  assert.equal(found.said, "1 times [1, 2] plus 2 times [4, 1] is [9, 4], x.grad");
  assert.deepEqual(found.image, { columns: [[1, 4], [2, 1]], output: "y", area: -7 });
  assert.deepEqual(plane(page([0, 2], [[1, 2], [4, 1]]))!.arrows.at(-1)!.to, [8, 2]);
  const many = plane(page(Array.from({ length: 9 }, (_, i) => i), Array.from({ length: 9 }, () => [1, -1])))!;
  assert.deepEqual(many.arrows.map(({ label }) => label), ["8·[1, -1]", "7·[1, -1]", "6·[1, -1]", "the other 6", "x.grad = [36, -36]"]);
  assert.deepEqual([many.image, many.arrows[3]!.to], [null, [36, -36]]);
  assert.equal(plane(page([1, NaN], [[1, 2], [4, 1]])), null);
  assert.deepEqual([10, 0.3, 1e-7, 47].map((range) => tickStep(range, 9)), [2, 0.05, 2e-8, 10]);
});

test("of a program blank lines and comments are folded, and of a long one all that has no part in the call", () => {
  const text = ["# a", "# b", "", "import x", "", "x = 1", "y = x", "y.backward()", "", "# the end"];
  const short = placed([tensor(0, []), tensor(1, [0], { line: 7 })], 8);
  short.sources = [{ file: "a.py", first: 1, lines: text }];
  const rows = (trace: Trace, opened: string[] = []) => listing(trace, trace.calls[0]!, new Set(opened)).map(({ line, folded }) => (folded === undefined ? line : [line, folded]));
  assert.deepEqual(rows(short), [[1, 3], 4, 5, 6, 7, 8, [9, 10]]);
  assert.deepEqual(rows(short, ["0:1"]), [1, 2, 3, 4, 5, 6, 7, 8, [9, 10]]);
  const long = placed([tensor(0, []), tensor(1, [0], { line: 50 })], 52);
  long.sources = [{ file: "a.py", first: 1, lines: Array.from({ length: 90 }, (_, i) => (i === 39 ? "for i in range(3):" : i === 49 ? "    y = x" : i > 39 && i < 49 ? "    z = 1" : "w = 2")) }];
  assert.deepEqual(rows(long), [[1, 39], 40, [41, 49], 50, 51, 52, [53, 90]]);
  const none = placed([tensor(0, []), tensor(1, [0])], 3);
  none.sources = [];
  assert.deepEqual(listing(none, none.calls[0]!, new Set()).map(({ text }) => text), ["t0", "t1 = mul"]);
});

test("an address without a mode is one of the workbench, unless it says nothing but the theme", () => {
  assert.equal(readHash("").mode, "read");
  assert.equal(readHash("#theme=dark").mode, "read");
  assert.equal(readHash("#embed").mode, "read");
  assert.equal(readHash("#call=2&step=8").mode, "workbench");
  assert.equal(readHash("#v=1,2").mode, "workbench");
  assert.deepEqual({ ...readHash("#mode=read&step=8&by=operation&figure=plane") }, { mode: "read", step: 8, by: "operation", figure: "plane" });
});

test("an axis has a tick at each power of ten, few of many, and 2 and 5 of a single one", () => {
  const ticks = (values: number[], wanted?: "log" | "linear") => scaleOf(values, wanted).ticks;
  assert.deepEqual(ticks([0.02, 0.5, 30]), [0.01, 0.1, 1, 10, 100]);
  assert.deepEqual(ticks([1e-9, 1]), [1e-9, 1e-6, 0.001, 1]);
  assert.deepEqual(ticks([0.12, 0.5]), [0.1, 0.2, 0.5, 1]);
  assert.deepEqual(ticks([0.1, 1000]), [0.1, 1, 10, 100, 1000]);
  assert.deepEqual(ticks([3, 8.8], "linear"), [0, 2.5, 5, 7.5, 10]);
  assert.deepEqual(ticks([0.3], "linear"), [0, 0.1, 0.2, 0.3]);
  assert.deepEqual(ticks([]), []);
  assert.deepEqual(ticks([NaN, 0, Infinity]), []);
});

test("a bar is as long as its axis says, and none at all for what is not positive", () => {
  const log = scaleOf([0.01, 1]);
  assert.deepEqual([0.01, 0.1, 1, 0, NaN, -1].map((value) => Math.round(100 * log.at(value))), [0, 50, 100, 0, 0, 0]);
  const linear = scaleOf([1, 4], "linear");
  assert.deepEqual([0, 1, 4].map((value) => linear.at(value)), [0, 0.25, 1]);
  assert.deepEqual([[1, 99], [1, 101], [1], [0, 1, 2]].map(isClose), [true, false, false, true]);
});

test("a grid has the last axis as columns, its numbers or the picture that Python drew", () => {
  const whole = gridOf({ shape: [2, 2, 3], dtype: "float64", data: [1, -2, 0, 4, "NaN", 1, 1, 1, 1, 1, 1, "Infinity"] });
  assert.deepEqual([whole.rows, whole.cols, whole.cells], [4, 3, [4, 3]]);
  assert.deepEqual(whole.shades!.slice(0, 5), [0.25, -0.5, 0, 1, NaN]);
  const picture = gridOf({ shape: [100, 50], dtype: "float32", cells: { rows: 1, cols: 4, most: 3, data: "0hyz" } });
  assert.deepEqual([picture.rows, picture.cols, picture.cells, picture.numbers], [100, 50, [1, 4], null]);
  assert.deepEqual(picture.shades, [-1, 0, 1, NaN]);
  assert.equal(gridOf({ shape: [], dtype: "float64", data: [7] }).rows, 1);
  assert.deepEqual([gridOf({ shape: [0, 3], dtype: "float64", data: [] }).rows, gridOf({ shape: [3, 0], dtype: "float64", data: [] }).rows], [0, 0]);
  assert.deepEqual(gridOf({ shape: [1], dtype: "complex64", data: [[3, 4]] }).shades, [1]);
  assert.equal(gridOf({ shape: [2], dtype: "float64", data: [1, 2], hidden: true }).numbers, null);
});

/** A model of so many layers in a row, each of two operations, and a loss of one. */
function layered(names: string[]): Trace {
  const scopes: Scope[] = [{ kind: "module", name: "model", type: "Model", parent: null, nth: 1 }, ...names.map((name): Scope => ({ kind: "module", name: `model.${name}`, type: name.replace(/\W?\d+$/, ""), parent: 0, nth: 1 }))];
  const tensors = [tensor(0, [])];
  names.forEach((_, k) => {
    for (let half = 0; half < 2; half++) tensors.push(tensor(tensors.length, [tensors.length - 1, 0], { scope: k + 1, line: 1 }));
  });
  tensors.push(tensor(tensors.length, [tensors.length - 1], { line: 9 }));
  const trace = traced(tensors, scopes);
  trace.calls[0]!.gradients = [];
  return trace;
}

test("stages follow the module tree, at most twelve; of many of one class the middle is one stage", () => {
  const names = (trace: Trace) => stages(trace, trace.calls[0]!).map(({ name }) => name);
  const few = layered(["first", "second", "third", "last"]);
  assert.deepEqual(names(few), ["first", "second", "third", "last", "t9"]);
  assert.ok(isNetwork({ trace: few, call: few.calls[0]! }));
  const many = layered(["start", ...Array.from({ length: 24 }, (_, i) => `block.${i}`), "end"]);
  const found = stages(many, many.calls[0]!);
  assert.equal(found.length, MOST_STAGES);
  assert.deepEqual([found[0]!.name, found[1]!.name, found.at(-2)!.name], ["start", "block.0", "end"]);
  const folded = found.find((stage) => stage.folded > 1)!;
  assert.match(folded.name, /^block\.\d+ … \d+$/);
  assert.equal(folded.type, `${folded.folded} × block`);
  assert.equal(found.reduce((sum, stage) => sum + stage.tensors.length, 0), many.calls[0]!.tensors.length - 1);
  const none = traced([tensor(0, []), tensor(1, [0])]);
  none.calls[0]!.gradients = [];
  assert.ok(!isNetwork({ trace: none, call: none.calls[0]! }));
});
