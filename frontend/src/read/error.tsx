// The story of a run that failed: what failed, the line, what had run, the sides that do not fit, and what helps.
import { Fragment, h } from "preact";
import { useState } from "preact/hooks";
import { clip, plural } from "../format";
import type { Page } from "../page";
import { count, type Argument, type Clash, type Failure, type Fix, type Place, type Source, type Stage, type Trace } from "../trace";
import { diff, type Piece } from "./diff";

const AROUND = 3;
/** The number of lines up to which a source is shown whole. */
const WHOLE = 30;
const MOST_STAGES = 7;
/** The longest side of a drawn shape, and that of one element where there is room for it. */
const LONGEST = 190;
const CELL = 14;

const times = (shape: number[] | null): string => (shape === null ? "?" : shape.length ? shape.join("×") : "one number");

function where({ sources }: Trace, place: Place | null | undefined): string {
  return place ? `${sources[place.source]?.file ?? ""}:${place.line}` : "";
}

/** The text at a place that lies on one line. */
function textAt(source: Source | undefined, place: Place | null): string {
  const line = place && source?.lines[place.line - source.first];
  return line && place.column !== null && place.end_column !== null && place.end_line === place.line ? [...line].slice(place.column, place.end_column).join("") : "";
}

function Headline({ trace, error }: { trace: Trace; error: Failure }) {
  const said = error.said!;
  const names = [error.scope == null ? "" : trace.scopes[error.scope]!.name, textAt(trace.sources[error.place?.source ?? -1], error.place)];
  const name = names.find((each) => each && said.startsWith(`${each} `)) ?? "";
  return <h1 class="headline">{name && <code class="bad">{name}</code>}{said.slice(name.length)}</h1>;
}

function Frames({ trace, error }: { trace: Trace; error: Failure }) {
  return (
    <ol class="frames mono" aria-label="Traceback, the innermost call last">
      {error.frames!.map(({ name, place }) => (
        <li><b>{where(trace, place)}</b>, in {name}{place && <code>{trace.sources[place.source]?.lines[place.line - trace.sources[place.source]!.first]?.trim()}</code>}</li>
      ))}
    </ol>
  );
}

function What({ trace, error }: { trace: Trace; error: Failure }) {
  const [shown, show] = useState<"message" | "frames" | null>(null);
  const { overwritten } = error;
  const toggle = (what: "message" | "frames", label: string) => (
    <button class="link" aria-expanded={shown === what} onClick={() => show(shown === what ? null : what)}>{label}</button>
  );
  return (
    <section class="card failure" aria-label="The error">
      <Headline trace={trace} error={error} />
      <p><b class="bad">{error.type}</b> <span class="mono">{where(trace, error.place)}</span> {error.message && toggle("message", "Whole message")} {error.frames!.length > 0 && toggle("frames", "Traceback")}</p>
      {overwritten && (
        <p class="versions">
          <code>{clip(overwritten.name, 60)}</code> was used at <b>version {overwritten.expected}</b>, and is at <b>version {overwritten.version}</b>
          {overwritten.place && `: last written at ${where(trace, overwritten.place)}`}
        </p>
      )}
      {shown === "message" && <p class="message" dir="auto">{error.message}</p>}
      {shown === "frames" && <Frames trace={trace} error={error} />}
    </section>
  );
}

interface Mark {
  place: Place;
  kind: "failed" | "made" | "called" | "written";
  note: string;
}

/** The places of the program that the story speaks of, the one that failed first. */
function marksOf({ place, made, frames, overwritten }: Failure): Mark[] {
  const found: Mark[] = place ? [{ place, kind: "failed", note: "failed here" }] : [];
  if (made) found.push({ place: made, kind: "made", note: "made here" });
  if (overwritten?.place) found.push({ place: overwritten.place, kind: "written", note: "written here" });
  for (const frame of frames!) if (frame.place && !found.some(({ place: { source, line } }) => source === frame.place!.source && line === frame.place!.line)) found.push({ place: frame.place, kind: "called", note: "called here" });
  return found;
}

function Code({ text, mark, line }: { text: string; mark: Mark | undefined; line: number }) {
  const place = mark?.place;
  if (!place || mark.kind === "called" || place.column === null || place.end_column === null) return <code dir="auto">{text || " "}</code>;
  const letters = [...text];
  const from = line === place.line ? place.column : letters.findIndex((letter) => letter.trim());
  const to = line === place.end_line ? place.end_column : letters.length;
  return <code dir="auto">{letters.slice(0, from).join("")}<span class="blamed">{letters.slice(from, to).join("")}</span>{letters.slice(to).join("")}</code>;
}

