// What stands under the current line: the products of one stop.
import { h } from "preact";
import type { Page } from "../page";
import { StepPanel } from "../step";
import type { Stop } from "./stops";

export function StepCard({ page, stop }: { page: Page; stop: Stop }) {
  if (!stop.steps.length) return <p class="read-card">v arrives: backward begins here.</p>;
  return <div class="read-card"><StepPanel page={page} /></div>;
}
