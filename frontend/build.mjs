// Bundles the page: node build.mjs [FOLDER], by default src/pullback/explain/static.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { build } from "esbuild";
import { common as options, here } from "./options.mjs";

const folder = process.argv[2] ?? `${here}../src/pullback/explain/static`;

// The page of a trace is explain.js; once that is seen comes later.js, and, of calls that can be computed anew, computing.js.
// The page of training runs is run.js. common.js is a part of both.
const { outputFiles, metafile } = await build({
  ...options,
  entryPoints: { explain: "src/main.tsx", later: "src/later.ts", computing: "src/computing.ts", run: "src/runs.tsx" },
  outdir: folder,
  format: "esm",
  splitting: true,
  write: false,
  metafile: true,
});
const named = (path) => basename(path, ".js");
const made = Object.fromEntries(Object.entries(metafile.outputs).map(([path, { imports }]) => [named(path), imports.map((one) => named(one.path))]));
const texts = Object.fromEntries(outputFiles.map(({ path, text }) => [named(path), text.trim()]));

/** What the bundler has divided, in an order in which each comes after what it uses. */
const inOrder = (name, seen = new Set()) => (seen.has(name) || (made[name].forEach((one) => inOrder(one, seen)), seen.add(name)), [...seen]);

/** A module as a script: scripts of a page without addresses cannot import each other. */
function script(name) {
  const names = (list, [from, to]) => list.split(",").map((each) => each.split(" as ")).map((each) => `${each.at(from)}:${each.at(to)}`).join();
  const text = texts[name]
    .replace(/^(?:import(?:\{[^}]*\}from)?"[^"]*";)+/, (all) => [...all.matchAll(/\{([^}]*)\}from"\.\/([^"]*)\.js"/g)].map(([, list, of]) => `const{${names(list, [0, -1])}}=parts["${of}"];`).join(""))
    .replace(/export\{([^}]*)\};?$/, (_, list) => `parts["${name}"]={${names(list, [-1, 0])}}`);
  if (/^import\b|\bimport[{"]|\bexport\{/.test(text)) throw new Error(`${name} is still a module`);
  return `(parts=>{"use strict";${text}})(globalThis.parts??={});`;
}

const common = inOrder("run").filter((name) => name !== "run");
const divided = new Set(["explain", "later", "computing"].flatMap((name) => inOrder(name)));
const explain = [...divided].filter((name) => ![...common, "later", "computing"].includes(name));
const files = { common, explain, later: ["later"], computing: ["computing"], run: ["run"] };
mkdirSync(folder, { recursive: true });
for (const old of readdirSync(folder)) rmSync(`${folder}/${old}`);
for (const [name, parts] of Object.entries(files)) writeFileSync(`${folder}/${name}.js`, parts.map(script).join("\n"));
writeFileSync(`${folder}/explain.css`, texts["explain.css"]);
