// "Why this rule?": a derivation under its step.
import { h } from "preact";
import { Formula, Prose } from "./math";
import type { Page } from "./page";

/** "Why this rule?": the operation and its slope as formulas, the reason, and the numbers of this step. */
export function Why({ page, derivation, numbers = [], to }: { page: Page; derivation: number | null; numbers?: string[]; to: string }) {
  const made = derivation === null ? null : page.trace.derivations[derivation];
  if (!made) return null;
  // The numbers of J do not depend on v; the element of v @ J is the recorded one.
  const listed = numbers.filter((text) => !/^\(?v @/.test(text) || (!page.flow.whatIf && !page.flow.hidden));
  return (
    <details class="why" open={page.state.why} onToggle={(event) => page.set({ why: event.currentTarget.open })}>
      <summary>Why this rule?</summary>
      {page.state.why && (
        <div class="derivation" tabIndex={0} role="region" aria-label={`Why this rule: to ${to}`}>
          {made.value && <p class="formula"><Formula text={made.value} /></p>}
          {made.slope && <p class="formula"><Formula text={made.slope} /></p>}
          {made.reason && <p><Prose text={made.reason} /></p>}
          <p>{made.why}</p>
          {listed.length > 0 && <p class="muted">With the numbers of this step:</p>}
          {listed.map((text) => <p key={text} class="formula"><Formula text={text} /></p>)}
        </div>
      )}
    </details>
  );
}
