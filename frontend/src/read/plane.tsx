// The plane of a leaf of two elements.
import { Fragment, h } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { number } from "../format";
import { textWidth } from "../measure";
import type { Story } from "../page";
import { plane, tickStep, type Arrow, type Plane as Shape, type Vector } from "./arrows";

interface Frame {
  x: (value: number) => number;
  y: (value: number) => number;
  width: number;
  height: number;
  low: Vector;
  high: Vector;
}

/** A frame around points, with the origin in it and the same scale in both directions. */
function around(points: Vector[], width: number, tallest: number, margin: number): Frame {
  const all = [[0, 0] as Vector, ...points];
  const ends = [0, 1].map((axis) => [Math.min(...all.map((point) => point[axis]!)), Math.max(...all.map((point) => point[axis]!))] as const);
  const span = Math.max(...ends.map(([low, high]) => high - low)) || 1;
  const [low, high] = [0, 1].map((end) => ends.map((pair) => pair[end]! + (end ? 0.14 : -0.14) * span)) as [Vector, Vector];
  const scale = Math.min((width - 2 * margin) / (high[0] - low[0]), (tallest - 2 * margin) / (high[1] - low[1]));
  const left = (width - scale * (high[0] - low[0])) / 2;
  const height = scale * (high[1] - low[1]) + 2 * margin;
  return { x: (value) => left + (value - low[0]) * scale, y: (value) => height - margin - (value - low[1]) * scale, width, height, low, high };
}

function Grid({ frame, name, most }: { frame: Frame; name?: string; most: number }) {
  const { x, y, low, high } = frame;
  const step = tickStep(Math.max(high[0] - low[0], high[1] - low[1]), most);
  const ticks = (axis: 0 | 1) => Array.from({ length: Math.floor(high[axis] / step) - Math.ceil(low[axis] / step) + 1 }, (_, i) => Number(((Math.ceil(low[axis] / step) + i) * step).toPrecision(6)));
  return (
    <g class="grid">
      {ticks(0).map((at) => <Fragment key={at}><line x1={x(at)} x2={x(at)} y1={y(low[1])} y2={y(high[1])} /><text x={x(at) + (at === 0 ? -7 : 0)} y={y(0) + 14} text-anchor="middle">{number(at)}</text></Fragment>)}
      {ticks(1).map((at) => <Fragment key={at}><line x1={x(low[0])} x2={x(high[0])} y1={y(at)} y2={y(at)} />{at !== 0 && <text x={x(0) - 5} y={y(at) + 4} text-anchor="end">{number(at)}</text>}</Fragment>)}
      <line class="axis" x1={x(low[0])} x2={x(high[0])} y1={y(0)} y2={y(0)} />
      <line class="axis" x1={x(0)} x2={x(0)} y1={y(low[1])} y2={y(high[1])} />
      {name && <text x={x(high[0])} y={y(0) - 6} text-anchor="end">{name}[0]</text>}
      {name && <text x={x(0) + 6} y={y(high[1]) + 10}>{name}[1]</text>}
    </g>
  );
}

function line(frame: Frame, from: Vector, to: Vector, tip: number): { body: string; head: string } | null {
  const [ax, ay, bx, by] = [frame.x(from[0]), frame.y(from[1]), frame.x(to[0]), frame.y(to[1])];
  const length = Math.hypot(bx - ax, by - ay);
  if (length < 2) return null;
  const [ux, uy] = [(bx - ax) / length, (by - ay) / length];
  const size = Math.min(tip, length);
  const [cx, cy] = [bx - size * ux, by - size * uy];
  const point = (x: number, y: number) => `${x.toFixed(1)},${y.toFixed(1)}`;
  return { body: `M${point(ax, ay)}L${point(cx, cy)}`, head: `M${point(bx, by)}L${point(cx - 0.42 * size * uy, cy + 0.42 * size * ux)}L${point(cx + 0.42 * size * uy, cy - 0.42 * size * ux)}Z` };
}

