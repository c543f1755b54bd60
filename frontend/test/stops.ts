// Where "read" stops, for tests in Python: reads traces, one a line, and answers each by the stops of its calls.
import { createInterface } from "node:readline";
import { partsOf } from "../src/read/stages";
import { stops } from "../src/read/stops";
import type { Trace } from "../src/trace";

for await (const line of createInterface({ input: process.stdin })) {
  const trace = JSON.parse(line) as Trace;
  console.log(JSON.stringify(trace.calls.map((call) => {
    const partOf = partsOf(trace, call) as ((tensor: number) => { key: string } | undefined) | undefined;
    return { stops: stops(call, "line"), parts: partOf ? call.steps.map((step) => partOf(step.outputs[0]!)?.key ?? null) : null };
  })));
}
