// The page of training runs: the loss, a small chart of each parameter or a map of many, and a slider from step to step.
import { h } from "preact";
import { useMemo, useState } from "preact/hooks";
import { useAddress } from "./address";
import { number, plural, seconds } from "./format";
import { before, Heat, isNumber, type Group, type Row } from "./heat";
import { visibleText } from "./load";
import { Loss, smoothed, type Line } from "./loss";
import { among, whole } from "./state";

type Numbers = (number | string | null)[];

interface Happened {
  kind: string;
  step: number;
  parameter: string;
  why: string;
  fix: string;
}

interface Run {
  name: string;
  every: number;
  count: number;
  seconds: number | null;
  failure: string | null;
  parameters: string[];
  shapes: number[][];
  losses: [number, number | string][];
  means: Numbers;
  steps: number[];
  rate: Numbers;
  gradient: Numbers[];
  update: Numbers[];
  zeros: Numbers[];
  events: Happened[];
}

export interface Runs {
  schema: "pullback-run";
  version: 1;
  title: string | null;
  looked_for: string;
  runs: Run[];
}

type Measure = "gradient" | "update" | "zeros";
const MEASURES: Record<Measure, string> = {
  gradient: "norm of the gradient",
  update: "update, as a share of the weight",
  zeros: "share of zeros in the gradient",
};
const ORDERS = ["as in the model", "largest first", "smallest first"] as const;
/** The orders in an address. */
const SORTS = ["model", "largest", "smallest"] as const;

/** A number of the data, where NaN and inf are text. */
const value = (raw: number | string | null | undefined): number | null => (raw == null ? null : Number(raw));

const shown = (raw: number | null): string => (raw === null ? "none" : number(raw));

export function clean(runs: Runs): Runs {
  for (const run of runs.runs) {
    run.parameters = run.parameters.map(visibleText);
    run.name = visibleText(run.name);
    for (const event of run.events) for (const key of ["parameter", "why", "fix"] as const) event[key] = visibleText(event[key]);
    if (run.failure) run.failure = visibleText(run.failure);
  }
  return runs;
}

const finite = (lines: Line[]) => lines.flatMap(({ values }) => values.filter((each): each is number => each !== null && Number.isFinite(each)));

/** Lines over the steps; the scale is logarithmic where positive values differ by more than a factor of 20. */
function Chart({ lines, last, at, height, label }: { lines: Line[]; last: number; at: number; height: number; label: string }) {
  const drawn = useMemo(() => {
    const all = finite(lines);
    const positive = all.filter((each) => each > 0);
    const log = positive.length > 0 && Math.max(...positive) > 20 * Math.min(...positive) && all.every((each) => each >= 0);
    const scaled = (each: number) => (log ? Math.log10(Math.max(each, Math.min(...positive))) : each);
    const low = all.length ? Math.min(...all.map(scaled)) : 0;
    const high = all.length ? Math.max(...all.map(scaled)) : 1;
    const x = (step: number) => (last ? (step / last) * 300 : 0);
    const y = (each: number) => height - 4 - ((scaled(each) - low) / (high - low || 1)) * (height - 8);
    const paths = lines.map(({ steps, values }) => {
      let pen = "M";
      return values.map((each, i) => {
        if (each === null || !Number.isFinite(each)) { pen = "M"; return ""; }
        const text = `${pen}${x(steps[i]!).toFixed(1)} ${y(each).toFixed(1)}`;
        pen = "L";
        return text;
      }).join("");
    });
    return { paths, log, x, ends: all.length ? [Math.min(...all), Math.max(...all)] : null };
  }, [lines, last, height]);
  const range = drawn.ends ? `${number(drawn.ends[0]!)} to ${number(drawn.ends[1]!)}${drawn.log ? ", logarithmic" : ""}` : "no numbers";
  return (
    <figure class="chart">
      <svg viewBox={`0 0 300 ${height}`} preserveAspectRatio="none" role="img" aria-label={`${label}: ${range}`} style={{ height: `${height}px` }}>
        <line class="now" x1={drawn.x(at)} x2={drawn.x(at)} y1="0" y2={height} />
        {drawn.paths.map((path, k) => <path class={`run${k}`} d={path} />)}
      </svg>
      <figcaption class="small">{range}</figcaption>
    </figure>
  );
}

/** Of more parameters than so many, a map is drawn. */
const CHARTS = 40;

