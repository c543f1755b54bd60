// Where the reader stops: at a line of the program, in the order in which backward reaches them.
import type { Model } from "../model";
import type { Pacing } from "../state";

export interface Stop {
  /** The line whose operations run; null where none was recorded. */
  line: number | null;
  /** Which time the line ran, of how many, where it ran more than once. */
  round: { nth: number; of: number } | null;
  /** Indices into the call's steps; none where backward begins. */
  steps: number[];
}

/** The stops of a call: first the line that calls backward, at which nothing has been sent yet. */
export function stops(model: Model, by: Pacing): Stop[] {
  const { call, firstBackward } = model;
  const found: Stop[] = [{ line: call.place?.line ?? null, round: null, steps: [] }];
  for (let at = firstBackward; at < call.steps.length; at++) {
    const step = call.steps[at]!;
    const last = found.at(-1)!;
    const accumulates = step.node === "AccumulateGrad";
    const line = accumulates ? last.line : step.place?.line ?? null;
    if (last.steps.length && line === last.line && (by === "line" || accumulates)) last.steps.push(at);
    else found.push({ line, round: null, steps: [at] });
  }
  return found;
}

/** The position at which a stop has run. */
export function positionOf(model: Model, stop: Stop): number {
  const last = stop.steps.at(-1);
  return last === undefined ? model.firstBackward : last + 1;
}

/** The stop in which a position lies, as an index. */
export function stopAt(model: Model, all: Stop[], position: number): number {
  const later = all.findIndex((stop) => positionOf(model, stop) >= position);
  return later < 0 ? all.length - 1 : later;
}
