// The playground: on the left a program, on the right what its backward did.
import { Fragment, h } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { Editor } from "./editor";
import { EXAMPLES, type Example } from "./examples";
import { Explained } from "./explained";
import { download, notebook } from "./files";
import { packed, type State } from "./link";
import type { Literal } from "./numbers";
import { Outcome } from "./outcome";
import { EMPTY, Session, type Asked, type Shown } from "./session";
import { Sliders } from "./sliders";

const STALE = "The program has changed: run again.";
const PAUSE = 120; // milliseconds without a move, after which a slider runs the program

/** A text in which names stand in backticks. */
const words = (text: string) => text.split("`").map((part, index) => (index % 2 ? <code key={index}>{part}</code> : part));

interface Properties {
  base: string;
  site: string;
  /** What the link carried, and what was wrong with it. */
  given: State | null;
  /** The example that is shown where the link carried no program. */
  first: Example;
  damaged: string;
  embedded: boolean;
  /** Runs what it was given at once. */
  trusted: boolean;
}

export function App({ base, site, given, first, damaged, embedded, trusted }: Properties) {
  const [shown, setShown] = useState(EMPTY);
  const session = useMemo(() => new Session(base, setShown), []);
  const [example, setExample] = useState<Example | null>(given ? null : first);
  const [program, setProgram] = useState(given?.program ?? first.program);
  const [copied, setCopied] = useState("");
  const [figure, setFigure] = useState<Shown["page"]>(null);
  const figures = useRef(0);
  const editor = useRef<Editor | null>(null);
  const place = useRef<HTMLDivElement>(null);
  const start = useRef(given?.start ?? "");
  const timer = useRef(0);

  const asked = (): Asked => ({ program: editor.current!.program, before: given?.before ?? "", echo: given?.echo ?? "last", start: start.current });
  const run = () => void session.run(asked());
  /** Shows what was recorded of an example when the site was built, until a run shows its own. */
  const load = async ({ name, program }: Example) => {
    figures.current += 1;
    const wanted = figures.current;
    const answer = await fetch(`${base}figures/${name}.html`).catch(() => null);
    if (!answer?.ok) return;
    const html = await answer.text();
    if (wanted === figures.current) setFigure({ html, program, run: session.runs + wanted / 1000 });
  };

  useEffect(() => {
    editor.current = new Editor(
      place.current!,
      program,
      (text, typed) => {
        setProgram(text);
        if (typed) start.current = "";
      },
      run,
    );
    if (trusted && given) run();
    if (!given) void load(first);
  }, []);
  useEffect(() => {
    const { failure } = shown;
    editor.current?.mark(failure?.line ?? null, failure?.text ?? "");
  }, [shown.failure]);

  const choose = (name: string) => {
    const chosen = EXAMPLES.find((one) => one.name === name)!;
    setExample(chosen);
    start.current = "";
    editor.current!.program = chosen.program;
    void load(chosen);
    run();
  };
  const slide = (literal: Literal, text: string) => {
    editor.current!.replace(literal.from, literal.to, text);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(run, PAUSE);
  };
  const share = async (embed: boolean) => {
    const { before, echo } = asked();
    const state: State = { program: asked().program, echo, ...(start.current && { start: start.current }), ...(before && { before }) };
    const same = example && !state.start && state.program === example.program;
    const address = `${location.origin}${location.pathname}${embed ? "?embed" : ""}#${same ? `e=${example.name}` : await packed(state)}`;
    const text = embed ? `<iframe src="${address}" title="pullback playground" width="100%" height="700"></iframe>` : address;
    if (!embed) history.replaceState(null, "", address);
    try {
      await navigator.clipboard.writeText(text);
      setCopied(embed ? "Copied: an iframe for your page." : "Copied: a link that carries this program.");
    } catch {
      setCopied(text);
    }
  };
  const busy = shown.phase !== "idle";
  const page = figure && figure.run > (shown.page?.run ?? 0) ? figure : shown.page;
  const old = page !== null && page.program !== program;
  const edited = example !== null && example.program !== program ? " stale" : "";

  return (
    <div class={embedded ? "playground embedded" : "playground"}>
      <header>
        {!embedded && (
          <h1>
            <a href={`${site}index.html`}>pullback</a> playground
          </h1>
        )}
        {!embedded && (
          <label>
            Example{" "}
            <select value={example?.name ?? ""} onChange={(event) => choose(event.currentTarget.value)}>
              {!example && <option value="">your program</option>}
              {[...new Set(EXAMPLES.map(({ group }) => group))].map((group) => (
                <optgroup key={group} label={group}>
                  {EXAMPLES.filter((one) => one.group === group).map(({ name, title }) => (
                    <option key={name} value={name}>
                      {title}
                    </option>
                  ))}
                </optgroup>
              ))}
            </select>
          </label>
        )}
        <button type="button" class="primary" onClick={run} disabled={busy} title="Control and Enter">
          Run
        </button>
        <button type="button" onClick={() => session.stop()} disabled={!busy}>
          Stop
        </button>
        <span class="tools">
          <button type="button" onClick={() => void share(false)}>
            Copy link
          </button>
          {embedded ? (
            <a href={`${base}index.html${location.hash}`} target="_blank" rel="noopener">
              Open in a page
            </a>
          ) : (
            <>
              <button type="button" onClick={() => void share(true)}>
                Embed
              </button>
              <button type="button" onClick={() => download("program.py", "text/x-python", asked().program)}>
                .py
              </button>
              <button type="button" onClick={() => download("program.ipynb", "application/x-ipynb+json", notebook(asked().program))}>
                .ipynb
              </button>
            </>
          )}
        </span>
        <span class="copied" role="status">
          {copied}
        </span>
      </header>
      <main>
        <section class="left" aria-label="Program">
          {damaged && <p class="note">{damaged}</p>}
          {example && <p class={`question${edited}`}>{words(example.question)}</p>}
          {given?.before && (
            <details class="before">
              <summary>Runs first ({given.before.trimEnd().split("\n").length} lines)</summary>
              <pre tabIndex={0}>{given.before}</pre>
            </details>
          )}
          <div class="editor" ref={place} />
          <Sliders program={program} change={slide} />
          <div class={shown.ran !== null && shown.ran !== program ? "stale" : ""}>
            <Outcome shown={shown} site={site} show={(line) => editor.current!.show(line)} />
          </div>
        </section>
        <section class="right" aria-label="What backward did">
          <p class="changed" role="status">{old || (page === null && shown.ran !== null && shown.ran !== program) ? STALE : ""}</p>
          {example && page && <p class={`answer${edited}`} aria-hidden={edited !== ""}>{words(example.answer)}</p>}
          {page ? (
            <div class={`frames${old ? " stale" : ""}`} data-run={page.run} inert={old}>
              <Explained page={page} moved={(hash) => (start.current = hash)} />
            </div>
          ) : (
            <p class="empty">
              {busy ? "One moment." : shown.seconds ? "This run recorded nothing that could be explained." : "Press Run: what backward does appears here, step by step. Python runs in your browser; the program is sent nowhere."}
            </p>
          )}
        </section>
      </main>
    </div>
  );
}
