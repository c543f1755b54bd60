// Vectors and matrices as tables that can be read aloud, and strips for those too large to print.
import { h } from "preact";
import type { ComponentChildren } from "preact";
import { EXACT, number } from "./format";
import type { Value } from "./trace";

export const LARGEST = 8;

interface MatrixProps {
  rows: Value[][];
  label: string;
  kind?: "v" | "j" | "grad" | "";
  /** Colours of rows, by index; of columns for a vector that weighs rows. */
  tints?: "rows" | "columns" | undefined;
  cell?: (value: Value, i: number, j: number) => ComponentChildren;
}

export function Matrix({ rows, label, kind = "", tints, cell }: MatrixProps) {
  return (
    <span class={`matrix ${kind}${tints === "rows" ? " tinted" : ""}`}>
      <table aria-label={label}>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i} class={tints === "rows" ? `tint${i % LARGEST}` : ""}>
              {row.map((value, j) => (
                <td key={j} class={`${value === 0 ? "nil" : [value].flat().every(Number.isFinite) ? "" : "bad"} ${tints === "columns" ? `tint${j % LARGEST}` : ""}`} title={number(value, EXACT)}>
                  {cell ? cell(value, i, j) : number(value)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </span>
  );
}

const CELLS = 64;

/** Many numbers as a row of shades: the larger, the darker; negative ones in the other colour. */
export function Strip({ values, label }: { values: Value[]; label: string }) {
  const size = values.map((value) => (typeof value === "number" ? value : Math.hypot(...value)));
  const step = Math.max(1, Math.ceil(size.length / CELLS));
  const cells = Array.from({ length: Math.ceil(size.length / step) }, (_, i) =>
    size.slice(i * step, (i + 1) * step).reduce((most, value) => (Math.abs(value) > Math.abs(most) || Number.isNaN(value) ? value : most), 0),
  );
  const most = Math.max(1e-300, ...cells.filter(Number.isFinite).map(Math.abs));
  return (
    <svg class="strip" role="img" aria-label={label} viewBox={`0 0 ${cells.length} 1`} preserveAspectRatio="none">
      {cells.map((value, i) => (
        <rect
          key={i}
          class={!Number.isFinite(value) ? "bad" : value < 0 ? "minus" : "plus"}
          x={i}
          width={1}
          height={1}
          style={{ opacity: Number.isFinite(value) ? 0.06 + (0.94 * Math.abs(value)) / most : 1 }}
        />
      ))}
    </svg>
  );
}
