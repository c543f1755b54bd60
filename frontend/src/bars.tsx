// The header with its modes, and the transport at the foot.
import { h } from "preact";
import { array, bytes, clip, operand, plural } from "./format";
import { CallPicker, ModeSwitch, ThemeButton } from "./controls";
import { isAlarm } from "./model";
import type { Page } from "./page";
import { savePicture } from "./save";

/** The call as code, with the v that is shown. */
function callText(page: Page): string {
  const { call, model, flow } = page;
  if (!flow.whatIf) return call.text;
  const names = call.outputs.map((output) => operand(clip(model.name(output.tensor), 30))).join(", ");
  return `${names}.backward(${flow.v.map((v) => array(v, "python", 40)).join(", ")})`;
}

function Chips({ page }: { page: Page }) {
  const { call, model } = page;
  const bad = call.findings.filter(({ kind }) => isAlarm(kind)).length;
  const dead = call.findings.length - bad;
  const leaves = call.leaves.length;
  const health = () => page.set({ panel: page.state.panel === "health" ? "step" : "health" });
  const mark = (n: number, none: string, some: string) => (
    <button class={`chip ${n ? "bad" : "fine"}`} onClick={health} aria-pressed={page.state.panel === "health"}>
      <span aria-hidden="true">{n ? "!" : "✓"}</span> {n ? `${n} ${some}` : none}
    </button>
  );
  return (
    <div class="chips">
      <span class="chip">{plural(model.firstBackward || call.tensors.filter((tensor) => tensor.op !== null).length, "operation")} recorded</span>
      <span class="chip">{leaves === 1 ? `1 leaf: ${clip(model.name(call.leaves[0]!.tensor), 24)}` : plural(leaves, "leaf", "leaves")}</span>
      {page.editing.changes.size === 0 && mark(bad, "no NaN or inf", "NaN or inf")}
      {page.editing.changes.size === 0 && mark(dead, "no dead gradients", "zero, tiny or huge")}
      <span class="chip">{bytes(call.cost.kept_bytes)} kept</span>
    </div>
  );
}

export function Header({ page }: { page: Page }) {
  const { state, flow } = page;
  return (
    <header class="header">
      <h1><span class="logo" aria-hidden="true">∂</span> pullback explain</h1>
      <CallPicker page={page} />
      <code class="call" dir="auto">{clip(callText(page), 120)}</code>
      {flow.whatIf && <span class="what-if">what if: not the call in your script</span>}
      <Chips page={page} />
      <div class="modes">
        <button aria-pressed={state.panel === "cost"} onClick={() => page.set({ panel: state.panel === "cost" ? "step" : "cost" })}>Cost</button>
        <button aria-pressed={state.view === "table"} onClick={() => page.set({ view: state.view === "table" ? "graph" : "table" })}>Table</button>
        <button aria-expanded={state.find !== null} onClick={() => page.set({ find: state.find === null ? "" : null })}>Find</button>
        <button aria-pressed={state.quiz} onClick={() => page.set({ quiz: !state.quiz })}>Quiz</button>
        <button onClick={() => savePicture(page)}>Save SVG</button>
        <ThemeButton page={page} />
        <ModeSwitch page={page} />
      </div>
    </header>
  );
}

export function Find({ page }: { page: Page }) {
  const { state, matches, model, call } = page;
  if (state.find === null) return null;
  const listed = matches.slice(0, 12);
  return (
    <search class="card find">
      <input
        id="find" type="search" placeholder="name, operation, line 6, (3,)" aria-label="Find a tensor by name, operation, line or shape" value={state.find}
        onInput={(event) => page.set({ find: event.currentTarget.value })}
        onKeyDown={(event) => event.key === "Enter" && matches[0] !== undefined && page.visit(matches[0])}
      />
      <span class="muted" role="status">{state.find ? plural(matches.length, "match", "matches") : ""}</span>
      <div class="find-list">
        {listed.map((tensor) => (
          <button key={tensor} class="link mono" onClick={() => page.visit(tensor)}>
            {clip(model.name(tensor), 40)} <span class="muted">{call.tensors[tensor]!.op ?? "leaf"}</span>
          </button>
        ))}
        {matches.length > listed.length && <span class="muted">and {matches.length - listed.length} more</span>}
      </div>
    </search>
  );
}

function positionText(page: Page): string {
  const { call, model, state } = page;
  if (state.position === 0) return "before the first step";
  const step = call.steps[state.position - 1]!;
  const of = step.phase === "forward" ? model.firstBackward : call.steps.length - model.firstBackward;
  return `${step.phase} ${step.number} of ${of}`;
}

const PACES = [0.5, 1, 2, 4];

export function Transport({ page }: { page: Page }) {
  const { call, model, state } = page;
  const all = call.steps.length;
  const percent = (n: number) => `${(100 * n) / Math.max(1, all)}%`;
  const before = state.position <= model.firstBackward;
  return (
    <footer class="card">
      <div class="transport" role="toolbar" aria-label="Steps">
      <button class="icon" aria-label="First" onClick={() => page.go(0)}><svg viewBox="0 0 16 16"><path d="M3 3h2v10H3zM13 3v10L6 8z" /></svg></button>
      <button class="icon" aria-label="Back" onClick={() => page.move(-1)}><svg viewBox="0 0 16 16"><path d="M11 3v10L4 8z" /></svg></button>
      <button class="primary" id="step" onClick={() => page.move(1)}>Step <svg viewBox="0 0 16 16" aria-hidden="true"><path d="M5 3v10l7-5z" /></svg></button>
      <button class="icon" aria-label={state.playing ? "Pause" : "Play"} aria-pressed={state.playing} onClick={() => page.set({ playing: !state.playing })}>
        <svg viewBox="0 0 16 16"><path d={state.playing ? "M4 3h3v10H4zM9 3h3v10H9z" : "M2 3v10l6-5zM10 3h2v10h-2zM13 3h2v10h-2z"} /></svg>
      </button>
      <button class="icon" aria-label="Last" onClick={() => page.go(all)}><svg viewBox="0 0 16 16"><path d="M11 3h2v10h-2zM3 3v10l7-5z" /></svg></button>
      <span class="position" id="position">{positionText(page)}</span>
      <span class="scrubber" style={{ "--made": percent(model.firstBackward), "--done": percent(state.position) } as Record<string, string>}>
        <input
          type="range" min={0} max={all} value={state.position} aria-label="Step" aria-valuetext={positionText(page)}
          onInput={(event) => page.go(Number(event.currentTarget.value))}
        />
      </span>
      <label class="pace">
        <span class="muted">pace</span>{" "}
        <select aria-label="Seconds for a step while playing" value={state.pace} onChange={(event) => page.set({ pace: Number(event.currentTarget.value) })}>
          {PACES.map((pace) => <option value={pace}>{pace} s</option>)}
        </select>
      </label>
      <button class="jump" onClick={() => page.go(before ? model.firstBackward + 1 : 1)}>{before ? "To backward" : "To forward"}</button>
      <button class="keys" onClick={() => page.set({ help: true })}>
        <kbd>←</kbd> <kbd>→</kbd> <span>step</span> <kbd>Space</kbd> <span>play</span> <kbd>?</kbd> <span>keys</span>
      </button>
      </div>
    </footer>
  );
}
