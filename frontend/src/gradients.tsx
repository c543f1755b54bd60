// The gradients of a network's parameters as bars, folded by module: the first thing to know of a scalar loss.
import { Fragment, h } from "preact";
import { useMemo, useState } from "preact/hooks";
import { number, plural } from "./format";
import type { Page } from "./page";
import { Axis, Bar, ScaleSwitch, scaleOf } from "./read/axis";
import type { Flow } from "./replay";
import { reals, type Call } from "./trace";

export interface Row {
  name: string;
  /** Indices into leaves. */
  leaves: number[];
  norm: number;
  weight: number;
  /** The share of zeros in the gradient. */
  zeros: number;
}

/** The rows of single leaves, and those that are shown, which the trace folds by module until there are few. */
export function gradientRows(call: Call, flow: Flow): { single: Row[]; shown: Row[] } {
  // The gradient of one number is proportional to v.
  const [now, then] = [flow.v[0]!, call.outputs[0]!.gradient].map((v) => reals(v)?.[0] ?? 1);
  const scale = flow.whatIf && then ? Math.abs(now! / then) : 1;
  const groups = new Map<string, Row[]>();
  const single = call.gradients!.map(({ norm, weight, zeros, group }, i) => {
    const { name } = call.tensors[call.leaves[i]!.tensor]!;
    const row = { name, leaves: [i], norm: scale * Number(norm), weight: Number(weight), zeros: scale ? zeros : 1 };
    const key = group ?? `${name} ${i}`;
    groups.set(key, [...(groups.get(key) ?? []), row]);
    return row;
  });
  const shown = [...groups].map(([name, group]) => {
    if (group.length === 1) return group[0]!;
    const [norm, weight] = (["norm", "weight"] as const).map((what) => Math.hypot(...group.map((row) => row[what])));
    return { name, leaves: group.flatMap((row) => row.leaves), norm: norm!, weight: weight!, zeros: group.reduce((sum, row) => sum + row.zeros, 0) / group.length };
  });
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
  const { call, state, flow } = page;
  const { single, shown } = useMemo(() => gradientRows(call, flow), [call, flow]);
  const [sorted, sort] = useState<Column>("order");
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const key = (row: Row) => (Number.isNaN(KEYS[sorted](row)) ? -Infinity : KEYS[sorted](row));
  const ordered = (rows: Row[]) => [...rows].sort((a, b) => key(a) - key(b) || a.leaves[0]! - b.leaves[0]!);
  const [kind, choose] = useState<"log" | "linear">("log");
  const norms = [...shown, ...shown.flatMap((row) => (open.has(row.name) ? row.leaves.map((leaf) => single[leaf]!) : []))].map((row) => row.norm);
  const scale = scaleOf(norms, kind);
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
        <td class="bar-cell"><Bar scale={scale} value={row.norm} kind="grad" /></td>
        <td class={Number.isNaN(row.norm) ? "bad" : ""}>{Number.isNaN(row.norm) ? "nan or inf" : number(row.norm)}</td>
        <td>{Number.isFinite(ratio) ? number(ratio, 2) : ""}</td>
        <td>{`${Math.round(100 * row.zeros)}%`}</td>
      </tr>
    );
  };
  return (
    <section class="card rows gradients" aria-labelledby="rows-title">
      <div class="card-head">
        <h2 id="rows-title">The gradient of each parameter</h2>
        <ScaleSwitch values={norms} wanted={kind} choose={choose} />
        <label>
          by{" "}
          <select aria-label="Sort the parameters by" value={sorted} onChange={(event) => sort(event.currentTarget.value as Column)}>
            {COLUMNS.map((name) => <option value={name}>{name}</option>)}
          </select>
        </label>
      </div>
      <div class="row-list" tabIndex={0} role="region" aria-label="Gradients of the parameters">
        <table>
          <thead><tr><th scope="col">press to go there</th><td class="bar-cell"><Axis scale={scale} /></td><th scope="col">norm</th><th scope="col">to weight</th><th scope="col">zeros</th></tr></thead>
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
