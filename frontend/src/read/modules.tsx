// Larger networks: the stream of stages with the norms of values and gradients, and what one module did.
import { Fragment, h } from "preact";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { clip, number, plural } from "../format";
import { gradientRows } from "../gradients";
import type { Page } from "../page";
import { nameOf } from "../trace";
import { Axis, Bar, ScaleSwitch, scaleOf } from "./axis";
import { gradSoFar } from "./lines";
import { norm } from "./rules";
import { gradOf, positionIn, stageOf, stages, type Stage } from "./stages";

type Kind = "log" | "linear";

const figure = (value: number) => (Number.isNaN(value) ? "nan" : number(value));

/** The norms of what each stage hands on, and of the gradient that arrives there in the whole pass. */
function norms({ call, flow }: Page, all: Stage[]) {
  return all.map((stage) => {
    const { data } = call.tensors[stage.result]!;
    const grad = gradOf(call, flow, stage, Infinity);
    return { value: data ? norm(data) : NaN, grad: grad ? norm(grad) : NaN };
  });
}

export function Stream({ page, all, now }: { page: Page; all: Stage[]; now: Stage | undefined }) {
  const { call, flow, state, model } = page;
  const [kinds, choose] = useState<Record<"value" | "grad", Kind>>({ value: "log", grad: "log" });
  const sizes = norms(page, all);
  const both = ["value", "grad"] as const;
  const scales = { value: scaleOf(sizes.map(({ value }) => value), kinds.value), grad: scaleOf(sizes.map(({ grad }) => grad), kinds.grad) };
  return (
    <div class="stream">
      <div class="stage-row stage-head">
        <span />
        {both.map((kind) => (
          <span key={kind} class="stage-part">
            <b class={`${kind}-text`}>{kind === "value" ? "norm of the value" : "norm of its gradient"}</b>
            <ScaleSwitch values={sizes.map((size) => size[kind])} wanted={kinds[kind]} choose={(wanted) => choose({ ...kinds, [kind]: wanted })} />
          </span>
        ))}
      </div>
      {all.map((stage, i) => {
        const at = positionIn(model, stage);
        const arrived = gradOf(call, flow, stage, state.position) !== null;
        const size = sizes[i]!;
        return (
          <Fragment key={stage.key}>
            {i > 0 && <p class="arrow-down">↓{stage === now && gradOf(call, flow, all[i - 1]!, state.position) && <b class="mono grad-text"> ↑ v {figure(sizes[i - 1]!.grad)}</b>}</p>}
            <div class={`stage-row${stage === now ? " now" : ""}`} aria-current={stage === now ? "step" : undefined}>
              <span class="layer-name">
                {at === null ? <b class="mono">{clip(stage.name, 40)}</b> : <button class="link" onClick={() => page.set({ position: at })}><b class="mono" dir="auto">{clip(stage.name, 40)}</b></button>}
                <small>{clip(stage.type, 40)}{stage.tensors.length > 1 && `, ${plural(stage.tensors.length, "step")}`}</small>
              </span>
              {both.map((kind) => (
                <span key={kind} class="stage-part">
                  <b class={`mono ${kind}-text`}>{kind === "grad" && !arrived ? <span class="muted">not yet</span> : figure(size[kind])}</b>
                  <Bar scale={scales[kind]} value={kind === "grad" && !arrived ? NaN : size[kind]} kind={kind} />
                </span>
              ))}
            </div>
          </Fragment>
        );
      })}
      <div class="stage-row stage-foot"><span />{both.map((kind) => <Axis key={kind} scale={scales[kind]} />)}</div>
    </div>
  );
}

/** The gradient of each part as a share of its weights: marks on one axis, each with its number. */
export function Shares({ page }: { page: Page }) {
  const { call, flow } = page;
  const [kind, choose] = useState<Kind>("log");
  const { shown } = gradientRows(call, flow);
  const rows = shown.map((row) => ({ ...row, share: row.norm / row.weight })).filter(({ share }) => Number.isFinite(share));
  const scale = scaleOf(rows.map(({ share }) => share), kind);
  if (!rows.length) return null;
  return (
    <section class="card shares" aria-labelledby="shares-title">
      <h2 id="shares-title">The gradient of each part, as a share of its weights <span class="muted">norm of the gradient / norm of the weights</span> <ScaleSwitch values={rows.map(({ share }) => share)} wanted={kind} choose={choose} /></h2>
      {rows.map(({ name, leaves, share }) => (
        <div key={name} class="share">
          <span class="mono">{name.split(/(?<=[._])/).map((part, k) => <Fragment key={k}>{part}<wbr /></Fragment>)}{leaves.length > 1 && <small> ({leaves.length})</small>}</span>
          <Bar scale={scale} value={share} kind="grad" mark />
          <b class="mono grad-text">{number(share, 2)}</b>
        </div>
      ))}
      <div class="share"><span /><Axis scale={scale} /><span /></div>
    </section>
  );
}

/** What one part of a network did: v in and out, and its lines, each to be opened. */
export function ModuleCard({ page, lines, children }: { page: Page; lines: number[][]; children: (steps: number[]) => ComponentChildren }) {
  const { trace, call, flow } = page;
  const [open, setOpen] = useState<number | null>(null);
  const all = stages(trace, call);
  const stage = stageOf(all, call, call.steps[lines[0]![0]!]!.outputs[0]!);
  if (!stage) return null;
  const before = all[all.indexOf(stage) - 1];
  const [arrives, leaves] = [gradOf(call, flow, stage, Infinity), before ? gradOf(call, flow, before, Infinity) : null];
  const text = (at: number) => clip(nameOf(call, call.steps[at]!.outputs[0]!), 60);
  return (
    <div class="module">
      <p>
        <b class="mono">{clip(stage.name, 60)}</b>, {/^[AEIOU]/.test(stage.type) ? "an" : "a"} {stage.type}
        {arrives && <>: v of norm <b class="grad-text">{number(norm(arrives))}</b> arrives at its result</>}
        {arrives && leaves && <>, and <b class="grad-text">{number(norm(leaves))}</b> leaves at its input</>}.
      </p>
      <table class="module-lines">
        <thead><tr><th scope="col">inside</th><th scope="col">line</th><th scope="col">v in</th><th scope="col">steps</th><td /></tr></thead>
        <tbody>
          {lines.map((steps, i) => {
            const { outputs, place } = call.steps[steps[0]!]!;
            const grad = outputs.length === 1 ? gradSoFar(call, flow, outputs[0]!, Infinity) : null;
            return (
              <Fragment key={steps[0]}>
                <tr class={open === i ? "here" : ""}>
                  <td class="mono">{text(steps[0]!)}</td>
                  <td>{place?.line ?? ""}</td>
                  <td class="grad-text">{grad ? number(norm(grad)) : `${outputs.length} of them`}</td>
                  <td>{steps.length}</td>
                  <td><button class="link" aria-expanded={open === i} aria-label={`${open === i ? "close" : "open"} line ${place?.line ?? "unknown"}: ${text(steps[0]!)}`} onClick={() => setOpen(open === i ? null : i)}>{open === i ? "close" : "open"}</button></td>
                </tr>
                {open === i && <tr><td colSpan={5}>{children(steps)}</td></tr>}
              </Fragment>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
