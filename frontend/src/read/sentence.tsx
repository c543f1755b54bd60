// What the call did, in one sentence, and as v @ J.
import { Fragment, h } from "preact";
import { array, clip, operand } from "../format";
import type { Story } from "../page";
import { total } from "../replay";
import { nameOf } from "../trace";

const MOST_NAMED = 3;
const ROOM = 64;

/** The call as code, with the v that is shown, written short. */
function shortCall({ call, flow }: Story): string {
  const name = call.outputs.length === 1 ? operand(clip(nameOf(call, call.outputs[0]!.tensor), 40)) : "";
  const plain = call.kind === "backward" && name && call.text.startsWith(`${name}.backward(`);
  if (!plain && !flow.whatIf) return clip(call.text, 120);
  const vs = flow.v.map((v) => array(v, "short", ROOM)).join(", ");
  const names = name || call.outputs.map((output) => operand(clip(nameOf(call, output.tensor), 30))).join(", ");
  return `${names}.backward(${call.outputs.every((output) => output.implicit) && !flow.whatIf ? "" : vs})`;
}

export function Headline({ page }: { page: Story }) {
  const { call, flow } = page;
  const { leaves } = call;
  if (!call.outputs.length) return <h1 class="headline">No backward call ran</h1>;
  const put = call.kind === "explain" || flow.whatIf ? "would put" : leaves.some((leaf) => leaf.grad_before) ? "added" : "put";
  const into = put === "added" ? "to" : "into";
  const code = <code>{shortCall(page)}</code>;
  if (!leaves.length) return <h1 class="headline">{code} reached no leaf</h1>;
  if (leaves.length > MOST_NAMED) return <h1 class="headline">{code} {put} a gradient {into} {leaves.length} leaves</h1>;
  return (
    <h1 class="headline">
      {code} {put}{" "}
      {leaves.map((leaf, k) => (
        <Fragment key={k}>
          {k > 0 && (k === leaves.length - 1 ? " and " : ", ")}
          <code class="good">{array(flow.grads[k]!, "short", ROOM)}</code> {into} <code>{clip(nameOf(call, leaf.tensor), 40)}.grad</code>
        </Fragment>
      ))}
    </h1>
  );
}

/** What was in .grad before, which the call has added to. */
export function Before({ page }: { page: Story }) {
  const { call, flow, state } = page;
  const leaf = call.leaves[state.leaf];
  if (!leaf?.grad_before || flow.whatIf || call.kind === "explain") return null;
  const grad = flow.grads[state.leaf]!;
  return <p class="muted">{clip(nameOf(call, leaf.tensor), 40)}.grad was not None, and backward adds: <span class="mono">{array(leaf.grad_before, "short", 30)} + {array(grad, "short", 30)} = {array(total(leaf.grad_before, grad), "short", 30)}</span></p>;
}
