// Where it starts: as the page, or, the same program again, as the worker that lays out.
import { h, render } from "preact";

import { App } from "./app";
import "./explain.css";
import { LayoutEngine, serve } from "./layout";
import { load } from "./load";

async function show(): Promise<void> {
  const program = document.currentScript?.textContent || null;
  const place = document.querySelector("#app")!;
  try {
    const trace = await load(document.querySelector("#trace")!);
    if (!trace.calls.length) throw new Error(trace.error ? `${trace.error.type}: ${trace.error.message}` : "no backward() was called");
    place.textContent = "";
    render(<App trace={trace} engine={new LayoutEngine(program)} />, place);
  } catch (error) {
    place.textContent = `pullback explain: ${error instanceof Error ? error.message : String(error)}`;
    throw error;
  }
}

if (typeof document === "undefined") serve();
else void show();
