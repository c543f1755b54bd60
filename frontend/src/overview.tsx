// The whole graph in a corner, where it is larger than its window, with what the window shows.
import { h } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Layout } from "./layers";
import type { Scene } from "./picture";

const [WIDE, HIGH] = [120, 90];

interface Props {
  scroller: { current: HTMLDivElement | null };
  layout: Layout;
  scene: Scene;
  scale: number;
  size: { width: number; height: number };
  now: string | null;
}

export function Overview({ scroller, layout, scene, scale, size, now }: Props) {
  const [at, setAt] = useState({ x: 0, y: 0 });
  useEffect(() => {
    const view = scroller.current!;
    const look = () => setAt({ x: view.scrollLeft, y: view.scrollTop });
    view.addEventListener("scroll", look, { passive: true });
    look();
    return () => view.removeEventListener("scroll", look);
  }, []);
  if (layout.width * scale <= size.width + 2 && layout.height * scale <= size.height + 2) return null;
  const small = Math.min(WIDE / layout.width, HIGH / layout.height);
  const move = (event: MouseEvent) => {
    if (event.buttons !== 1) return;
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const [x, y] = [((event.clientX - box.left) / box.width) * layout.width, ((event.clientY - box.top) / box.height) * layout.height];
    scroller.current!.scrollTo(x * scale - size.width / 2, y * scale - size.height / 2);
  };
  // For the mouse only: keys go from box to box, and the tape says where they are.
  return (
    <svg
      class="overview" aria-hidden="true" width={layout.width * small} height={layout.height * small}
      viewBox={`0 0 ${layout.width} ${layout.height}`} onMouseDown={move} onMouseMove={move}
    >
      {scene.boxes.map((box) => {
        const { x, y } = layout.boxes[box.id]!;
        return <rect key={box.id} class={box.id === now ? "now" : box.role} x={x} y={y} width={box.width} height={box.height} />;
      })}
      <rect class="window" x={at.x / scale} y={at.y / scale} width={size.width / scale} height={size.height / scale} />
    </svg>
  );
}
