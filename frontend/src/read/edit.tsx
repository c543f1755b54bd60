// What the program was given, to be typed over: leaves under the sentence, numbers in the program's own lines.
import { Fragment, h } from "preact";
import { useMemo, useState } from "preact/hooks";
import { clip, number } from "../format";
import { arrayAt, changeable } from "../inputs";
import type { Editing, Page, Story } from "../page";
import type { Changes } from "../recompute";
import { parseNumber } from "../state";
import { count, nameOf, reals, type Call, type Trace } from "../trace";

/** The elements of the largest leaf that is offered, the number of leaves, and the elements up to which they stand in the open. */
const LARGEST = 16;
const MOST_LEAVES = 12;
const OPEN = 6;

/** Changes that an address asks for, if a call has such places. */
export function fitting(call: Call, changes: Changes | undefined): Changes {
  const places = changeable(call);
  const fits = changes && [...changes].every(([place, data]) => places.has(place) && data.length === count(arrayAt(call, place)!.shape));
  return fits ? changes! : new Map();
}

/** A call after changes. */
export function useEditing(trace: Trace, recorded: Call, changes: Changes, set: (changes: Changes) => void): { call: Call; editing: Editing } {
  const { recompute } = globalThis;
  const places = useMemo(() => (trace.statements?.length ? changeable(recorded) : new Set<number>()), [recorded]);
  const answer = useMemo(() => (changes.size && recompute ? recompute(recorded, trace.statements ?? [], changes) : null), [recorded, changes, recompute]);
  const change = (places: number[], data: number[] | null) => {
    const next = new Map(changes);
    for (const place of places) {
      if (data === null) next.delete(place);
      else next.set(place, data);
    }
    set(next);
  };
  const unknown = answer === null ? null : "why" in answer ? answer.why : ([...answer.unknown.values()][0] ?? null);
  return { call: answer && "call" in answer ? answer.call : recorded, editing: { recorded, changes, places, why: unknown, change } };
}

interface NumberProps {
  label: string;
  value: number;
  changed: boolean;
  type: (value: number) => void;
}

function NumberCell({ label, value, changed, type }: NumberProps) {
  const [draft, setDraft] = useState<string | null>(null);
  const text = draft ?? number(value, changed ? 8 : 4);
  return (
    <input
      class={`v-cell x-cell${changed ? " changed" : ""}`}
      inputMode="decimal"
      aria-label={label}
      aria-invalid={parseNumber(text) === null}
      value={text}
      style={{ width: `${Math.min(12, Math.max(2, text.length)) + 0.7}ch` }}
      onClick={(event) => event.stopPropagation()}
      onFocus={(event) => event.currentTarget.select()}
      onInput={(event) => {
        setDraft(event.currentTarget.value);
        const parsed = parseNumber(event.currentTarget.value);
        if (parsed !== null) type(parsed);
      }}
      onBlur={() => setDraft(null)}
    />
  );
}

/** The command by which the program runs again. */
function command({ trace, call }: Story): string {
  const source = trace.sources[call.place?.source ?? 0];
  return source && /\.py$/.test(source.file) ? `pullback explain ${source.file}` : "";
}

/** The leaves, to be typed over; and what follows from that. */
export function Inputs({ page }: { page: Page }) {
  const { editing } = page;
  const { recorded, changes, places } = editing;
  const size = (place: number) => count(recorded.tensors[place]!.shape);
  const leaves = recorded.leaves.map((leaf) => leaf.tensor).filter((place) => places.has(place) && size(place) <= LARGEST).slice(0, MOST_LEAVES);
  if (!leaves.length && !changes.size) return null;
  const cells = leaves.map((place) => <Leaf key={place} editing={editing} place={place} />);
  return (
    <div class="inputs">
      {leaves.reduce((sum, place) => sum + size(place), 0) <= OPEN ? cells : (
        <details>
          <summary>Type other numbers for {leaves.slice(0, 3).map((place) => clip(nameOf(recorded, place), 24)).join(", ")}{leaves.length > 3 && ", …"}</summary>
          <div class="inputs">{cells}</div>
        </details>
      )}
      {!changes.size ? <span class="muted">type other numbers, here and in the program: all is computed anew</span> : (
        <>
          <span class="what-if">what if: not your numbers</span>
          <button class="link" id="original" onClick={() => editing.change([...changes.keys()], null)}>yours</button>
        </>
      )}
      <Unknown page={page} />
    </div>
  );
}

