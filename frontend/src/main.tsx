// Where it starts: as the page, or, the same program again, as the worker that lays out.
import { h, render } from "preact";

import { App } from "./app";
import "./explain.css";
import "./read/error.css";
import "./read/nan.css";
import "./read/net.css";
import "./read/read.css";
import { isEmbedded, startingHash, tellHeight } from "./frame";
import { LayoutEngine, serve } from "./layout";
import { load, read } from "./load";
import { clean, RunsPage, type Runs } from "./run";

function show(): void {
  const program = document.currentScript?.textContent || null;
  const place = document.querySelector("#app")!;
  try {
    const data = read(document.querySelector("#trace")!);
    if (isEmbedded(startingHash())) tellHeight();
    if (data.schema === "pullback-run") {
      tellHeight();
      place.textContent = "";
      render(<RunsPage data={clean(data as Runs)} />, place);
      return;
    }
    const trace = load(data);
    if (!trace.calls.length) throw new Error(trace.error ? `${trace.error.type}: ${trace.error.message}` : "no backward() was called");
    place.textContent = "";
    render(<App trace={trace} engine={new LayoutEngine(program)} />, place);
  } catch (error) {
    place.textContent = `pullback explain: ${error instanceof Error ? error.message : String(error)}`;
    throw error;
  }
}

if (typeof document === "undefined") serve();
else show();
