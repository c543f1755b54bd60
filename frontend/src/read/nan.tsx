// The story of the first nan or inf.
import { h } from "preact";
import { isAlarm } from "../model";
import type { Page } from "../page";

export function NanStory({ page }: { page: Page }) {
  const finding = page.call.findings.find(({ kind }) => isAlarm(kind))!;
  return (
    <section class="card read-story" aria-label="What went wrong">
      <p>{finding.why}</p>
      {finding.fix && <p><b>Fix:</b> {finding.fix}</p>}
    </section>
  );
}
