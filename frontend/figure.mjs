// Builds the figure of the start page: node figure.mjs SOURCE TRACE, with the folder of the site's pages before they are built,
// and the recorded call that it shows. Into SOURCE/_static come its program and style, and into SOURCE/index.md, in place of a
// comment, the figure as it is seen without scripts.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { common, here } from "./options.mjs";

const [source, recorded] = process.argv.slice(2);
const MARK = "<!-- figure -->";
/** What the figure does not show of a trace. */
const LEFT_OUT = new Set(["saved", "derivation", "numbers", "time", "live_bytes", "ran", "scope", "version", "bytes", "value_from", "grad_fn", "requires_grad"]);
const trace = JSON.parse(readFileSync(recorded, "utf8"), (key, value) => (LEFT_OUT.has(key) ? undefined : key === "derivations" ? [] : value));
// The program begins with the line of its first tensor.
for (const file of trace.sources) {
  const first = Math.min(...trace.calls[0].tensors.map(({ place }) => place.line));
  Object.assign(file, { first, lines: file.lines.slice(first - file.first) });
}

const options = {
  ...common,
  write: false,
  plugins: [
    {
      name: "plane",
      setup(plugins) {
        plugins.onResolve({ filter: /^plane$/ }, () => ({ path: "plane", namespace: "plane" }));
        plugins.onLoad({ filter: /.*/, namespace: "plane" }, () => ({ contents: JSON.stringify(trace), loader: "json" }));
      },
    },
  ],
};
const made = async (entry, own = {}) => (await build({ ...options, entryPoints: [entry], ...own })).outputFiles[0].text;

const program = await made("src/figure/main.tsx", { format: "iife" });
// All rules hold within the figure alone: the page around it has a style of its own.
const within = async (entry) => (await made(entry)).replaceAll(/:root\[data-theme="?(\w+)"?\]/g, 'body[data-theme=$1] &').replaceAll(":root", "&");
const style = `#figure{color:var(--ink);${await within("src/colors.css")}${await within("src/figure/figure.css")}}`;
const module = `${source}/_static/still.mjs`;
writeFileSync(module, await made("src/figure/still.tsx", { format: "esm", platform: "node", target: ["node20"] }));
const { still } = await import(pathToFileURL(module).href);
rmSync(module);

writeFileSync(`${source}/_static/figure.js`, program);
writeFileSync(`${source}/_static/figure.css`, style);
const index = readFileSync(`${source}/index.md`, "utf8");
if (!index.includes(MARK)) throw new Error(`index.md has no ${MARK}`);
const styles = ["figure", "start"].map((name) => `<link rel="stylesheet" href="_static/${name}.css">`).join("");
const figure = `${styles}<div id="figure" class="still" inert>${still().replaceAll("\n", "&#10;")}</div>\n<script src="_static/figure.js" defer></script>`;
writeFileSync(`${source}/index.md`, index.replace(MARK, () => figure));
const packed = (text) => gzipSync(text, { level: 9 }).length;
console.log(`figure: program and its call ${program.length} bytes, ${packed(program)} packed; style ${style.length}, ${packed(style)} packed`);
