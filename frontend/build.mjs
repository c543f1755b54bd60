// Bundles the page: node build.mjs [FOLDER], by default src/pullback/explain/static.
import { build } from "esbuild";
import { common, here } from "./options.mjs";

await build({
  ...common,
  // Only pages of calls that can be computed anew have the second one.
  entryPoints: { explain: "src/main.tsx", computing: "src/computing.ts" },
  outdir: process.argv[2] ?? `${here}../src/pullback/explain/static`,
  format: "iife",
});
