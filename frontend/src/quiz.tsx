// The quiz: the reader works out what a step sends before the page shows it.
import { Fragment, h } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { number, plural } from "./format";
import { gradAt } from "./model";
import type { Page } from "./page";
import type { Flow } from "./replay";
import { entry, product, reals, type Arr, type Call, type Jacobian, type Step } from "./trace";

/** A step of more numbers is not asked: it is work, and teaches nothing. */
export const MOST_ASKED = 12;
/** By how much an answer may differ: it may be rounded as the page rounds. */
const ROUNDED = 2e-3;

export type Answers = Readonly<Record<string, "right" | "shown">>;

/** A question is a term of a step, or, as term -1, the sum at a leaf. */
const questionKey = (call: number, step: number, term: number): string => `${call}.${step}.${term}`;

/** Whether a term is asked, by the shapes alone: the numbers have to be there, and few. */
function askedTerm(step: Step, k: number): boolean {
  const term = step.terms[k]!;
  const [v, jacobian, out] = [step.v[0], term.jacobians[0], reals(term.out)];
  if (term.jacobians.length !== 1 || !v || !jacobian || !out) return false;
  const given = reals(v);
  return out.length > 0 && Math.max(out.length, given?.length ?? Infinity, jacobian.rows, jacobian.cols) <= MOST_ASKED && reals(jacobian) !== null;
}

function askedSum(call: Call, step: Step): boolean {
  const leaf = step.op === null ? call.leaves.find((one) => one.tensor === step.outputs[0]) : undefined;
  const size = leaf && reals(leaf.grad)?.length;
  return !!leaf && !!size && size <= MOST_ASKED && leaf.contributions.length + (leaf.grad_before ? 1 : 0) > 1;
}

/** The terms of a step that are asked; -1 is the sum at a leaf. */
export function questions(call: Call, step: Step): number[] {
  if (step.phase === "forward") return [];
  if (askedSum(call, step)) return [-1];
  return step.terms.flatMap((_, k) => (askedTerm(step, k) ? [k] : []));
}

export function isAsked(page: Page, at: number, term: number): boolean {
  const { quiz, answers } = page.state;
  return quiz && !(questionKey(page.state.call, at, term) in answers) && questions(page.call, page.call.steps[at]!).includes(term);
}

const blank = (array: Arr | null): Arr | null => array && { shape: array.shape, dtype: array.dtype, hidden: true };

/** What flows, without what comes after a position, and what is still asked there. */
export function masked(call: Call, flow: Flow, position: number, isOpen: (step: number, term: number) => boolean): Flow {
  const now = position - 1;
  const last = call.steps.length - 1;
  return {
    ...flow,
    hidden: true,
    arrived: flow.arrived.map((vs, at) => (at <= now ? vs : vs.map(blank))),
    sent: flow.sent.map((terms, at) => (at < now ? terms : terms.map((sent, k) => (at > now || isOpen(at, k) ? { ...sent, out: blank(sent.out)!, after: blank(sent.after)! } : sent)))),
    grads: flow.grads.map((grad, i) => {
      const at = call.steps.findIndex((step) => step.phase === "backward" && step.op === null && step.outputs[0] === call.leaves[i]!.tensor);
      return (at < 0 ? last : at) < now || (at === now && !isOpen(at, -1)) ? grad : blank(grad)!;
    }),
  };
}

/** The value of an answer: numbers, fractions and products, such as 1/3 or -2*0.5; null for anything else. */
export function answer(text: string): number | null {
  const tokens = text.replaceAll("−", "-").match(/\s*(\d+\.?\d*(?:e[+-]?\d+)?|\.\d+|nan|inf|[-+*/()])/gi)?.map((token) => token.trim().toLowerCase()) ?? [];
  if (!tokens.length || tokens.join("") !== text.replaceAll("−", "-").replace(/\s/g, "").toLowerCase()) return null;
  let at = 0;
  const factor = (): number => {
    const token = tokens[at++];
    if (token === "-") return -factor();
    if (token === "+") return factor();
    if (token === "(") {
      const inside = sum();
      return tokens[at++] === ")" ? inside : NaN;
    }
    return token === "inf" ? Infinity : token === "nan" ? NaN : token === undefined || !/^[\d.]/.test(token) ? ((at = tokens.length + 2), NaN) : Number(token);
  };
  const chain = (part: () => number, signs: string): number => {
    let made = part();
    while (at < tokens.length && signs.includes(tokens[at]!)) {
      const sign = tokens[at++];
      const other = part();
      made = sign === "*" ? made * other : sign === "/" ? made / other : sign === "-" ? made - other : made + other;
    }
    return made;
  };
  const sum = (): number => chain(() => chain(factor, "*/"), "+-");
  const made = sum();
  return at === tokens.length && (!Number.isNaN(made) || tokens.includes("nan")) ? made : null;
}

