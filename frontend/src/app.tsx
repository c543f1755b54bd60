// The page: its state, its keys, and where its parts stand.
import { h } from "preact";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useAddress } from "./address";
import { plural } from "./format";
import { isEmbedded, startingHash } from "./frame";
import { isGroup, MOST_BOXES, unfold, visible, type Group } from "./fold";
import type { LayoutEngine } from "./layout";
import { isAlarm, Model, unitAt } from "./model";
import type { Page } from "./page";
import { partsOf } from "./read/stages";
import { positionOf, stopAt, stops } from "./read/stops";
import { Read } from "./read/view";
import { obstacle, recorded, replay, unit as unitV } from "./replay";
import { readHash, writeHash, type State } from "./state";
import { spoken } from "./spoken";
import { fitting, useEditing } from "./read/edit";
import { count, isTimed, type Call, type Trace } from "./trace";

function fitsV(call: Call, vs: number[][] | undefined): number[][] | null {
  const fits = vs && vs.length === call.outputs.length && vs.every((v, k) => v.length === count(call.outputs[k]!.gradient.shape));
  return fits && obstacle(call) === null ? vs : null;
}

/** The groups that an address opens, if there are such groups and all of it can be drawn. */
function opened(model: Model, ids: string[] | undefined): ReadonlySet<string> {
  const open = new Set(ids?.filter((id) => model.groups.has(id)));
  return ids && open.size === ids.length && visible(model.root, open).length <= MOST_BOXES ? open : model.opening();
}

function callIn(trace: Trace, hash: string): number {
  const { call } = readHash(hash);
  return call !== undefined && trace.calls[call] ? call : Math.min(trace.primary ?? trace.error?.call ?? 0, trace.calls.length - 1);
}

function first(trace: Trace, model: Model, call: number, hash: string): State {
  const kept = readHash(hash);
  const steps = model.call.steps.length;
  const failed = trace.error !== null && trace.error.call === call;
  const { findings } = model.call;
  const birth = failed || kept.step !== undefined ? -1 : findings.findIndex(({ kind }) => isAlarm(kind));
  const start = failed ? steps : birth >= 0 ? model.birth(findings[birth]!) : Math.min(steps, model.firstBackward + 1);
  return settled(trace, {
    mode: kept.mode,
    by: kept.by ?? "line",
    figure: kept.figure ?? "graph",
    drawer: kept.drawer ?? null,
    call,
    position: Math.min(steps, kept.step ?? start),
    vs: fitsV(model.call, kept.v),
    changes: fitting(model.call, kept.changes),
    open: opened(model, kept.open),
    leaf: Math.min(kept.leaf ?? 0, Math.max(0, model.call.leaves.length - 1)),
    output: 0,
    panel: kept.panel ?? (birth >= 0 ? "health" : "step"),
    view: kept.view ?? "graph",
    density: "auto",
    measure: isTimed(model.call) ? "time" : "bytes",
    finding: birth >= 0 ? birth : null,
    zoom: null,
    find: null,
    help: false,
    why: kept.why ?? false,
    quiz: kept.quiz ?? false,
    answers: {},
    playing: false,
    pace: 1,
    theme: kept.theme ?? (document.documentElement.dataset["theme"] as State["theme"] | undefined) ?? "auto",
    notice: "",
  });
}

/** "read" lies at the end of a stop. */
function settled(trace: Trace, state: State): State {
  if (state.mode !== "read") return state;
  const call = trace.calls[state.call]!;
  const all = stops(call, state.by, partsOf(trace, call));
  return { ...state, position: positionOf(call, all[stopAt(call, all, state.position)]!) };
}

/** Search by name, expression, operation, "line 6" or ":6", and shape. */
function search(model: Model, query: string): number[] {
  const words = query.trim().toLowerCase();
  if (!words) return [];
  const line = /^(?:line ?|:)(\d+)$/.exec(words);
  const shape = /^[([][\d, ]*[)\]]$/.test(words) ? words.replace(/[^\d,]/g, "").replace(/,$/, "") : null;
  return model.call.tensors.flatMap((tensor, i) => {
    if (line) return tensor.place?.line === Number(line[1]) ? [i] : [];
    if (shape !== null) return tensor.shape.join(",") === shape ? [i] : [];
    const text = `${tensor.name}\n${tensor.expr ?? ""}\n${tensor.op ?? "leaf"}\n${tensor.grad_fn ?? ""}`.toLowerCase();
    return text.includes(words) ? [i] : [];
  });
}

