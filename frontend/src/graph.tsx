// The picture: values down, gradients up.
import { Component, Fragment, h } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { isGroup, type Group } from "./fold";
import { curve, type Layout, type Point } from "./layers";
import { plural } from "./format";
import { fit, textWidth } from "./measure";
import { Overview } from "./overview";
import type { Page } from "./page";
import {
  amount, boxText, groupCost, itemId, LINE, moment, PAD, scene, SMALL, type Box, type BoxText, type Edge, type Moment, type Phase,
} from "./picture";

const LEAST_SCALE = 10 / SMALL;
const MOST_SCALE = 1.15;

interface Laid {
  scene: ReturnType<typeof scene>;
  layout: Layout;
}

/** The present picture; while a new one is being laid out, the old one. Full boxes that do not fit become compact. */
function useLaid(page: Page, scroller: { current: HTMLElement | null }): Laid | null {
  const { model, drawing, state, engine } = page;
  const [crowded, setCrowded] = useState<Page["drawing"] | null>(null);
  const wanted = useMemo(() => scene(model, drawing, state.density, page.flow, crowded === drawing), [model, drawing, state.density, page.flow, crowded]);
  const [laid, setLaid] = useState<Laid | null>(null);
  const layout = laid?.scene.key === wanted.key && laid.scene.edges.length === wanted.edges.length ? laid.layout : null;
  useLayoutEffect(() => {
    if (layout) return;
    engine.request(wanted.boxes, wanted.edges, (made) => {
      const { clientWidth, clientHeight } = scroller.current ?? { clientWidth: 0, clientHeight: 0 };
      const fits = Math.min(clientWidth / made.width, clientHeight / made.height) >= LEAST_SCALE;
      if (state.density === "auto" && !fits && crowded !== drawing && wanted.boxes.some((box) => box.full && box.role === "inner")) setCrowded(drawing);
      else setLaid({ scene: wanted, layout: made });
    });
  }, [wanted.key]);
  return layout ? { scene: wanted, layout } : laid;
}

function arrow(points: Point[], up: boolean): string {
  const [tip, before] = up ? [points[0]!, points[1]!] : [points.at(-1)!, points.at(-2)!];
  const length = Math.hypot(tip.x - before.x, tip.y - before.y) || 1;
  const [x, y] = [(tip.x - before.x) / length, (tip.y - before.y) / length];
  const base = { x: tip.x - 9 * x, y: tip.y - 9 * y };
  return `M${tip.x.toFixed(1)},${tip.y.toFixed(1)}L${(base.x - 4.5 * y).toFixed(1)},${(base.y + 4.5 * x).toFixed(1)}L${(base.x + 4.5 * y).toFixed(1)},${(base.y - 4.5 * x).toFixed(1)}Z`;
}

function EdgeLine({ points, phase, path }: { points: Point[]; phase: Phase; path: boolean }) {
  return (
    <g class={`edge ${phase}${path ? " path" : ""}`}>
      <path class="line" d={curve(points)} />
      <path class="tip" d={arrow(points, phase !== "pending")} />
    </g>
  );
}

function Pill({ at, text, phase }: { at: Point; text: string; phase: Phase }) {
  const width = textWidth(text, SMALL) + 14;
  return (
    <g class={`pill ${phase}`} transform={`translate(${at.x.toFixed(1)},${at.y.toFixed(1)})`}>
      <rect x={-width / 2} y={-9.5} width={width} height={19} rx={9.5} />
      <text y={4} text-anchor="middle">
        {text}
      </text>
    </g>
  );
}

interface BoxProps {
  /** All that can change in what is drawn. */
  signature: string;
  box: Box;
  text: BoxText;
  phase: Phase;
  classes: string;
  heat: number | null;
  at: Point;
  label: string;
  arriving: string | undefined;
  focusable: boolean;
  onVisit: () => void;
  onUnfold: (() => void) | null;
}

/** A box is drawn again only when something in it has changed. */
class BoxShape extends Component<BoxProps> {
  override shouldComponentUpdate(next: BoxProps): boolean {
    return next.signature !== this.props.signature || next.box !== this.props.box;
  }

