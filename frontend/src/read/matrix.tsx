// A matrix in the width it is given: all its digits, three digits, colored cells, or its shape and norm.
import { h } from "preact";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { EXACT, number, summary } from "../format";
import { textWidth } from "../measure";
import { count, values, type Arr, type Value } from "../trace";

const MODES = ["full", "three", "cells", "shape"] as const;
export type Mode = (typeof MODES)[number];

/** What is drawn of an array: its numbers if they are known, and the color of each cell, from -1 to 1. */
export interface Grid {
  array: Arr;
  rows: number;
  cols: number;
  numbers: Value[] | null;
  /** NaN where a number is not finite; null where nothing is known of single elements. */
  shades: number[] | null;
  /** The rows and columns of `shades`, which may stand for blocks. */
  cells: [number, number];
}

/** How a matrix is to be drawn. */
export interface Look {
  grid: Grid;
  caption?: ComponentChildren;
  note?: ComponentChildren;
  /** Whether the note says shape and norm, so that nothing is left to say where no cell is known. */
  told?: boolean;
  /** For a reader who does not see it. */
  label: string;
  /** Whether its numbers have colors; others are on gray. */
  colored?: boolean;
  rowNames?: ((i: number) => string) | undefined;
  colNames?: ((j: number) => string) | undefined;
  /** The cells with a frame. */
  framed?: ((i: number, j: number) => boolean) | undefined;
  /** The cells through which nothing passes. */
  dimmed?: ((i: number, j: number) => boolean) | undefined;
}

const SIZE = 13.5;
const DIGITS = { full: 4, three: 3 } as const;
/** More rows are cells: a column of numbers is read one by one. */
const [MOST_ROWS, MOST_COLS] = [12, 16];
const NARROW = 76;
/** A note is not wider. */
const NOTE = 170;
/** Numbers stand below each other if they have at most so many rows together. */
const MOST_STACKED = 18;

const grids = new WeakMap<Arr, Grid>();

function shadesOf(all: Value[]): number[] {
  const size = all.map((value) => (typeof value === "number" ? value : Math.hypot(...value)));
  const most = Math.max(...size.filter(Number.isFinite).map(Math.abs), 0);
  return size.map((value) => (!Number.isFinite(value) ? NaN : most ? value / most : 0));
}

export function gridOf(array: Arr): Grid {
  let grid = grids.get(array);
  if (!grid) {
    const cols = array.shape.at(-1) ?? 1;
    const rows = cols ? count(array.shape) / cols : 0;
    const numbers = array.hidden ? null : values(array);
    const { cells } = array;
    const shades = numbers && numbers.length <= 4096 ? shadesOf(numbers) : cells && !numbers ? [...cells.data].map(shade) : null;
    grid = { array, rows, cols, numbers, shades, cells: cells && !numbers ? [cells.rows, cells.cols] : [rows, cols] };
    grids.set(array, grid);
  }
  return grid;
}

/** A cell of a picture that Python drew: a digit of base 36 around 17, of which 35 is not finite. */
function shade(digit: string): number {
  const level = parseInt(digit, 36);
  return level > 34 ? NaN : (level - 17) / 17;
}

/** A grid of numbers that the page has computed. */
export function gridFrom(numbers: number[], shape: number[], dtype = "float32"): Grid {
  return gridOf({ shape, dtype, data: numbers.map((value) => (Number.isFinite(value) ? value : (String(value) as "NaN"))) });
}

const texts = ({ numbers }: Grid, mode: "full" | "three") => numbers!.map((value) => number(value, DIGITS[mode]));

/** The most that can be shown of a grid: numbers that are known and few, or cells. */
function able(grid: Grid, mode: Mode): Mode {
  const few = grid.rows <= MOST_ROWS && grid.cols <= MOST_COLS && grid.rows * grid.cols > 0;
  if ((mode === "full" || mode === "three") && !(grid.numbers && few)) mode = "cells";
  return mode === "cells" && !(grid.shades && grid.shades.length) ? "shape" : mode;
}

/** The sides that a colored cell may have. */
const SIDES = [16, 12, 9, 7, 5, 4, 3];

/** The side of a colored cell, if it may be as large as `most`. */
function side([rows, cols]: [number, number], most: number): number {
  const count = Math.max(rows, cols);
  return Math.min(most, count <= 8 ? 16 : count <= 16 ? 12 : count <= 24 ? 9 : count <= 40 ? 7 : 4);
}

