// Computes calls anew, for tests in Python: reads a list of cases, each a trace and changes, and writes what the page gives.
import { readFileSync } from "node:fs";
import { recompute } from "../src/recompute";
import { WORDS } from "../src/words";
import type { Raw, Trace } from "../src/trace";

interface Case {
  trace: Trace;
  call: number;
  changes: Record<string, Raw[]>;
}

function answered({ trace, call, changes }: Case) {
  const entries = Object.entries(changes).map(([place, data]) => [Number(place), data.map(Number)] as const);
  const found = recompute(trace.calls[call]!, trace.statements ?? [], new Map(entries));
  if ("why" in found) return found;
  const { tensors, leaves, steps } = found.call;
  return { tensors: tensors.map((tensor) => tensor.data), leaves, steps, unknown: Object.fromEntries(found.unknown), values: found.values };
}

const cases = JSON.parse(readFileSync(0, "utf8")) as Case[];
console.log(JSON.stringify({ words: WORDS, answers: cases.map(answered) }));
