// What stands under the current line: the products of one stop.
import { h } from "preact";
import type { Page } from "../page";
import type { Stop } from "./stops";
import { Terms } from "./terms";

export function StepCard({ page, stop }: { page: Page; stop: Stop }) {
  return <Terms page={page} stop={stop} />;
}
