// What every part of the page is given.
import type { Group } from "./fold";
import type { Later } from "./later";
import type { LayoutEngine } from "./layout";
import type { Drawing, Model, Unit } from "./model";
import type { Stop } from "./read/stops";
import type { Changes } from "./recompute";
import type { Flow } from "./replay";
import type { State } from "./state";
import type { Call, Trace } from "./trace";

/** Changes of what the program was given: leaves and constants, by their places. */
export interface Editing {
  /** The call as it was recorded. */
  recorded: Call;
  changes: Changes;
  places: ReadonlySet<number>;
  /** Why nothing can be computed after the changes, or not all; null if all is known. */
  why: string | null;
  change: (places: number[], data: number[] | null) => void;
}

export interface Page {
  trace: Trace;
  call: Call;
  model: Model;
  state: State;
  /** What is shown; in the quiz without what is asked. */
  flow: Flow;
  full: Flow;
  drawing: Drawing;
  /** The unit that the position lies in; null before the first step. */
  unit: Unit | null;
  /** Where "read" stops, and the stop in which the position lies. */
  stops: Stop[];
  stop: number;
  /** Why v cannot be changed, or null. */
  stuck: string | null;
  /** What of the program's inputs can be changed. */
  editing: Editing;
  /** The tensors that the search finds. */
  matches: number[];
  /** Whether the page is a part of another: without a header and drawers, as high as what it shows. */
  embedded: boolean;
  engine: LayoutEngine;
  /** What comes after the first screen; undefined until then. */
  later: Later | undefined;
  set: (patch: Partial<State>) => void;
  go: (position: number) => void;
  move: (units: number) => void;
  /** Goes to where a tensor is worked on in the present phase. */
  visit: (tensor: number) => void;
  tryV: (vs: number[][] | null) => void;
  unfold: (group: Group) => void;
  fold: (group: Group) => void;
  /** Takes the state from an address. */
  reopen: (hash: string) => void;
  choose: (finding: number) => void;
}

/** The part of it that the figure of the start page has as well. */
export interface Story extends Pick<Page, "trace" | "call" | "flow" | "stops" | "stop" | "stuck" | "move" | "tryV"> {
  editing?: Editing;
  state: Pick<State, "position" | "by" | "figure" | "leaf" | "output">;
  set: (patch: Partial<Pick<State, "position" | "by" | "figure" | "leaf" | "output">>) => void;
}
