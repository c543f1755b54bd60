// The workbench: everything of a call at once, in panes.
import { Fragment, h } from "preact";
import { Answer, Rows } from "./answer";
import { Find, Header, Transport } from "./bars";
import { Gradients } from "./gradients";
import { Graph, Zoom } from "./graph";
import { SourcePane, Tape } from "./left";
import type { Page } from "./page";
import { RightPane } from "./panels";
import { Score } from "./quiz";
import { Failed } from "./read/error";
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

function Center({ page }: { page: Page }) {
  const { state } = page;
  return (
    <section class="card center-pane" aria-label={state.view === "graph" ? "Graph" : "Table"}>
      <div class="pane-title">
        <h2>{state.view === "graph" ? "Graph" : "Table"}</h2>
        {state.view === "graph" && <Legend />}
        {state.view === "graph" && <Zoom page={page} />}
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
