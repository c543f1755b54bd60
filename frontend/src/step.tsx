// The step panel: one vector-Jacobian product, and the tensor that it is about.
import { Fragment, h } from "preact";
import { array, bytes, clip, items, number, plural, seconds, shapeText } from "./format";
import { isGroup, type Group } from "./fold";
import { LARGEST, Matrix, Strip } from "./matrix";
import { Formula } from "./math";
import { gradAt } from "./model";
import type { Page } from "./page";
import { groupCost } from "./picture";
import { Ask, isAsked, MOST_ASKED, questions, Verdict } from "./quiz";
import type { Sent } from "./replay";
import { total } from "./spoken";
import { isTimed, isZero, reals, row, values, type Arr, type Jacobian, type Step, type Tensor, type Term } from "./trace";
import { Why } from "./why";

const WIDE = 6;
const MOST_LETTERS = 36;

function Vector({ value, label, kind, room = LARGEST }: { value: Arr; label: string; kind: "v" | "grad"; room?: number }) {
  const all = values(value);
  // So many letters are as wide as the panel.
  const fits = all && all.length <= room && all.reduce<number>((sum, each) => sum + number(each).length + 1.3, 0) <= MOST_LETTERS;
  if (fits) return <Matrix rows={[all]} label={label} kind={kind} />;
  return (
    <span class="large">
      <span class="mono">{shapeText(value.shape)}</span>
      {all && <Strip values={all} label={`${label}, as shades`} />}
      <span class="mono small">{array(value, "short", 30)}</span>
    </span>
  );
}

function LocalJacobian({ jacobian, term, room }: { jacobian: Jacobian | null; term: Term; room: number }) {
  if (!jacobian) return <span class="large"><span class="small">not built: {term.missing ?? "too large"}</span></span>;
  if (jacobian.rows <= room && jacobian.cols <= room) {
    return <Matrix rows={Array.from({ length: jacobian.rows }, (_, i) => row(jacobian, i))} label="local J" kind="j" />;
  }
  const all = values(jacobian)!;
  return (
    <span class="large">
      <span class="mono">{jacobian.rows} × {jacobian.cols}{jacobian.form === "diagonal" ? ", diagonal" : ""}</span>
      <Strip values={jacobian.form === "diagonal" ? all : all.slice(0, jacobian.cols)} label={jacobian.form === "diagonal" ? "the diagonal, as shades" : "its first row, as shades"} />
      <span class="small">{jacobian.form === "diagonal" ? "its diagonal" : "its first row"}: {all.slice(0, 4).map((value) => number(value)).join(", ")}{all.length > 4 ? ", …" : ""}</span>
    </span>
  );
}

/** A few words about a local Jacobian, read off its entries. */
function shapeOf(jacobian: Jacobian | null): string | null {
  const all = jacobian && reals(jacobian);
  if (!jacobian || !all || all.length === 0) return null;
  if (jacobian.rows === 1 && jacobian.cols === 1) return null;
  if (all.every((value) => value === 0)) return "J is zero: nothing is passed on";
  if (jacobian.form === "diagonal") return all.every((value) => value === 1) ? "J is the identity: v passes as it is" : "J is diagonal: each element has its own factor";
  const ones = all.flatMap((value, i) => (value !== 0 ? [i] : []));
  if (ones.length === 1 && all[ones[0]!] === 1) {
    const [i, j] = [Math.floor(ones[0]! / jacobian.cols), ones[0]! % jacobian.cols];
    return jacobian.rows === 1 ? `a single 1, in column ${j}: the element that was used` : jacobian.cols === 1 ? `a single 1, in row ${i}: the element that was written` : `a single 1, in row ${i} and column ${j}`;
  }
  return null;
}

