// The workbench: everything of a call at once, in panes.
import { Fragment, h } from "preact";
import { Answer, Rows } from "./answer";
import { Failed, Find, Header, Transport } from "./bars";
import { isGroup } from "./fold";
import { plural } from "./format";
import { Gradients } from "./gradients";
import { Graph } from "./graph";
import { SourcePane, Tape } from "./left";
import type { Page } from "./page";
import { RightPane } from "./panels";
import { Score } from "./quiz";
import type { Density } from "./state";
import { Table } from "./table";

function Legend() {
  return (
    <ul class="legend" aria-label="Legend">
      <li><i class="leaf" />leaf</li>
      <li><i class="output" />output</li>
      <li><i class="now" />now</li>
      <li><i class="forward" />↓ value</li>
      <li><i class="passed" />↑ gradient</li>
      <li><i class="zero" />zero</li>
    </ul>
  );
}

/** Larger, smaller, and all of it. The factor is of what is on the screen, which only the picture knows. */
export function Zoom({ page }: { page: Page }) {
  const { drawing, model, state } = page;
  const by = (factor: number) => {
    const svg = document.querySelector<SVGSVGElement>("#picture");
    const now = svg ? svg.clientWidth / svg.viewBox.baseVal.width : 1;
    page.set({ zoom: Math.min(3, Math.max(0.1, now * factor)) });
  };
  return (
    <span class="zoom" role="group" aria-label="Zoom">
      <button aria-label="Zoom out" onClick={() => by(0.8)}>−</button>
      <button aria-label="Zoom in" onClick={() => by(1.25)}>+</button>
      <button aria-pressed={state.zoom === "fit"} onClick={() => page.set({ zoom: state.zoom === "fit" ? null : "fit" })}>Fit</button>
      {drawing.items.some(isGroup) && <span class="muted">{plural(drawing.items.length, "box", "boxes")} for {model.root.size}</span>}
    </span>
  );
}

function Center({ page }: { page: Page }) {
  const { state } = page;
  return (
    <section class="card center-pane" aria-label={state.view === "graph" ? "Graph" : "Table"}>
      <div class="pane-title">
        <h2>{state.view === "graph" ? "Graph" : "Table"}</h2>
        {state.view === "graph" && <Legend />}
        {state.view === "graph" && (
          <label class="density">
            <select aria-label="How much the boxes show" value={state.density} onChange={(event) => page.set({ density: event.currentTarget.value as Density })}>
              <option value="auto">auto boxes</option>
              <option value="full">full boxes</option>
              <option value="compact">compact boxes</option>
            </select>
          </label>
        )}
        {state.view === "table" && <span class="muted aside">press a heading to sort</span>}
      </div>
      {state.view === "graph" ? (
        <div class="drawing">
          <Graph page={page} />
          <Zoom page={page} />
        </div>
      ) : <Table page={page} />}
    </section>
  );
}

export function Workbench({ page }: { page: Page }) {
  const { trace, state } = page;
  return (
    <>
      <Header page={page} />
      <Find page={page} />
      <main class={trace.error ? "with-error" : ""}>
        <Failed page={page} />
        {state.quiz ? <Score page={page} /> : (
          <div class="top">
            <Answer page={page} />
            {page.call.gradients ? <Gradients page={page} /> : <Rows page={page} />}
          </div>
        )}
        <div class="panes">
          <div class="card left-pane">
            <SourcePane page={page} />
            <Tape page={page} />
          </div>
          <Center page={page} />
          <RightPane page={page} />
        </div>
        {trace.limits.notes.length > 0 && <p class="muted limits">{trace.limits.notes.join(" ")}</p>}
      </main>
      <Transport page={page} />
    </>
  );
}
