// A network by its module tree.
import { h } from "preact";
import { Graph } from "../graph";
import type { Page } from "../page";

export function Layers({ page }: { page: Page }) {
  return <div class="drawing"><Graph page={page} /></div>;
}
