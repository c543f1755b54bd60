// The products of one stop, in short: what was sent to whom, and what it was added to.
import { Fragment, h } from "preact";
import { array, clip } from "../format";
import { Matrix } from "../matrix";
import type { Story } from "../page";
import { nameOf, row, values, type Arr, type Jacobian } from "../trace";
import type { Stop } from "./stops";

const LARGEST = 6;

function Vector({ value, kind }: { value: Arr; kind: "v" | "grad" }) {
  const all = values(value);
  return all && all.length <= LARGEST ? <Matrix rows={[all]} label={kind === "v" ? "v" : "v @ J"} kind={kind} /> : <span class="mono">{array(value, "short", 30)}</span>;
}

function Local({ jacobian }: { jacobian: Jacobian | null }) {
  if (!jacobian) return <span class="muted">J</span>;
  if (Math.max(jacobian.rows, jacobian.cols) > LARGEST) return <span class="muted mono">{jacobian.rows}×{jacobian.cols}</span>;
  return <Matrix rows={Array.from({ length: jacobian.rows }, (_, i) => row(jacobian, i))} label="local J" kind="j" />;
}

export function TermLine({ page, at, k }: { page: Story; at: number; k: number }) {
  const { call, flow } = page;
  const step = call.steps[at]!;
  const term = step.terms[k]!;
  const { out, before, after } = flow.sent[at]![k]!;
  const name = nameOf(call, term.to);
  return (
    <div class="to">
      <span>to <b class="mono">{clip(name, 24)}</b></span>
      <span class="product">
        {flow.arrived[at]!.map((v, n) => v && (
          <Fragment key={n}>
            {n > 0 && <span class="sign">+</span>}
            <Vector value={v} kind="v" /><span class="sign">@</span><Local jacobian={term.jacobians[n] ?? null} />
          </Fragment>
        ))}
        <span class="sign">=</span><Vector value={out} kind="grad" />
      </span>
      {term.of > 1 && <span class="muted">{clip(name, 24)}.grad: {before ? `${array(before, "short", 24)} + ${array(out, "short", 24)} = ` : ""}{array(after, "short", 24)}{term.nth < term.of ? " so far" : ""}</span>}
    </div>
  );
}

export function Terms({ page, stop }: { page: Story; stop: Stop }) {
  const { call, flow } = page;
  if (!stop.steps.length) {
    return <p>Backward starts: {call.outputs.map((output, k) => <Fragment key={k}>{k > 0 && ", "}<b class="mono v-text">v = {array(flow.v[k]!, "short", 40)}</b> arrives at <b class="mono">{clip(nameOf(call, output.tensor), 24)}</b></Fragment>)}. It says how much each output counts.</p>;
  }
  const notes = [...new Set(stop.steps.map((at) => call.steps[at]!.note).filter((note) => note !== null))];
  return (
    <>
      {notes.map((note) => <p key={note}>{note}</p>)}
      {stop.steps.map((at) => (
        <div key={at} class={stop.steps.length > 1 ? "inside" : ""}>
          {stop.steps.length > 1 && call.steps[at]!.terms.length > 0 && <p class="muted mono">{clip(nameOf(call, call.steps[at]!.outputs[0]!), 50)}</p>}
          {call.steps[at]!.terms.map((_, k) => <TermLine key={k} page={page} at={at} k={k} />)}
        </div>
      ))}
    </>
  );
}
