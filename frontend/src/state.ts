// What the reader chose, and how it is kept in the address.
import { EXACT, number } from "./format";
import type { Answers } from "./quiz";
import type { Changes } from "./recompute";
import type { Trace } from "./trace";

export type Theme = "auto" | "light" | "dark";
/** The story of one call, or everything at once. */
export type Mode = "read" | "workbench";
/** What one press of Step runs in "read": a line of the program, or one operation. */
export type Pacing = "line" | "operation";
export type Figure = "graph" | "plane";
export type Panel = "step" | "health" | "cost";
export type View = "graph" | "table";
export type Density = "auto" | "full" | "compact";
export type Measure = "time" | "bytes";

export interface State {
  mode: Mode;
  by: Pacing;
  figure: Figure;
  /** The open drawer of "read". */
  drawer: string | null;
  call: number;
  /** How many steps have run. */
  position: number;
  /** Another v for each output, or null for the recorded one. */
  vs: number[][] | null;
  /** Other numbers for inputs of the program, by their places. */
  changes: Changes;
  open: ReadonlySet<string>;
  leaf: number;
  output: number;
  panel: Panel;
  view: View;
  density: Density;
  measure: Measure;
  finding: number | null;
  /** How large the graph is drawn: a factor, all of it in the window, or as large as can be read. */
  zoom: number | "fit" | null;
  find: string | null;
  help: boolean;
  /** Whether derivations are open. */
  why: boolean;
  quiz: boolean;
  answers: Answers;
  playing: boolean;
  /** Seconds for one step while playing. */
  pace: number;
  theme: Theme;
  /** Said to screen readers, and shown for a moment. */
  notice: string;
}

export interface Kept {
  mode: Mode;
  by?: Pacing;
  figure?: Figure;
  drawer?: string;
  call?: number;
  step?: number;
  v?: number[][];
  changes?: Changes;
  leaf?: number;
  theme?: Theme;
  view?: View;
  panel?: Panel;
  why?: boolean;
  quiz?: boolean;
  open?: string[];
}

export function parseNumber(text: string): number | null {
  const plain = text.trim().toLowerCase();
  const special: Record<string, number> = { nan: NaN, inf: Infinity, "+inf": Infinity, "-inf": -Infinity };
  if (plain in special) return special[plain]!;
  return plain !== "" && Number.isFinite(Number(plain)) ? Number(plain) : null;
}

export function whole(text: string | null): number | undefined {
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined;
}

export function among<T extends string>(text: string | null, known: readonly T[]): T | undefined {
  return known.find((one) => one === text);
}

/** What an address asks for; what it does not understand is left out. */
export function readHash(hash: string): Kept {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  // An address from before there was "read" names none: whatever else it holds is a state of the workbench.
  const older = [...fields.keys()].some((key) => key !== "theme" && key !== "embed");
  const kept: Kept = { mode: among(fields.get("mode"), ["read", "workbench"] as const) ?? (older ? "workbench" : "read") };
  const set = <K extends keyof Kept>(key: K, value: Kept[K] | undefined) => {
    if (value !== undefined) kept[key] = value;
  };
  set("by", among(fields.get("by"), ["line", "operation"] as const));
  set("figure", among(fields.get("figure"), ["graph", "plane"] as const));
  set("drawer", fields.get("drawer") ?? undefined);
  const call = whole(fields.get("call"));
  set("call", call ? call - 1 : undefined);
  set("step", whole(fields.get("step")));
  const leaf = whole(fields.get("leaf"));
  set("leaf", leaf ? leaf - 1 : undefined);
  const v = fields.get("v")?.split(";").map((part) => part.split(",").map(parseNumber));
  if (v && v.flat().every((value) => value !== null)) kept.v = v as number[][];
  const changes = fields.get("x")?.split(";").map((part) => part.split(":"));
  const entries = changes?.map(([place, data]) => [whole(place ?? null), data?.split(",").map(parseNumber) ?? []] as const);
  if (entries?.every(([place, data]) => place !== undefined && data.every((value) => value !== null))) kept.changes = new Map(entries as [number, number[]][]);
  set("theme", among(fields.get("theme"), ["light", "dark"] as const));
  set("view", among(fields.get("view"), ["table"] as const));
  set("panel", among(fields.get("panel"), ["health", "cost"] as const));
  set("why", fields.get("why") === "1" || undefined);
  set("quiz", fields.get("quiz") === "1" || undefined);
  const open = fields.get("open");
  if (open !== null && /^([a-z]+\d+(,(?=.)|$))*$/.test(open)) kept.open = open ? open.split(",") : [];
  return kept;
}

/** The groups that an address lists: beyond that, it would be longer than a link may be. */
const MOST_LISTED = 60;

/** The address of a state; `opening` are the groups that are open at first. */
export function writeHash(state: State, trace: Trace, opening: ReadonlySet<string>, embedded = false): string {
  const parts = [`step=${state.position}`];
  if (state.mode === "read") {
    parts.unshift("mode=read");
    if (state.by !== "line") parts.push(`by=${state.by}`);
    if (state.figure !== "graph") parts.push(`figure=${state.figure}`);
    if (state.drawer !== null) parts.push(`drawer=${state.drawer}`);
  }
  if (state.call !== (trace.primary ?? 0)) parts.unshift(`call=${state.call + 1}`);
  if (state.vs) parts.push(`v=${state.vs.map((v) => v.map((value) => number(value, EXACT)).join(",")).join(";")}`);
  if (state.changes.size) parts.push(`x=${[...state.changes].map(([place, data]) => `${place}:${data.map((value) => number(value, EXACT)).join(",")}`).join(";")}`);
  if (state.leaf) parts.push(`leaf=${state.leaf + 1}`);
  if (state.view !== "graph") parts.push(`view=${state.view}`);
  if (state.panel !== "step") parts.push(`panel=${state.panel}`);
  if (state.why) parts.push("why=1");
  if (state.quiz) parts.push("quiz=1");
  const moved = state.open.size !== opening.size || [...state.open].some((id) => !opening.has(id));
  if (moved && state.open.size <= MOST_LISTED) parts.push(`open=${[...state.open].join(",")}`);
  if (state.theme !== "auto") parts.push(`theme=${state.theme}`);
  if (embedded) parts.push("embed");
  return `#${parts.join("&")}`;
}
