// v @ J = x.grad, with a v that can be typed over.
import { h } from "preact";
import { useState } from "preact/hooks";
import { array, clip, number, operand, plural, shapeText } from "./format";
import { LARGEST, Matrix, Strip } from "./matrix";
import type { Story } from "./page";
import { parseNumber } from "./state";
import { count, nameOf, reals, row, values, type Arr, type Value } from "./trace";

/** One element of v, to be typed over. */
function Cell({ page, at, value }: { page: Story; at: number; value: Value }) {
  const [draft, setDraft] = useState<string | null>(null);
  const text = draft ?? number(value, 8);
  const wrong = parseNumber(text) === null;
  const tensor = nameOf(page.call, page.call.outputs[page.state.output]!.tensor);
  const type = (next: string) => {
    setDraft(next);
    const parsed = parseNumber(next);
    if (parsed !== null) page.tryV(changed(page, at, parsed));
  };
  return (
    <input
      class="v-cell"
      data-v={at}
      inputMode="decimal"
      aria-label={`v[${at}], the weight of element ${at} of ${tensor}`}
      aria-invalid={wrong}
      value={text}
      disabled={page.stuck !== null}
      style={{ width: `${Math.min(12, Math.max(2, text.length)) + 0.7}ch` }}
      onFocus={(event) => event.currentTarget.select()}
      onInput={(event) => type(event.currentTarget.value)}
      onBlur={() => setDraft(null)}
    />
  );
}

function changed(page: Story, at: number, value: number): number[][] {
  return page.flow.v.map((v, k) => {
    const all = [...reals(v)!];
    if (k === page.state.output) all[at] = value;
    return all;
  });
}

function Large({ value, name }: { value: Arr; name: string }) {
  const all = values(value);
  return (
    <span class="large">
      <span class="mono">{shapeText(value.shape)}</span>
      {all ? <Strip values={all} label={`${name}, ${plural(all.length, "element")}, as shades`} /> : null}
      <span class="mono small">{array(value, "short", 34)}</span>
    </span>
  );
}

export function Equation({ page }: { page: Story }) {
  const { call, flow, state, stuck } = page;
  const leaf = call.leaves[state.leaf]!;
  const output = call.outputs[state.output]!;
  const v = flow.v[state.output]!;
  const grad = flow.grads[state.leaf]!;
  const [vs, js, gs] = [values(v), leaf.jacobians[state.output], values(grad)];
  const small = (all: unknown[] | null) => all !== null && all.length <= LARGEST;
  const x = clip(nameOf(call, leaf.tensor), 40);
  const y = clip(nameOf(call, output.tensor), 40);
  const rows = count(v.shape);
  const columns = count(grad.shape);
  const tints = rows > 1 ? "columns" : undefined;
  return (
    <div class="equation" role="group" aria-label={`v @ J = ${x}.grad`}>
      <figure>
        <figcaption>
          <b>v</b>
          {output.implicit && !flow.whatIf ? ", the 1 of a scalar" : ", your gradient argument"}
        </figcaption>
        {small(vs) ? (
          <Matrix
            rows={[vs!]}
            label="v"
            kind="v"
            tints={tints}
            cell={stuck === null ? (value, _, j) => <Cell page={page} at={j} value={value} /> : (value) => number(value)}
          />
        ) : (
          <Large value={v} name="v" />
        )}
      </figure>
      <span class="sign">@</span>
      <figure>
        <figcaption>
          <b>J</b> = d{operand(y)}/d{operand(x)}, never built
        </figcaption>
        {js && rows <= LARGEST && columns <= LARGEST ? (
          <Matrix rows={Array.from({ length: js.rows }, (_, i) => row(js, i))} label={`J, the Jacobian of ${y} by ${x}`} kind="j" tints={rows > 1 ? "rows" : undefined} />
        ) : (
          <span class="large">
            <span class="mono">
              {rows} × {columns}
            </span>
            <span class="small">{rows === 1 ? "its row is the gradient" : js ? "rows at the right" : "rows at the right, where they can be made"}</span>
          </span>
        )}
      </figure>
      <span class="equation">
        <span class="sign">=</span>
        <figure>
          <figcaption>
            <b>{x}.grad</b>
            {call.outputs.length > 1 ? `, all ${call.outputs.length} outputs` : ""}
          </figcaption>
          {small(gs) ? <Matrix rows={[gs!]} label={`${x}.grad`} kind="grad" /> : <Large value={grad} name={`${x}.grad`} />}
        </figure>
      </span>
    </div>
  );
}
