// The story of a run that failed.
import { h } from "preact";
import { Failed } from "../bars";
import type { Page } from "../page";

export function ErrorStory({ page }: { page: Page }) {
  return <Failed page={page} />;
}
