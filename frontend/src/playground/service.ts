// The service worker: after the first visit the playground works without a network. It keeps this site's files of the playground and the
// parts of Python, which have their version in their names or a hash that the page checks.
export {};

declare const VERSION: string;
declare const KEPT: string[];

// What TypeScript's library for pages lacks of a service worker's.
interface Lasting extends Event {
  waitUntil(done: Promise<unknown>): void;
}
interface Fetching extends Event {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}
interface ServiceWorker {
  addEventListener(kind: "install" | "activate", heard: (event: Lasting) => void): void;
  addEventListener(kind: "fetch", heard: (event: Fetching) => void): void;
  skipWaiting(): Promise<void>;
  clients: { claim(): Promise<void> };
}

const worker = self as unknown as ServiceWorker;

worker.addEventListener("install", (event) => {
  event.waitUntil(caches.open(VERSION).then((cache) => cache.addAll(KEPT)).then(() => worker.skipWaiting()));
});

worker.addEventListener("activate", (event) => {
  const drop = async () => {
    for (const name of await caches.keys()) if (name.startsWith("pullback-") && name !== VERSION) await caches.delete(name);
    await worker.clients.claim();
  };
  event.waitUntil(drop());
});

worker.addEventListener("fetch", (event) => {
  const answer = async () => {
    const cache = await caches.open(VERSION);
    const found = await cache.match(event.request, { ignoreSearch: true });
    return found ?? fetch(event.request);
  };
  if (event.request.method === "GET") event.respondWith(answer());
});
