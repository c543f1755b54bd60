// Computes calls anew, for tests in Python: reads cases, one a line, each a trace and changes, and answers each by a line of
// what the page gives. The first line names the words that it knows.
import { createInterface } from "node:readline";
import { recompute } from "../src/recompute";
import { WORDS } from "../src/words";
import type { Raw, Trace } from "../src/trace";

interface Case {
  trace: Trace;
  call: number;
  /** Numbers by their places. */
  changes: Record<string, Raw[]>;
}

function answered({ trace, call, changes }: Case) {
  const entries = Object.entries(changes).map(([place, data]) => [Number(place), data.map(Number)] as const);
  const found = recompute(trace.calls[call]!, trace.statements ?? [], new Map(entries));
  return "why" in found ? found : { call: found.call, unknown: Object.fromEntries(found.unknown), values: found.values };
}

console.log(JSON.stringify(WORDS));
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(answered(JSON.parse(line) as Case)));
}
