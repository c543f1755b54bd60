// Everything that the graph says, as one table: for those who do not see the graph, and for thousands of nodes.
import { h } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { array, bytes, clip, seconds, shapeText } from "./format";
import { useWindow } from "./left";
import type { Page } from "./page";
import { isTimed, type Arr } from "./trace";

interface Row {
  tensor: number;
  cells: (string | number)[];
  keys: (string | number)[];
}

const COLUMNS = ["#", "name", "operation", "grad_fn", "line", "shape", "value", "v arrived", "sends", "forward", "backward", "keeps"];
const TIMES = new Set([9, 10]);
const NUMERIC = new Set([0, 4, 9, 10, 11]);

function tableRows(page: Page): Row[] {
  const { call, model, flow } = page;
  return call.tensors.map((tensor, i) => {
    const at = model.backward[i]!;
    const step = call.steps[at];
    const which = step ? step.outputs.indexOf(i) : -1;
    const v: Arr | null = step ? flow.arrived[at]![which] ?? null : null;
    const sends = step ? step.terms.map((term, k) => `${array(flow.sent[at]![k]!.out, "short", 24)} → ${clip(model.name(term.to), 24)}`).join("; ") : "";
    const cells = [
      i + 1, clip(tensor.name, 60), tensor.op ?? "leaf", tensor.grad_fn ?? "None", tensor.place?.line ?? "", shapeText(tensor.shape),
      tensor.data ? array(tensor.data, "python", 34) : "not kept", v ? array(v, "python", 34) : step ? "0" : "never", sends,
      seconds(tensor.time), seconds(step?.time ?? null), bytes(tensor.bytes),
    ];
    const keys = [...cells];
    Object.assign(keys, { 4: tensor.place?.line ?? -1, 9: tensor.time ?? -1, 10: step?.time ?? -1, 11: tensor.bytes });
    return { tensor: i, cells, keys };
  });
}

const HEIGHT = 26;

export function Table({ page }: { page: Page }) {
  const { unit, state } = page;
  const scroller = useRef<HTMLDivElement>(null);
  const [order, setOrder] = useState<{ column: number; down: boolean }>({ column: 0, down: false });
  const rows = useMemo(() => tableRows(page), [page.call, page.flow]);
  const found = new Set(page.matches);
  const kept = state.find ? rows.filter((row) => found.has(row.tensor)) : rows;
  const sorted = useMemo(() => {
    const { column, down } = order;
    const compare = (a: Row, b: Row) => {
      const [x, y] = [a.keys[column]!, b.keys[column]!];
      return NUMERIC.has(column) ? Number(x) - Number(y) : String(x).localeCompare(String(y));
    };
    return [...kept].sort((a, b) => (down ? -1 : 1) * compare(a, b));
  }, [kept.length, rows, order, state.find]);
  const columns = COLUMNS.flatMap((_, column) => (TIMES.has(column) && !isTimed(page.call) ? [] : [column]));
  const [first, last] = useWindow(sorted.length, HEIGHT, scroller);
  const now = new Set(unit ? page.model.tensors(unit.item) : []);
  return (
    <div class="table-view" ref={scroller} tabIndex={0} role="region" aria-label="Table of all tensors">
      <table aria-rowcount={sorted.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column) => (
              <th key={column} scope="col" aria-sort={order.column === column ? (order.down ? "descending" : "ascending") : undefined}>
                <button onClick={() => setOrder({ column, down: order.column === column && !order.down })}>
                  {COLUMNS[column]}{order.column === column ? (order.down ? " ▾" : " ▴") : ""}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {first > 0 && <tr style={{ height: `${first * HEIGHT}px` }}><td colSpan={columns.length} /></tr>}
          {sorted.slice(first, last).map((row, i) => (
            <tr key={row.tensor} aria-rowindex={first + i + 2} class={now.has(row.tensor) ? "now" : ""} onClick={() => page.visit(row.tensor)}>
              {columns.map((column) => (
                <td key={column} class={NUMERIC.has(column) ? "numeric" : ""} dir="auto">
                  {column === 1 ? <button class="link mono" onClick={(event) => (event.stopPropagation(), page.visit(row.tensor))}>{row.cells[column]}</button> : row.cells[column]}
                </td>
              ))}
            </tr>
          ))}
          {last < sorted.length && <tr style={{ height: `${(sorted.length - last) * HEIGHT}px` }}><td colSpan={columns.length} /></tr>}
        </tbody>
      </table>
    </div>
  );
}

const PRINTED = 400;

/** The tape as a plain table, for paper. */
export function PrintedTape({ page }: { page: Page }) {
  const { call, flow, model } = page;
  const backward = call.steps.map((step, at) => ({ step, at })).filter(({ step }) => step.phase === "backward");
  return (
    <section class="printed" aria-label="The tape">
      <h2>Backward, step by step</h2>
      <table>
        <thead><tr><th>#</th><th>line</th><th>node</th><th>v in</th><th>v out</th></tr></thead>
        <tbody>
          {backward.slice(0, PRINTED).map(({ step, at }) => (
            <tr key={at}>
              <td>{step.number}</td><td>{step.place?.line ?? ""}</td><td>{step.node}</td>
              <td>{flow.arrived[at]!.map((v) => array(v, "short", 40)).join("; ")}</td>
              <td>{step.terms.map((term, k) => `${array(flow.sent[at]![k]!.out, "short", 40)} → ${clip(model.name(term.to), 40)}${term.of > 1 ? ` (${term.nth} of ${term.of})` : ""}`).join("; ")}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {backward.length > PRINTED && <p>and {backward.length - PRINTED} more</p>}
    </section>
  );
}
