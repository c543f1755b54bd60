// The page of training runs: the loss, a small chart of each parameter or a map of many, and a slider from step to step.
import { Fragment, h } from "preact";
import { useMemo, useState } from "preact/hooks";
import { useAddress } from "./address";
import { number, plural, seconds } from "./format";
import { before, Heat, type Group, type Row } from "./heat";
import { visibleText } from "./load";
import { isNumber, Loss, smoothed, type Line } from "./loss";
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
  /** Its file, without the suffix. */
  file: string;
  every: number;
  count: number;
  seconds: number | null;
  failure: string | null;
  parameters: string[];
  shapes: number[][];
  losses: [number, number | string][];
  means: Numbers;
  steps: number[];
  /** Seconds from the start to each of the recorded steps. */
  times: Numbers;
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
  /** Which of several runs is ahead. */
  compared: string;
  /** The settings of the optimizers: those that differ, with a text for each run, and those that all runs share. */
  settings: { differ: [string, string[]][]; same: [string, string][] };
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
    for (const key of ["name", "file"] as const) run[key] = visibleText(run[key]);
    for (const event of run.events) for (const key of ["parameter", "why", "fix"] as const) event[key] = visibleText(event[key]);
    if (run.failure) run.failure = visibleText(run.failure);
  }
  runs.compared = visibleText(runs.compared);
  const { differ, same } = runs.settings;
  runs.settings = {
    differ: differ.map(([name, texts]) => [visibleText(name), texts.map(visibleText)]),
    same: same.map(([name, text]) => [visibleText(name), visibleText(text)]),
  };
  return runs;
}

/** Milliseconds from the start to each of some steps; steps that were not recorded lie evenly between those that were. */
export function milliseconds(steps: number[], times: number[], wanted: number[]): number[] {
  const known = [-1, ...steps];
  const at = [0, ...times];
  return wanted.map((step) => {
    const i = Math.min(before(known, step), known.length - 2);
    const part = (step - known[i]!) / (known[i + 1]! - known[i]!);
    return Math.round(1000 * (at[i]! + part * (at[i + 1]! - at[i]!)));
  });
}

/** Runs whose places are milliseconds in place of steps; null where a run has no times. */
export function byTime(runs: Run[]): Run[] | null {
  if (runs.some(({ times }) => !times.length || times.some((time) => time === null))) return null;
  return runs.map((run) => {
    const place = (steps: number[]) => milliseconds(run.steps, run.times.map(Number), steps);
    const losses = place(run.losses.map(([step]) => step));
    return {
      ...run,
      steps: place(run.steps),
      losses: run.losses.map(([, loss], i) => [losses[i]!, loss]),
      events: run.events.map((event) => ({ ...event, step: place([event.step])[0]! })),
    };
  });
}

const finite = (lines: Line[]) => lines.flatMap(({ values }) => values.filter(isNumber));

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

/** Which run is ahead, and the optimizers' settings, a column for each run. */
function Compared({ runs, compared, settings: { differ, same } }: Pick<Runs, "runs" | "compared" | "settings">) {
  const rows: [string, string[]][] = [...differ];
  if (runs.every(({ file, name }) => file && file !== name)) rows.unshift(["file", runs.map(({ file }) => file)]);
  return (
    <>
      {compared && <p><b>{compared}</b></p>}
      {runs.length > 1 && rows.length > 0 && (
        <div class="settings" tabIndex={0} role="group" aria-label="settings that differ">
          <table class="small">
            <thead><tr><td />{runs.map((run, k) => <th scope="col" class={`value run${k}`}>{run.name}</th>)}</tr></thead>
            <tbody>{rows.map(([name, texts]) => <tr><th scope="row">{name}</th>{texts.map((text) => <td class="mono">{text}</td>)}</tr>)}</tbody>
          </table>
        </div>
      )}
      {same.length > 0 && (
        <details class="small">
          <summary>{runs.length > 1 ? "Settings that all share" : "Settings"}</summary>
          <p class="mono">{same.map(([name, text]) => `${name} ${text}`).join(", ")}</p>
        </details>
      )}
    </>
  );
}