export function agrees(given: number, wanted: number, scale = 0): boolean {
  if (!Number.isFinite(wanted)) return Object.is(given, wanted);
  return Math.abs(given - wanted) <= ROUNDED * Math.abs(wanted) + 1e-6 * scale + 1e-12;
}

function same(given: number[], wanted: number[] | null): boolean {
  if (!wanted || wanted.length !== given.length) return false;
  const scale = Math.max(0, ...wanted.filter(Number.isFinite).map(Math.abs));
  return given.every((value, i) => agrees(value, wanted[i]!, scale));
}

/** J @ v in place of v @ J. */
function turned(v: number[], jacobian: Jacobian): number[] | null {
  if (jacobian.form === "diagonal" || jacobian.cols !== v.length) return null;
  return Array.from({ length: jacobian.rows }, (_, i) => v.reduce((sum, value, j) => sum + value * (entry(jacobian, i, j) as number), 0));
}

/** What an answer that is wrong looks like; `v` and `jacobian` are missing for the sum at a leaf. */
export function advice(given: number[], wanted: number[], v?: number[], jacobian?: Jacobian, last?: number[] | null): string {
  if (v && jacobian) {
    if (same(given, product(v.map(() => 1), jacobian)) && v.some((value) => value !== 1)) return "These are the slopes of J alone. They still have to be multiplied by v.";
    if (same(given, v)) return "This is v as it arrived. It still has to be multiplied by J.";
    if (same(given, turned(v, jacobian))) return "This is J @ v, with the rows of J. v @ J goes by its columns: element j is the sum of v[i] times J[i, j].";
  }
  if (same(given, last ?? null)) return "This is the last contribution alone. All contributions add up, and what was in .grad before.";
  if (same(given.map((value) => -value), wanted)) return "All but the sign is right: it is the other way round.";
  const sorted = (values: number[]) => [...values].sort((a, b) => a - b);
  if (given.length > 1 && same(sorted(given), sorted(wanted))) return "These are the right numbers in another order.";
  const ratios = wanted.flatMap((value, i) => (value ? [given[i]! / value] : given[i] ? [NaN] : []));
  if (ratios.length > 1 && ratios.every((ratio) => agrees(ratio, ratios[0]!))) return `Each number is ${number(ratios[0]!)} times what it should be.`;
  const wrong = wanted.flatMap((value, i) => (agrees(given[i]!, value) ? [] : [i]));
  const how = v ? `it is the sum of v[i] times J[i, ${wrong[0]}], down column ${wrong[0]} of J.` : "add up its column.";
  if (wanted.length === 1) return v ? "Not yet: it is the sum of v[i] times J[i, 0], down the column of J." : "Not yet: add up the contributions.";
  return `${wanted.length - wrong.length} of ${wanted.length} are right. Look at element ${wrong[0]}: ${how}`;
}

