// The left pane: the source, and the tape as a list.
import { Fragment, h } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { array, plural } from "./format";
import { isGroup } from "./fold";
import { unitAt, type Unit } from "./model";
import type { Page } from "./page";
import type { Place } from "./trace";

const AROUND = 150;

function placeNow(page: Page): Place | null {
  const { call, state, unit } = page;
  if (state.position === 0) return null;
  const step = call.steps[(unit?.last ?? state.position) - 1];
  return step?.node === "AccumulateGrad" ? call.place ?? step.place : step?.place ?? null;
}

export function SourcePane({ page }: { page: Page }) {
  const { trace, call } = page;
  const here = useRef<HTMLLIElement>(null);
  const place = placeNow(page);
  const index = place?.source ?? call.place?.source ?? 0;
  const source = trace.sources[index];
  useEffect(() => {
    const [line, pane] = [here.current, here.current?.closest<HTMLElement>(".source")];
    if (!line || !pane) return;
    const top = line.offsetTop - pane.offsetTop;
    if (top < pane.scrollTop || top + line.offsetHeight > pane.scrollTop + pane.clientHeight) pane.scrollTop = top - pane.clientHeight / 2;
  }, [place?.line, place?.source]);
  if (!source) {
    return (
      <section class="source-pane" aria-label="Source">
        <h2 class="pane-title">Source</h2>
        <p class="muted pad">Recorded outside record(): source lines are not known. Run the program under pullback.explain.record().</p>
      </section>
    );
  }
  const [from, to] = [place?.line ?? call.place?.line ?? 1, place?.end_line ?? place?.line ?? 0];
  const { error } = trace;
  const marks = [["failed", error?.place], ["overwritten", error?.overwritten?.place]] as const;
  const lines = source.lines
    .map((text, i) => ({ text, number: source.first + i }))
    .filter(({ number }) => source.lines.length <= 2 * AROUND || Math.abs(number - from) <= AROUND);
  return (
    <section class="source-pane" aria-labelledby="source-title">
      <h2 class="pane-title" id="source-title">{source.file}</h2>
      <ol class="source mono" tabIndex={0} aria-label={`Source of ${source.file}`}>
        {lines.map(({ text, number }) => {
          const now = place !== null && number >= place.line && number <= to;
          return (
            <li key={number} ref={number === place?.line ? here : null} class={[now && "now", ...marks.map(([mark, at]) => at?.source === index && at.line === number && mark)].filter(Boolean).join(" ")} aria-current={now ? "step" : undefined}>
              <span class="number">{number}</span>
              <code dir="auto">{now ? <Marked text={text} place={place} number={number} /> : text || " "}</code>
            </li>
          );
        })}
      </ol>
    </section>
  );
}

function Marked({ text, place, number }: { text: string; place: Place; number: number }) {
  const start = number === place.line ? place.column : 0;
  const end = number === (place.end_line ?? place.line) ? place.end_column : text.length;
  if (start === null || end === null) return <>{text || " "}</>;
  // Columns count characters, strings count halves of some of them.
  const letters = [...text];
  return (
    <>
      {letters.slice(0, start).join("")}
      <mark>{letters.slice(start, end).join("")}</mark>
      {letters.slice(end).join("")}
    </>
  );
}

const ROW = 23;

/** Which rows of a list are worth drawing: those in view and some around. */
export function useWindow(length: number, row: number, scroller: { current: HTMLElement | null }): [number, number] {
  const [range, setRange] = useState<[number, number]>([0, 60]);
  useLayoutEffect(() => {
    const view = scroller.current!;
    const look = () => {
      const first = Math.max(0, Math.floor(view.scrollTop / row) - 10);
      const last = Math.ceil((view.scrollTop + view.clientHeight) / row) + 10;
      setRange((old) => (old[0] === first && old[1] === last ? old : [first, last]));
    };
    const observer = new ResizeObserver(look);
    observer.observe(view);
    view.addEventListener("scroll", look, { passive: true });
    look();
    return () => {
      observer.disconnect();
      view.removeEventListener("scroll", look);
    };
  }, [length]);
  return [Math.min(range[0], length), Math.min(range[1], length)];
}

