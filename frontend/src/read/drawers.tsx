// What else there is to know, each behind a label that tells its answer.
import { h } from "preact";
import type { Page } from "../page";

export function Drawers({ page }: { page: Page }) {
  return <nav class="drawers" aria-label="More">{page.call.steps.length} steps</nav>;
}