function TermBlock({ page, step, at, k }: { page: Page; step: Step; at: number; k: number }) {
  const term = step.terms[k]!;
  const sent: Sent = page.flow.sent[at]![k]!;
  const target = page.model.name(term.to);
  const arrivals = page.flow.arrived[at]!;
  const asked = isAsked(page, at, k);
  const slope = term.derivation === null ? null : page.trace.derivations[term.derivation]?.slope;
  return (
    <div class="term">
      <h4>Sends to <b class="mono" dir="auto">{clip(target, 80)}</b></h4>
      {step.outputs.map((output, n) =>
        arrivals[n] ? (
          <div class="product" key={output}>
            <figure>
              <figcaption><b>v</b> in{step.outputs.length > 1 ? ` by ${clip(page.model.name(output), 24)}` : ""}</figcaption>
              <Vector value={arrivals[n]} label="v in" kind="v" room={asked ? MOST_ASKED : LARGEST} />
            </figure>
            <span class="sign">@</span>
            <figure>
              <figcaption>local <b>J</b></figcaption>
              <LocalJacobian jacobian={term.jacobians[n] ?? null} term={term} room={asked ? MOST_ASKED : WIDE} />
            </figure>
            {asked ? null : n === step.outputs.length - 1 || arrivals.slice(n + 1).every((v) => v === null) ? (
              <>
                <span class="sign">=</span>
                <figure>
                  <figcaption><b class="mono">v @ J</b> out</figcaption>
                  <Vector value={sent.out} label="v @ J out" kind="grad" />
                </figure>
              </>
            ) : (
              <span class="sign">+</span>
            )}
          </div>
        ) : null,
      )}
      {asked && <Ask key={`${at} ${k}`} page={page} at={at} term={k} label="v @ J" />}
      {page.state.quiz && !asked && <Verdict page={page} at={at} term={k} />}
      {slope && !page.state.why && <p class="rule"><Formula text={slope} /></p>}
      {[shapeOf(term.jacobians[0] ?? null)].map((text) => text && <p class="muted" key="shape">{text}</p>)}
      {term.of > 1 && !asked && (
        <p class="accumulates">
          <b>Accumulates.</b> <span class="mono">{clip(target, 40)}</span> is used {term.of} times: contribution {term.nth} of {term.of}.{" "}
          {sent.before && <b class="mono">{`${array(sent.before, "short", 40)} + ${array(sent.out, "short", 40)} = ${array(sent.after, "short", 40)}`}</b>}
        </p>
      )}
      <Why page={page} derivation={term.derivation} numbers={term.numbers} to={`${k} ${clip(target, 40)}`} />
      {term.ran && step.terms.length > 1 && <p class="ran">what ran, with no J built: <code>{term.ran}</code></p>}
    </div>
  );
}

function Accumulate({ page, step }: { page: Page; step: Step }) {
  const { call, flow, model } = page;
  const at = call.leaves.findIndex((leaf) => leaf.tensor === step.outputs[0]);
  const leaf = call.leaves[at];
  if (!leaf) return null;
  const x = clip(model.name(leaf.tensor), 60);
  const outs = leaf.contributions.map(({ step: s, term }) => flow.sent[s]![term]!.out);
  const listed = outs.length <= 12 ? outs : outs.slice(0, 12);
  const grad = flow.grads[at]!;
  const number = page.state.position - 1;
  const asked = isAsked(page, number, -1);
  return (
    <div class="term">
      <table class="addition mono" aria-label={`Contributions to ${x}.grad`}>
        <tbody>
          {listed.map((out, i) => (
            <tr key={i}><td>{i > 0 ? "+" : ""}</td><td>{array(out, "short", 40)}</td></tr>
          ))}
          {outs.length > listed.length && <tr><td>+</td><td>{outs.length - listed.length} more</td></tr>}
          {leaf.grad_before && <tr><td>+</td><td>{array(leaf.grad_before, "short", 40)} <span class="muted">(was in .grad)</span></td></tr>}
          <tr class="total"><td>=</td><td>{gradAt(page.model, flow, leaf.tensor, Infinity).value ? array(gradAt(page.model, flow, leaf.tensor, Infinity).value, "short", 40) : array(grad, "short", 40)}</td></tr>
        </tbody>
      </table>
      {asked && <Ask key={number} page={page} at={number} term={-1} label={`${x}.grad`} />}
      {page.state.quiz && !asked && questions(call, step).length > 0 && <Verdict page={page} at={number} term={-1} />}
      <Why page={page} derivation={step.derivation} to={x} />
      <p class="muted">
        {call.kind === "explain" ? `explain only looks: ${x}.grad itself was not written.` : `Call backward again without ${x}.grad = None and these numbers are added once more.`}
      </p>
    </div>
  );
}

