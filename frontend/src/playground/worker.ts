// The worker: starts Python, then runs one program after another.
import { boot } from "./core";
import type { Answer, Core, FromWorker, ToWorker } from "./protocol";
import session from "./session.py";

const MOST = 200_000; // characters that one run may print

const say = (message: FromWorker) => postMessage(message);
let core: Core | null = null;
let printed = 0;

function print(text: string, error: boolean): void {
  if (printed > MOST) return;
  printed += text.length;
  say({ kind: "print", text: printed > MOST ? `${text.slice(0, MOST)}\n... more than ${MOST} characters: the rest is left out\n` : text, error });
}

/** A text as a string of Python. */
const quoted = (text: string) => JSON.stringify(text).replace(/[\u007f-\uffff]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);

async function load(base: string): Promise<void> {
  core = await boot(base, (progress) => say({ kind: "progress", progress }), print);
  say({ kind: "progress", progress: { what: "pullback", loaded: 1, total: 1 } });
  core.exec(
    `import sys, types\n_session = types.ModuleType("session")\nsys.modules["session"] = _session\nexec(compile(${quoted(session)}, "session.py", "exec"), _session.__dict__)`,
  );
}

onmessage = async ({ data }: MessageEvent<ToWorker>) => {
  try {
    if (data.kind === "load") {
      await load(data.base);
      say({ kind: "ready" });
    } else {
      printed = 0;
      const answer = core!.evaluate(`_session.run(${quoted(JSON.stringify(data.request))})`);
      say({ kind: "answer", answer: JSON.parse(answer) as Answer });
    }
  } catch (error) {
    say({ kind: "broken", message: error instanceof Error ? error.message : String(error) });
  }
};