/** Labels beside the middles of the arrows, away from the sum; moved apart where they would overlap. */
function labels(frame: Frame, arrows: Arrow[]): { text: string; x: number; y: number; kind: Arrow["kind"] }[] {
  const sum = arrows.at(-1)!.to;
  const side = Math.sign(arrows.slice(0, -1).reduce((found, { to }) => found || sum[0] * to[1] - sum[1] * to[0], 0)) || 1;
  const placed: { text: string; x: number; y: number; kind: Arrow["kind"]; half: number }[] = [];
  for (const { from, to, label, kind } of [...arrows].reverse()) {
    const [dx, dy] = [frame.x(to[0]) - frame.x(from[0]), frame.y(to[1]) - frame.y(from[1])];
    const length = Math.hypot(dx, dy) || 1;
    const half = textWidth(label, 12.5) / 2 + 3;
    const away = (kind === "sum" ? -1 : 1) * side;
    const [nx, ny] = [(away * dy) / length, (-away * dx) / length];
    const distance = 9 + Math.abs(nx) * half + 6;
    const clamp = (value: number, room: number, edge: number) => Math.min(room - edge, Math.max(edge, value));
    const x = clamp((frame.x(from[0]) + frame.x(to[0])) / 2 + nx * distance, frame.width, half);
    let y = clamp((frame.y(from[1]) + frame.y(to[1])) / 2 + ny * distance + 4, frame.height, 12);
    while (placed.some((other) => Math.abs(other.y - y) < 15 && Math.abs(other.x - x) < other.half + half) && y < frame.height - 12) y += 4;
    placed.push({ text: label, x, y, kind, half });
  }
  return placed;
}

function useWidth(element: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(600);
  useLayoutEffect(() => {
    const measure = () => setWidth(Math.max(280, Math.min(680, element.current!.clientWidth)));
    const observer = new ResizeObserver(measure);
    observer.observe(element.current!);
    measure();
    return () => observer.disconnect();
  }, []);
  return width;
}

/** The unit square, and what J makes of it. */
function Image({ shape, name }: { shape: NonNullable<Shape["image"]>; name: string }) {
  const [a, b] = shape.columns;
  const square: Vector[] = [[0, 0], [1, 0], [1, 1], [0, 1]];
  const made: Vector[] = [[0, 0], a, [a[0] + b[0], a[1] + b[1]], b];
  const draw = (points: Vector[]) => {
    const frame = around(points, 150, 130, 20);
    return (
      <svg viewBox={`0 0 ${frame.width} ${frame.height}`} width={frame.width} height={frame.height} aria-hidden="true">
        <Grid frame={frame} most={3} />
        <path class="image" d={`M${points.map(([x, y]) => `${frame.x(x).toFixed(1)},${frame.y(y).toFixed(1)}`).join("L")}Z`} />
      </svg>
    );
  };
  return (
    <figure class="square">
      {draw(square)}
      <span class="mono" aria-hidden="true">→ J →</span>
      {draw(made)}
      <figcaption>Forward, J maps a small square of {name} to this parallelogram of {shape.output}, of {number(Math.abs(shape.area))} times its area{shape.area < 0 ? ", turned over" : ""}.</figcaption>
    </figure>
  );
}

export function PlaneDrawing({ page }: { page: Story }) {
  const { call, flow, state } = page;
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place);
  const shape = useMemo(() => plane(page), [call, flow, state.leaf]);
  const frame = shape && around(shape.arrows.flatMap(({ from, to }) => [from, to]), width, 380, 26);
  return (
    <div class="plane" ref={place}>
      {!shape || !frame ? <p class="muted">The rows of J are not all known here.</p> : (
        <>
          <svg viewBox={`0 0 ${frame.width} ${frame.height.toFixed(0)}`} width={frame.width} height={Math.round(frame.height)} role="img" aria-label={shape.said}>
            <Grid frame={frame} name={shape.name} most={9} />
            {shape.arrows.map(({ from, to, kind }, i) => {
              const drawn = line(frame, from, to, kind === "sum" ? 15 : 12);
              return drawn && <g key={i} class={`arrow ${kind}`} data-arrow={i}><path class="body" d={drawn.body} /><path class="head" d={drawn.head} /></g>;
            })}
            {labels(frame, shape.arrows).map(({ text, x, y, kind }) => <text key={text} class={`arrow-label ${kind}`} x={x} y={y} text-anchor="middle">{text}</text>)}
          </svg>
          {shape.image && <Image shape={shape.image} name={shape.name} />}
        </>
      )}
    </div>
  );
}
