// The picture beside the program: the graph, or the plane of a leaf of two elements.
import { h } from "preact";
import { Graph } from "../graph";
import type { Page } from "../page";

export function FigurePane({ page }: { page: Page }) {
  return (
    <section class="card figure-pane" aria-label="Graph">
      <div class="drawing"><Graph page={page} /></div>
    </section>
  );
}
