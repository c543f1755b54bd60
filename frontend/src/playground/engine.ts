// Python in a worker: load, run, stop.
import type { Answer, FromWorker, Progress, Request, ToWorker } from "./protocol";

export interface Engine {
  /** Ready when it settles; a second call awaits the same. Throws what kept it from loading. */
  load(): Promise<void>;
  /** Runs a program. Throws Stopped if `stop` was called meanwhile, and an Error if Python itself broke. */
  run(request: Request): Promise<Answer>;
  /** Ends what runs. The next call of `load` or `run` starts anew. */
  stop(): void;
}

export class Stopped extends Error {}

export interface Listener {
  progress(progress: Progress): void;
  print(text: string, error: boolean): void;
}

/** The engine of the page: a worker that is ended and started again to stop a program. */
export class WorkerEngine implements Engine {
  private worker: Worker | null = null;
  private loading: Promise<void> | null = null;
  private refuse: (error: Error) => void = () => {};
  private settle: (message: FromWorker) => void = () => {};

  constructor(
    private readonly base: string,
    private readonly listener: Listener,
  ) {}

  load(): Promise<void> {
    this.loading ??= this.start().catch((error: unknown) => {
      this.stop();
      throw error;
    });
    return this.loading;
  }

  async run(request: Request): Promise<Answer> {
    await this.load();
    const message = await this.ask({ kind: "run", request });
    if (message.kind === "answer") return message.answer;
    this.stop();
    throw new Error(message.kind === "broken" ? message.message : `the worker answered ${message.kind}`);
  }

  stop(): void {
    this.worker?.terminate();
    this.worker = this.loading = null;
    this.refuse(new Stopped("stopped"));
  }

  private async start(): Promise<void> {
    // A worker made of a blob has the Content-Security-Policy of this page; one made of an address has none.
    const program = await fetch(`${this.base}worker.js`).then((answer) => answer.text());
    const address = URL.createObjectURL(new Blob([program], { type: "text/javascript" }));
    this.worker = new Worker(address, { type: "module" });
    this.worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.heard(data);
    this.worker.onerror = (event) => this.heard({ kind: "broken", message: event.message || "the worker could not be started" });
    const message = await this.ask({ kind: "load", base: this.base });
    URL.revokeObjectURL(address);
    if (message.kind === "broken") throw new Error(message.message);
  }

  private ask(message: ToWorker): Promise<FromWorker> {
    return new Promise((settle, refuse) => {
      this.settle = settle;
      this.refuse = refuse;
      this.worker!.postMessage(message);
    });
  }

  private heard(message: FromWorker): void {
    if (message.kind === "progress") this.listener.progress(message.progress);
    else if (message.kind === "print") this.listener.print(message.text, message.error);
    else this.settle(message);
  }
}
