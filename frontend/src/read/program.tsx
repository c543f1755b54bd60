// The program, with value and gradient on each line, and the step under the line that it belongs to.
import { Fragment, h } from "preact";
import type { ComponentType } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Choice } from "../choice";
import { array, plural } from "../format";
import type { Story } from "../page";
import { ROOM } from "./boxes";
import { Code } from "./edit";
import { gradSoFar, lineKey, linesOf } from "./lines";
import { listing, type Row } from "./listing";
import { isNetwork } from "./stages";
import { positionOf, type Stop } from "./stops";

/** The row under which the step of a stop stands: the last one of its statement. */
function rowOf(page: Story, rows: Row[]): number {
  const { call, stops, stop } = page;
  const { steps, source, line } = stops[stop]!;
  if (line === null) {
    const { owner } = linesOf(call);
    const tensor = owner[steps.length ? call.steps[steps.at(-1)!]!.outputs[0]! : call.outputs[0]?.tensor ?? 0];
    return rows.findIndex((row) => row.tensor === tensor);
  }
  const ends = [...steps.map((at) => call.steps[at]!.place), steps.length ? null : call.place].flatMap((place) => (place?.line === line ? [place.end_line ?? line] : []));
  const end = Math.max(line, ...ends);
  const fits = rows.map((row) => row.source === source && row.line! >= line && row.line! <= end && row.folded === undefined);
  return Math.max(fits.lastIndexOf(true), rows.findIndex((row) => row.source === source && row.folded !== undefined && row.line! <= line && row.folded >= line));
}

/** What a line made, when it ran as many times as up to here. */
function madeBy(page: Story, row: Row): number[] {
  if (row.tensor !== undefined) return [row.tensor];
  const times = linesOf(page.call).made.get(lineKey(row.source, row.line)) ?? [];
  const reached = page.stops.slice(0, page.stop + 1).findLast(({ line, source, steps }) => line === row.line && source === row.source && steps.length > 0);
  return times[reached?.round ? reached.round[0] - 1 : times.length - 1] ?? [];
}

function Cells({ page, row }: { page: Story; row: Row }) {
  const { call, flow, state } = page;
  const made = madeBy(page, row);
  const show = (texts: string[]) => (texts.join(", ").length <= ROOM + 8 ? texts.join(", ") : `${texts[0]} and ${texts.length - 1} more`);
  const grads = made.map((tensor) => gradSoFar(call, flow, tensor, state.position));
  return (
    <>
      <span class="value-cell">{show(made.map((tensor) => (call.tensors[tensor]!.data ? array(call.tensors[tensor]!.data, "short", ROOM) : "")).filter(Boolean))}</span>
      <span class="grad-cell">{made.length > 0 && (grads.some(Boolean) ? show(grads.map((grad) => (grad ? array(grad, "short", ROOM) : "·"))) : <span class="muted" title="not yet">·</span>)}</span>
    </>
  );
}

function Stepper({ page }: { page: Story }) {
  const { call, state, stops, stop, set, move } = page;
  const go = (to: number) => set({ position: positionOf(call, stops[to]!) });
  return (
    <div class="stepper" role="group" aria-label="Steps">
      <button class={stop === 0 ? "idle" : ""} onClick={() => move(-1)}>← Back</button>
      <button class={stop === stops.length - 1 ? "primary idle" : "primary"} id="step" onClick={() => move(1)}>Step →</button>
      <input type="range" min={0} max={stops.length - 1} value={stop} aria-label="Step" aria-valuetext={`${stop + 1} of ${stops.length}`} onInput={(event) => go(Number(event.currentTarget.value))} />
      <span id="position" class="muted">{stop + 1} of {stops.length}</span>
      <Choice label="One step is" names={{ line: isNetwork(page) ? "by layer" : "by line", operation: "by operation" }} value={state.by} choose={(by) => set({ by })} />
    </div>
  );
}

interface Properties {
  page: Story;
  /** What stands under the current line. */
  card: ComponentType<{ stop: Stop }>;
}

export function Program({ page, card: Card }: Properties) {
  const { trace, call, stops } = page;
  const [opened, open] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => listing(trace, call, opened), [trace, call, opened]);
  const stop = stops[page.stop]!;
  const current = rowOf(page, rows);
  const list = useRef<HTMLOListElement>(null);
  const moved = useRef(false);
  useLayoutEffect(() => {
    const pane = list.current!;
    const scrolls = pane.scrollHeight > pane.clientHeight + 1;
    if (scrolls) pane.tabIndex = 0;
    else pane.removeAttribute("tabindex");
    if (moved.current) pane.querySelector(".open")?.scrollIntoView({ block: "nearest" });
    // At first only within the program: the page begins with its sentence.
    else if (scrolls) pane.scrollTop = pane.querySelector<HTMLElement>(".open")!.offsetTop - pane.clientHeight / 3;
    moved.current = true;
  }, [page.stop, rows]);
  const visit = (row: Row) => {
    const found = stops.find(({ line, source, steps }) => line !== null && line === row.line && source === row.source && steps.length > 0);
    if (found) page.set({ position: positionOf(call, found) });
  };
  const file = (source: number | null) => (source === null ? "the program" : trace.sources[source]!.file);
  return (
    <section class="card program" aria-labelledby="program-title">
      <h2 id="program-title"><span class="mono">{file(rows[0]?.source ?? null)}</span> <span class="muted">backward, newest line first</span></h2>
      <ol class="lines mono" ref={list} aria-label="Program">
        <li class="line head"><span /><span /><span>value</span><span>grad so far</span></li>
        {rows.map((row, i) => (
          <Fragment key={row.key}>
            {i > 0 && row.source !== rows[i - 1]!.source && <li class="line file">{file(row.source)}</li>}
            {row.folded !== undefined ? (
              <li class="line fold"><button class="link" onClick={() => open(new Set([...opened, row.key]))}>⋯ {plural(row.folded - row.line! + 1, "line")}</button></li>
            ) : (
              <li class={`line${i === current ? " now" : ""}`} aria-current={i === current ? "step" : undefined} onClick={() => visit(row)}>
                <span class="number">{row.line}</span>
                <code dir="auto"><Code page={page} source={row.source} line={row.line} text={row.text} />{i === current && stop.round && <span class="round">round {stop.round[0]} of {stop.round[1]}</span>}</code>
                <Cells page={page} row={row} />
              </li>
            )}
            {i === current && <li class="open"><Card stop={stop} /></li>}
          </Fragment>
        ))}
        {current < 0 && <li class="open"><Card stop={stop} /></li>}
      </ol>
      <Stepper page={page} />
    </section>
  );
}
