// What else there is to know, each behind a label that tells its answer.
import { h } from "preact";
import type { VNode } from "preact";
import { Rows } from "../answer";
import { bytes, plural } from "../format";
import { Gradients } from "../gradients";
import { Tape } from "../left";
import { findingName } from "../model";
import type { Page } from "../page";
import { CostPanel, Health } from "../panels";
import { savePicture } from "../save";
import { Table } from "../table";
import { count } from "../trace";

interface Drawer {
  id: string;
  label: string;
  answer: string;
  open: (page: Page) => VNode;
}

function health({ call: { findings } }: Page): string {
  if (!findings.length) return "✓ no NaN, inf or zero";
  const kinds = [...new Set(findings.map(({ kind }) => findingName(kind)))];
  return `! ${findings.length === 1 ? "" : `${findings.length}: `}${kinds.slice(0, 3).join(", ")}`;
}

function drawers(page: Page): Drawer[] {
  const { call } = page;
  const rows = call.outputs.reduce((sum, output) => sum + count(output.gradient.shape), 0);
  const found: Drawer[] = [];
  if (call.gradients) found.push({ id: "parameters", label: "Parameters", answer: `${call.leaves.length}`, open: () => <Gradients page={page} /> });
  else if (call.leaves.length && call.outputs.length) found.push({ id: "rows", label: "Rows of J", answer: `${rows}`, open: () => <Rows page={page} /> });
  found.push(
    { id: "operations", label: "All operations", answer: `${call.steps.length}`, open: () => <Tape page={page} /> },
    { id: "health", label: "Health", answer: health(page), open: () => <Health page={page} /> },
    { id: "cost", label: "Cost", answer: `${bytes(call.cost.peak_bytes)} at most`, open: () => <CostPanel page={page} /> },
    { id: "table", label: "Table", answer: `${plural(call.tensors.length, "tensor")}`, open: () => <Table page={page} /> },
  );
  return found;
}

export function Drawers({ page }: { page: Page }) {
  const { state, set } = page;
  const all = drawers(page);
  const open = all.find(({ id }) => id === state.drawer);
  return (
    <section class="more" aria-label="More">
      <div class="drawers">
        {all.map(({ id, label, answer }) => (
          <button key={id} aria-expanded={open?.id === id} data-drawer={id} onClick={() => set({ drawer: open?.id === id ? null : id })}>{label} <b>{answer}</b></button>
        ))}
        <button aria-pressed={state.why} onClick={() => set({ why: !state.why })}>Why each rule</button>
        <button onClick={() => set({ mode: "workbench", quiz: true })}>Quiz</button>
        <button onClick={() => savePicture(page)}>Export <b>SVG</b></button>
      </div>
      {open && <div class={`card drawer ${open.id}`}>{open.open(page)}</div>}
    </section>
  );
}
