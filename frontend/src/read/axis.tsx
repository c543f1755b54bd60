// Bars on an axis: ticks at powers of ten, or, where values lie close, linear ones from zero.
import { h } from "preact";
import { Choice } from "../choice";
import { number } from "../format";

export interface Scale {
  log: boolean;
  ticks: number[];
  /** Where a value lies, from 0 to 1. */
  at: (value: number) => number;
}

const positive = (values: number[]) => values.filter((value) => Number.isFinite(value) && value > 0);
/** So many ticks have room for their numbers. */
const MOST_TICKS = 5;

/** Whether a linear axis shows the values as well: the largest is less than 100 times the smallest. */
export function isClose(values: number[]): boolean {
  const some = positive(values);
  return some.length > 1 && Math.max(...some) < 100 * Math.min(...some);
}

function logarithmic(some: number[]): Scale {
  // A value at a power of ten lies on it, in spite of rounding.
  const low = Math.floor(Math.log10(Math.min(...some)) + 1e-9);
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...some)) - 1e-9));
  const every = Math.ceil((high - low) / (MOST_TICKS - 1));
  const decades = Array.from({ length: Math.floor((high - low) / every) + 1 }, (_, i) => Number(`1e${low + i * every}`));
  const ticks = high - low === 1 ? [decades[0]!, 2 * decades[0]!, 5 * decades[0]!, decades[1]!] : decades;
  return { log: true, ticks, at: (value) => (value > 0 ? Math.max(0, Math.min(1, (Math.log10(value) - low) / (high - low))) : 0) };
}

function linear(some: number[]): Scale {
  const most = Math.max(...some);
  const rough = most / (MOST_TICKS - 1);
  const unit = Number(`1e${Math.floor(Math.log10(rough))}`);
  const step = [1, 2, 2.5, 5, 10].map((times) => times * unit).find((each) => each >= rough * (1 - 1e-9))!;
  const steps = Math.max(1, Math.ceil(most / step - 1e-9));
  return { log: false, ticks: Array.from({ length: steps + 1 }, (_, i) => Number((i * step).toPrecision(6))), at: (value) => Math.max(0, Math.min(1, value / (steps * step))) };
}

/** The axis for some sizes; of what is not positive and finite nothing is drawn. */
export function scaleOf(values: number[], wanted: "log" | "linear" = "log"): Scale {
  const some = positive(values);
  if (!some.length) return { log: true, ticks: [], at: () => 0 };
  return wanted === "linear" ? linear(some) : logarithmic(some);
}

/** A tick's number: .01, 1, 1e-7. */
function tickText(value: number): string {
  return number(value).replace(/^0\./, ".");
}

const left = (part: number) => ({ left: `${100 * part}%` });

/** The numbers at the ticks. Those at the ends stay inside. */
export function Axis({ scale }: { scale: Scale }) {
  return (
    <span class="ruler" aria-hidden="true">
      {scale.ticks.map((tick) => {
        const at = scale.at(tick);
        return <span key={tick} style={{ ...left(at), transform: `translateX(${at < 0.02 ? 0 : at > 0.98 ? -100 : -50}%)` }}>{tickText(tick)}</span>;
      })}
    </span>
  );
}

/** A bar, or, where a length says nothing, a mark. */
export function Bar({ scale, value, kind, mark = false }: { scale: Scale; value: number; kind: "value" | "grad"; mark?: boolean }) {
  const at = scale.at(value);
  const shown = Number.isFinite(value) && value > 0;
  return (
    <span class="track" aria-hidden="true">
      {scale.ticks.map((tick) => <i key={tick} class="tick" style={left(scale.at(tick))} />)}
      {shown && (mark ? <i class={`mark ${kind}`} style={left(at)} /> : <i class={`length ${kind}`} style={{ width: `${Math.max(0.7, 100 * at)}%` }} />)}
    </span>
  );
}

/** Where values lie close: a switch between both kinds of axis. */
export function ScaleSwitch({ values, wanted, choose }: { values: number[]; wanted: "log" | "linear"; choose: (wanted: "log" | "linear") => void }) {
  return isClose(values) ? <Choice label="Axis" names={{ log: "log", linear: "linear" }} value={wanted} choose={choose} /> : null;
}
