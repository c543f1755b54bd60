// What all bundles have in common: of the page, the figure of the start page, and the playground.
import { fileURLToPath } from "node:url";

export const here = fileURLToPath(new URL(".", import.meta.url));

export const common = {
  absWorkingDir: here,
  bundle: true,
  minify: true,
  charset: "utf8",
  jsx: "transform",
  jsxFactory: "h",
  jsxFragment: "Fragment",
  legalComments: "none",
  // light-dark() and DecompressionStream are the newest things that the page asks of a browser.
  target: ["chrome123", "firefox120", "safari17.5"],
  logLevel: "warning",
};
