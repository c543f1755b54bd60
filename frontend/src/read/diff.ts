// A change of the program as the line before and the line after.
import type { Fix, Source } from "../trace";

export interface Piece {
  text: string;
  kind: "same" | "old" | "new";
}

/** For each line, or lines, that a fix changes: their parts, in order. Indentation that all have is left out. */
export function diff(fix: Fix, sources: Source[]): Piece[][] {
  const changes = [...fix.changes].sort((a, b) => a.place.source - b.place.source || a.place.line - b.place.line || a.place.column! - b.place.column!);
  const groups = new Map<string, typeof changes>();
  for (const change of changes) {
    const key = `${change.place.source}:${change.place.line}`;
    groups.set(key, [...(groups.get(key) ?? []), change]);
  }
  return [...groups.values()].flatMap((group) => {
    const { source, line } = group[0]!.place;
    const last = group.at(-1)!.place.end_line ?? line;
    const { first, lines } = sources[source]!;
    const letters = lines.slice(line - first, last - first + 1).map((text) => [...text]);
    if (!letters.length) return [];
    const pieces: Piece[] = [];
    let [row, column] = [0, letters[0]!.findIndex((letter) => letter.trim())];
    const until = (toRow: number, toColumn: number): string => {
      const parts: string[] = [];
      while (row < toRow) {
        parts.push(letters[row]!.slice(column).join(""));
        [row, column] = [row + 1, 0];
      }
      parts.push(letters[row]!.slice(column, toColumn).join(""));
      column = Math.max(column, toColumn);
      return parts.join("\n");
    };
    for (const { place, text } of group) {
      pieces.push({ text: until(place.line - line, place.column!), kind: "same" }, { text: until(place.end_line! - line, place.end_column!), kind: "old" }, { text, kind: "new" });
    }
    pieces.push({ text: until(letters.length - 1, letters.at(-1)!.length), kind: "same" });
    return [pieces.filter(({ text }) => text)];
  });
}
