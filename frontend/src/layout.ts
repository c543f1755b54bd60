// Layout, in a worker when there is much to do.
import { arrange, type BoxSize, type EdgeSize, type Layout } from "./layers";

interface Request {
  id: number;
  boxes: BoxSize[];
  edges: EdgeSize[];
}

/** Runs as the worker's side: answers requests with layouts. */
export function serve(): void {
  self.onmessage = (event: MessageEvent<Request>) => {
    const { id, boxes, edges } = event.data;
    self.postMessage({ id, layout: arrange(boxes, edges) });
  };
}

const IN_PLACE = 40;

/** Lays out, on this thread if small. A newer request makes an older one's answer be dropped. */
export class LayoutEngine {
  private worker: Worker | null = null;
  private latest = 0;

  constructor(private readonly program: string) {}

  request(boxes: BoxSize[], edges: EdgeSize[], done: (layout: Layout) => void): void {
    const id = ++this.latest;
    const here = () => done(arrange(boxes, edges));
    if (boxes.length <= IN_PLACE || !this.program) return here();
    try {
      this.worker ??= new Worker(URL.createObjectURL(new Blob([this.program], { type: "text/javascript" })));
    } catch {
      return here();
    }
    this.worker.onmessage = (event: MessageEvent<{ id: number; layout: Layout }>) => {
      if (event.data.id === this.latest) done(event.data.layout);
    };
    this.worker.onerror = here;
    this.worker.postMessage({ id, boxes, edges } satisfies Request);
  }
}
