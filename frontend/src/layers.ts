// A layered drawing after Sugiyama, Tagawa and Toda (IEEE Trans. SMC 11, 1981): ranks, order in the ranks, positions.
//
// Boxes lie in even ranks, the labels of edges in odd ones. An edge over several ranks is a chain of places, one a rank,
// so that it never runs through a box or over a label. Positions are found rank by rank: each place wants to be where
// its neighbours are, and what is too near is pushed apart with the least squares of displacement, which is isotonic
// regression (pool adjacent violators; Barlow et al., Statistical Inference under Order Restrictions, 1972).

export interface BoxSize {
  id: string;
  width: number;
  height: number;
}

export interface EdgeSize {
  from: string;
  to: string;
  width: number;
  height: number;
}

export interface Point {
  x: number;
  y: number;
}

export interface Layout {
  width: number;
  height: number;
  /** Upper left corners. */
  boxes: Record<string, Point>;
  /** Parallel to the edges asked for. */
  edges: { points: Point[]; label: Point }[];
}

/** A box, or where an edge passes a rank. */
interface Place {
  rank: number;
  width: number;
  height: number;
  box: boolean;
  x: number;
  at: number;
  up: Place[];
  down: Place[];
}

const MARGIN = 12;
const BESIDE = 20;
const BESIDE_EDGE = 10;
const ABOVE = 7;
const BARE = 14;
const SWEEPS = 14;

/** The places nearest the wanted ones, in the least squares, in this order and with these distances at least. */
export function spread(wanted: number[], weights: number[], gaps: number[]): number[] {
  const offsets: number[] = [0];
  for (let i = 1; i < wanted.length; i++) offsets.push(offsets[i - 1]! + gaps[i - 1]!);
  const blocks: { sum: number; weight: number; size: number }[] = [];
  wanted.forEach((place, i) => {
    let block = { sum: (place - offsets[i]!) * weights[i]!, weight: weights[i]!, size: 1 };
    for (let last = blocks.at(-1); last && last.sum * block.weight >= block.sum * last.weight; last = blocks.at(-1)) {
      block = { sum: block.sum + last.sum, weight: block.weight + last.weight, size: block.size + last.size };
      blocks.pop();
    }
    blocks.push(block);
  });
  const means = blocks.flatMap(({ sum, weight, size }) => new Array<number>(size).fill(sum / weight));
  return means.map((mean, i) => mean + offsets[i]!);
}

/** Ranks: as low as what it is made of allows, then as near to what it is used in as that pays. */
function ranks(count: number, edges: [number, number][]): number[] {
  const [before, after]: number[][][] = [0, 1].map(() => Array.from({ length: count }, () => []));
  for (const [from, to] of edges) (after![from]!.push(to), before![to]!.push(from));
  const open = before!.map((list) => list.length);
  const order = open.flatMap((n, i) => (n === 0 ? [i] : []));
  const seen = new Set(order);
  for (let k = 0; k < count; k++) {
    if (k === order.length) {
      // A ring, which a tape never has: it is cut at its first box.
      const next = open.findIndex((_, i) => !seen.has(i));
      (seen.add(next), order.push(next));
    }
    for (const to of after![order[k]!]!) if (--open[to]! === 0 && !seen.has(to)) (seen.add(to), order.push(to));
  }
  const index = order.reduce<number[]>((all, box, i) => ((all[box] = i), all), []);
  const rank = new Array<number>(count).fill(0);
  const low = (box: number) => Math.max(0, ...before![box]!.filter((b) => index[b]! < index[box]!).map((b) => rank[b]! + 1));
  const high = (box: number) => Math.min(...after![box]!.filter((a) => index[a]! > index[box]!).map((a) => rank[a]! - 1));
  for (const box of order) rank[box] = low(box);
  for (let pass = 0; pass < 4; pass++) {
    for (const box of [...order].reverse()) {
      const most = high(box);
      if (after![box]!.length >= before![box]!.length && most < Infinity) rank[box] = Math.max(rank[box]!, most);
    }
    for (const box of order) if (after![box]!.length < before![box]!.length) rank[box] = low(box);
  }
  const least = Math.min(...rank);
  return rank.map((one) => one - least);
}

function crossings(layers: Place[][]): number {
  let all = 0;
  for (const layer of layers) {
    const ends = layer.flatMap((place) => place.down.map((other) => other.at).sort((a, b) => a - b));
    for (let i = 1; i < ends.length; i++) for (let k = i - 1, end = ends[i]!; k >= 0; k--) if (ends[k]! > end) all++;
  }
  return all;
}

function number(layer: Place[]): void {
  layer.forEach((place, i) => (place.at = i));
}

