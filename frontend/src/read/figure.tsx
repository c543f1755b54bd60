// The picture beside the program: the graph, or the plane of a leaf of two elements.
import { h } from "preact";
import type { ComponentChildren } from "preact";
import { Choice } from "../choice";
import type { Story } from "../page";
import { hasPlane } from "./arrows";
import { Drawing } from "./drawing";
import { PlaneDrawing } from "./plane";

/** `children` is drawn in place of a graph that would be too large. */
export function Figure({ page, children, bar }: { page: Story; children?: ComponentChildren; bar?: ComponentChildren }) {
  const flat = hasPlane(page);
  const plane = flat && page.state.figure === "plane";
  return (
    <section class="card figure-pane" aria-label={plane ? "Plane" : "Graph"}>
      <div class="figure-bar">
        {flat && <Choice label="Picture" names={{ graph: "Graph", plane: "Plane" }} value={plane ? "plane" : "graph"} choose={(figure) => page.set({ figure })} />}
        <span class="muted">{plane ? "each row of J is an arrow; v stretches the arrows; their sum is the gradient" : "values go down, gradients ↑ up"}</span>
        {!plane && bar}
      </div>
      {plane ? <PlaneDrawing page={page} /> : children ?? <Drawing page={page} />}
    </section>
  );
}