function Health({ runs, steps, lookedFor, go }: { runs: Run[]; steps: Run[]; lookedFor: string; go: (place: number) => void }) {
  const counts = new Set(runs.map((run) => plural(run.count, "step")));
  const found = runs.flatMap((run, k) => run.events.map((event, i) => ({ ...event, run: k, place: event.step, step: steps[k]!.events[i]!.step })));
  return (
    <section class="card pad">
      <h2>{found.length ? `${plural(found.length, "finding")}` : `Nothing was found in ${[...counts].join(" and ")}${runs[1] ? ` of ${runs.length} runs` : ""}`}</h2>
      {!found.length && <p class="muted">Looked for: {lookedFor}.</p>}
      <ul class="happened">
        {found.map((event) => (
          <li>
            <button class="link" onClick={() => go(event.place)}>step {event.step}</button>{" "}
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
  /** The place that is shown: a step, or a millisecond. */
  at: number;
  /** Whether the runs are aligned by time in place of steps. */
  timed: boolean;
  measure: Measure;
  order: number;
  log: boolean;
  /** How much of the mean is kept from step to step, in hundredths. */
  smooth: number;
}

const SMOOTH = 90;

/** The last place of some runs. */
const end = (runs: Run[], timed: boolean) => Math.max(1, ...runs.map((run) => (timed ? Math.max(run.steps.at(-1) ?? 0, run.losses.at(-1)?.[0] ?? 0) : run.count - 1)));

/** What an address asks for, where the last step, and the last millisecond if times are known, are these; what it does not understand is left out. */
export function readRun(hash: string, last: number, lastTime: number | null = null): Seen {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const time = lastTime === null ? null : (whole(fields.get("ms")) ?? null);
  return {
    timed: time !== null,
    at: time === null ? Math.min(last, whole(fields.get("step")) ?? last) : Math.min(lastTime ?? 0, time),
    measure: among(fields.get("show"), Object.keys(MEASURES) as Measure[]) ?? "gradient",
    order: Math.max(0, SORTS.indexOf(among(fields.get("sort"), SORTS) ?? "model")),
    log: fields.get("scale") === "log",
    smooth: Math.min(99, whole(fields.get("smooth")) ?? SMOOTH),
  };
}

export function RunsPage({ data }: { data: Runs }) {
  const times = useMemo(() => byTime(data.runs), [data]);
  const lastStep = end(data.runs, false);
  const lastTime = times && end(times, true);
  const read = (hash: string) => readRun(hash, lastStep, lastTime);
  const [seen, see] = useState<Seen>(() => read(location.hash));
  const { at, timed, measure, order, log, smooth } = seen;
  const runs = timed ? times! : data.runs;
  const last = timed ? lastTime! : lastStep;
  const go = (place: number) => see({ ...seen, at: place });
  const align = (timed: boolean) => see({ ...seen, timed, at: timed ? lastTime! : lastStep });
  useAddress(`#${timed ? "ms" : "step"}=${at}${measure === "gradient" ? "" : `&show=${measure}`}${order ? `&sort=${SORTS[order]}` : ""}${log ? "&scale=log" : ""}${smooth === SMOOTH ? "" : `&smooth=${smooth}`}`, (hash) => see(read(hash)));
  const losses = useMemo(() => runs.map((run) => ({ steps: run.losses.map(([step]) => step), values: run.losses.map(([, loss]) => value(loss)), means: run.means.map(value) })), [runs]);
  const means = useMemo(() => losses.map((line) => smoothed(line.means, smooth / 100)), [losses, smooth]);
  const marks = useMemo(() => runs.flatMap((run) => run.events.map((event) => event.step)), [runs]);
  const all = useMemo(() => rows(runs, measure), [runs, measure]);
  const mapped = all.length > CHARTS;
  const groups = useMemo(() => {
    const sizes = new Map(all.map((row) => [row, order && size(row)]));
    const sorted = order ? [...all].sort((a, b) => (sizes.get(b)! - sizes.get(a)!) * (order === 1 ? 1 : -1)) : all;
    return order && !mapped ? [{ label: "", inside: sorted }] : grouped(sorted);
  }, [all, order]);
  const names = useMemo(() => runs.map((run) => run.name), [runs]);
  const rates = runs.map((run) => value(run.rate[before(run.steps, at)]));
  const place = timed ? seconds(at / 1000) : `step ${at}`;
  return (
    <div class={`page runs${mapped ? " mapped" : ""}`}>
      <header class="header">
        <h1><span class="logo" aria-hidden="true">∂</span> {data.title ?? "pullback explain: a training run"}</h1>
      </header>
      <main>
        <section class="card pad">
          <Compared runs={runs} compared={data.compared} settings={data.settings} />
          {data.runs.map((run, k) => <p>{runs.length > 1 && <b class={`value run${k}`}>{run.name} </b>}{said(run)}</p>)}
          <div class="tuning">
            <h2>Loss</h2>
            <label>scale{" "}
              <select value={log ? "log" : "linear"} onChange={(event) => see({ ...seen, log: event.currentTarget.value === "log" })}>
                <option>linear</option>
                <option>log</option>
              </select>
            </label>
            {times && runs.length > 1 && (
              <label>aligned by{" "}
                <select value={timed ? "time" : "step"} onChange={(event) => align(event.currentTarget.value === "time")}>
                  <option>step</option>
                  <option>time</option>
                </select>
              </label>
            )}
            <label>smoothing <input type="range" min={0} max={99} value={smooth} onInput={(event) => see({ ...seen, smooth: Number(event.currentTarget.value) })} /> {smooth / 100}</label>
          </div>
          <Loss lines={losses} keep={smooth / 100} log={log} last={last} at={at} marks={marks} timed={timed} go={go} />
          <label class="slide">
            <span><b>{place}</b></span>
            <input type="range" min={0} max={last} value={at} onInput={(event) => go(Number(event.currentTarget.value))} />
            <span class="mono small">
              {losses.map((line, k) => <span class={`value run${k}`}>loss {shown(line.values[before(line.steps, at)] ?? null)}, smoothed {shown(means[k]![before(line.steps, at)] ?? null)}</span>)}
              {rates.map((rate, k) => rate !== null && <span class={`value run${k}`}>lr {shown(rate)}</span>)}
            </span>
          </label>
        </section>
        <Health runs={runs} steps={data.runs} lookedFor={data.looked_for} go={go} />
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
          {mapped ? <Heat groups={groups} names={names} measure={MEASURES[measure]} last={last} at={at} place={place} go={go} /> : groups.map(({ label, inside }) => (
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
