// Where the page of a trace starts: as the page, or, the same program again, as the worker that lays out.
import { h } from "preact";

import { App } from "./app";
import "./explain.css";
import "./read/error.css";
import "./read/nan.css";
import "./read/net.css";
import "./read/read.css";
import { isEmbedded, startingHash, tellHeight } from "./frame";
import { LayoutEngine, serve } from "./layout";
import { load } from "./load";
import { start } from "./start";

if (typeof document === "undefined") serve();
else {
  const programs = [...document.head.querySelectorAll("script")].map(({ textContent }) => textContent);
  start((data) => {
    if (isEmbedded(startingHash())) tellHeight();
    const trace = load(data);
    if (!trace.calls.length) throw new Error(trace.error ? `${trace.error.type}: ${trace.error.message}` : "no backward() was called");
    return <App trace={trace} engine={new LayoutEngine(programs.join("\n"))} />;
  });
}
