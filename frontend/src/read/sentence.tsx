// What the call did, in one sentence, and as v @ J.
import { h } from "preact";
import { Answer } from "../answer";
import type { Page } from "../page";

export function Sentence({ page }: { page: Page }) {
  return <Answer page={page} />;
}
