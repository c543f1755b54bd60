// How npm's python-wasm, written for Node, is bundled for a browser's worker.
export const options = {
  inject: [new URL("shim.js", import.meta.url).pathname],
  alias: { path: "path-browserify", buffer: "buffer", events: "events", util: "util", assert: "assert", stream: "stream-browserify" },
  external: ["fs", "crypto", "os", "posix-node"],
  define: { "process.env.NODE_DEBUG": "undefined", global: "globalThis", __dirname: '"/"' },
  format: "iife",
  logLevel: "error",
};
