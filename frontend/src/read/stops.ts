// Where the reader stops: at a line of the program, in the order in which backward reaches them.
import type { Pacing } from "../state";
import type { Call, Place } from "../trace";

export interface Stop {
  /** The line whose operations run, and its file; null where none was recorded. */
  line: number | null;
  source: number | null;
  /** Which time the line ran, of how many, where it ran more than once. */
  round: [number, number] | null;
  /** Indices into the call's steps; none where backward begins. */
  steps: number[];
}

const at = (place: Place | null) => ({ line: place?.line ?? null, source: place?.source ?? null });

/** How many steps are forward ones. */
export function forwardSteps(call: Call): number {
  const first = call.steps.findIndex((step) => step.phase === "backward");
  return first < 0 ? call.steps.length : first;
}

/**
 * The stops of a call: first the line that calls backward, at which nothing has been sent yet. In a network, whose parts
 * `partOf` tells, a stop by line is a part: its lines are listed in the card.
 */
export function stops(call: Call, by: Pacing, partOf?: ((tensor: number) => unknown) | undefined): Stop[] {
  const found: Stop[] = [{ ...at(call.place), round: null, steps: [] }];
  for (let n = forwardSteps(call); n < call.steps.length; n++) {
    const step = call.steps[n]!;
    const last = found.at(-1)!;
    // What has been added up for a leaf is written where its last part was sent.
    if (step.node === "AccumulateGrad" && last.steps.length) {
      last.steps.push(n);
      continue;
    }
    const round = call.tensors[step.outputs[0]!]!.round ?? null;
    const same = last.steps.length > 0 && (partOf ? partOf(step.outputs[0]!) === partOf(call.steps[last.steps[0]!]!.outputs[0]!) : !call.stops.includes(n));
    if (by === "line" && same) last.steps.push(n);
    else found.push({ ...at(step.place), round, steps: [n] });
  }
  return found;
}

/** The position at which a stop has run. */
export function positionOf(call: Call, stop: Stop): number {
  const last = stop.steps.at(-1);
  return last === undefined ? forwardSteps(call) : last + 1;
}

/** The stop in which a position lies, as an index. */
export function stopAt(call: Call, all: Stop[], position: number): number {
  const later = all.findIndex((stop) => positionOf(call, stop) >= position);
  return later < 0 ? all.length - 1 : later;
}
