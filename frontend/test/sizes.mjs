// The page stays a small attachment: node sizes.mjs
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

// What the first screen runs is common.js and explain.js. A page holds its files packed, as base64: a third more than `packed`.
const FILES = {
  first: ["common.js", "explain.js"],
  later: ["later.js"],
  computing: ["computing.js"],
  run: ["common.js", "run.js"],
  style: ["explain.css"],
};
const LARGEST = { first: 131_000, later: 59_300, computing: 16_500, run: 37_200, style: 48_800, packed: 90_300 };
const folder = new URL("../../src/pullback/explain/static/", import.meta.url);
const read = (name) => readFileSync(new URL(name, folder));
const sizes = Object.fromEntries(Object.entries(FILES).map(([part, names]) => [part, names.reduce((sum, name) => sum + read(name).length, 0)]));
const { run: _, ...ofTraces } = FILES;
sizes.packed = Object.values(ofTraces).flat().reduce((sum, name) => sum + gzipSync(read(name), { level: 9 }).length, 0);
console.log(`the page: ${Object.entries(sizes).map(([part, size]) => `${part} ${size}`).join(", ")} bytes`);
for (const name of Object.keys(LARGEST)) {
  if (sizes[name] > LARGEST[name]) {
    console.error(`over ${LARGEST[name]} bytes: ${name}`);
    process.exitCode = 1;
  }
}
