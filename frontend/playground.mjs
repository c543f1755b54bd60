// Builds the playground: node playground.mjs FOLDER WHEEL FIGURES [--engine FILE] [--distribution ADDRESS].
//
// FOLDER becomes a folder of the site; WHEEL is pullback's own; FIGURES is what scripts/figures.py has recorded of the examples. The page of explain in src/pullback/explain/static must be that of the
// wheel. Pyodide's programs are copied from npm's package, whose hash package-lock.json holds; its large parts and NumPy are
// loaded from the public distribution, with hashes that are fixed here. --engine and --distribution are for tests.
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { common, here } from "./options.mjs";

const { values, positionals } = parseArgs({ allowPositionals: true, options: { engine: { type: "string" }, distribution: { type: "string" } } });
const [folder, wheel, figures] = positionals;
const package_ = `${here}node_modules/pyodide/`;
const { version } = JSON.parse(readFileSync(`${package_}package.json`, "utf8"));
const lock = JSON.parse(readFileSync(`${package_}pyodide-lock.json`, "utf8"));
const numpy = lock.packages.numpy;
const packaged = values.distribution ?? `https://cdn.jsdelivr.net/npm/pyodide@${version}/`;
const packages = values.distribution ?? `https://cdn.jsdelivr.net/pyodide/v${version}/full/`;

const digest = (data, form) => createHash("sha256").update(data).digest(form);
const hashed = (path) => `sha256-${digest(readFileSync(path), "base64")}`;
const pinned = (name, what) => ({ name, what, address: packaged + name, integrity: hashed(package_ + name), bytes: statSync(package_ + name).size });

mkdirSync(folder, { recursive: true });
cpSync(wheel, `${folder}/${basename(wheel)}`);
cpSync(figures, `${folder}/figures`, { recursive: true });
const parts = [
  pinned("pyodide.asm.wasm", `Python ${lock.info.python}`),
  pinned("python_stdlib.zip", "Python's library"),
  { name: numpy.file_name, what: `NumPy ${numpy.version}`, address: packages + numpy.file_name, integrity: `sha256-${Buffer.from(numpy.sha256, "hex").toString("base64")}`, bytes: 0 },
  { name: basename(wheel), what: "pullback", address: basename(wheel), integrity: hashed(wheel), bytes: statSync(wheel).size },
];
if (!values.engine) {
  mkdirSync(`${folder}/pyodide`, { recursive: true });
  for (const name of ["pyodide.asm.mjs", "pyodide-lock.json"]) cpSync(package_ + name, `${folder}/pyodide/${name}`);
}

const examples = {
  name: "examples",
  setup(plugins) {
    const place = `${here}src/playground/examples/`;
    plugins.onResolve({ filter: /^examples$/ }, () => ({ path: "examples", namespace: "examples" }));
    plugins.onLoad({ filter: /.*/, namespace: "examples" }, () => {
      const order = Object.entries(JSON.parse(readFileSync(`${place}order.json`, "utf8")));
      const files = order.flatMap(([group, names]) => names.map((name) => [group, name, readFileSync(`${place}${name}.py`, "utf8")]));
      const missing = readdirSync(place).filter((file) => file.endsWith(".py") && !files.some(([, name]) => file === `${name}.py`));
      return missing.length ? { errors: [{ text: `${missing} is not in order.json` }] } : { contents: JSON.stringify(files), loader: "json" };
    });
  },
};
const options = {
  ...common,
  outdir: folder,
  plugins: [examples],
};
await build({ ...options, entryPoints: { playground: "src/playground/main.tsx", blocks: "src/playground/blocks.ts" }, format: "esm" });
const core = values.engine ?? "src/playground/core.ts";
await build({
  ...options,
  entryPoints: { worker: "src/playground/worker.ts" },
  format: "esm",
  loader: { ".py": "text" },
  define: { PARTS: JSON.stringify(parts), WHEEL: JSON.stringify(basename(wheel)), LOCK: JSON.stringify({ ...lock, packages: { numpy } }) },
  external: ["node:*", "ws"],
  ...(values.engine && (await import(`${here}test/playground/bundle.mjs`)).options),
  plugins: [...options.plugins, { name: "core", setup: (plugins) => plugins.onResolve({ filter: /^\.\/core$/ }, () => ({ path: `${here}${core}` })) }],
});

const kept = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && !/\.(html|map)$|^service/.test(entry.name))
  .map((entry) => `${entry.parentPath ?? entry.path}/${entry.name}`.slice(folder.length + 1))
  .filter((name) => !parts.some((part) => part.name === name));
const state = digest(kept.map((name) => digest(readFileSync(`${folder}/${name}`), "hex")).join(), "hex").slice(0, 12);
await build({
  ...options,
  entryPoints: { service: "src/playground/service.ts" },
  format: "iife",
  define: { VERSION: JSON.stringify(`pullback-${state}`), KEPT: JSON.stringify(["./", "./index.html", ...kept]) },
});

// The page of explain runs inside a frame that has this page's policy beside its own: its programs are named by their hashes.
const [page] = readdirSync(figures);
const [, programs] = /script-src ([^;]*)/.exec(readFileSync(`${figures}/${page}`, "utf8"));
const loading = [...new Set([packaged, packages])].filter((address) => address.startsWith("http")).join(" ");
const policy = [
  "default-src 'none'",
  `script-src 'self' 'wasm-unsafe-eval' ${programs.replaceAll("&#x27;", "'")}`,
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  `connect-src 'self' ${loading}`.trim(),
  "worker-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");
writeFileSync(`${folder}/index.html`, readFileSync(`${here}src/playground/shell.html`, "utf8").replace("{policy}", policy));