function usePage(trace: Trace, engine: LayoutEngine): Page {
  const hash = useRef(startingHash());
  const [state, setState] = useState<State>(() => {
    const call = callIn(trace, hash.current);
    return first(trace, new Model(trace, trace.calls[call]!), call, hash.current);
  });
  const embedded = useMemo(() => isEmbedded(hash.current), []);
  const { call, editing } = useEditing(trace, trace.calls[state.call]!, state.changes, (changes) => set({ changes }));
  const model = useMemo(() => new Model(trace, call), [call]);
  const stuck = useMemo(() => obstacle(call), [call]);
  const full = useMemo(() => (state.vs && stuck === null ? replay(call, state.vs) : { ...recorded(call), whatIf: state.changes.size > 0 }), [call, state.vs]);
  const partly = { state, call } as Page;
  const { later } = globalThis;
  const flow = useMemo(() => (state.quiz && later ? later.masked(call, full, state.position, (at, term) => later.isAsked(partly, at, term)) : full), [full, state.quiz, state.position, state.answers, later]);
  const drawing = model.drawing(state.open);
  const at = unitAt(drawing.units, state.position);
  const unit = drawing.units[at] ?? null;
  const all = useMemo(() => stops(call, state.by, partsOf(trace, call)), [call, state.by]);
  const stop = stopAt(call, all, state.position);
  const matches = useMemo(() => search(model, state.find ?? ""), [model, state.find]);

  const set = useCallback((patch: Partial<State>) => {
    setState((old) => {
      if (patch.call === undefined || patch.call === old.call) return settled(trace, { ...old, ...patch });
      const fresh = first(trace, new Model(trace, trace.calls[patch.call]!), patch.call, "");
      return { ...fresh, mode: old.mode, by: old.by, figure: old.figure, drawer: old.drawer, theme: old.theme, view: old.view, panel: old.panel, density: old.density, why: old.why, quiz: old.quiz, answers: old.answers };
    });
  }, []);
  const go = (position: number) => {
    const { units } = drawing;
    const unit = units[unitAt(units, Math.max(0, Math.min(call.steps.length, position)))];
    set({ position: position <= 0 || !unit ? 0 : unit.last });
  };
  const visit = (tensor: number) => {
    const backwards = state.position > model.firstBackward;
    const wanted = backwards ? model.backward[tensor]! : model.forward[tensor]!;
    const step = wanted >= 0 ? wanted : Math.max(model.backward[tensor]!, model.forward[tensor]!);
    if (step >= 0) go(step + 1);
    else set({ notice: `${model.name(tensor).slice(0, 60)}: no step of this call works on it` });
  };
  const doUnfold = (group: Group) => {
    const { open, folded } = unfold(model.root, state.open, group);
    set({ open, notice: folded ? `${plural(folded, "group")} folded, to stay within 150 boxes` : `${group.label} unfolded` });
  };
  const move = (by: number) => {
    if (state.mode === "read") return set({ position: positionOf(call, all[Math.max(0, Math.min(all.length - 1, stop + by))]!) });
    return set({ position: at + by < 0 ? 0 : drawing.units[Math.min(drawing.units.length - 1, at + by)]?.last ?? 0 });
  };
  return {
    trace, call, model, state, flow, full, drawing, unit, stops: all, stop, stuck, editing, matches, embedded, engine, later, set, go, visit, move,
    tryV: (vs) => set(vs ? { vs } : { vs, changes: new Map() }),
    unfold: doUnfold,
    fold: (group) => {
      const open = new Set(state.open);
      open.delete(group.id);
      set({ open, notice: `${group.label} folded` });
    },
    reopen: (hash) => setState((old) => {
      const call = callIn(trace, hash);
      const fresh = first(trace, call === old.call ? model : new Model(trace, trace.calls[call]!), call, hash);
      return { ...fresh, theme: readHash(hash).theme ?? old.theme, density: old.density, answers: old.answers };
    }),
    choose: (index) => {
      set({ finding: index, panel: "health", position: model.birth(call.findings[index]!), vs: null, changes: new Map() });
    },
  };
}

/** The next step, after this one, that makes, reads or sends to the tensor in hand. */
function nextUse(page: Page): number | null {
  const { call, state } = page;
  const wanted = call.steps[state.position - 1]?.terms[0]?.to ?? call.steps[state.position - 1]?.outputs[0];
  if (wanted === undefined) return null;
  for (let at = state.position; at < call.steps.length; at++) {
    const step = call.steps[at]!;
    const reads = step.phase === "forward" && call.tensors[step.outputs[0]!]!.inputs.includes(wanted);
    if (reads || step.outputs.includes(wanted) || step.terms.some((term) => term.to === wanted)) return at + 1;
  }
  return null;
}

