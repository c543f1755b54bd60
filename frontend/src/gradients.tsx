// The gradients of a network's parameters as bars, folded by module: the first thing to know of a scalar loss.
import { Fragment, h } from "preact";
import { useMemo, useState } from "preact/hooks";
import { number, plural } from "./format";
import type { Page } from "./page";
import { count, isBad, values, type Arr, type Call } from "./trace";

export interface Row {
  name: string;
  /** Indices into leaves. */
  leaves: number[];
  norm: number;
  weight: number;
  /** The share of zeros in the gradient. */
  zeros: number;
}

const MOST_ROWS = 24;
const DECADES = 4;

const norm = (array: Arr | null) => (array === null ? NaN : isBad(array) ? NaN : Math.hypot(...(values(array) ?? []).flat(), array.stats?.norm ?? 0));

function zeros(array: Arr): number {
  const all = values(array);
  return (all ? all.flat().filter((value) => value === 0).length : array.stats?.zeros ?? 0) / Math.max(1, count(array.shape));
}

/** Whether a call has what this card shows: one number, and the gradients of several leaves. */
export function isNetwork(call: Call): boolean {
  const scalar = call.outputs.length > 0 && call.outputs.every((output) => count(output.gradient.shape) === 1);
  return scalar && call.leaves.length > 1 && call.leaves.every(({ grad }) => grad.data || grad.stats);
}

function grouped(rows: Row[], key: (name: string) => string): Row[] {
  const groups = new Map<string, Row[]>();
  for (const row of rows) groups.set(key(row.name), [...(groups.get(key(row.name)) ?? []), row]);
  return [...groups].map(([name, group]) => {
    if (group.length === 1) return group[0]!;
    const leaves = group.flatMap((row) => row.leaves);
    const zero = group.reduce((sum, row) => sum + row.zeros * row.leaves.length, 0) / leaves.length;
    return { name, leaves, norm: Math.hypot(...group.map((row) => row.norm)), weight: Math.hypot(...group.map((row) => row.weight)), zeros: zero };
  });
}

/** A row for each leaf, and those that are shown: the deepest modules are folded until there are few. */
export function gradientRows(call: Call, most = MOST_ROWS): { single: Row[]; shown: Row[] } {
  const single = call.leaves.map(({ tensor, grad }, i) => {
    const { name, data } = call.tensors[tensor]!;
    return { name, leaves: [i], norm: norm(grad), weight: norm(data), zeros: zeros(grad) };
  });
  let shown = single;
  for (let depth = Math.max(...single.map(({ name }) => name.split(".").length - 1)); depth > 0 && shown.length > most; depth--) {
    shown = grouped(shown, (name) => name.split(".").slice(0, depth).join("."));
  }
  return { single, shown };
}

const COLUMNS = ["order", "norm", "to weight", "zeros"] as const;
type Column = (typeof COLUMNS)[number];
const KEYS: Record<Column, (row: Row) => number> = {
  order: (row) => row.leaves[0]!,
  norm: (row) => -row.norm,
  "to weight": (row) => -row.norm / row.weight,
  zeros: (row) => -row.zeros,
};

export function Gradients({ page }: { page: Page }) {
  const { call, state } = page;
  const { single, shown } = useMemo(() => gradientRows(call), [call]);
  const [sorted, sort] = useState<Column>("order");
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const key = (row: Row) => (Number.isNaN(KEYS[sorted](row)) ? -Infinity : KEYS[sorted](row));
  const ordered = (rows: Row[]) => [...rows].sort((a, b) => key(a) - key(b) || a.leaves[0]! - b.leaves[0]!);
  const most = Math.max(...shown.map((row) => row.norm).filter(Number.isFinite), 0);
  const bar = (size: number) => (size > 0 ? Math.max(0.02, 1 + Math.log10(size / most) / DECADES) : 0);
  const toggle = (name: string) => setOpen((old) => new Set(old.has(name) ? [...old].filter((one) => one !== name) : [...old, name]));
  const visit = (leaf: number) => {
    const { tensor } = call.leaves[leaf]!;
    const home = page.model.homes.get(tensor);
    if (home && home.kind !== "root") page.unfold(home);
    page.set({ leaf, position: Math.max(0, page.model.backward[tensor]!) + 1, panel: "step", notice: "" });
  };
  const line = (row: Row, inside: boolean) => {
    const group = row.leaves.length > 1;
    const ratio = row.norm / row.weight;
    return (
      <tr key={`${row.name} ${row.leaves[0]}`} class={!group && row.leaves[0] === state.leaf ? "chosen" : ""}>
        <th scope="row" class={inside ? "inside" : ""}>
          <button class="link mono" aria-expanded={group ? open.has(row.name) : undefined} onClick={() => (group ? toggle(row.name) : visit(row.leaves[0]!))}>
            {group ? `${open.has(row.name) ? "−" : "+"} ` : ""}{row.name.split(/(?<=[._])/).map((part) => <>{part}<wbr /></>)}
          </button>
          {group && <span class="muted"> {plural(row.leaves.length, "parameter")}</span>}
        </th>
        <td class="bar-cell" aria-hidden="true"><i style={{ width: `${100 * bar(row.norm)}%` }} /></td>
        <td class={Number.isNaN(row.norm) ? "bad" : ""}>{Number.isNaN(row.norm) ? "nan or inf" : number(row.norm, 3)}</td>
        <td>{Number.isFinite(ratio) ? number(ratio, 2) : ""}</td>
        <td>{`${Math.round(100 * row.zeros)}%`}</td>
      </tr>
    );
  };
  return (
    <section class="card rows gradients" aria-labelledby="rows-title">
      <div class="card-head">
        <h2 id="rows-title">The gradient of each parameter</h2>
        <label>
          by{" "}
          <select aria-label="Sort the parameters by" value={sorted} onChange={(event) => sort(event.currentTarget.value as Column)}>
            {COLUMNS.map((name) => <option value={name}>{name}</option>)}
          </select>
        </label>
      </div>
      <div class="row-list" tabIndex={0} role="region" aria-label="Gradients of the parameters">
        <table>
          <thead><tr><th scope="col">press to go there</th><td title="Logarithmic: half is a hundredth"><span>size, half is 1/100</span></td><th scope="col">norm</th><th scope="col">to weight</th><th scope="col">zeros</th></tr></thead>
          <tbody>
            {ordered(shown).flatMap((row) => [
              line(row, false),
              ...(row.leaves.length > 1 && open.has(row.name) ? ordered(row.leaves.map((leaf) => single[leaf]!)).map((one) => line(one, true)) : []),
            ])}
          </tbody>
        </table>
      </div>
    </section>
  );
}