function columns({ grid, colNames }: Look, mode: "full" | "three"): number[] {
  const all = texts(grid, mode);
  return Array.from({ length: grid.cols }, (_, j) => {
    const numbers = Array.from({ length: grid.rows }, (_, i) => textWidth(all[i * grid.cols + j]!, SIZE));
    return Math.ceil(Math.max(18, ...numbers, colNames ? textWidth(colNames(j), 11.5) : 0)) + 14;
  });
}

/** How wide a matrix is in a mode, with its caption. */
function widthOf(look: Look, mode: Mode, most = SIDES[0]!): number {
  const caption = typeof look.caption === "string" ? Math.ceil(textWidth(look.caption, 12.5)) : 0;
  return Math.max(NARROW, Math.min(150, caption), bare(look, mode, most));
}

function bare(look: Look, mode: Mode, most: number): number {
  const shown = able(look.grid, mode);
  if (shown === "shape") return Math.min(220, Math.ceil(textWidth(summary(look.grid.array), 13.5)));
  if (shown === "cells") return look.grid.cells[1] * (side(look.grid.cells, most) + 1) + 2;
  const { rowNames, grid } = look;
  const names = rowNames ? Math.max(...Array.from({ length: grid.rows }, (_, i) => textWidth(rowNames(i), 12))) + 12 : 0;
  return Math.ceil(names) + columns(look, shown).reduce((sum, width) => sum + width, 4);
}

/** The width of an element, now and when it changes. */
export function useWidth<E extends HTMLElement>() {
  const ref = useRef<E>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = ref.current!;
    const measure = () => setWidth(element.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, width] as const;
}

/** The color of a cell, as a part of the strongest one. */
export function color(value: number): { class: string; style: Record<string, string> } {
  if (Number.isNaN(value)) return { class: "cell broken", style: {} };
  return { class: `cell ${value < 0 ? "below" : "above"}`, style: { "--strength": `${(100 * Math.abs(value)).toFixed(0)}%` } };
}

