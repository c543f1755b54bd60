// The live figure of the start page: v @ J, the program with its step, and the graph of one recorded call.
import { Fragment, h } from "preact";
import { useMemo, useState } from "preact/hooks";
import { Equation } from "../equation";
import type { Story } from "../page";
import { Figure } from "../read/figure";
import { Program } from "../read/program";
import { positionOf, stopAt, stops, type Stop } from "../read/stops";
import { Terms } from "../read/terms";
import { obstacle, recorded, replay } from "../replay";
import type { Trace } from "../trace";

/** The stop that is shown before anything is pressed: the third line that backward comes to. */
const FIRST = 2;

function useStory(trace: Trace): Story {
  const call = trace.calls[trace.primary ?? 0]!;
  const [vs, tryV] = useState<number[][] | null>(null);
  const [state, setState] = useState<Story["state"]>(() => ({ position: positionOf(call, stops(call, "line")[FIRST]!), by: "line", figure: "graph", leaf: 0, output: 0 }));
  const all = useMemo(() => stops(call, state.by), [state.by]);
  const stop = stopAt(call, all, state.position);
  const flow = useMemo(() => (vs ? replay(call, vs) : recorded(call)), [vs]);
  const set = (patch: Partial<Story["state"]>) =>
    setState((old) => {
      const next = { ...old, ...patch };
      const now = stops(call, next.by);
      return { ...next, position: positionOf(call, now[stopAt(call, now, next.position)]!) };
    });
  const move = (by: number) => set({ position: positionOf(call, all[Math.max(0, Math.min(all.length - 1, stop + by))]!) });
  return { trace, call, flow, stops: all, stop, stuck: obstacle(call), move, tryV, state, set };
}

export function StartFigure({ trace }: { trace: Trace }) {
  const page = useStory(trace);
  const card = ({ stop }: { stop: Stop }) => <Terms page={page} stop={stop} />;
  return (
    <>
      <section class="card sentence" aria-label="v @ J">
        <div class="answer-line">
          <Equation page={page} />
          <span class="muted">{page.flow.whatIf ? <button class="link" onClick={() => page.tryV(null)}>back to [1, 2]</button> : "type another v: all below is computed anew, here"}</span>
        </div>
      </section>
      <div class="pair">
        <Program page={page} card={card} />
        <Figure page={page} />
      </div>
    </>
  );
}
