// Reading the trace out of the page.
import type { Data } from "./start";
import type { Trace } from "./trace";

/** Signs that would act on the text around them instead of being seen: controls and marks of direction. */
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

export function visibleText(text: string): string {
  return text.replace(UNSEEN, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

export function load(data: Data): Trace {
  if (data.schema !== "pullback-trace" || data.version !== 1) throw new Error("this is no pullback-trace of version 1");
  return clean(data as Trace);
}

/** The trace with every text of the program's made visible, in place. */
export function clean(trace: Trace): Trace {
  const see = <K extends string>(object: Record<K, string | null>, key: K) => {
    const text = object[key];
    if (text !== null) object[key] = visibleText(text);
  };
  for (const source of trace.sources) {
    see(source, "file");
    source.lines = source.lines.map(visibleText);
  }
  for (const sheet of trace.sheets ?? []) {
    sheet.said = visibleText(sheet.said);
    sheet.rows = sheet.rows.map((row) => row.map(visibleText));
  }
  for (const scope of trace.scopes) (see(scope, "name"), see(scope, "type"));
  for (const call of trace.calls) {
    see(call, "text");
    for (const each of [call.account, ...(call.account?.constants ?? []), ...(call.account?.lines ?? [])]) if (each) see(each, "why");
    for (const tensor of call.tensors) {
      see(tensor, "name");
      see(tensor, "expr");
      see(tensor, "op");
      for (const saved of tensor.saved) see(saved, "text");
    }
    for (const step of call.steps) {
      (see(step, "node"), see(step, "note"));
      for (const term of step.terms) term.numbers = term.numbers.map(visibleText);
    }
    for (const finding of call.findings) {
      (see(finding, "why"), see(finding, "fix"));
      if (finding.told) finding.told = visibleText(finding.told);
      if (finding.extent) finding.extent = visibleText(finding.extent);
      for (const hop of finding.way ?? []) see(hop, "said");
      for (const fix of [...(finding.fixes ?? []), ...(finding.vain ?? [])]) {
        (see(fix, "why"), see(fix, "tried"));
        for (const change of fix.changes) see(change, "text");
      }
    }
  }
  for (const made of trace.derivations) for (const key of ["why", "value", "slope", "reason"] as const) see(made, key);
  if (trace.error) (see(trace.error, "type"), see(trace.error, "message"));
  if (trace.error?.overwritten) see(trace.error.overwritten, "name");
  return trace;
}