function Numbers({ look, mode }: { look: Look; mode: "full" | "three" }) {
  const { grid, colored, rowNames, colNames, framed, dimmed } = look;
  const all = texts(grid, mode);
  const wide = columns(look, mode);
  return (
    <table class="numbers" aria-label={look.label}>
      {colNames && (
        <thead>
          <tr>
            {rowNames && <td />}
            {wide.map((_, j) => <th key={j} scope="col">{colNames(j)}</th>)}
          </tr>
        </thead>
      )}
      <tbody>
        {Array.from({ length: grid.rows }, (_, i) => (
          <tr key={i}>
            {rowNames && <th scope="row">{rowNames(i)}</th>}
            {wide.map((width, j) => {
              const k = i * grid.cols + j;
              const drawn = colored ? color(grid.shades![k]!) : { class: "cell", style: {} };
              const more = `${framed?.(i, j) ? " framed" : ""}${dimmed?.(i, j) ? " dimmed" : ""}`;
              return <td key={j} class={drawn.class + more} style={{ ...drawn.style, width: `${width - 2}px` }} title={number(grid.numbers![k]!, EXACT)}>{all[k]}</td>;
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A picture has so many shades of a color; the cells of one are drawn together. */
const LEVELS = 24;

/** The cells of a grid, as a picture; `most` is the largest side it may have. */
export function Cells({ grid, label, framed, dimmed, most = 320, cell = SIDES[0]! }: { grid: Grid; label: string; framed?: Look["framed"]; dimmed?: Look["dimmed"]; most?: number; cell?: number }) {
  const [rows, cols] = grid.cells;
  const size = Math.max(1, Math.min(side(grid.cells, cell), Math.floor(most / Math.max(rows, cols))));
  const whole = rows === grid.rows && cols === grid.cols;
  const drawn = new Map<string, { color: Record<string, string>; squares: string }>();
  grid.shades!.forEach((value, k) => {
    const [i, j] = [Math.floor(k / cols), k % cols];
    const { class: kind, style } = color(Math.round(LEVELS * value) / LEVELS);
    const key = `${kind}${whole && framed?.(i, j) ? " framed" : ""}${whole && dimmed?.(i, j) ? " dimmed" : ""} ${style["--strength"] ?? "0%"}`;
    const { squares } = drawn.get(key) ?? { squares: "" };
    drawn.set(key, { color: style, squares: `${squares}M${j * (size + 1) + 0.5} ${i * (size + 1) + 0.5}h${size}v${size}h-${size}z` });
  });
  return (
    <svg class="cell-picture" role="img" aria-label={`${label}: ${summary(grid.array)}${whole ? "" : `, each cell the largest of ${Math.ceil(grid.rows / rows)}×${Math.ceil(grid.cols / cols)}`}`} width={cols * (size + 1)} height={rows * (size + 1)}>
      {[...drawn].map(([key, { color, squares }]) => <path key={key} class={key.replace(/ \d+%$/, "")} style={color} d={squares} />)}
    </svg>
  );
}

/** A matrix as a mode says, or as much less as is known of it. */
function Drawn({ look, mode, cell }: { look: Look; mode: Mode; cell: number }) {
  const shown = able(look.grid, mode);
  const { array, numbers } = look.grid;
  if (shown === "full" || shown === "three") return <Numbers look={look} mode={shown} />;
  if (shown === "cells") return <Cells grid={look.grid} label={look.label} framed={look.framed} dimmed={look.dimmed} cell={cell} />;
  if (look.told && numbers?.length !== 0) return null;
  return <span class="mono shape-only">{array.hidden ? "?" : numbers?.length === 0 ? `${array.shape.join("×")}, empty` : summary(array)}</span>;
}

/** A part of an equation: a matrix, or a sign between two. */
export type Part = Look | string;

const isSign = (part: Part): part is string => typeof part === "string";
const signWidth = (sign: string) => Math.ceil(textWidth(sign, 17)) + 10;

/** The parts as they stand in a row: the rows have their names once. */
function inRow(parts: Part[]): Part[] {
  const named = parts.findIndex((part) => !isSign(part) && part.rowNames);
  return parts.map((part, i) => (isSign(part) || i === named ? part : { ...part, rowNames: undefined }));
}

function rowWidth(single: Part[], mode: Mode, cell: number): number {
  return single.reduce<number>((sum, part) => sum + (isSign(part) ? signWidth(part) : widthOf(part, mode, cell)) + 6, 0);
}

/** In a row with all digits, or three; below each other; as cells; as shapes: the first that fits a width. */
function arrangement(parts: Part[], width: number): { mode: Mode; row: boolean; cell: number } {
  const single = inRow(parts);
  const looks = parts.filter((part) => !isSign(part)) as Look[];
  const fits = (row: boolean, mode: Mode, cell: number) => row
    ? rowWidth(single, mode, cell) <= width
    : looks.every((look) => widthOf(look, mode, cell) <= width);
  const digits = looks.every((look) => ["full", "shape"].includes(able(look.grid, "full")));
  for (const row of [true, false]) {
    if (digits && (row || looks.reduce((sum, { grid }) => sum + grid.rows, 0) <= MOST_STACKED)) for (const mode of ["full", "three"] as const) if (fits(row, mode, SIDES[0]!)) return { mode, row, cell: SIDES[0]! };
  }
  for (const row of [true, false]) {
    for (const cell of SIDES) for (const mode of digits ? (["cells"] as const) : (["full", "three", "cells"] as const)) if (fits(row, mode, cell)) return { mode, row, cell };
  }
  return { mode: "shape", row: fits(true, "shape", SIDES[0]!), cell: SIDES[0]! };
}

/** Matrices and signs in a row, or below each other where a row is too wide. */
export function Equation({ parts, label }: { parts: Part[]; label: string }) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const { mode, row, cell } = arrangement(parts, width);
  const shown = row ? inRow(parts) : parts;
  const notes = shown.filter((part) => !isSign(part) && part.note).length;
  // What is left of a row is for the notes above the matrices.
  const spare = row && notes ? Math.max(0, width - rowWidth(shown, mode, cell)) / notes : 0;
  const wide = (look: Look) => {
    const own = widthOf(look, mode, cell);
    return Math.min(width, look.note ? Math.max(own, Math.min(own + spare, NOTE)) : own);
  };
  return (
    <div ref={ref} class={`parts ${row ? "" : "stacked"}`} role="group" aria-label={label}>
      {width > 0 && shown.map((part, i) => (
        isSign(part) ? <span key={i} class="sign">{part}</span> : (
          <figure key={i} style={{ width: `${wide(part)}px` }}>
            {part.caption && <figcaption><b>{part.caption}</b>{part.note && <small>{part.note}</small>}</figcaption>}
            <Drawn look={part} mode={mode} cell={cell} />
          </figure>
        )
      ))}
    </div>
  );
}
