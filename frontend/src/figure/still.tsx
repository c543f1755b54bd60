// The figure as HTML, for readers without scripts, made when the site is built.
import { h, render } from "preact";
import trace from "plane";
import { Still } from "./nodes";
import { StartFigure } from "./figure";

export function still(): string {
  const place = new Still("div");
  render(<StartFigure trace={trace} />, place as unknown as Element);
  return place.inner();
}
