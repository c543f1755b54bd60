// The page stays a small attachment: node sizes.mjs
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const LARGEST = { plain: 160_000, packed: 57_000 }; // of these 9 and 3 kB are the page of training runs, 9 and 3 a network's gradients, 4 and 2 formulas, 7 and 3 the quiz
const folder = new URL("../../src/pullback/explain/static/", import.meta.url);
const files = ["explain.js", "explain.css"].map((name) => readFileSync(new URL(name, folder)));
const sizes = { plain: Buffer.concat(files).length, packed: gzipSync(Buffer.concat(files), { level: 9 }).length };
console.log(`the page's program and style: ${sizes.plain} bytes, ${sizes.packed} packed`);
for (const name of ["plain", "packed"]) {
  if (sizes[name] > LARGEST[name]) {
    console.error(`over ${LARGEST[name]} bytes ${name}`);
    process.exitCode = 1;
  }
}