function Leaf({ editing, place }: { editing: Editing; place: number }) {
  const { recorded, changes } = editing;
  const tensor = recorded.tensors[place]!;
  const now = changes.get(place) ?? reals(tensor.data!)!;
  const nested = tensor.shape.length > 0;
  return (
    <span class="input mono">
      {clip(tensor.name, 24)} = {nested && "["}
      {now.map((value, i) => (
        <Fragment key={i}>
          {i > 0 && ", "}
          <NumberCell
            label={`${tensor.name}[${i}], an input of the program`}
            value={value}
            changed={changes.has(place)}
            type={(typed) => editing.change([place], now.map((old, j) => (i === j ? typed : old)))}
          />
        </Fragment>
      ))}
      {nested && "]"}
    </span>
  );
}

function Unknown({ page }: { page: Page }) {
  const { why } = page.editing;
  if (why === null) return null;
  const again = command(page);
  return <p class="unknown" role="status">Not all is known here: {why}. Run again{again && <>: <code>{again}</code></>}.</p>;
}

interface Literal {
  start: number;
  end: number;
  value: number;
  places: number[];
}

const LITERAL = /(?<![\w.])(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?(?![\w.])/gi;

/** The numbers in a line of the program that are constants of its operations: those that can be told from all others. */
export function literals(call: Call, places: ReadonlySet<number>, source: number | null, line: number | null, text: string): Literal[] {
  const numbers = [...text.matchAll(LITERAL)].map((match): Literal => ({ start: match.index, end: match.index + match[0].length, value: Number(match[0]), places: [] }));
  const lines = (call.account?.lines ?? []).filter(({ place, inputs }) => place?.source === source && place?.line === line && place?.end_line === line && inputs);
  const width = (one: (typeof lines)[number]) => one.place!.end_column! - one.place!.column!;
  const seen = new Set<number>();
  const taken = new Map<Literal, string>();
  for (const one of lines.sort((a, b) => width(a) - width(b))) {
    const within = `${one.place!.column}:${one.place!.end_column}`;
    for (const place of one.inputs!) {
      if (!places.has(place) || place < call.tensors.length || seen.has(place)) continue;
      const data = reals(arrayAt(call, place)!)!;
      const fits = numbers.filter((each) => each.start >= one.place!.column! && each.end <= one.place!.end_column! && each.value === data[0] && (taken.get(each) ?? within) === within);
      if (data.length !== 1 || fits.length !== 1) continue;
      seen.add(place);
      taken.set(fits[0]!, within);
      fits[0]!.places.push(place);
    }
  }
  return numbers.filter((each) => each.places.length);
}

/** A line of the program, whose constants can be typed over. */
export function Code({ page, source, line, text }: { page: Story; source: number | null; line: number | null; text: string }) {
  const { editing } = page;
  const found = useMemo(() => (editing ? literals(editing.recorded, editing.places, source, line, text) : []), [editing?.recorded, text]);
  if (!editing || !found.length) return <>{text || " "}</>;
  return (
    <>
      {found.map((each, i) => (
        <Fragment key={each.start}>
          {text.slice(i ? found[i - 1]!.end : 0, each.start)}
          <NumberCell
            label={`${each.value} on line ${line}, a constant of the program`}
            value={editing.changes.get(each.places[0]!)?.[0] ?? each.value}
            changed={editing.changes.has(each.places[0]!)}
            type={(typed) => editing.change(each.places, [typed])}
          />
        </Fragment>
      ))}
      {text.slice(found.at(-1)!.end)}
    </>
  );
}
