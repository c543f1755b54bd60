// The first screen: one sentence, the program, one step, one picture; all else is a drawer.
import { Fragment, h } from "preact";
import { useCallback, useRef } from "preact/hooks";
import { CallPicker, ModeSwitch, Pickers, ThemeButton } from "../controls";
import { Equation } from "../equation";
import { clip } from "../format";
import { isAlarm } from "../model";
import type { Page } from "../page";
import { count } from "../trace";
import { boxCount, MOST_BOXES } from "./boxes";
import { StepCard } from "./card";
import { Drawers } from "./drawers";
import { Inputs } from "./edit";
import { ErrorStory } from "./error";
import { Figure } from "./figure";
import { Layers } from "./layers";
import { NanStory } from "./nan";
import { Program } from "./program";
import { Before, Headline } from "./sentence";
import { isNetwork } from "./stages";
import type { Stop } from "./stops";

function Bar({ page }: { page: Page }) {
  const { trace, call } = page;
  const source = call.place && trace.sources[call.place.source];
  return (
    <header class="header">
      <p class="brand"><span class="logo" aria-hidden="true">∂</span> pullback explain</p>
      {source && <code class="where">{clip(source.file, 60)}:{call.place!.line}</code>}
      <CallPicker page={page} />
      <div class="modes">
        <ModeSwitch page={page} />
        <ThemeButton page={page} />
        <button aria-label="Keys" onClick={() => page.set({ help: true })}>?</button>
      </div>
    </header>
  );
}

function Sentence({ page }: { page: Page }) {
  const { call, flow, stuck } = page;
  const scalar = call.outputs.every((output) => count(output.gradient.shape) === 1);
  return (
    <section class="card sentence" aria-label="What backward did">
      <div class="card-head">
        <Headline page={page} />
        {page.embedded && <button class="link" onClick={() => page.set({ mode: "workbench" })}>Workbench</button>}
      </div>
      {call.said && !flow.whatIf && <p class="said">{call.said} {call.loss?.said}</p>}
      {call.leaves.length > 0 && call.outputs.length > 0 && !isNetwork(page) && (
        <div class="answer-line">
          <Equation page={page} />
          <span class="try">
            <Pickers page={page} />
            {stuck ? !scalar && <span class="muted">This v cannot be changed: {stuck}</span> : page.state.vs ? (
              <><span class="what-if">what if: not the call in your script</span> <button class="link" id="yours" onClick={() => page.tryV(null)}>yours</button></>
            ) : <span class="muted">v is what you passed; type another</span>}
          </span>
        </div>
      )}
      <Before page={page} />
      <Inputs page={page} />
    </section>
  );
}

/** The card of the stop, as a component that stays the same from step to step. */
function useCard(page: Page) {
  const latest = useRef(page);
  latest.current = page;
  return useCallback(({ stop }: { stop: Stop }) => <StepCard page={latest.current} stop={stop} />, []);
}

export function Read({ page }: { page: Page }) {
  const { trace, call, state, later } = page;
  const card = useCard(page);
  const { error } = trace;
  const failed = error !== null && (error.call ?? state.call) === state.call;
  const told = failed && error.said !== undefined && !call.steps.some(({ phase }) => phase === "backward"); // the story has the program
  const large = boxCount(call, state.by) > MOST_BOXES;
  return (
    <>
      {!page.embedded && <Bar page={page} />}
      <main class="story">
        {call.findings.some(({ kind }) => isAlarm(kind)) && <NanStory page={page} />}
        {failed ? <ErrorStory page={page} /> : <Sentence page={page} />}
        {!told && (
          <div class="pair">
            <Program page={page} card={card} />
            {isNetwork(page) ? <Layers page={page} /> : (
              <Figure page={page} bar={large && later && <later.Zoom page={page} />}>{large ? <div class="drawing">{later && <later.Graph page={page} />}</div> : null}</Figure>
            )}
          </div>
        )}
        {trace.limits.notes.length > 0 && <p class="muted limits">{trace.limits.notes.join(" ")}</p>}
        {!page.embedded && <Drawers page={page} />}
      </main>
    </>
  );
}