  override render() {
    return <BoxDrawing {...this.props} />;
  }
}

function BoxDrawing({ box, text, phase, classes, heat, at, label, arriving, focusable, onVisit, onUnfold }: BoxProps) {
  const { width, above } = box;
  const height = box.height - above;
  const header = box.full ? 24 : 0;
  return (
    <g
      class={`box ${box.kind} ${box.role} ${phase} ${classes}`}
      style={{ transform: `translate(${at.x}px, ${at.y + above}px)` }}
      data-box={box.id}
      role="button"
      tabindex={focusable ? 0 : -1}
      onMouseDown={(event) => event.preventDefault()}
      onClick={onVisit}
      onDblClick={onUnfold ?? undefined}
    >
      <title>{label}</title>
      {box.kind === "group" && <rect class="shadow" x={4} y={4} width={width} height={height} rx={6} />}
      <rect class="frame" width={width} height={height} rx={box.kind === "op" ? 13 : 6} />
      {heat !== null && <rect class="heat" width={width} height={height} rx={6} style={{ opacity: 0.05 + 0.37 * heat }} />}
      {header > 0 && <path class="header" d={`M0.7,${header}V6a5.3,5.3 0 0 1 5.3,-5.3H${width - 6}a5.3,5.3 0 0 1 5.3,5.3V${header}Z`} />}
      <text class="title" x={box.kind === "op" ? width / 2 : PAD} y={17} text-anchor={box.kind === "op" ? "middle" : "start"}>
        {text.title}
      </text>
      {text.right && (
        <text class={box.full ? "note" : "value"} x={width - PAD - (onUnfold ? 26 : 0)} y={17} text-anchor="end">
          {onUnfold ? `×${text.right}` : text.right}
        </text>
      )}
      {onUnfold && (
        <g class="plus" onClick={(event) => (event.stopPropagation(), onUnfold())}>
          <rect x={width - 27} y={4} width={20} height={18} rx={4} />
          <path d={`M${width - 21},13h8m-4,-4v8`} />
        </g>
      )}
      {text.rows.map(({ label: name, value, strong }, i) => {
        const y = header + (box.full ? 17 : 17 + LINE) + i * LINE;
        return name ? (
          <g key={i}>
            <text class="note" x={PAD} y={y}>
              {name}
            </text>
            <text class={strong ? "row strong" : "row"} x={PAD + textWidth("requires_grad  ", SMALL)} y={y}>
              {value}
            </text>
          </g>
        ) : (
          <text key={i} class="note" x={PAD} y={y}>
            {value}
          </text>
        );
      })}
      {arriving && (
        <text class="arriving" x={width / 2} y={-5} text-anchor="middle">
          {`arriving ${arriving}`}
        </text>
      )}
    </g>
  );
}

function describe(page: Page, box: Box, text: BoxText, phase: Phase): string {
  const words: Record<Phase, string> = {
    unmade: "not made yet", pending: "gradient not here yet", passed: "gradient passed", zero: "gradient is zero", now: "now in work",
  };
  const rows = text.rows.map(({ label, value }) => `${label} ${value}`.trim());
  if (isGroup(box.item)) return `${box.item.label}, folded, ${box.item.size} inside. ${rows.join(", ")}. ${words[phase]}`;
  const tensor = page.call.tensors[box.item]!;
  const name = tensor.name.length > 80 ? `${tensor.name.slice(0, 80)}…` : tensor.name;
  const line = tensor.place ? `, line ${tensor.place.line}` : "";
  return `${name}, ${tensor.role === "inner" ? tensor.op ?? "" : tensor.role}${line}. ${text.right} ${rows.join(", ")}. ${words[phase]}`;
}