function rows(runs: Run[], measure: Measure): Row[] {
  const names = [...new Set(runs.flatMap((run) => run.parameters))];
  return names.map((name) => {
    const places = runs.map((run) => run.parameters.indexOf(name));
    const shape = runs.map((run, k) => run.shapes[places[k]!]).find(Boolean) ?? [];
    const lines = runs.map((run, k) => ({
      steps: places[k]! < 0 ? [] : run.steps,
      values: places[k]! < 0 ? [] : run[measure].map((each) => value(each[places[k]!])),
    }));
    return { name, shape: shape.join("×") || "number", lines };
  });
}

const moduleOf = ({ name }: Row): string => name.split(".").slice(0, -1).slice(0, 2).join(".");

/** Rows by module; modules of one parameter each, side by side, are shown together. */
function grouped(rows: Row[]): Group[] {
  const groups: (Group & { single: boolean })[] = [];
  const modules = new Map<string, Row[]>();
  for (const row of rows) modules.set(moduleOf(row), [...(modules.get(moduleOf(row)) ?? []), row]);
  for (const [group, inside] of modules) {
    const last = groups.at(-1);
    if (last?.single && inside.length === 1) Object.assign(last, { label: `${last.label}, ${group}`, inside: [...last.inside, ...inside] });
    else groups.push({ label: group, inside, single: inside.length === 1 });
  }
  return groups;
}

/** How large a parameter is in the first run: the mean over it, so that the order does not change with the step. */
function size({ lines }: Row): number {
  const found = lines[0]!.values.filter(isNumber);
  return found.reduce((sum, each) => sum + each, 0) / (found.length || 1);
}

function Parameter({ row, last, at }: { row: Row; last: number; at: number }) {
  return (
    <li class="card small-multiple">
      <h3 title={row.name}><code>{row.name}</code> <span class="small">{row.shape}</span></h3>
      <Chart lines={row.lines} last={last} at={at} height={48} label={row.name} />
      <p class="mono small">{row.lines.map((line, k) => <span class={`value run${k}`}>{shown(line.values[before(line.steps, at)] ?? null)}</span>)}</p>
    </li>
  );
}