function Listing({ source, marks, children }: { source: Source; marks: Mark[]; children: preact.ComponentChildren }) {
  const near = (line: number) => source.lines.length <= WHOLE || marks.some(({ place }) => line >= place.line - AROUND && line <= (place.end_line ?? place.line) + AROUND);
  const rows = source.lines.map((text, i) => ({ text, line: source.first + i })).filter(({ line }) => near(line));
  const failed = marks.find(({ kind }) => kind === "failed")?.place;
  return (
    <ol class="lines blame mono">
      {rows.map(({ text, line }, i) => {
        const mark = marks.find(({ place }) => line >= place.line && line <= (place.end_line ?? place.line));
        return (
          <Fragment key={line}>
            {i > 0 && rows[i - 1]!.line < line - 1 && <li class="line gap" aria-label="lines left out">⋯</li>}
            <li class={`line ${mark?.kind ?? ""}`}>
              <span class="number">{line}</span>
              <Code text={text} mark={mark} line={line} />
              <span class="note">{mark?.place.line === line ? mark.note : ""}</span>
            </li>
            {failed && line === (failed.end_line ?? failed.line) && children}
          </Fragment>
        );
      })}
    </ol>
  );
}

/** How far the program came. */
function Progress({ page, error }: { page: Page; error: Failure }) {
  const { trace, call } = page;
  const passes = trace.calls.filter(({ outputs }) => outputs.length > 0).length;
  const made = call.steps.filter(({ phase }) => phase === "forward").length;
  const scope = error.scope == null ? null : trace.scopes[error.scope]!;
  const before = error.tensor !== null ? "in a backward pass" : made ? `after ${plural(made, "recorded operation")}` : "before anything was recorded";
  return (
    <li class="open failed-step">
      <p>
        {error.op == null && !scope ? "The program ended here" : <>Failed in <b class="mono bad">{scope?.name ?? error.op}</b></>}
        {scope && error.op != null && <>, at the operation <code>{error.op}</code></>}, {before}.
        {passes === 0 ? " No backward() was reached: no gradient was written." : ` ${plural(passes, "backward call")} had begun before.`}
      </p>
    </li>
  );
}

function Blame({ page, error }: { page: Page; error: Failure }) {
  const { sources } = page.trace;
  const marks = marksOf(error);
  const order = [...new Set(marks.map(({ place }) => place.source))].filter((source) => sources[source]?.lines.length);
  return (
    <section class="card program" aria-label="The program">
      {order.map((source) => (
        <Fragment key={source}>
          <h2 class="mono">{sources[source]!.file}</h2>
          <Listing source={sources[source]!} marks={marks.filter(({ place }) => place.source === source)}><Progress page={page} error={error} /></Listing>
        </Fragment>
      ))}
      {order.length === 0 && <p class="pad muted">The source is not in this page.</p>}
    </section>
  );
}

function Stages({ trace, error }: { trace: Trace; error: Failure }) {
  const all = error.stages!;
  const first = all.length <= MOST_STAGES ? all : all.slice(0, 2);
  const last = all.length <= MOST_STAGES ? [] : all.slice(3 - MOST_STAGES);
  const given = error.arguments!.find(({ shape }) => shape !== null);
  const box = (stage: Stage) => {
    const failed = stage === all.at(-1);
    return (
      <li class={`stage ${failed ? "wrong" : "well"}`}>
        <b class="mono">{clip(trace.scopes[stage.scope]!.name, 40)} <span aria-hidden="true">{failed ? "✗" : "✓"}</span><span class="unseen">{failed ? "failed" : "ran"}</span></b>
        <span class="muted">{clip(stage.title, 40)}</span>
        <span class="mono">{failed ? `${given ? times(given.shape) : ""} → ?` : stage.shape ? `→ ${times(stage.shape)}` : "→ not recorded"}</span>
      </li>
    );
  };
  return (
    <ol class="stages">
      {first.map(box)}
      {last.length > 0 && <li class="stage between">{plural(all.length - first.length - last.length, "module")} more ✓</li>}
      {last.map(box)}
    </ol>
  );
}

/** One argument as a rectangle to scale, the side that does not fit along its edge. */
function Shape({ argument, axis, unit, upright }: { argument: Argument; axis: number; unit: number; upright: boolean }) {
  const shape = argument.shape!;
  const other = shape.length < 2 ? 1 : shape[axis === shape.length - 1 ? axis - 1 : shape.length - 1]!;
  const size = shape[axis]!;
  const [columns, rows] = upright ? [other, size] : [size, other];
  const [width, height] = [Math.max(6, columns * unit), Math.max(6, rows * unit)];
  const lines = (n: number) => (unit >= 5 ? Array.from({ length: Math.max(0, n - 1) }, (_, i) => (i + 1) * unit) : []);
  const turned = shape.length === 2 && (upright ? axis === 1 : axis === 0);
  const word = shape.length === 1 ? "element" : shape.length > 2 ? `along axis ${axis}` : upright ? "row" : "column";
  const amount = shape.length > 2 ? `${size} ${word}` : plural(size, word);
  return (
    <figure class={`shape ${upright ? "upright" : ""}`}>
      <figcaption><b>{clip(argument.name, 40)}</b>{turned ? ", transposed" : ""} <span class="mono">{times(turned ? [...shape].reverse() : shape)}</span></figcaption>
      <svg width={width + 12} height={height + 12} role="img" aria-label={`${argument.name}, ${times(shape)}: ${amount}`}>
        <g transform={upright ? "translate(10, 2)" : "translate(2, 2)"}>
          <rect class="area" width={width} height={height} />
          {lines(columns).map((x) => <line x1={x} x2={x} y1={0} y2={height} />)}
          {lines(rows).map((y) => <line x1={0} x2={width} y1={y} y2={y} />)}
          {upright ? <line class="side" x1={-6} x2={-6} y1={0} y2={height} /> : <line class="side" x1={0} x2={width} y1={height + 6} y2={height + 6} />}
        </g>
      </svg>
      <b class="bad">{amount}</b>
    </figure>
  );
}

