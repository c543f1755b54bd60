// The right pane: the step, what is not well, and what it costs.
import { Fragment, h } from "preact";
import { useState } from "preact/hooks";
import { Choice } from "./choice";
import { bytes, clip, plural, seconds } from "./format";
import { findingName, isAlarm } from "./model";
import { isTimed } from "./trace";
import type { Page } from "./page";
import { amount, groupCost, type Cost } from "./picture";
import type { Measure, Panel } from "./state";
import { StepPanel } from "./step";

export function Health({ page }: { page: Page }) {
  const { call, state, model } = page;
  if (page.editing.changes.size) return <p class="well">What is not well after a change is found by another run.</p>;
  if (!call.findings.length) return <p class="well"><span aria-hidden="true">✓</span> No NaN, no inf, no zero, tiny or huge gradients.</p>;
  return (
    <>
      <p class="muted">Choose one to see where it was born, and its way in the graph.</p>
      <ol class="findings">
        {call.findings.map((finding, i) => (
          <li key={i}>
            <button aria-pressed={state.finding === i} class={isAlarm(finding.kind) ? "alarm" : "caution"} onClick={() => page.choose(i)}>
              <b>{findingName(finding.kind)}</b> in <span class="mono">{clip(model.name(finding.tensor), 40)}</span>
              {finding.phase === "backward" ? "'s gradient" : ""}{finding.element?.length ? ` at [${finding.element.join(", ")}]` : ""}
              {finding.place ? `, line ${finding.place.line}` : ""}
              <span class="why" dir="auto">{finding.why}</span>
              {finding.fix && <span class="why fix"><b>Fix:</b> {finding.fix}</span>}
              <span class="muted">born {finding.phase}{finding.path.length ? `, carried through ${plural(finding.path.length, "step")}` : ""}</span>
            </button>
          </li>
        ))}
      </ol>
      {state.finding !== null && <StepPanel page={page} />}
    </>
  );
}

/** Bytes alive after each step: up through forward, down through backward. */
function LiveBytes({ page }: { page: Page }) {
  const { call, state, model } = page;
  const { steps } = call;
  const most = Math.max(1, ...steps.map((step) => step.live_bytes));
  const x = (i: number) => (100 * i) / Math.max(1, steps.length);
  const stride = Math.max(1, Math.floor(steps.length / 600));
  const points = steps.flatMap((step, i) => (i % stride === 0 || i === steps.length - 1 ? [`${x(i + 1).toFixed(2)},${(40 - (38 * step.live_bytes) / most).toFixed(2)}`] : []));
  return (
    <figure class="live">
      <figcaption>Bytes alive after each step, at most {bytes(call.cost.peak_bytes)}</figcaption>
      <svg viewBox="0 0 100 41" preserveAspectRatio="none" role="img" aria-label={`Bytes alive rise through ${model.firstBackward} forward steps to at most ${bytes(call.cost.peak_bytes)} and fall through backward`}>
        <polygon points={`0,40 ${points.join(" ")} 100,40`} />
        <line class="border" x1={x(model.firstBackward)} x2={x(model.firstBackward)} y1={0} y2={40} />
        <line class="now" x1={x(state.position)} x2={x(state.position)} y1={0} y2={40} />
      </svg>
    </figure>
  );
}

type By = "line" | "op" | "scope";

export function CostPanel({ page }: { page: Page }) {
  const { call, trace, state } = page;
  const [by, setBy] = useState<By>("line");
  const measure = state.measure;
  const timed = isTimed(call);
  const rows = new Map<string, Cost>();
  call.tensors.forEach((tensor, i) => {
    if (tensor.op === null) return;
    const key = by === "op" ? tensor.op : by === "line" ? (tensor.place ? `line ${tensor.place.line}` : "no line") : tensor.scope === null ? "(outside)" : trace.scopes[tensor.scope]!.name;
    const cost = groupCost(page.model, i);
    const sum = rows.get(key) ?? { forward: 0, backward: 0, bytes: 0 };
    rows.set(key, { forward: sum.forward + cost.forward, backward: sum.backward + cost.backward, bytes: sum.bytes + cost.bytes });
  });
  const sorted = [...rows].sort((a, b) => amount(b[1], measure) - amount(a[1], measure));
  const most = Math.max(1e-12, ...sorted.map(([, cost]) => amount(cost, measure)));
  return (
    <>
      <div class="choices">
        {timed && <Choice<Measure> label="Colour by" names={{ time: "time", bytes: "bytes" }} value={measure} choose={(measure) => page.set({ measure })} />}
        <Choice<By> label="Table by" names={{ line: "line", op: "op", scope: "scope" }} value={by} choose={setBy} />
      </div>
      {timed && <p>Forward {seconds(call.cost.forward)}, backward {seconds(call.cost.backward)}: {call.cost.estimated ? "explain's own run of the rules." : "while recorded, which takes longer than alone."}</p>}
      <p>{bytes(call.cost.kept_bytes)} kept for backward.</p>
      <LiveBytes page={page} />
      <table class="cost-table">
        <thead><tr><th scope="col">{by}</th>{timed && <><th scope="col">forward</th><th scope="col">backward</th></>}<th scope="col">kept</th></tr></thead>
        <tbody>
          {sorted.slice(0, 60).map(([key, cost]) => (
            <tr key={key}>
              <th scope="row" class="mono"><span class="bar" style={{ width: `${(100 * amount(cost, measure)) / most}%` }} />{clip(key, 40)}</th>
              {timed && <><td>{seconds(cost.forward)}</td><td>{seconds(cost.backward)}</td></>}<td>{bytes(cost.bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

const TITLES: Record<Panel, string> = { step: "This step", health: "Health", cost: "Cost" };

export function RightPane({ page }: { page: Page }) {
  const { state, call } = page;
  const alarms = call.findings.length;
  return (
    <section class="card right-pane" aria-label={TITLES[state.panel]}>
      <div class="pane-title" role="group" aria-label="Panels">
        {(["step", "health", "cost"] as const).map((panel) => (
          <button key={panel} class="tab" aria-pressed={state.panel === panel} onClick={() => page.set({ panel })}>
            {TITLES[panel]}{panel === "health" && alarms ? ` (${alarms})` : ""}
          </button>
        ))}
        <span class="muted aside">{state.panel === "step" ? "one vector-Jacobian product" : ""}</span>
      </div>
      <div class="right-body" tabIndex={0} role="region" aria-label={`${TITLES[state.panel]}, details`}>
        {state.panel === "step" ? <StepPanel page={page} /> : state.panel === "health" ? <Health page={page} /> : <CostPanel page={page} />}
      </div>
    </section>
  );
}