function Health({ runs, lookedFor, go }: { runs: Run[]; lookedFor: string; go: (step: number) => void }) {
  const found = runs.flatMap((run, k) => run.events.map((event) => ({ ...event, run: k })));
  return (
    <section class="card pad">
      <h2>{found.length ? `${plural(found.length, "finding")}` : `Nothing was found in ${runs.map((run) => plural(run.count, "step")).join(" and ")}`}</h2>
      {!found.length && <p class="muted">Looked for: {lookedFor}.</p>}
      <ul class="happened">
        {found.map((event) => (
          <li>
            <button class="link" onClick={() => go(event.step)}>step {event.step}</button>{" "}
            {runs.length > 1 && <span class={`value run${event.run}`}>{runs[event.run]!.name}</span>}{" "}
            <b class="alarm-text">{event.kind}</b> {event.parameter && <code>{event.parameter}</code>} {event.why}. <span class="muted">{event.fix}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function said(run: Run): string {
  const first = run.losses[0];
  const last = run.losses[run.losses.length - 1];
  const course = first && last ? ` The loss went from ${shown(value(first[1]))} to ${shown(value(last[1]))}.` : " The loss is not known.";
  const end = run.failure ? ` It ended with ${run.failure}.` : "";
  return `${plural(run.count, "step")} of ${plural(run.parameters.length, "parameter")}${run.seconds === null ? "" : ` in ${seconds(run.seconds)}`}.${course}${end}`;
}

interface Seen {
  at: number;
  measure: Measure;
  order: number;
  log: boolean;
  /** How much of the mean is kept from step to step, in hundredths. */
  smooth: number;
}

const SMOOTH = 90;

/** What an address asks for; what it does not understand is left out. */
export function readRun(hash: string, last: number): Seen {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  return {
    at: Math.min(last, whole(fields.get("step")) ?? last),
    measure: among(fields.get("show"), Object.keys(MEASURES) as Measure[]) ?? "gradient",
    order: Math.max(0, SORTS.indexOf(among(fields.get("sort"), SORTS) ?? "model")),
    log: fields.get("scale") === "log",
    smooth: Math.min(99, whole(fields.get("smooth")) ?? SMOOTH),
  };
}

export function RunsPage({ data }: { data: Runs }) {
  const { runs } = data;
  const last = Math.max(1, ...runs.map((run) => run.count - 1));
  const [seen, see] = useState<Seen>(() => readRun(location.hash, last));
  const { at, measure, order, log, smooth } = seen;
  const go = (step: number) => see({ ...seen, at: step });
  useAddress(`#step=${at}${measure === "gradient" ? "" : `&show=${measure}`}${order ? `&sort=${SORTS[order]}` : ""}${log ? "&scale=log" : ""}${smooth === SMOOTH ? "" : `&smooth=${smooth}`}`, (hash) => see(readRun(hash, last)));
  const losses = useMemo(() => runs.map((run) => ({ steps: run.losses.map(([step]) => step), values: run.losses.map(([, loss]) => value(loss)), means: run.means.map(value) })), [runs]);
  const means = useMemo(() => losses.map((line) => smoothed(line.means, smooth / 100)), [losses, smooth]);
  const marks = useMemo(() => runs.flatMap((run) => run.events.map((event) => event.step)), [runs]);
  const all = useMemo(() => rows(runs, measure), [runs, measure]);
  const mapped = all.length > CHARTS;
  const groups = useMemo(() => {
    const sorted = order ? [...all].sort((a, b) => (size(b) - size(a)) * (order === 1 ? 1 : -1)) : all;
    return order && !mapped ? [{ label: "", inside: sorted }] : grouped(sorted);
  }, [all, order]);
  const names = useMemo(() => runs.map((run) => run.name), [runs]);
  const rates = runs.map((run) => value(run.rate[before(run.steps, at)]));
  return (
    <div class={`page runs${mapped ? " mapped" : ""}`}>
      <header class="header">
        <h1><span class="logo" aria-hidden="true">∂</span> {data.title ?? "pullback explain: a training run"}</h1>
      </header>
      <main>
        <section class="card pad">
          {runs.map((run, k) => <p>{runs.length > 1 && <b class={`value run${k}`}>{run.name} </b>}{said(run)}</p>)}
          <div class="tuning">
            <h2>Loss</h2>
            <label>scale{" "}
              <select value={log ? "log" : "linear"} onChange={(event) => see({ ...seen, log: event.currentTarget.value === "log" })}>
                <option>linear</option>
                <option>log</option>
              </select>
            </label>
            <label>smoothing <input type="range" min={0} max={99} value={smooth} onInput={(event) => see({ ...seen, smooth: Number(event.currentTarget.value) })} /> {smooth / 100}</label>
          </div>
          <Loss lines={losses} keep={smooth / 100} log={log} last={last} at={at} marks={marks} go={go} />
          <label class="slide">
            <span>step <b>{at}</b></span>
            <input type="range" min={0} max={last} value={at} onInput={(event) => go(Number(event.currentTarget.value))} />
            <span class="mono small">
              {losses.map((line, k) => <span class={`value run${k}`}>loss {shown(line.values[before(line.steps, at)] ?? null)}, smoothed {shown(means[k]![before(line.steps, at)] ?? null)}</span>)}
              {rates.map((rate, k) => rate !== null && <span class={`value run${k}`}>lr {shown(rate)}</span>)}
            </span>
          </label>
        </section>
        <Health runs={runs} lookedFor={data.looked_for} go={go} />
        <section>
          <div class="find">
            <h2>Parameters</h2>
            <label>show{" "}
              <select value={measure} onChange={(event) => see({ ...seen, measure: event.currentTarget.value as Measure })}>
                {Object.entries(MEASURES).map(([key, text]) => <option value={key}>{text}</option>)}
              </select>
            </label>
            <label>order{" "}
              <select value={order} onChange={(event) => see({ ...seen, order: Number(event.currentTarget.value) })}>
                {ORDERS.map((text, k) => <option value={k}>{text}</option>)}
              </select>
            </label>
          </div>
          {mapped ? <Heat groups={groups} names={names} measure={MEASURES[measure]} last={last} at={at} go={go} /> : groups.map(({ label, inside }) => (
            <details open key={label} class="group">
              <summary>{label || "all"} <span class="small">{plural(inside.length, "parameter")}</span></summary>
              <ul class="multiples">{inside.map((row) => <Parameter key={row.name} row={row} last={last} at={at} />)}</ul>
            </details>
          ))}
        </section>
      </main>
    </div>
  );
}