/** The fields in which the result of a step is typed, before it is shown. */
export function Ask({ page, at, term, label }: { page: Page; at: number; term: number; label: string }) {
  const { call, state, full } = page;
  const step = call.steps[at]!;
  const value = term < 0 ? gradAt(page.model, full, step.outputs[0]!, Infinity).value : full.sent[at]![term]!.out;
  const wanted = (value && reals(value)) ?? [];
  const [texts, type] = useState<string[]>([]);
  const [said, say] = useState("");
  const given = wanted.map((_, i) => answer(texts[i] ?? ""));
  const settle = (how: "right" | "shown") => page.set({ answers: { ...state.answers, [questionKey(state.call, at, term)]: how }, notice: how === "right" ? "Right." : "The answer is shown." });
  const check = (event: Event) => {
    event.preventDefault();
    const empty = given.indexOf(null);
    if (empty >= 0) return say(texts[empty]?.trim() ? `“${texts[empty]}” is no number: 0.25, 1/4 and 3*2 are.` : "Every field needs a number.");
    const numbers = given as number[];
    if (same(numbers, wanted)) return settle("right");
    const sums = term < 0 ? call.leaves.find((leaf) => leaf.tensor === step.outputs[0])?.contributions.at(-1) : undefined;
    const last = sums && reals(full.sent[sums.step]![sums.term]!.out);
    const v = term < 0 ? undefined : reals(full.arrived[at]![0]!) ?? undefined;
    say(advice(numbers, wanted, v, step.terms[term]?.jacobians[0] ?? undefined, last));
    return undefined;
  };
  return (
    <form class="ask" onSubmit={check} aria-label={label}>
      <p><b>{label}</b> is asked: {plural(wanted.length, "number")}, rounded as you like to three digits.</p>
      <div class="fields">
        {wanted.map((_, i) => (
          <input
            key={i} inputMode="text" autoComplete="off" class="mono" aria-label={`element ${i} of ${label}`} aria-invalid={!!texts[i]?.trim() && given[i] === null} value={texts[i] ?? ""}
            onInput={(event) => { const next = [...texts]; next[i] = event.currentTarget.value; type(next); }}
          />
        ))}
      </div>
      <div class="fields">
        <button class="primary" type="submit">Check</button>
        <button type="button" onClick={() => settle("shown")}>Show me</button>
      </div>
      <p class="advice" role="status">{said}</p>
    </form>
  );
}

/** All questions of the call, with their keys. */
function everything(page: Page): { at: number; key: string }[] {
  return page.call.steps.flatMap((step, at) => questions(page.call, step).map((term) => ({ at, key: questionKey(page.state.call, at, term) })));
}

/** Goes to the first question that is not answered, and into its first field. */
function Next({ page, grab = false }: { page: Page; grab?: boolean }) {
  const button = useRef<HTMLButtonElement>(null);
  const next = everything(page).find(({ key }) => !(key in page.state.answers));
  useEffect(() => {
    // The form that had the focus is gone.
    if (grab && document.activeElement === document.body) button.current?.focus();
  }, []);
  const go = () => {
    page.set({ panel: "step" });
    page.go(next!.at + 1);
    setTimeout(() => document.querySelector<HTMLElement>(".ask input")?.focus(), 50);
  };
  return next ? <button ref={button} class="primary" onClick={go}>Next question</button> : null;
}

/** How an answered question went, or that a step is not asked. */
export function Verdict({ page, at, term }: { page: Page; at: number; term: number }) {
  if (!questions(page.call, page.call.steps[at]!).includes(term)) return <p class="muted">Not asked: more than {MOST_ASKED} numbers, or not all of them are stored.</p>;
  const right = page.state.answers[questionKey(page.state.call, at, term)] === "right";
  return (
    <p class={`verdict ${right ? "good" : "muted"}`}>
      {right ? <><span aria-hidden="true">✓</span> Right. </> : "Shown. "}
      <Next page={page} grab />
    </p>
  );
}

/** In the place of the answer: how far the reader is. */
export function Score({ page }: { page: Page }) {
  const { call, state, model } = page;
  const all = everything(page);
  const got = (how: "right" | "shown") => all.filter(({ key }) => state.answers[key] === how).length;
  const skipped = call.steps.length - model.firstBackward - new Set(all.map(({ at }) => at)).size;
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus(), []);
  return (
    <section class="card pad quiz" aria-label="Quiz">
      <h2 ref={title} tabIndex={-1}>Quiz: what does each backward step send?</h2>
      <p>
        Every step shows v and its local J. Work out v @ J, type it, and press Enter; results are hidden until then.
        {skipped > 0 && ` ${plural(skipped, "step")} of more than ${MOST_ASKED} numbers, or with nothing to work out, ${skipped === 1 ? "is" : "are"} not asked.`}
      </p>
      <p role="status"><b>{got("right")} right</b>, {got("shown")} shown, {all.length - got("right") - got("shown")} to go</p>
      <p class="fields">
        <Next page={page} />
        {got("right") + got("shown") > 0 && <button onClick={() => page.set({ answers: {}, position: model.firstBackward })}>Start again</button>}
        <button onClick={() => page.set({ quiz: false })}>End the quiz</button>
      </p>
      {all.every(({ key }) => key in state.answers) && <p class="well">{all.length ? "All questions are answered." : "No step of this call is small enough to be asked."}</p>}
    </section>
  );
}