/** Frames around open scopes and loops, where no other box lies in the way. */
function frames(page: Page, { scene, layout }: Laid): { group: Group; x: number; y: number; width: number; height: number }[] {
  const extent = new Map<Group, { left: number; top: number; right: number; bottom: number }>();
  const inside = new Map<Group, Set<string>>();
  for (const box of scene.boxes) {
    const { x, y } = layout.boxes[box.id]!;
    for (let at = isGroup(box.item) ? box.item.parent : page.model.homes.get(box.item) ?? null; at; at = at.parent) {
      if (!["scope", "loop", "iteration"].includes(at.kind)) continue;
      const old = extent.get(at) ?? { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
      extent.set(at, {
        left: Math.min(old.left, x), top: Math.min(old.top, y),
        right: Math.max(old.right, x + box.width), bottom: Math.max(old.bottom, y + box.height),
      });
      inside.set(at, (inside.get(at) ?? new Set()).add(box.id));
    }
  }
  const out = [];
  // A frame lies outside those inside it, so that no label covers another.
  const levels = new Map<Group, number>();
  for (const group of extent.keys()) {
    let level = 0;
    for (let at: Group | null = group; at; at = at.parent) if (extent.has(at)) levels.set(at, Math.max(levels.get(at) ?? 0, level++));
  }
  for (const [group, { left, top, right, bottom }] of extent) {
    const members = inside.get(group)!;
    const level = levels.get(group)!;
    const x = Math.max(1, left - 8 - 4 * level);
    const around = { x, y: top - 20 - 16 * level, width: right + 8 + 4 * level - x, height: bottom - top + 28 + 20 * level };
    const clear = scene.boxes.every((box) => {
      const { x, y } = layout.boxes[box.id]!;
      return members.has(box.id) || x > right + 8 || x + box.width < left - 8 || y > bottom + 8 || y + box.height < top - 20;
    });
    if (clear && members.size > 1 && members.size < scene.boxes.length) out.push({ group, ...around });
  }
  return out;
}

function useSize(element: { current: HTMLElement | null }): { width: number; height: number } {
  const [size, setSize] = useState({ width: 800, height: 600 });
  useLayoutEffect(() => {
    const measure = () => {
      const { clientWidth: width, clientHeight: height } = element.current!;
      setSize((old) => (old.width === width && old.height === height ? old : { width, height }));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element.current!);
    measure();
    return () => observer.disconnect();
  }, []);
  return size;
}

function neighbour(laid: Laid, id: string, key: string): string | null {
  const { boxes } = laid.layout;
  const here = boxes[id]!;
  const sideways = key === "ArrowLeft" || key === "ArrowRight";
  const ids = sideways
    ? laid.scene.boxes.map((box) => box.id).filter((other) => other !== id && Math.abs(boxes[other]!.y - here.y) < 30)
    : laid.scene.edges.filter((edge) => (key === "ArrowUp" ? edge.to : edge.from) === id).map((edge) => (key === "ArrowUp" ? edge.from : edge.to));
  const right = ids.filter((other) => !sideways || (key === "ArrowRight") === boxes[other]!.x > here.x);
  return right.sort((a, b) => Math.abs(boxes[a]!.x - here.x) - Math.abs(boxes[b]!.x - here.x))[0] ?? null;
}

/** The tensors on the way of the chosen finding. */
function carried(page: Page): Set<number> {
  const finding = page.state.panel === "health" && page.state.finding !== null ? page.call.findings[page.state.finding] : undefined;
  if (!finding) return new Set();
  const steps = [...(finding.step === null ? [] : [finding.step]), ...finding.path];
  return new Set([finding.tensor, ...steps.flatMap((step) => page.call.steps[step]?.outputs ?? [])]);
}

/** The tensor at which the chosen finding was born. */
function birthplace(page: Page): number | null {
  const finding = page.call.findings[page.state.finding ?? -1];
  return finding ? (finding.step === null ? finding.tensor : page.call.steps[finding.step]!.outputs[0]!) : null;
}

export function Graph({ page }: { page: Page }) {
  const { state, model, flow, unit } = page;
  const scroller = useRef<HTMLDivElement>(null);
  const laid = useLaid(page, scroller);
  const size = useSize(scroller);
  const [focus, setFocus] = useState<string | null>(null);

  const now = unit ? itemId(unit.item) : null;
  const framed = useMemo(() => (laid ? frames(page, laid) : []), [laid]);
  const lift = Math.max(0, ...framed.map(({ y }) => 2 - y));
  const { width } = laid?.layout ?? { width: 10 };
  const height = (laid?.layout.height ?? 10) + lift;
  const fitting = laid ? Math.min((size.width - 4) / width, (size.height - 4) / height, MOST_SCALE) : 1;
  const { zoom } = state;
  const scale = zoom === "fit" ? fitting : zoom ?? Math.max(LEAST_SCALE, fitting);

  useEffect(() => {
    const view = scroller.current;
    const at = laid && now ? laid.layout.boxes[now] : undefined;
    const box = laid?.scene.boxes.find((one) => one.id === now);
    if (!view || !at || !box) return;
    const [x, y] = [at.x * scale, (at.y + lift) * scale];
    const hidden =
      x < view.scrollLeft || y < view.scrollTop ||
      x + box.width * scale > view.scrollLeft + view.clientWidth || y + box.height * scale > view.scrollTop + view.clientHeight;
    if (hidden) view.scrollTo(x + (box.width * scale) / 2 - view.clientWidth / 2, y + (box.height * scale) / 2 - view.clientHeight / 2);
  }, [now, laid?.layout, scale]);

  const latest = useRef(page);
  latest.current = page;
  const picture = useMemo(() => {
    if (!laid) return null;
    const at = moment(model, laid.scene, flow, state.position, unit);
    const path = carried(page);
    const matches = new Set(page.matches);
    const measure = state.panel === "cost" ? state.measure : null;
    const most = Math.max(1e-12, ...laid.scene.boxes.map((box) => (measure ? amount(groupCost(model, box.item), measure) : 0)));
    const error = page.trace.error?.call === state.call ? page.trace.error : null;
    const holds = (box: Box, tensor: number | null | undefined) => typeof tensor === "number" && box.tensors.includes(tensor);
    const boxes = laid.scene.boxes.map((box) => {
      const text = boxText(model, box, at, measure);
      const phase = at.phase(box);
      const classes = [
        box.full ? "full" : "",
        box.tensors.some((tensor) => path.has(tensor)) ? "path" : "",
        path.size && holds(box, birthplace(page)) ? "born" : "",
        state.find !== null && box.tensors.some((tensor) => matches.has(tensor)) ? "match" : "",
        holds(box, error?.tensor) ? "failed" : "",
        holds(box, error?.overwritten?.tensor) ? "overwritten" : "",
      ].join(" ");
      const group = isGroup(box.item) ? box.item : null;
      const arriving = box.above && !group ? at.arriving.get(box.item as number) : undefined;
      const heat = measure && box.kind !== "op" ? amount(groupCost(model, box.item), measure) / most : null;
      const focusable = box.id === (focus ?? now ?? laid.scene.boxes[0]?.id);
      return (
        <BoxShape
          key={box.id}
          signature={JSON.stringify([text, phase, classes, heat, laid.layout.boxes[box.id], arriving, focusable])}
          box={box}
          text={text}
          phase={phase}
          classes={classes}
          heat={heat}
          at={laid.layout.boxes[box.id]!}
          label={describe(page, box, text, phase)}
          arriving={arriving}
          focusable={focusable}
          onVisit={() => latest.current.visit(box.tensors.at(-1)!)}
          onUnfold={group ? () => latest.current.unfold(group) : null}
        />
      );
    });
    return { boxes, edges: edges(laid, at, path) };
  }, [laid, model, flow, state.position, unit, state.panel, state.measure, state.finding, page.matches, focus]);

  const onKeyDown = (event: KeyboardEvent) => {
    const id = (event.target as Element).closest("[data-box]")?.getAttribute("data-box");
    const box = laid?.scene.boxes.find((one) => one.id === id);
    if (!laid || !id || !box || event.ctrlKey || event.metaKey || event.altKey) return;
    const handled = () => (event.preventDefault(), event.stopPropagation());
    if (event.key.startsWith("Arrow") && !event.shiftKey) {
      const other = neighbour(laid, id, event.key);
      handled();
      if (other) focusBox(other);
    } else if (event.key === "Enter" || event.key === " ") {
      handled();
      page.visit(box.tensors.at(-1)!);
    } else if (event.key === "+" && isGroup(box.item)) {
      handled();
      page.unfold(box.item);
    } else if (event.key === "-") {
      handled();
      const home = isGroup(box.item) ? box.item.parent : model.homes.get(box.item);
      if (home && home.kind !== "root") page.fold(home);
    }
  };
  const focusBox = (id: string) => {
    setFocus(id);
    const element = scroller.current?.querySelector<SVGGElement>(`[data-box="${id}"]`);
    element?.focus();
    element?.scrollIntoView({ block: "nearest", inline: "nearest" });
  };

  return (
    <>
    <div class="canvas" ref={scroller} onKeyDown={onKeyDown} onFocusOut={() => setFocus(null)} aria-busy={laid === null}>
      <svg
        id="picture"
        class={page.trace.limits.redacted ? "redacted" : ""}
        role="group"
        aria-label="Graph: values from top to bottom, gradients from bottom to top"
        width={Math.ceil(width * scale)}
        height={Math.ceil(height * scale)}
        viewBox={`0 ${-lift} ${width} ${height}`}
      >
        {framed.map(({ group, x, y, width: wide, height: high }) => (
          <g key={group.id} class="scope-frame" onClick={() => page.fold(group)}>
            <title>{`${group.label}: fold`}</title>
            <rect x={x} y={y} width={wide} height={high} rx={10} />
          </g>
        ))}
        {picture?.edges.lines}
        {framed.map(({ group, x, y, width: wide }) => (
          <text key={group.id} class="frame-label" x={x + 8} y={y + 14} onClick={() => page.fold(group)}>{fit(`− ${group.label}`, wide - 16, SMALL)}</text>
        ))}
        {picture?.boxes}
        {picture?.edges.pills}
      </svg>
    </div>
    {laid && <Overview scroller={scroller} layout={laid.layout} scene={laid.scene} scale={scale} size={size} now={now} />}
    </>
  );
}

function edges({ scene, layout }: Laid, at: Moment, path: Set<number>) {
  const onPath = (edge: Edge) => {
    if (path.size === 0) return false;
    const [from, to] = [edge.from, edge.to].map((id) => scene.boxes.find((box) => box.id === id)!);
    return [from!, to!].every((box) => box.tensors.some((tensor) => path.has(tensor)));
  };
  const order = scene.edges.map((edge, i) => ({ edge, i })).sort((a, b) => rank(at.edges[a.i]!.phase) - rank(at.edges[b.i]!.phase));
  return {
    lines: order.map(({ edge, i }) => (
      <EdgeLine key={`${edge.from}>${edge.to}`} points={layout.edges[i]!.points} phase={at.edges[i]!.phase} path={onPath(edge)} />
    )),
    pills: order
      .filter(({ i }) => at.edges[i]!.text)
      .map(({ edge, i }) => <Pill key={`${edge.from}>${edge.to}`} at={layout.edges[i]!.label} text={at.edges[i]!.text} phase={at.edges[i]!.phase} />),
  };
}

const rank = (phase: Phase) => ["unmade", "pending", "zero", "passed", "now"].indexOf(phase);

/** Larger, smaller, and all of it. The factor is of what is on the screen, which only the picture knows. */
export function Zoom({ page }: { page: Page }) {
  const { drawing, model, state } = page;
  const by = (factor: number) => {
    const svg = document.querySelector<SVGSVGElement>("#picture");
    const now = svg ? svg.clientWidth / svg.viewBox.baseVal.width : 1;
    page.set({ zoom: Math.min(3, Math.max(0.1, now * factor)) });
  };
  return (
    <span class="zoom" role="group" aria-label="Zoom">
      <button aria-label="Zoom out" onClick={() => by(0.8)}>−</button>
      <button aria-label="Zoom in" onClick={() => by(1.25)}>+</button>
      <button aria-pressed={state.zoom === "fit"} onClick={() => page.set({ zoom: state.zoom === "fit" ? null : "fit" })}>Fit</button>
      {drawing.items.some(isGroup) && <span class="muted">{plural(drawing.items.length, "box", "boxes")} for {model.root.size}</span>}
    </span>
  );
}
