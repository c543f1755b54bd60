// The program, with value and gradient on each line, and the step under the line that it belongs to.
import { Fragment, h } from "preact";
import type { Page } from "../page";
import { StepCard } from "./card";
import { positionOf } from "./stops";

export function Program({ page }: { page: Page }) {
  const { trace, call, model, stops, stop: at } = page;
  const source = trace.sources[call.place?.source ?? 0];
  const stop = stops[at]!;
  const go = (to: number) => page.set({ position: positionOf(model, stops[Math.max(0, Math.min(stops.length - 1, to))]!) });
  return (
    <section class="card program" aria-labelledby="program-title">
      <h2 id="program-title">{source?.file ?? "the program"} <span class="muted">backward, newest line first</span></h2>
      <ol class="lines mono">
        {source?.lines.map((text, i) => {
          const line = source.first + i;
          return (
            <Fragment key={line}>
              <li class={line === stop.line ? "now" : ""} aria-current={line === stop.line ? "step" : undefined}><span class="number">{line}</span><code>{text || " "}</code></li>
              {line === stop.line && <li><StepCard page={page} stop={stop} /></li>}
            </Fragment>
          );
        })}
      </ol>
      <div class="stepper" role="toolbar" aria-label="Steps">
        <button onClick={() => go(at - 1)}>← Back</button>
        <button class="primary" id="step" onClick={() => go(at + 1)}>Step →</button>
        <input type="range" min={0} max={stops.length - 1} value={at} aria-label="Step" onInput={(event) => go(Number(event.currentTarget.value))} />
        <span id="position">{at + 1} of {stops.length}</span>
      </div>
    </section>
  );
}