function Shapes({ clash, given }: { clash: Clash; given: Argument[] }) {
  const sides = clash.sides.map(({ argument, axis }) => ({ argument: given[argument]!, axis }));
  const drawn = sides.flatMap(({ argument: { shape }, axis }) => [shape![axis]!, shape!.length < 2 ? 1 : shape![axis === shape!.length - 1 ? axis - 1 : shape!.length - 1]!]);
  const unit = Math.min(CELL, LONGEST / Math.max(1, ...drawn));
  const product = clash.kind === "product";
  return (
    <div class={`shapes ${clash.kind}`}>
      <Shape {...sides[0]!} unit={unit} upright={false} />
      {product && <span class="sign mono">@</span>}
      <Shape {...sides[1]!} unit={unit} upright={product} />
      <p class="muted">{product ? "These two sides meet, and must be equally long." : "These two must be equally long."}</p>
    </div>
  );
}

function Given({ given }: { given: Argument[] }) {
  return (
    <dl class="given mono">
      {given.map(({ name, shape, dtype, text }) => (
        <div><dt>{clip(name, 40)}</dt><dd>{dtype === null ? text ?? "" : `${times(shape)} ${dtype}`}{shape !== null && count(shape) === 0 && <b class="bad"> empty</b>}</dd></div>
      ))}
    </dl>
  );
}

function Ran({ trace, error }: { trace: Trace; error: Failure }) {
  const given = error.arguments!;
  const ours = error.scope != null || error.op != null;
  const title = error.stages!.length ? "What ran, and what did not" : error.clash ? "What does not fit" : ours ? "What failed" : "What did not fail";
  return (
    <section class="card outcome" aria-label={title}>
      <h2>{title}</h2>
      {error.stages!.length > 0 && <Stages trace={trace} error={error} />}
      {error.clash && <Shapes clash={error.clash} given={given} />}
      {given.length > 0 && (error.clash ? (
        <details><summary>What {error.op ?? "it"} was given</summary><Given given={given} /></details>
      ) : (
        <><h3>What <code>{error.op ?? "the module"}</code> was given</h3><Given given={given} /></>
      ))}
      {!ours && <p>Nothing that pullback computes has failed: the exception is the program's own, or another library's.</p>}
    </section>
  );
}

function Pieces({ pieces, mark }: { pieces: Piece[]; mark: "old" | "new" }) {
  return <>{pieces.filter(({ kind }) => kind === "same" || kind === mark).map(({ text, kind }) => (kind === "same" ? text : kind === "old" ? <del>{text}</del> : <ins>{text}</ins>))}</>;
}

export function Help({ fix, sources }: { fix: Fix; sources: Source[] }) {
  return (
    <li>
      <p>{fix.why} {fix.tried ? <b class="good">Tried here: {fix.tried}.</b> : <span class="muted">Not tried.</span>}</p>
      {diff(fix, sources).map((pieces) => (
        <div class="diff mono">
          <p class="old"><span class="unseen">before: </span><span aria-hidden="true">- </span><Pieces pieces={pieces} mark="old" /></p>
          <p class="new"><span class="unseen">after: </span><span aria-hidden="true">+ </span><Pieces pieces={pieces} mark="new" /></p>
        </div>
      ))}
    </li>
  );
}

/** What the program raised, where and why. */
export function Failed({ page }: { page: Page }) {
  const { error, sources } = page.trace;
  if (!error) return null;
  const where = (place: Place | null) => (place ? ` ${sources[place.source]?.file ?? ""}:${place.line}` : "");
  const { overwritten } = error;
  return (
    <section class="card failed-run" aria-label="The run failed">
      <h2>The run failed: {error.type}<span class="mono">{where(error.place)}</span></h2>
      {overwritten && (
        <p class="versions">
          <code>{clip(overwritten.name, 60)}</code> was used at <b>version {overwritten.expected}</b>, and is at <b>version {overwritten.version}</b>
          {overwritten.place && `: last written at${where(overwritten.place)}`}
        </p>
      )}
      <p class="message" dir="auto">{error.message}</p>
    </section>
  );
}

export function ErrorStory({ page }: { page: Page }) {
  const { trace } = page;
  const error = trace.error!;
  if (error.said === undefined) return <Failed page={page} />;
  return (
    <>
      <What trace={trace} error={error} />
      <div class="pair">
        <Blame page={page} error={error} />
        <Ran trace={trace} error={error} />
      </div>
      {error.fixes!.length > 0 && (
        <section class="card helps" aria-label="What helps">
          <h2>What helps</h2>
          <ul>{error.fixes!.map((fix) => <Help fix={fix} sources={trace.sources} />)}</ul>
        </section>
      )}
    </>
  );
}
