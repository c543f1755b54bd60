// Which lines of the program are shown: those that made something, what holds them, and the rest folded.
import type { Call, Place, Trace } from "../trace";
import { lineKey, linesOf } from "./lines";

export interface Row {
  key: string;
  source: number | null;
  /** null for what has no line. */
  line: number | null;
  text: string;
  /** For a program without source: the tensor that stands for a line. */
  tensor?: number;
  /** The last line of a fold. */
  folded?: number;
}

/** Up to so many lines, a program is shown with all that is not blank or a comment. */
const SHORT = 40;
const FEWEST_FOLDED = 2;

const indent = (text: string) => text.length - text.trimStart().length;
const quiet = (text: string) => /^\s*(#.*)?$/.test(text);

/** The lines that places name, by source. */
function named(call: Call, also: (Place | null | undefined)[]): Map<number, Set<number>> {
  const found = new Map<number, Set<number>>();
  for (const place of [...call.tensors.map((tensor) => tensor.place), call.place, ...also]) {
    if (!place) continue;
    const lines = found.get(place.source) ?? new Set();
    found.set(place.source, lines);
    for (let line = place.line; line <= Math.max(place.line, place.end_line ?? 0); line++) lines.add(line);
  }
  return found;
}

/** The lines of a text that is nothing but a string: a docstring. */
function docstring(lines: string[]): number {
  const mark = /^\s*[rbu]*("""|''')/i.exec(lines[0] ?? "")?.[1];
  if (!mark) return 0;
  const end = lines.findIndex((text, i) => text.slice(i ? 0 : text.indexOf(mark) + 3).includes(mark));
  return end < 0 ? 0 : end + 1;
}

/** Marks which lines of a file are shown. */
function shown(lines: string[], first: number, wanted: Set<number>): boolean[] {
  const opening = docstring(lines);
  if (lines.length <= SHORT) return lines.map((text, i) => wanted.has(first + i) || (i >= opening && !quiet(text)));
  const keep = lines.map((_, i) => wanted.has(first + i));
  // What a line stands in: the loops, functions and classes above it.
  for (let i = lines.length - 1, level = 0; i >= 0; i--) {
    if (quiet(lines[i]!)) continue;
    const here = indent(lines[i]!);
    if (keep[i]) level = here;
    else if (here < level) [keep[i], level] = [true, here];
  }
  return keep;
}

export function listing(trace: Trace, call: Call, opened: ReadonlySet<string>): Row[] {
  const wanted = named(call, [trace.error?.call === null || trace.error === null ? null : trace.error.place]);
  const rows: Row[] = [];
  for (const [source, { lines, first }] of trace.sources.entries()) {
    const here = wanted.get(source);
    if (!here || !lines.length) continue;
    const keep = shown(lines, first, here);
    const row = (i: number): Row => ({ key: lineKey(source, first + i), source, line: first + i, text: lines[i]! });
    let begun = false;
    for (let i = 0; i < lines.length; ) {
      let end = i;
      while (end < lines.length && !keep[end]) end++;
      const hidden = lines.slice(i, end);
      const key = lineKey(source, first + i);
      if (!hidden.length) end = i + 1;
      if (hidden.length && hidden.every((text) => text.trim() === "")) {
        if (begun && end < lines.length) rows.push(row(i));
      } else if (hidden.length >= FEWEST_FOLDED && !opened.has(key)) {
        rows.push({ ...row(i), text: "", folded: first + end - 1 });
      } else for (let each = i; each < end; each++) rows.push(row(each));
      begun = true;
      i = end;
    }
  }
  return rows.length ? rows : withoutSource(call);
}

/** Each tensor as a line of a program. */
function withoutSource(call: Call): Row[] {
  const { owner } = linesOf(call);
  return call.tensors.flatMap(({ name, expr, op }, tensor) => (owner[tensor] === tensor ? [{ key: `t${tensor}`, source: null, line: null, text: op === null ? name : `${name} = ${expr && expr !== name ? expr : op}`, tensor }] : []));
}
