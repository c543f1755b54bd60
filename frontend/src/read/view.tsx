// The first screen: one sentence, the program, one step, one picture; all else is a drawer.
import { Fragment, h } from "preact";
import { ModeSwitch, ThemeButton } from "../bars";
import { clip } from "../format";
import { isAlarm } from "../model";
import type { Page } from "../page";
import { Drawers } from "./drawers";
import { ErrorStory } from "./error";
import { FigurePane } from "./figure";
import { Layers } from "./layers";
import { NanStory } from "./nan";
import { Program } from "./program";
import { Sentence } from "./sentence";

function Bar({ page }: { page: Page }) {
  const { trace, state, call } = page;
  const source = call.place && trace.sources[call.place.source];
  return (
    <header class="header">
      <h1><span class="logo" aria-hidden="true">∂</span> pullback explain</h1>
      {source && <code class="where">{clip(source.file, 60)}:{call.place!.line}</code>}
      {trace.calls.length > 1 && (
        <label class="calls">
          call{" "}
          <select value={state.call} onChange={(event) => page.set({ call: Number(event.currentTarget.value) })}>
            {trace.calls.map((call, k) => <option value={k}>{`${k + 1} of ${trace.calls.length}${call.place ? `, line ${call.place.line}` : ""}`}</option>)}
          </select>
        </label>
      )}
      <div class="modes">
        <ModeSwitch page={page} />
        <ThemeButton page={page} />
        <button aria-label="Keys" onClick={() => page.set({ help: true })}>?</button>
      </div>
    </header>
  );
}

export function Read({ page }: { page: Page }) {
  const { trace, call, state } = page;
  const failed = trace.error?.call === state.call || (trace.error !== null && trace.error.call === null);
  return (
    <>
      <Bar page={page} />
      <main class="story">
        {failed ? <ErrorStory page={page} /> : <Sentence page={page} />}
        {call.findings.some(({ kind }) => isAlarm(kind)) && <NanStory page={page} />}
        <div class="pair">
          <Program page={page} />
          {call.gradients ? <Layers page={page} /> : <FigurePane page={page} />}
        </div>
        {trace.limits.notes.length > 0 && <p class="muted limits">{trace.limits.notes.join(" ")}</p>}
        <Drawers page={page} />
      </main>
    </>
  );
}
