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
declare const LOCK: { info: { python: string } };
declare const WHEEL: string;

const STORE = "python-parts";

/** A part: from the store of an earlier visit, or loaded, with its hash checked and its progress reported. */
async function loaded(part: Part, base: string, report: (progress: Progress) => void): Promise<Uint8Array<ArrayBuffer>> {
  const address = new URL(part.address, base);
  const store = await caches.open(STORE).catch(() => null); // a private window may refuse it
  const key = `${address}?${encodeURIComponent(part.integrity)}`;
  const found = await store?.match(key);
  if (found) return new Uint8Array(await found.arrayBuffer());
  const bytes = await fetched(part, address, report);
  await store?.put(key, new Response(bytes)).catch(() => {}); // without room it is loaded again next time
  return bytes;
}

async function fetched(part: Part, address: URL, report: (progress: Progress) => void): Promise<Uint8Array<ArrayBuffer>> {
  const failed = (why: string) => new Error(`${part.what} could not be loaded from ${address.host}: ${why}. Nothing was run.`);
  const answer = await original(address, { integrity: part.integrity }).catch((error: Error) => {
    throw failed(`${error.message}. The network may be down, ${address.host} blocked, or the file not the one that is meant`);
  });
  if (!answer.ok || !answer.body) throw failed(`it answered ${answer.status}`);
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let count = 0;
  for (const reader = answer.body.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return new Uint8Array(await new Blob(pieces).arrayBuffer());
    pieces.push(value);
    count += value.length;
    report({ what: part.what, loaded: count, total: Math.max(part.bytes, count) });
  }
}

/** Removes what earlier versions of the site have stored. */
async function tidy(base: string): Promise<void> {
  const store = await caches.open(STORE).catch(() => null);
  const kept = new Set(PARTS.map((part) => `${new URL(part.address, base)}?${encodeURIComponent(part.integrity)}`));
  for (const request of (await store?.keys()) ?? []) if (!kept.has(request.url)) await store!.delete(request);
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
  const python = await loadPyodide({ indexURL: folder, stdLibURL: `${folder}python_stdlib.zip`, lockFileContents: JSON.stringify(LOCK), packageBaseUrl: folder });
  await Promise.all(parts.values()).catch((error: Error) => {
    throw new Error(`Python ${LOCK.info.python} started, but ${error.message}`);
  });
  await python.loadPackage("numpy", { messageCallback: () => {} });
  python.setStdout(output(false));
  python.setStderr(output(true));
  python.unpackArchive(await parts.get(WHEEL)!, "wheel");
  globalThis.fetch = original;
  await tidy(base);
  return { exec: (code) => void python.runPython(code), evaluate: (code) => String(python.runPython(code)) } satisfies Core;
};