function Card({ page, tensor: at }: { page: Page; tensor: number }) {
  const { call, model, flow, state } = page;
  const tensor: Tensor = call.tensors[at]!;
  const grad = gradAt(model, flow, at, state.position);
  const made = state.position > model.firstBackward || model.forward[at]! < state.position;
  const gradNote = tensor.role === "leaf" || grad.value ? "" : tensor.is_leaf ? "" : "(not a leaf)";
  const data = !made ? "not made yet" : tensor.data ? (tensor.data.data ? array(tensor.data, "python", 64) : longData(tensor.data)) : `not kept (${shapeText(tensor.shape)})`;
  const rows: [string, string, string][] = [
    ["data", data, tensor.value_from === "saved" ? "(kept by its rule)" : ""],
    ["grad", array(grad.value, "python", 64), gradNote],
    ["grad_fn", tensor.grad_fn ?? "None", ""],
    ["is_leaf", tensor.is_leaf ? "True" : "False", tensor.role === "output" ? "(the output)" : ""],
    ["requires_grad", tensor.requires_grad ? "True" : "False", ""],
  ];
  if (tensor.version !== null && tensor.version > 0) rows.push(["version", String(tensor.version), "times written"]);
  if (tensor.op !== null) rows.push(["saved", tensor.saved.map((one) => `${one.name} = ${one.text}`).join(", ") || "nothing", ""]);
  return (
    <div class={`card-tensor ${tensor.role}`}>
      <h3><span class="mono" dir="auto">{clip(tensor.name, 200)}</span> <span class="muted mono">shape {shapeText(tensor.shape)} {tensor.dtype}</span></h3>
      <dl class="mono">
        {rows.map(([name, value, note]) => (
          <div key={name}><dt>{name}</dt><dd class={name === "grad" && grad.written ? "good" : ""}>{value} {note && <span class="muted">{note}</span>}</dd></div>
        ))}
      </dl>
      {tensor.expr && tensor.expr !== tensor.name && <p class="muted expr">from <code dir="auto">{clip(tensor.expr, 300)}</code></p>}
    </div>
  );
}

function longData(data: Arr): string {
  const { stats } = data;
  const ends = data.head ? `[${items(data.head, data.dtype)}, … , ${items(data.tail ?? [], data.dtype)}]` : "";
  if (!stats) return ends || "redacted";
  const range = stats.min === null ? "" : ` min ${number(stats.min)}, max ${number(stats.max!)}, mean ${number(stats.mean!)}`;
  return `${ends}${range}${stats.nans ? `, ${stats.nans} nan` : ""}${stats.infs ? `, ${stats.infs} inf` : ""}${stats.zeros ? `, ${stats.zeros} zero` : ""}`;
}

function Crumbs({ page, tensor }: { page: Page; tensor: number }) {
  const groups = page.model.ancestors(tensor);
  if (!groups.length) return null;
  return (
    <nav class="crumbs" aria-label="Where this is folded">
      {groups.map((group) => {
        const open = page.state.open.has(group.id);
        return (
          <button key={group.id} class="link" aria-expanded={open} title={`${group.label} ${group.detail}: ${open ? "fold" : "unfold"}`} onClick={() => (open ? page.fold(group) : page.unfold(group))}>
            {open ? "−" : "+"} {clip(group.label, 40)}
          </button>
        );
      })}
    </nav>
  );
}

/** The innermost loop around a tensor, with a scrubber over its iterations. */
function LoopScrubber({ page, tensor }: { page: Page; tensor: number }) {
  const loop = page.model.ancestors(tensor).filter((group) => group.kind === "loop").at(-1);
  if (!loop) return null;
  let rounds = loop.children;
  while (rounds.some((item) => isGroup(item) && item.kind === "part")) rounds = rounds.flatMap((item) => (isGroup(item) && item.kind === "part" ? item.children : [item]));
  const around = new Set<Group | number>([tensor, ...page.model.ancestors(tensor)]);
  const at = rounds.findIndex((item) => around.has(item));
  return (
    <label class="scrub">
      {loop.label}: iteration {at + 1} of {rounds.length}
      <input
        type="range" min={1} max={rounds.length} value={at + 1}
        onInput={(event) => page.visit(page.model.tensors(rounds[Number(event.currentTarget.value) - 1]!).at(-1)!)}
      />
    </label>
  );
}

