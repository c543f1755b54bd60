// The core of the site: Pyodide. Its programs come from this site, what they load from its public distribution, each part with the
// hash that was fixed when the site was built.
import { loadPyodide } from "pyodide";

import type { Boot, Core, Progress } from "./protocol";

/** A file that is loaded: `bytes` is its size, unpacked, as far as it was known when the site was built. */
interface Part {
  name: string;
  what: string;
  address: string;
  integrity: string;
  bytes: number;
}

declare const PARTS: Part[];
declare const LOCK: string;
declare const WHEEL: string;

/** Loads a part, checks its hash, and reports how far it has come. */
async function loaded(part: Part, base: string, report: (progress: Progress) => void): Promise<Uint8Array<ArrayBuffer>> {
  const address = new URL(part.address, base);
  let answer: Response;
  try {
    answer = await original(address, { integrity: part.integrity });
  } catch (error) {
    throw new Error(`${part.what} could not be loaded from ${address.host}: ${error instanceof Error ? error.message : error}. The network, or something that blocks ${address.host}, may be the reason; nothing was run.`);
  }
  if (!answer.ok || !answer.body) throw new Error(`${part.what} could not be loaded: ${address.host} answered ${answer.status}. Nothing was run.`);
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let count = 0;
  for (const reader = answer.body.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    pieces.push(value);
    count += value.length;
    report({ what: part.what, loaded: count, total: Math.max(part.bytes, count) });
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}

const original = fetch.bind(globalThis);

export const boot: Boot = async (base, report, print) => {
  const parts = new Map(PARTS.map((part) => [part.name, loaded(part, base, report)]));
  for (const part of parts.values()) part.catch(() => {}); // the first that fails is awaited below
  const type = (name: string) => (name.endsWith(".wasm") ? "application/wasm" : "application/octet-stream");
  // Pyodide asks for its parts by their names: they are answered with what was checked, and nothing else is loaded.
  globalThis.fetch = async (asked) => {
    const name = String(asked instanceof Request ? asked.url : asked).split("/").pop()!;
    const part = parts.get(name);
    if (!part) throw new Error(`${name} is not part of the playground`);
    return new Response(await part, { headers: { "content-type": type(name) } });
  };
  const output = (error: boolean) => {
    const decoder = new TextDecoder();
    return { write: (bytes: Uint8Array) => (print(decoder.decode(bytes, { stream: true }), error), bytes.length), isatty: false };
  };
  await Promise.all([parts.get("pyodide.asm.wasm"), parts.get("python_stdlib.zip")]);
  const folder = `${base}pyodide/`;
  const python = await loadPyodide({ indexURL: folder, stdLibURL: `${folder}python_stdlib.zip`, lockFileContents: LOCK, packageBaseUrl: folder });
  await Promise.all(parts.values());
  await python.loadPackage("numpy", { messageCallback: () => {} });
  python.setStdout(output(false));
  python.setStderr(output(true));
  python.unpackArchive(await parts.get(WHEEL)!, "wheel");
  globalThis.fetch = original;
  return { exec: (code) => void python.runPython(code), evaluate: (code) => String(python.runPython(code)) } satisfies Core;
};
