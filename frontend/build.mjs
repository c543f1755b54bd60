// Bundles the page: node build.mjs [FOLDER], by default src/pullback/explain/static.
import { build } from "esbuild";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const folder = process.argv[2] ?? `${here}../src/pullback/explain/static`;

await build({
  absWorkingDir: here,
  // Only pages of calls that can be computed anew have the second one.
  entryPoints: { explain: "src/main.tsx", computing: "src/computing.ts" },
  outdir: folder,
  bundle: true,
  minify: true,
  format: "iife",
  charset: "utf8",
  jsx: "transform",
  jsxFactory: "h",
  jsxFragment: "Fragment",
  legalComments: "none",
  // light-dark() and DecompressionStream are the newest things that the page asks of a browser.
  target: ["chrome123", "firefox120", "safari17.5"],
  logLevel: "warning",
});