function Folded({ page, group }: { page: Page; group: Group }) {
  const { call, flow, unit } = page;
  const cost = groupCost(page.model, group);
  const [first, last] = [call.steps[unit!.first - 1]!, call.steps[unit!.last - 1]!];
  const backward = first.phase === "backward";
  const inside = new Set(page.model.tensors(group));
  const outs = backward
    ? call.steps.slice(unit!.first - 1, unit!.last).flatMap((step, i) => step.terms.map((term, k) => ({ term, out: flow.sent[unit!.first - 1 + i]![k]!.out }))).filter(({ term }) => !inside.has(term.to))
    : [];
  const ins = backward ? flow.arrived[unit!.first - 1]!.filter((v) => v !== null) : [];
  return (
    <>
      <p class="kicker">{backward ? "Backward" : "Forward"} {first.number === last.number ? first.number : `${first.number} to ${last.number}`} of {total(page, first.phase)}, folded</p>
      <h3 class="step-title"><span class="mono">{group.label}</span></h3>
      {group.detail && <p class="muted mono" dir="auto">{clip(group.detail, 200)}</p>}
      <p>{plural(group.size, "operation or leaf", "operations and leaves")} in one box; one step goes over {plural(unit!.last - unit!.first + 1, "step")}.</p>
      <p><button class="primary" onClick={() => page.unfold(group)}>Look inside</button></p>
      {ins.length > 0 && <p>First in: <b class="mono">{array(ins[0]!, "short", 60)}</b></p>}
      {outs.slice(0, 8).map(({ term, out }, i) => (
        <p key={i}>Out to <b class="mono">{clip(page.model.name(term.to), 40)}</b>: <span class="mono">{array(out, "short", 50)}</span></p>
      ))}
      {outs.length > 8 && <p class="muted">and {outs.length - 8} more</p>}
      <Facts facts={[[seconds(cost.forward), "forward"], [seconds(cost.backward), "backward"], [bytes(cost.bytes), "kept"]]} />
    </>
  );
}

function Facts({ facts }: { facts: [string, string][] }) {
  return (
    <dl class="facts">
      {facts.map(([value, name]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}
    </dl>
  );
}

function Start({ page }: { page: Page }) {
  const { call, model } = page;
  return (
    <>
      <p class="kicker">Before the first step</p>
      <h3 class="step-title">Nothing has run</h3>
      <p>{plural(model.firstBackward, "forward step")} will make the values; then {plural(call.steps.length - model.firstBackward, "backward step")} send v from the output to the leaves. Until then every <code>.grad</code> is as it was.</p>
      <p><button class="primary" onClick={() => page.move(1)}>Step</button></p>
    </>
  );
}

export function StepPanel({ page }: { page: Page }) {
  const { call, unit, model, flow } = page;
  if (!unit) return <Start page={page} />;
  if (isGroup(unit.item)) return <Folded page={page} group={unit.item} />;
  const at = unit.last - 1;
  const step = call.steps[at]!;
  const main = step.outputs[0]!;
  const accumulates = step.node === "AccumulateGrad";
  const place = accumulates ? "end of its way" : step.place ? `recorded at line ${step.place.line}` : "line not recorded";
  const dead = step.phase === "backward" && flow.arrived[at]!.every((v) => v === null || isZero(v));
  const finding = call.findings.filter((one) => one.step === at);
  return (
    <>
      <p class="kicker">{step.phase === "forward" ? "Forward" : "Backward"} {step.number} of {total(page, step.phase)}, {place}</p>
      <h3 class="step-title">
        <span class="mono">{accumulates ? `AccumulateGrad ${call.kind === "explain" ? "for" : "writes"} ${clip(model.name(main), 60)}.grad` : step.phase === "forward" ? step.op ?? step.node : step.node}</span>{" "}
        {!accumulates && <span class="muted mono" dir="auto">{step.phase === "forward" ? "makes" : "of"} {step.outputs.map((output) => clip(model.name(output), 80)).join(", ")}</span>}
      </h3>
      <Crumbs page={page} tensor={main} />
      <LoopScrubber page={page} tensor={main} />
      {step.note && <p class="note">{step.note}</p>}
      {finding.map((one, i) => <p key={i} class="alarm" role="note"><b>{one.kind}</b> {one.why}</p>)}
      {dead && !accumulates && <p class="muted">v is zero here: with this v, nothing of this node reaches a leaf.</p>}
      {step.terms.map((term, k) => <TermBlock key={`${term.to} ${k}`} page={page} step={step} at={at} k={k} />)}
      {accumulates && <Accumulate page={page} step={step} />}
      {step.phase === "backward" && step.ran && step.terms.length < 2 && <p class="ran">what ran, with no J built: <code>{step.ran}</code></p>}
      {step.outputs.map((output) => <Card key={output} page={page} tensor={output} />)}
      <Facts facts={[...(isTimed(call) ? [[seconds(call.tensors[main]!.time), "forward"], [seconds(step.phase === "backward" ? step.time : null), "this step"]] as [string, string][] : []), [bytes(call.tensors[main]!.bytes), "kept"]]} />
    </>
  );
}
