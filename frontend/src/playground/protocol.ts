// What the page and its engine say to each other.

/** A program to be run, as session.py takes it. */
export interface Request {
  program: string;
  start?: string;
  echo?: "last" | "all";
  before?: string;
}

/** A tensor that a failing line names. */
export interface Known {
  name: string;
  shape: string;
  dtype: string;
  values: string;
  what: string;
}

/** An exception of a program. */
export interface Failure {
  type: string;
  message: string;
  text: string;
  line: number | null;
  tensors: Known[];
}

/** What came of a run, as session.py returns it. */
export interface Answer {
  page: string | null;
  error: Failure | null;
  note: string;
}

/** How far loading has come: what is being loaded, and how many of how many bytes. */
export interface Progress {
  what: string;
  loaded: number;
  total: number;
}

export type ToWorker = { kind: "load"; base: string } | { kind: "run"; request: Request };

export type FromWorker =
  | { kind: "progress"; progress: Progress }
  | { kind: "ready" }
  | { kind: "print"; text: string; error: boolean }
  | { kind: "answer"; answer: Answer }
  | { kind: "broken"; message: string };

/** Python with NumPy and pullback: what the worker needs of it. */
export interface Core {
  /** Runs statements; what is raised is thrown. */
  exec(code: string): void;
  /** The string that an expression gives. */
  evaluate(code: string): string;
}

/** Starts a core; `base` is the folder of the playground's files, with a slash at its end. */
export type Boot = (base: string, report: (progress: Progress) => void, print: (text: string, error: boolean) => void) => Promise<Core>;
