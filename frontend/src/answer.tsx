// The answer first: v @ J = x.grad, and J row by row.
import { Fragment, h } from "preact";
import { useMemo, useState } from "preact/hooks";
import { Pickers } from "./controls";
import { Equation } from "./equation";
import { array, clip, number, operand } from "./format";
import { LARGEST } from "./matrix";
import type { Page } from "./page";
import { jacobianRow, total, unit } from "./replay";
import { count, values, type Value } from "./trace";

function short(items: Value[]): string {
  const shown = items.length > LARGEST ? [...items.slice(0, 4).map((item) => number(item)), `… ${items.length} elements`] : items.map((item) => number(item));
  return `[${shown.join(", ")}]`;
}

/** What the call did to .grad, in words. */
function Written({ page }: { page: Page }) {
  const { call, model, state, flow } = page;
  const leaf = call.leaves[state.leaf]!;
  const x = `${clip(model.name(leaf.tensor), 40)}.grad`;
  const before = leaf.grad_before;
  if (flow.whatIf) return <>The script's own call is the one under “yours”.</>;
  if (call.kind === "explain") return <>explain only looks: {x} is left as it was{before ? "" : ", None"}.</>;
  if (!before) return <>{x} was None, so it is set to this.</>;
  const after = total(before, flow.grads[state.leaf]!);
  return (
    <>
      {x} adds up: <span class="mono">{`${array(before, "short", 24)} + ${array(flow.grads[state.leaf]!, "short", 24)} = ${array(after, "short", 24)}`}</span>
    </>
  );
}

export function Answer({ page }: { page: Page }) {
  const { call, model, state, flow, stuck } = page;
  if (!call.leaves[state.leaf] || !call.outputs.length) {
    return (
      <section class="card answer" aria-label="Answer">
        <h2>What backward(v) computed</h2>
        <p>{call.outputs.length ? "No gradient reached a leaf in this call." : "Nothing: the run ended before a backward call."}</p>
      </section>
    );
  }
  const scalar = call.outputs.every((output) => count(output.gradient.shape) === 1);
  return (
    <section class="card answer" aria-labelledby="answer-title">
      <div class="card-head">
        <h2 id="answer-title">What backward(v) computed</h2>
        <Pickers page={page} />
        <span class="try">
          {stuck ? (
            !scalar && <span class="muted">This v cannot be changed: {stuck}</span>
          ) : (
            <>
              <span class="muted">{scalar ? "try another v, or" : "try another v: type in it, or"}</span>
              {!scalar && (
                <button class="link" onClick={() => page.tryV(call.outputs.map((output) => new Array<number>(count(output.gradient.shape)).fill(1)))}>
                  ones
                </button>
              )}
              <button class="link" id="yours" onClick={() => page.tryV(null)}>
                yours
              </button>
            </>
          )}
        </span>
      </div>
      {call.said && !flow.whatIf && <p class="said">{call.said}</p>}
      <div class="answer-body">
        <Equation page={page} />
        <p class="gloss">
          {scalar ? (
            <>v is one number, so J is one row: <b>the gradient</b>. </>
          ) : (
            <>backward(v) <b>never builds J</b>: it computes <b class="mono">v @ J</b>. Each entry of v weighs one output. </>
          )}
          <Written page={page} />
          {state.vs && !model.isFloat() ? " Computed here in float64." : ""}
          {!scalar && <span class="muted"> (Texts that write Jᵀv mean the same numbers.)</span>}
        </p>
      </div>
    </section>
  );
}

const LISTED = 8;

export function Rows({ page }: { page: Page }) {
  const { call, model, state, flow, stuck } = page;
  const [asked, setAsked] = useState(0);
  const k = state.output;
  const output = call.outputs[k];
  const size = output ? count(output.gradient.shape) : 0;
  const rows = useMemo(() => {
    if (!call.leaves[state.leaf] || !output) return [];
    const some = size <= LISTED ? Array.from({ length: size }, (_, i) => i) : [...new Set([0, 1, 2, Math.min(asked, size - 1)])];
    return some.map((i) => ({ i, row: jacobianRow(call, state.leaf, k, i, stuck === null) }));
  }, [call, state.leaf, k, asked]);
  if (!rows.length || !output) return null;
  const name = model.name(output.tensor);
  const weights = values(flow.v[k]!);
  const chosen = state.vs && weights ? weights.findIndex((value) => value === 1) : -1;
  const pure = chosen >= 0 && weights!.every((value, i) => (i === chosen ? value === 1 : value === 0));
  const basis = (i: number) => (size <= 6 ? `[${Array.from({ length: size }, (_, j) => (i === j ? 1 : 0)).join(", ")}]` : `e_${i}`);
  return (
    <section class="card rows" aria-labelledby="rows-title">
      <div class="card-head">
        <h2 id="rows-title">The Jacobian, one row per backward call</h2>
        <span class="muted">{stuck ? "" : "press a row to replay it below"}</span>
      </div>
      <div class="row-list">
        {rows.map(({ i, row: numbers }) => (
          <button
            key={i}
            class={`row-button tint${i % LARGEST}`}
            data-row={i}
            disabled={stuck !== null || numbers === null}
            aria-pressed={pure && chosen === i}
            onClick={() => page.tryV(unit(call, k, i))}
          >
            <span class="swatch" />
            <span class="mono">
              {operand(clip(name, 40))}.backward({basis(i)}) <span class="muted">gives</span> {numbers ? short(numbers) : "(not stored)"} <span class="muted row-name">row {i} of J</span>
            </span>
          </button>
        ))}
        {size > LISTED && (
          <label class="row-ask">
            another row:{" "}
            <input
              type="number" min={0} max={size - 1} value={asked}
              onInput={(event) => setAsked(Math.min(size - 1, Math.max(0, Math.floor(Number(event.currentTarget.value) || 0))))}
            />{" "}
            of {size}
          </label>
        )}
      </div>
      {size <= LISTED && size > 1 && weights && rows.every(({ row: numbers }) => numbers && numbers.length <= LARGEST) && (
        <p class="sum mono">
          <span class="muted">{flow.whatIf ? "so this v gives" : "so your call gives"}</span>{" "}
          {rows.map(({ i, row: numbers }) => (
            <span key={i}>
              {i > 0 ? " + " : ""}
              <span class={`weighed tint${i % LARGEST}`}>
                {number(weights[i]!)}·{short(numbers!)}
              </span>
            </span>
          ))}{" "}
          {call.outputs.length === 1 ? <>= <b class="good">{array(flow.grads[state.leaf]!, "short", 60)}</b></> : "+ the other outputs"}
        </p>
      )}
    </section>
  );
}
