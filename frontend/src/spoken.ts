// The step in words.
import { isGroup } from "./fold";
import { array, clip, plural } from "./format";
import { gradAt } from "./model";
import type { Page } from "./page";
import type { Step } from "./trace";

/** How many steps a phase has. */
export const total = (page: Page, phase: Step["phase"]) => (phase === "forward" ? page.model.firstBackward : page.call.steps.length - page.model.firstBackward);

/** The step in one sentence, as a screen reader gets it. */
export function spoken(page: Page): string {
  const { call, unit, flow, model } = page;
  if (!unit) return "Before the first step";
  const at = unit.last - 1;
  const step = call.steps[at]!;
  const phase = step.phase === "forward" ? "Forward" : "Backward";
  if (isGroup(unit.item)) return `${phase}, ${unit.item.label}, folded, ${plural(unit.last - unit.first + 1, "step")}`;
  const names = step.outputs.map((output) => clip(model.name(output), 60)).join(" and ");
  const head = `${phase} ${step.number} of ${total(page, step.phase)}: ${step.phase === "forward" ? step.op ?? step.node : step.node} ${step.phase === "forward" ? "makes" : "of"} ${names}`;
  if (step.phase === "forward") return `${head}: ${array(call.tensors[step.outputs[0]!]!.data, "short", 60)}`;
  if (step.node === "AccumulateGrad") return `${head}: ${names}.grad ${array(gradAt(model, flow, step.outputs[0]!, Infinity).value, "short", 60)}`;
  const sends = step.terms.map((term, k) => {
    const sent = flow.sent[at]![k]!;
    const sum = term.of > 1 ? `, contribution ${term.nth} of ${term.of}, sum ${array(sent.after, "short", 40)}` : "";
    return `sends ${array(sent.out, "short", 40)} to ${clip(model.name(term.to), 60)}${sum}`;
  });
  return `${head}. v is ${array(flow.arrived[at]![0] ?? null, "short", 40)}; ${sends.join("; ")}`;
}
