// The page stays a small attachment: node sizes.mjs
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const LARGEST = { program: 160_000, style: 38_000, packed: 67_000 };
const folder = new URL("../../src/pullback/explain/static/", import.meta.url);
const files = ["explain.js", "explain.css"].map((name) => readFileSync(new URL(name, folder)));
const sizes = { program: files[0].length, style: files[1].length, packed: gzipSync(Buffer.concat(files), { level: 9 }).length };
console.log(`the page: program ${sizes.program} bytes, style ${sizes.style}, both ${sizes.packed} packed`);
for (const name of Object.keys(LARGEST)) {
  if (sizes[name] > LARGEST[name]) {
    console.error(`over ${LARGEST[name]} bytes: ${name}`);
    process.exitCode = 1;
  }
}
