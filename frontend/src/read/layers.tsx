// A network by its module tree: a column of layers, each with value and gradient as cells, or, where they are large, as bars.
import { Fragment, h } from "preact";
import { useState } from "preact/hooks";
import { Choice } from "../choice";
import { clip, number } from "../format";
import { Gradients } from "../gradients";
import type { Page } from "../page";
import { count, values, type Arr } from "../trace";
import { Cells, gridOf, useWidth } from "./matrix";
import { Shares, Stream } from "./modules";
import { norm, short } from "./rules";
import { gradOf, inputOf, positionIn, stageOf, stages, type Stage } from "./stages";

/** The largest side of a picture of cells in a column. */
const SIDE = 110;

function Picture({ array, label, room }: { array: Arr | null; label: "value" | "grad"; room: number }) {
  if (!array) return <span class="muted">not yet</span>;
  const grid = gridOf(array);
  if (count(array.shape) === 1) return <b class={`mono ${label}-text`}>{number(values(array)?.[0] ?? norm(array))}</b>;
  return grid.shades?.length ? <Cells grid={grid} label={label} most={Math.max(24, Math.min(SIDE, room))} /> : <span class={`mono ${label}-text`}>{short(array)}</span>;
}

function Layer({ name, type, value, grad, now, go, none }: { name: string; type: string; value: Arr | null; grad: Arr | null; now?: boolean; go?: (() => void) | undefined; none?: string }) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const room = Math.floor((width - 150) / 2.4);
  const title = <b class="mono" dir="auto">{clip(name, 40)}</b>;
  return (
    <div ref={ref} class={`layer${now ? " now" : ""}`} aria-current={now ? "step" : undefined}>
      <span class="layer-name">{go ? <button class="link" onClick={go}>{title}</button> : title}<small>{clip(type, 40)}</small></span>
      <span class="layer-part"><small>value</small><Picture array={value} label="value" room={room} /></span>
      <span class="layer-part"><small>grad</small>{none ? <span class="muted">{none}</span> : <Picture array={grad} label="grad" room={room} />}</span>
    </div>
  );
}

/** Whether all that the stages hand on can be drawn as cells. */
function hasCells(page: Page, all: Stage[]): boolean {
  return all.every(({ result }) => {
    const { data, shape } = page.call.tensors[result]!;
    return count(shape) === 1 || (data !== null && Boolean(gridOf(data).shades?.length));
  });
}

/** What the present stage sends to the one before. */
function Sent({ page, before }: { page: Page; before: Stage | undefined }) {
  const sent = before && gradOf(page.call, page.flow, before, page.state.position);
  return sent ? <b class="mono grad-text"> ↑ {short(sent)}</b> : null;
}

function Column({ page, all, now }: { page: Page; all: Stage[]; now: Stage | undefined }) {
  const { trace, call, flow, state, model } = page;
  const input = inputOf(trace, call);
  return (
    <div class="layer-column">
      {input && <Layer name={input.name} type={`input ${input.value.shape.join("×")}`} value={input.value} grad={null} none="needs none" />}
      {all.map((stage, i) => {
        const grad = gradOf(call, flow, stage, state.position);
        const at = positionIn(model, stage);
        return (
          <Fragment key={stage.key}>
            {(i > 0 || input) && <p class="arrow-down">↓{stage === now && <Sent page={page} before={all[i - 1]} />}</p>}
            <Layer name={stage.name} type={stage.type} value={call.tensors[stage.result]!.data} grad={grad} now={stage === now} go={at === null ? undefined : () => page.set({ position: at })} />
          </Fragment>
        );
      })}
    </div>
  );
}

export function Layers({ page }: { page: Page }) {
  const { trace, call, state } = page;
  const [view, show] = useState<"layers" | "parameters">("layers");
  const all = stages(trace, call);
  const step = state.position > 0 ? call.steps[state.position - 1] : undefined;
  const now = step?.phase === "backward" ? stageOf(all, call, step.outputs[0]!) : undefined;
  const cells = hasCells(page, all);
  return (
    <div class="layers">
      <section class="card figure-pane" aria-label="Layers">
        <div class="figure-bar">
          <Choice label="Picture" names={{ layers: cells ? "Layers" : "Stream", parameters: "Parameters" }} value={view} choose={show} />
          <span class="muted">{view === "parameters" ? "press one to go there" : cells ? "each cell is one number: blue below 0, orange above" : "values go down, gradients ↑ up; press a stage to go there"}</span>
        </div>
        {view === "parameters" ? <Gradients page={page} /> : cells ? <Column page={page} all={all} now={now} /> : <Stream page={page} all={all} now={now} />}
      </section>
      {!cells && <Shares page={page} />}
    </div>
  );
}