/** Few crossings: every rank sorted by the middle of its neighbours, down and up again, and neighbours swapped. */
function order(layers: Place[][]): void {
  layers.forEach(number);
  let best = { crossings: crossings(layers), layers: layers.map((layer) => [...layer]) };
  for (let sweep = 0; sweep < SWEEPS && best.crossings > 0; sweep++) {
    const down = sweep % 2 === 0;
    for (const layer of down ? layers : [...layers].reverse()) {
      const middle = new Map(
        layer.map((place) => {
          const ends = (down ? place.up : place.down).map((other) => other.at);
          return [place, ends.length ? ends.reduce((a, b) => a + b, 0) / ends.length : place.at];
        }),
      );
      layer.sort((a, b) => middle.get(a)! - middle.get(b)!);
      number(layer);
      swap(layer);
    }
    const now = crossings(layers);
    if (now < best.crossings) best = { crossings: now, layers: layers.map((layer) => [...layer]) };
  }
  best.layers.forEach((layer, i) => (layers[i] = layer));
  layers.forEach(number);
}

function swap(layer: Place[]): void {
  const inverted = (a: Place[], b: Place[]) => a.reduce((sum, one) => sum + b.filter((other) => other.at < one.at).length, 0);
  for (let i = 1; i < layer.length; i++) {
    const [a, b] = [layer[i - 1]!, layer[i]!];
    const as = inverted(a.up, b.up) + inverted(a.down, b.down);
    const swapped = inverted(b.up, a.up) + inverted(b.down, a.down);
    if (swapped < as) {
      [layer[i - 1], layer[i]] = [b, a];
      [a.at, b.at] = [b.at, a.at];
    }
  }
}

/** Long edges want to be straight, so they pull hardest. */
const pull = (a: Place, b: Place) => (a.box ? 1 : 4) * (b.box ? 1 : 4);

function position(layers: Place[][]): void {
  const gaps = (layer: Place[]) =>
    layer.slice(1).map((place, i) => (place.width + layer[i]!.width) / 2 + (place.box && layer[i]!.box ? BESIDE : BESIDE_EDGE));
  const settle = (layer: Place[], sides: ("up" | "down")[]) => {
    const wanted = layer.map((place) => {
      let [sum, weight] = [0, 0];
      for (const side of sides) {
        for (const other of place[side]) {
          const strength = pull(place, other) / Math.sqrt(place[side].length);
          sum += strength * other.x;
          weight += strength;
        }
      }
      return weight ? { x: sum / weight, weight } : { x: place.x, weight: 0.01 };
    });
    const xs = spread(wanted.map(({ x }) => x), wanted.map(({ weight }) => weight), gaps(layer));
    layer.forEach((place, i) => (place.x = xs[i]!));
  };
  for (const layer of layers) {
    const xs = spread(layer.map(() => 0), layer.map(() => 1), gaps(layer));
    layer.forEach((place, i) => (place.x = xs[i]!));
  }
  const upwards = [...layers].reverse();
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (const layer of layers) settle(layer, ["up"]);
    for (const layer of upwards) settle(layer, ["down"]);
  }
  for (let sweep = 0; sweep < 2 * SWEEPS; sweep++) for (const layer of sweep % 2 ? layers : upwards) settle(layer, ["up", "down"]);
}

/** Long edges made straight where their neighbours leave them a lane. */
function straighten(layers: Place[][], chains: Place[][]): void {
  for (const chain of chains) {
    const inner = chain.slice(1, -1);
    if (inner.length < 2) continue;
    let [low, high] = [-Infinity, Infinity];
    for (const one of inner) {
      const [left, right] = [layers[one.rank]![one.at - 1], layers[one.rank]![one.at + 1]];
      if (left) low = Math.max(low, left.x + (left.width + one.width) / 2 + BESIDE_EDGE);
      if (right) high = Math.min(high, right.x - (right.width + one.width) / 2 - BESIDE_EDGE);
    }
    if (low > high) continue;
    const [first, last] = [chain[0]!, chain.at(-1)!];
    const reach = (one: Place, x: number) => Math.min(one.x + one.width / 2 - 14, Math.max(one.x - one.width / 2 + 14, x));
    const mean = inner.reduce((sum, one) => sum + one.x, 0) / inner.length;
    // Best below or above one of the ends, so that the edge has one bend less.
    const wanted = [reach(first, mean), reach(last, mean)].sort((a, b) => Math.abs(a - mean) - Math.abs(b - mean))[0]!;
    const x = Math.min(high, Math.max(low, wanted));
    for (const one of inner) one.x = x;
  }
}

