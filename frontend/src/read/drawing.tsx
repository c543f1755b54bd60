// The graph of "read": values go down, gradients up.
import { h } from "preact";
import { useMemo } from "preact/hooks";
import { curve } from "../layers";
import { textWidth } from "../measure";
import type { Story } from "../page";
import { diagram, PAD, short, SMALL, valueOf, type Box, type Edge } from "./boxes";
import { gradSoFar, linesOf, sentSoFar } from "./lines";
import { positionOf } from "./stops";

/** The tensors that the present stop works on, each as the box that shows it. */
function current(page: Story): Set<number> {
  const { call, state, stops, stop } = page;
  const { owner } = linesOf(call);
  const { steps } = stops[stop]!;
  const tensors = steps.length ? steps.filter((at) => call.steps[at]!.terms.length).flatMap((at) => call.steps[at]!.outputs) : call.outputs.map((output) => output.tensor);
  return new Set(tensors.map((tensor) => (state.by === "line" ? owner[tensor]! : tensor)));
}

function BoxShape({ page, box, at, now }: { page: Story; box: Box; at: { x: number; y: number }; now: boolean }) {
  const { call, flow, state, stops } = page;
  const tensor = call.tensors[box.tensor]!;
  const grad = gradSoFar(call, flow, box.tensor, state.position);
  const go = () => {
    const stop = stops.find(({ steps }) => steps.some((step) => call.steps[step]!.outputs.includes(box.tensor)));
    if (stop) page.set({ position: positionOf(call, stop) });
  };
  return (
    <g class={`node ${box.role}${now ? " now" : ""}`} transform={`translate(${at.x.toFixed(1)},${at.y.toFixed(1)})`} data-box={box.id} onClick={go}>
      <title>{`${tensor.name}: value ${valueOf(tensor)}, grad ${short(grad)}`}</title>
      <rect class="frame" width={box.width} height={box.height} rx={8} />
      <text class="title" x={PAD} y={18}>{box.name}</text>
      <text class="from" x={box.width - PAD} y={18} text-anchor="end">{box.from}</text>
      <text class="label" x={PAD} y={35}>value</text>
      <text class="value" x={PAD + 42} y={35}>{valueOf(tensor)}</text>
      <text class="label" x={PAD} y={51}>grad</text>
      <text class={grad ? "grad" : "label"} x={PAD + 42} y={51}>{short(grad)}</text>
    </g>
  );
}

function Way({ page, edge, points, label }: { page: Story; edge: Edge; points: { x: number; y: number }[]; label: { x: number; y: number } }) {
  const { call, flow, state, stops, stop } = page;
  const sent = sentSoFar(call, flow, edge.ways, state.position);
  const now = edge.ways.some(({ step }) => stops[stop]!.steps.includes(step));
  const text = sent?.sum && `↑ ${short(sent.sum)}`;
  const width = text ? textWidth(text, SMALL) + 16 : 0;
  return (
    <g class={`way${sent ? (sent.zero ? " zero" : " sent") : ""}${now ? " now" : ""}`}>
      <path d={curve(points)} />
      {text && (
        <g class="sum" transform={`translate(${label.x.toFixed(1)},${label.y.toFixed(1)})`}>
          <rect x={-width / 2} y={-10.5} width={width} height={21} rx={10.5} />
          <text y={4.5} text-anchor="middle">{text}</text>
        </g>
      )}
    </g>
  );
}

export function Drawing({ page }: { page: Story }) {
  const { call, flow, state } = page;
  const { boxes, edges, layout } = useMemo(() => diagram(call, state.by, flow), [call, state.by, flow]);
  const now = current(page);
  const [width, height] = [Math.ceil(layout.width), Math.ceil(layout.height)];
  return (
    <div class="diagram" tabIndex={0} role="group" aria-label="Boxes">
      <svg
        viewBox={`0 0 ${width} ${height}`} role="img" style={{ maxWidth: `${Math.round(1.12 * width)}px`, minWidth: `${Math.round(0.66 * width)}px` }}
        aria-label={boxes.map(({ tensor, name }) => `${name}: value ${valueOf(call.tensors[tensor]!)}, grad ${short(gradSoFar(call, flow, tensor, state.position))}`).join("; ")}
      >
        {edges.map((edge, i) => <Way key={`${edge.from}>${edge.to}`} page={page} edge={edge} points={layout.edges[i]!.points} label={layout.edges[i]!.label} />)}
        {boxes.map((box) => <BoxShape key={box.id} page={page} box={box} at={layout.boxes[box.id]!} now={now.has(box.tensor)} />)}
      </svg>
    </div>
  );
}