function rowText(page: Page, unit: Unit): { name: string; value: string } {
  const step = page.call.steps[unit.last - 1]!;
  if (isGroup(unit.item)) return { name: unit.item.label, value: plural(unit.last - unit.first + 1, "step") };
  const tensor = page.call.tensors[step.outputs[0]!]!;
  if (step.phase === "forward") return { name: `${step.op ?? step.node} ${tensor.name}`, value: tensor.data ? array(tensor.data, "python", 20) : "" };
  const v = page.flow.arrived[unit.last - 1]!.find((one) => one !== null) ?? null;
  return { name: step.node, value: v ? array(v, "python", 20) : "0" };
}

export function Tape({ page }: { page: Page }) {
  const { drawing, state } = page;
  const { units } = drawing;
  const list = useRef<HTMLDivElement>(null);
  const current = unitAt(units, state.position);
  const [active, setActive] = useState(current);
  const [first, last] = useWindow(units.length + 2, ROW, list);
  useEffect(() => setActive(current), [current]);

  const middle = units.findIndex((unit) => page.call.steps[unit.first - 1]!.phase === "backward");
  const split = middle < 0 ? units.length : middle;
  const top = (index: number) => (index + 1 + (index >= split ? 1 : 0)) * ROW;
  useLayoutEffect(() => {
    const view = list.current!;
    const y = top(Math.max(0, active));
    if (y < view.scrollTop + ROW) view.scrollTop = y - ROW;
    else if (y + ROW > view.scrollTop + view.clientHeight) view.scrollTop = y + ROW - view.clientHeight;
  }, [active, units]);

  const onKeyDown = (event: KeyboardEvent) => {
    const next = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + 10, PageUp: active - 10 }[event.key];
    if (next !== undefined) {
      event.preventDefault();
      event.stopPropagation();
      setActive(Math.min(units.length - 1, Math.max(0, next)));
    } else if (event.key === "Enter") {
      event.preventDefault();
      const unit = units[active];
      if (unit) page.go(unit.last);
    }
  };
  const option = (index: number) => {
    const unit = units[index]!;
    const { name, value } = rowText(page, unit);
    const step = page.call.steps[unit.last - 1]!;
    const classes = `tape-row ${step.phase}${unit.last > state.position ? " ahead" : ""}${index === active ? " active" : ""}${isGroup(unit.item) ? " folded" : ""}`;
    return (
      <div
        key={index} id={`tape-${index}`} role="option" class={classes} style={{ top: `${top(index)}px` }}
        aria-selected={index === current} aria-setsize={units.length} aria-posinset={index + 1}
        onClick={() => page.go(unit.last)} onDblClick={() => isGroup(unit.item) && page.unfold(unit.item)}
      >
        <span class="tape-number">{step.number}</span>
        <span class="tape-name">{name.slice(0, 120)}</span>
        <span class="tape-value">{value}</span>
      </div>
    );
  };
  const range = (from: number, to: number) => Array.from({ length: Math.max(0, to - from) }, (_, i) => option(from + i));
  const shown = new Set([Math.max(0, active)]);
  const [low, high] = [Math.max(0, first - 2), Math.min(units.length, last)];
  const extra = [...shown].filter((index) => units.length > 0 && (index < low || index >= high));
  return (
    <section class="tape-pane" aria-labelledby="tape-title">
      <div class="pane-title">
        <h2 id="tape-title">Tape</h2>
        <span class="muted">click a row to go there</span>
      </div>
      <div
        class="tape mono" ref={list} role="listbox" tabIndex={0} aria-labelledby="tape-title"
        aria-activedescendant={units.length ? `tape-${Math.max(0, active)}` : undefined} onKeyDown={onKeyDown}
      >
        <div class="tape-sizer" role="presentation" style={{ height: `${(units.length + 2) * ROW}px` }} />
        <div role="group" aria-label="Forward: values as they were made">
          <div class="tape-head" role="presentation" style={{ top: "0px" }}>Forward: what was made</div>
          {range(low, Math.min(high, split))}
          {extra.filter((index) => index < split).map(option)}
        </div>
        {split < units.length && (
          <div role="group" aria-label="Backward: v arriving at each node">
            <div class="tape-head" role="presentation" style={{ top: `${(split + 1) * ROW}px` }}>Backward: v arriving at each node</div>
            {range(Math.max(low, split), high)}
            {extra.filter((index) => index >= split).map(option)}
          </div>
        )}
      </div>
    </section>
  );
}
