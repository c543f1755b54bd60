// What the page knows: a store that the parts of the page draw.
import { WorkerEngine, Stopped, type Engine } from "./engine";
import type { Failure, Progress } from "./protocol";

export interface Shown {
  phase: "idle" | "loading" | "running";
  progress: Progress[];
  output: { text: string; error: boolean }[];
  failure: Failure | null;
  note: string;
  /** The page of explain, the number of the run that made it, and its program. */
  page: { html: string; run: number; program: string } | null;
  /** The program whose output and error are shown. */
  ran: string | null;
  /** Seconds from the click to the answer, and those of them in which the program ran. */
  seconds: { whole: number; run: number } | null;
}

export const EMPTY: Shown = { phase: "idle", progress: [], output: [], failure: null, note: "", page: null, ran: null, seconds: null };

export interface Asked {
  program: string;
  before: string;
  echo: "last" | "all";
  start: string;
}

/** Runs programs, and tells `draw` what is to be seen. A program that is asked for while another runs comes after it. */
export class Session {
  shown: Shown = EMPTY;
  private readonly engine: Engine;
  private next: Asked | null = null;
  /** How many runs have ended. */
  runs = 0;

  constructor(
    base: string,
    private readonly draw: (shown: Shown) => void,
  ) {
    this.engine = new WorkerEngine(base, { progress: (progress) => this.loads(progress), print: (text, error) => this.prints(text, error) });
  }

  async run(asked: Asked): Promise<void> {
    this.next = asked;
    if (this.shown.phase !== "idle") return;
    const began = performance.now();
    while (this.next) {
      const { program, before, echo, start } = this.next;
      this.next = null;
      this.set({ phase: "loading", output: [], failure: null, note: "", ran: program, seconds: null });
      try {
        await this.engine.load();
        const loaded = performance.now();
        this.set({ phase: "running", progress: [] });
        const answer = await this.engine.run({ program, before, echo, start });
        const seconds = { whole: (performance.now() - began) / 1000, run: (performance.now() - loaded) / 1000 };
        this.runs += 1;
        this.set({ failure: answer.error, note: answer.note, page: answer.page === null ? null : { html: answer.page, run: this.runs, program }, seconds });
      } catch (error) {
        const why = error instanceof Stopped ? "Stopped. Python starts again with the next run." : `Python broke off: ${error instanceof Error ? error.message : String(error)}`;
        this.set({ note: why, progress: [], page: null });
        if (error instanceof Stopped) this.next = null;
      }
    }
    this.set({ phase: "idle" });
  }

  stop(): void {
    this.engine.stop();
  }

  private set(change: Partial<Shown>): void {
    this.shown = { ...this.shown, ...change };
    this.draw(this.shown);
  }

  private loads(progress: Progress): void {
    this.set({ progress: [...this.shown.progress.filter(({ what }) => what !== progress.what), progress] });
  }

  private prints(text: string, error: boolean): void {
    const output = [...this.shown.output];
    const last = output.at(-1);
    if (last?.error === error) output[output.length - 1] = { text: last.text + text, error };
    else output.push({ text, error });
    this.set({ output });
  }
}