function pressed(page: Page, event: KeyboardEvent): boolean {
  const { state, model, call, set } = page;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const item = page.unit?.item;
  const home = item === undefined ? null : isGroup(item) ? item.parent : model.homes.get(item) ?? null;
  const actions: Record<string, () => void> = {
    ArrowRight: () => (event.shiftKey ? page.go(nextUse(page) ?? state.position) : page.move(1)),
    ArrowLeft: () => page.move(-1),
    j: () => page.move(1),
    k: () => page.move(-1),
    " ": () => set({ playing: !state.playing }),
    Home: () => page.go(0),
    End: () => page.go(call.steps.length),
    f: () => page.go(1),
    b: () => page.go(model.firstBackward + 1),
    n: () => call.findings.length && page.choose(((state.finding ?? -1) + 1) % call.findings.length),
    "+": () => item !== undefined && isGroup(item) && page.unfold(item),
    "-": () => home && home.kind !== "root" && page.fold(home),
    "0": () => set({ zoom: state.zoom === "fit" ? null : "fit" }),
    "/": () => (set({ find: state.find ?? "" }), setTimeout(() => document.querySelector<HTMLElement>("#find")?.focus())),
    v: () => document.querySelector<HTMLElement>(".v-cell")?.focus(),
    g: () => set({ view: state.view === "graph" ? "table" : "graph" }),
    c: () => set({ panel: state.panel === "cost" ? "step" : "cost" }),
    h: () => set({ panel: state.panel === "health" ? "step" : "health" }),
    w: () => set({ why: !state.why }),
    q: () => set({ quiz: !state.quiz }),
    t: () => set({ theme: state.theme === "auto" ? "light" : state.theme === "light" ? "dark" : "auto" }),
    "?": () => set({ help: true }),
    Escape: () => (state.find !== null ? set({ find: null }) : state.playing ? set({ playing: false }) : state.finding !== null ? set({ finding: null }) : page.tryV(null)),
  };
  if (/^[1-9]$/.test(key)) {
    const row = Number(key) - 1;
    const output = call.outputs[state.output];
    if (page.stuck !== null || !output || row >= count(output.gradient.shape)) return false;
    page.tryV(unitV(call, state.output, row));
    return true;
  }
  const action = actions[key];
  action?.();
  return action !== undefined;
}

function useKeys(page: Page): void {
  const latest = useRef(page);
  latest.current = page;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
      const typing = target.matches("input, select, textarea");
      if (!plain || event.defaultPrevented || latest.current.state.help) return;
      if (typing && event.key !== "Escape") return;
      if (target.matches("button, summary") && (event.key === " " || event.key === "Enter")) return;
      if (typing) target.blur();
      if (pressed(latest.current, event)) event.preventDefault();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
}

function usePlaying(page: Page): void {
  const { state, call, move, set } = page;
  useEffect(() => {
    if (!state.playing) return undefined;
    if (state.position >= call.steps.length) return set({ playing: false });
    const timer = setTimeout(() => move(1), state.pace * 1000);
    return () => clearTimeout(timer);
  }, [state.playing, state.position, state.pace]);
}

/** The step in words, said politely: when it has settled, not in the midst of playing. */
function Said({ page }: { page: Page }) {
  const text = page.state.notice || spoken(page);
  const [said, say] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => say(text), page.state.playing ? 900 : 150);
    return () => clearTimeout(timer);
  }, [text, page.state.playing]);
  return <p class="unseen" role="status" aria-live="polite" id="said">{said}</p>;
}

function Notice({ page }: { page: Page }) {
  const { notice } = page.state;
  useEffect(() => {
    if (!notice) return undefined;
    const timer = setTimeout(() => page.set({ notice: "" }), 4000);
    return () => clearTimeout(timer);
  }, [notice]);
  return notice ? <p class="notice" aria-hidden="true">{notice}</p> : null;
}

/** Draws anew when what the first screen does without has come. */
function useWhole(): void {
  const [, come] = useState(false);
  useLayoutEffect(() => addEventListener("whole", () => come(true), { once: true }), []);
}

function usePrinting(): boolean {
  const [printing, setPrinting] = useState(() => matchMedia("print").matches);
  useEffect(() => {
    const media = matchMedia("print");
    const onChange = () => setPrinting(media.matches);
    const [before, after] = [() => setPrinting(true), () => setPrinting(media.matches)];
    media.addEventListener("change", onChange);
    addEventListener("beforeprint", before);
    addEventListener("afterprint", after);
    return () => {
      media.removeEventListener("change", onChange);
      removeEventListener("beforeprint", before);
      removeEventListener("afterprint", after);
    };
  }, []);
  return printing;
}

export function App({ trace, engine }: { trace: Trace; engine: LayoutEngine }) {
  useWhole();
  const page = usePage(trace, engine);
  const { later } = page;
  useKeys(page);
  useAddress(writeHash(page.state, trace, page.model.opening(), page.embedded), page.reopen);
  usePlaying(page);
  const printing = usePrinting();
  const { state } = page;
  const { theme } = state;
  useEffect(() => {
    document.documentElement.dataset["theme"] = theme;
  }, [theme]);
  return (
    <div class={`page ${state.mode}`}>
      {state.mode === "read" ? <Read page={page} /> : later && <later.Workbench page={page} />}
      {printing && later && <later.PrintedTape page={page} />}
      <Said page={page} />
      <Notice page={page} />
      {later && <later.Help page={page} />}
    </div>
  );
}
