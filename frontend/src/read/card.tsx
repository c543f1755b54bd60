// What stands under the current line: the rule of each operation, with v, J and v @ J in the shapes of the tensors.
import { Fragment, h } from "preact";
import { useState } from "preact/hooks";
import { array, clip, plural } from "../format";
import type { Page } from "../page";
import { Why } from "../why";
import { entry, nameOf, type Jacobian } from "../trace";
import { Equation, gridFrom } from "./matrix";
import { ModuleCard } from "./modules";
import { pictureOf, squaredError, type Given, type Picture } from "./rules";
import type { Stop } from "./stops";
import { TermLine, Terms } from "./terms";

/** More operations of one line are listed, each to be opened. */
const MOST_OPEN = 3;
const MOST_FLAT = 4096;

function given(page: Page, at: number, k: number): Given | null {
  const { call, flow } = page;
  const step = call.steps[at]!;
  const term = step.terms[k]!;
  const n = flow.arrived[at]!.findIndex((v) => v !== null);
  const v = flow.arrived[at]![n];
  return v ? { page, step, term, tensor: call.tensors[step.outputs[0]!]!, v, out: flow.sent[at]![k]!.out, jacobian: term.jacobians.length === 1 ? term.jacobians[0]! : null } : null;
}

/** J as what it is of flattened tensors. */
function Flat({ jacobian }: { jacobian: Jacobian }) {
  const { rows, cols, form } = jacobian;
  if (rows * cols > MOST_FLAT || rows * cols === 0) return null;
  const numbers = Array.from({ length: rows * cols }, (_, k) => entry(jacobian, Math.floor(k / cols), k % cols));
  if (!numbers.every((value) => typeof value === "number")) return null;
  return (
    <details class="flat">
      <summary>J as {rows}×{cols}{form === "diagonal" ? ", diagonal" : ""}</summary>
      <Equation parts={[{ grid: gridFrom(numbers as number[], [rows, cols]), label: "J, of flattened tensors", colored: true }]} label="J" />
    </details>
  );
}

function Rule({ page, at, k, picture }: { page: Page; at: number; k: number; picture: Picture }) {
  const { call, flow } = page;
  const term = call.steps[at]!.terms[k]!;
  const { before, out, after } = flow.sent[at]![k]!;
  const target = clip(nameOf(call, term.to), 40);
  const largest = call.steps[at]!.op === "nll_loss" && !flow.whatIf ? call.loss?.largest : null;
  return (
    <div class="rule-card">
      {picture.says && <p>{picture.says}</p>}
      <Equation parts={picture.parts} label={`to ${target}`} />
      {largest && <p class="muted">In words: {largest}</p>}
      {term.of > 1 && <p class="muted">{target} is used {term.of} times, so what arrives is added up{before ? <>: {array(before, "short", 28)} + {array(out, "short", 28)} = {array(after, "short", 28)}</> : null}{term.nth < term.of ? " so far" : ""}.</p>}
      <div class="rule-more">
        <Why page={page} derivation={term.derivation} numbers={term.numbers} to={`${k} ${target}`} />
        {term.jacobians[0] && term.jacobians.length === 1 && <Flat jacobian={term.jacobians[0]} />}
      </div>
    </div>
  );
}

function Operation({ page, at, titled }: { page: Page; at: number; titled: boolean }) {
  const { call } = page;
  const step = call.steps[at]!;
  const pictures = step.terms.map((_, k) => {
    const each = given(page, at, k);
    return each && pictureOf(each);
  });
  return (
    <div class={titled ? "inside" : ""}>
      {titled && <p class="muted"><b class="mono">{step.op}</b> of <span class="mono">{clip(nameOf(call, step.outputs[0]!), 50)}</span></p>}
      {step.note && pictures.every((picture) => !picture?.says) && <p>{step.note}</p>}
      {pictures.map((picture, k) => (picture ? <Rule key={k} page={page} at={at} k={k} picture={picture} /> : <TermLine key={k} page={page} at={at} k={k} />))}
    </div>
  );
}

function Listed({ page, steps }: { page: Page; steps: number[] }) {
  const { call, flow } = page;
  const [open, setOpen] = useState<number | null>(null);
  return (
    <table class="module-lines">
      <thead><tr><th scope="col">operation</th><th scope="col" class="text">of</th><th scope="col" class="text">v in</th><td /></tr></thead>
      <tbody>
        {steps.map((at) => {
          const step = call.steps[at]!;
          const v = flow.arrived[at]!.find((each) => each !== null);
          return (
            <Fragment key={at}>
              <tr class={open === at ? "here" : ""}>
                <td class="mono">{step.op}</td>
                <td class="mono">{clip(nameOf(call, step.outputs[0]!), 36)}</td>
                <td class="mono grad-text">{v ? array(v, "short", 16) : ""}</td>
                <td><button class="link" aria-expanded={open === at} aria-label={`${open === at ? "close" : "open"} ${step.op} of ${clip(nameOf(call, step.outputs[0]!), 36)}`} onClick={() => setOpen(open === at ? null : at)}>{open === at ? "close" : "open"}</button></td>
              </tr>
              {open === at && <tr><td colSpan={4}><Operation page={page} at={at} titled={false} /></td></tr>}
            </Fragment>
          );
        })}
      </tbody>
    </table>
  );
}

/** The steps of a stop by the line that they belong to, newest first. */
function lines(page: Page, steps: number[]): number[][] {
  const found = new Map<string, number[]>();
  for (const at of steps) {
    const { place } = page.call.steps[at]!;
    const key = `${place?.source} ${place?.line}`;
    found.set(key, [...(found.get(key) ?? []), at]);
  }
  return [...found.values()];
}

/** The operations of one line. */
function Line({ page, steps }: { page: Page; steps: number[] }) {
  const squares = squaredError(page, steps);
  const rest = squares ? steps.filter((at) => !squares.steps.includes(at)) : steps;
  const listed = rest.length > MOST_OPEN;
  return (
    <>
      {squares && <Rule page={page} at={squares.steps.at(-1)!} k={0} picture={squares.picture} />}
      {listed && <p>{plural(rest.length, "operation")} of this line, newest first:</p>}
      {listed ? <Listed page={page} steps={rest} /> : rest.map((at) => <Operation key={at} page={page} at={at} titled={steps.length > 1} />)}
    </>
  );
}

export function StepCard({ page, stop }: { page: Page; stop: Stop }) {
  const { call } = page;
  if (!stop.steps.length) return <Terms page={page} stop={stop} />;
  const steps = stop.steps.filter((at) => call.steps[at]!.terms.length > 0);
  const all = lines(page, steps);
  if (all.length < 2) return <Line page={page} steps={steps} />;
  return <ModuleCard key={steps[0]} page={page} lines={all}>{(some) => <Line page={page} steps={some} />}</ModuleCard>;
}
