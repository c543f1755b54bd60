// The page stays a small attachment: node sizes.mjs
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

// A page holds them packed, as base64: a third more than `packed`, of which 120 kB are allowed.
const LARGEST = { program: 195_000, computing: 18_000, style: 48_000, packed: 90_000 };
const folder = new URL("../../src/pullback/explain/static/", import.meta.url);
const files = ["explain.js", "computing.js", "explain.css"].map((name) => readFileSync(new URL(name, folder)));
const sizes = { program: files[0].length, computing: files[1].length, style: files[2].length, packed: gzipSync(Buffer.concat(files), { level: 9 }).length };
console.log(`the page: program ${sizes.program} bytes, what computes anew ${sizes.computing}, style ${sizes.style}, all ${sizes.packed} packed`);
for (const name of Object.keys(LARGEST)) {
  if (sizes[name] > LARGEST[name]) {
    console.error(`over ${LARGEST[name]} bytes: ${name}`);
    process.exitCode = 1;
  }
}