export function arrange(boxes: BoxSize[], edges: EdgeSize[]): Layout {
  const index = new Map(boxes.map((box, i) => [box.id, i]));
  const ends = edges.map(({ from, to }): [number, number] => [index.get(from)!, index.get(to)!]);
  const rank = ranks(boxes.length, ends);
  const place = (at: number, width: number, height: number, box: boolean): Place => ({ rank: at, width, height, box, x: 0, at: 0, up: [], down: [] });
  const places = boxes.map((box, i) => place(2 * rank[i]!, box.width, box.height, true));
  const layers: Place[][] = Array.from({ length: 2 * Math.max(0, ...rank) + 1 }, () => []);
  const chains = edges.map((edge, i) => {
    const [from, to] = ends[i]!.map((end) => places[end]!).sort((a, b) => a.rank - b.rank) as [Place, Place];
    const chain = [from];
    // The label lies in the odd rank nearest the middle.
    const middle = 2 * Math.floor((from.rank + to.rank) / 4) + 1;
    for (let at = from.rank + 1; at < to.rank; at++) {
      const labelled = at === Math.min(Math.max(middle, from.rank + 1), to.rank - 1);
      chain.push(place(at, labelled ? edge.width : 2, labelled ? edge.height : 0, false));
    }
    chain.push(to);
    chain.slice(1).forEach((next, k) => (chain[k]!.down.push(next), next.up.push(chain[k]!)));
    return chain;
  });
  // Depth first from the boxes in their order: what belongs together starts side by side.
  const seen = new Set<Place>();
  for (const start of [...places].sort((a, b) => a.rank - b.rank)) {
    const stack = [start];
    while (stack.length) {
      const next = stack.pop()!;
      if (seen.has(next)) continue;
      seen.add(next);
      layers[next.rank]!.push(next);
      stack.push(...[...next.down].reverse());
    }
  }
  order(layers);
  position(layers);
  for (let pass = 0; pass < 3; pass++) straighten(layers, chains);
  return drawn(boxes, edges, places, chains, layers);
}

function drawn(boxes: BoxSize[], edges: EdgeSize[], places: Place[], chains: Place[][], layers: Place[][]): Layout {
  const all = layers.flat();
  const left = Math.min(...all.map(({ x, width }) => x - width / 2)) - MARGIN;
  for (const one of all) one.x -= left;
  const heights = layers.map((layer) => Math.max(0, ...layer.map(({ height }) => height)));
  const tops: number[] = [];
  let y = MARGIN;
  heights.forEach((height, i) => {
    tops.push(y);
    y += height + (i % 2 ? Math.max(ABOVE, (2 * BARE - height) / 2) : layers[i + 1] ? Math.max(ABOVE, (2 * BARE - heights[i + 1]!) / 2) : 0);
  });
  const middle = (one: Place) => tops[one.rank]! + heights[one.rank]! / 2;
  const ports = (one: Place, side: "up" | "down") => {
    const next = [...one[side]].sort((a, b) => a.x - b.x);
    const room = one.width / 2 - 12;
    const gap = Math.min(12, (2 * room) / Math.max(1, next.length - 1));
    const wanted = next.map((other) => Math.min(one.x + room, Math.max(one.x - room, other.x)));
    const xs = spread(wanted, wanted.map(() => 1), next.slice(1).map(() => gap));
    return new Map(next.map((other, i) => [other, Math.min(one.x + room, Math.max(one.x - room, xs[i]!))]));
  };
  const [down, up] = [new Map(places.map((one) => [one, ports(one, "down")])), new Map(places.map((one) => [one, ports(one, "up")]))];
  const lines = chains.map((chain, i) => {
    const points: Point[] = [];
    chain.forEach((one, k) => {
      if (k === 0) points.push({ x: down.get(one)!.get(chain[1]!)!, y: middle(one) + one.height / 2 });
      else if (k === chain.length - 1) points.push({ x: up.get(one)!.get(chain[k - 1]!)!, y: middle(one) - one.height / 2 });
      else points.push({ x: one.x, y: tops[one.rank]! }, { x: one.x, y: tops[one.rank]! + heights[one.rank]! });
    });
    const label = chain.find((one) => one.height > 0 && !one.box) ?? chain[chain.length >> 1]!;
    const upwards = chain[0] !== places[boxes.findIndex((box) => box.id === edges[i]!.from)];
    return { points: upwards ? points.reverse() : points, label: { x: label.x, y: middle(label) } };
  });
  return {
    width: Math.max(...all.map(({ x, width }) => x + width / 2)) + MARGIN,
    height: y + MARGIN,
    boxes: Object.fromEntries(boxes.map((box, i) => [box.id, { x: places[i]!.x - box.width / 2, y: middle(places[i]!) - box.height / 2 }])),
    edges: lines,
  };
}

/** A curve through the points that is upright at each of them. */
export function curve(points: Point[]): string {
  const at = (x: number, y: number) => `${x.toFixed(1)},${y.toFixed(1)}`;
  return points
    .map(({ x, y }, i) => {
      const last = points[i - 1];
      if (!last) return `M${at(x, y)}`;
      if (Math.abs(last.x - x) < 0.5) return `V${y.toFixed(1)}`;
      const half = (last.y + y) / 2;
      return `C${at(last.x, half)} ${at(x, half)} ${at(x, y)}`;
    })
    .join("");
}
