// The story of the first nan or inf: which number it is and why, its way from where it began, and what helps.
import { Fragment, h } from "preact";
import { useState } from "preact/hooks";
import { array, clip, number, plural } from "../format";
import { isAlarm } from "../model";
import type { Page } from "../page";
import { nameOf, values, type Arr, type Finding, type Hop, type Step } from "../trace";
import { Help } from "./error";

/** An array of up to so many elements is shown whole. */
const WHOLE = 6;
/** Of a longer way the steps at both ends are shown. */
const MOST_HOPS = 6;
const TOLD = /^(.*) is (nan|-?inf), because (.*)$/s;

const indexed = (element: number[] | null) => (element?.length ? `[${element.join(", ")}]` : "");

/** The numbers of a tensor, or, where they are many, the one that is followed. */
function Cells({ of, element, what }: { of: Arr | null | undefined; element: number[] | null; what: "value" | "grad" }) {
  const all = of && values(of);
  const at = element && of && element.length === of.shape.length ? element.reduce((sum, place, axis) => sum * of.shape[axis]! + place, 0) : -1;
  const text = (value: number | [number, number]) => number(value);
  return (
    <span class={`cells ${what}-cells`}>
      <small>{what}{all && all.length > WHOLE && at >= 0 ? ` at ${indexed(element)}` : ""}</small>
      {!of ? <span class="muted">not kept</span> : !all || (all.length > WHOLE && at < 0) ? <span>{array(of, "short", 24)}</span> : (
        <span>{(all.length > WHOLE ? [all[at]!] : all).map((value, i) => <span class={i === at || all.length > WHOLE ? "followed" : ""}>{text(value)}</span>)}</span>
      )}
    </span>
  );
}

interface BoxProperties {
  page: Page;
  tensor: number;
  element: number[] | null;
  grad: Arr | null | undefined;
  hit: boolean;
}

function Box({ page, tensor, element, grad, hit }: BoxProperties) {
  const { name, op, data, place, shape } = page.call.tensors[tensor]!;
  const line = place ? `, line ${place.line}` : "";
  return (
    <li class={`station${hit ? " hit" : ""}`}>
      <span class="whose"><b class="mono">{clip(name, 60)}</b><small>{op === null ? "leaf" : `result of ${op}`}{line}</small></span>
      <Cells of={data} element={element && element.length === shape.length ? element : null} what="value" />
      {grad !== undefined && <Cells of={grad} element={element} what="grad" />}
    </li>
  );
}

/** What a step sent to a tensor, with what had arrived before. */
function sent(step: Step, to: number): Arr | undefined {
  const terms = step.terms.filter((term) => term.to === to);
  return (terms.find(({ out }) => (values(out) ?? []).flat().some((value) => !Number.isFinite(value))) ?? terms[0])?.after;
}

function Arrow({ page, hop, first }: { page: Page; hop: Hop; first: boolean }) {
  const step = page.call.steps[hop.step]!;
  const back = step.phase === "backward";
  const line = step.place ? ` on line ${step.place.line}` : "";
  return (
    <li class="hop">
      <span aria-hidden="true">↓ </span>
      {back ? "back through" : "through"} <button class="link" onClick={() => page.go(hop.step + 1)}><code>{step.op ?? step.node}</code>{line}</button>
      {step.note && back ? ` ${step.note} ` : " "}
      <b class="mono">{hop.said}</b>{first && <span class="muted"> (it begins here)</span>}
    </li>
  );
}

function Way({ page, finding }: { page: Page; finding: Finding }) {
  const [whole, unfold] = useState(false);
  const { steps, tensors } = page.call;
  const way = finding.way!;
  const start = steps[way[0]!.step]!;
  const back = start.phase === "backward";
  const from = back ? start.outputs[0]! : tensors[way[0]!.to]!.inputs[0];
  const left = whole || way.length <= MOST_HOPS + 1 ? 0 : way.length - MOST_HOPS;
  const stop = (hop: Hop, i: number) => {
    const step = steps[hop.step]!;
    return (
      <Fragment key={i}>
        <Arrow page={page} hop={hop} first={i === 0} />
        <Box page={page} tensor={hop.to} element={hop.element} grad={step.phase === "backward" ? sent(step, hop.to) ?? null : undefined} hit />
      </Fragment>
    );
  };
  const cut = Math.ceil(MOST_HOPS / 2);
  return (
    <section class="card way-pane" aria-labelledby="way-title">
      <h2 id="way-title">The way of the number <span class="muted">one element of each tensor</span></h2>
      <ol class="stations">
        {from !== undefined && <Box page={page} tensor={from} element={tensors[from]!.shape.join() === tensors[way[0]!.to]!.shape.join() ? way[0]!.element : null} grad={back ? start.v[0] : undefined} hit={false} />}
        {left === 0 ? way.map(stop) : (
          <>
            {way.slice(0, cut).map(stop)}
            <li class="hop"><button class="link" onClick={() => unfold(true)}>⋯ {plural(left, "step")} that pass it on</button></li>
            {way.slice(cut + left).map((hop, i) => stop(hop, cut + left + i))}
          </>
        )}
      </ol>
    </section>
  );
}

function Helps({ page, finding }: { page: Page; finding: Finding }) {
  const { sources } = page.trace;
  const fixes = finding.fixes ?? [];
  const vain = finding.vain ?? [];
  return (
    <section class="card helps" aria-label="What helps">
      <h2>What helps</h2>
      {finding.fix && <p class="muted">{finding.fix}.</p>}
      {fixes.length > 0 && <ul>{fixes.map((fix) => <Help fix={fix} sources={sources} />)}</ul>}
      {vain.map(({ why, tried, changes }) => (
        <p class="vain">Not enough: <code>{changes[0]!.text}</code>. {why} Tried here: <span class="mono">{tried}</span>.</p>
      ))}
      {!finding.fix && !fixes.length && <p class="muted">There is no general advice for this operation: keep its inputs where its value and its slope are finite.</p>}
    </section>
  );
}

function Told({ finding, more }: { finding: Finding; more: preact.ComponentChildren }) {
  const parts = TOLD.exec(finding.told!);
  return (
    <section class="card failure" aria-label="What went wrong">
      <h1 class="headline">{parts ? <><code>{parts[1]}</code> is <span class="bad">{parts[2]}</span>, because {parts[3]}.</> : `${finding.told}.`}</h1>
      {finding.extent && <p class="muted">{finding.extent}</p>}
      {more}
    </section>
  );
}

export function NanStory({ page }: { page: Page }) {
  const alarms = page.call.findings.filter(({ kind }) => isAlarm(kind));
  const [chosen, choose] = useState(0);
  const at = Math.min(chosen, alarms.length - 1);
  const finding = alarms[at]!;
  const told = finding.told ? finding : { ...finding, told: finding.why }; // an older version wrote it
  const others = alarms.length > 1 && (
    <p><button onClick={() => choose((at + 1) % alarms.length)}>Next cause</button> <span class="muted">{at + 1} of {alarms.length}</span></p>
  );
  return (
    <>
      <Told finding={told} more={others} />
      <div class="pair">
        {finding.way?.length ? <Way key={at} page={page} finding={finding} /> : <section class="card way-pane"><h2>Where it began</h2><p>{finding.why}</p><p class="muted">{finding.tensor < page.call.tensors.length ? nameOf(page.call, finding.tensor) : ""}</p></section>}
        <Helps page={page} finding={finding} />
      </div>
    </>
  );
}
