// What else there is to know, each behind a label that tells its answer.
import { h } from "preact";
import type { FunctionComponent } from "preact";
import { RUN_AGAIN, bytes, plural } from "../format";
import type { Later } from "../later";
import { findingName } from "../model";
import type { Page } from "../page";
import { count } from "../trace";

interface Drawer {
  id: string;
  label: string;
  answer: string;
  shown: { [Name in keyof Later]: Later[Name] extends FunctionComponent<{ page: Page }> ? Name : never }[keyof Later];
}

function health({ call: { findings }, editing }: Page): string {
  if (editing.changes.size) return RUN_AGAIN;
  if (!findings.length) return "✓ no NaN, inf or zero";
  const kinds = [...new Set(findings.map(({ kind }) => findingName(kind)))];
  return `! ${findings.length === 1 ? "" : `${findings.length}: `}${kinds.slice(0, 3).join(", ")}`;
}

function drawers(page: Page): Drawer[] {
  const { call } = page;
  const rows = call.outputs.reduce((sum, output) => sum + count(output.gradient.shape), 0);
  const found: Drawer[] = [];
  if (call.gradients) found.push({ id: "parameters", label: "Parameters", answer: `${call.leaves.length}`, shown: "Gradients" });
  else if (call.leaves.length && call.outputs.length) found.push({ id: "rows", label: "Rows of J", answer: `${rows}`, shown: "Rows" });
  found.push(
    { id: "operations", label: "All operations", answer: `${call.steps.length}`, shown: "Tape" },
    { id: "health", label: "Health", answer: health(page), shown: "Health" },
    { id: "cost", label: "Cost", answer: `${bytes(call.cost.peak_bytes)} at most`, shown: "CostPanel" },
    { id: "table", label: "Table", answer: `${plural(call.tensors.length, "tensor")}`, shown: "Table" },
  );
  for (const { kind, title, answer } of page.trace.sheets ?? []) found.push({ id: kind, label: title, answer, shown: "SheetTable" });
  return found;
}

export function Drawers({ page }: { page: Page }) {
  const { state, set, later } = page;
  const all = drawers(page);
  const open = all.find(({ id }) => id === state.drawer);
  const Open = open && later?.[open.shown];
  return (
    <section class="more" aria-label="More">
      <div class="drawers">
        {all.map(({ id, label, answer }) => (
          <button key={id} aria-expanded={open?.id === id} data-drawer={id} onClick={() => set({ drawer: open?.id === id ? null : id })}>{label} <b>{answer}</b></button>
        ))}
        <button aria-pressed={state.why} onClick={() => set({ why: !state.why })}>Why each rule</button>
        <button onClick={() => set({ mode: "workbench", quiz: true })}>Quiz</button>
        <button onClick={() => later?.savePicture(page)}>Export <b>SVG</b></button>
      </div>
      {Open && <div class={`card drawer ${open!.id}`}><Open page={page} /></div>}
    </section>
  );
}
