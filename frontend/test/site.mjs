// The built site in a real browser: no accessibility violation (axe), nothing wider than the window, light and dark.
// node test/site.mjs FOLDER; CHROMIUM names the browser.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const PAGES = [
  "index",
  "start/first-gradient",
  "how-to/explain",
  "how-to/fit-with-scipy",
  "reference/operators",
  "reference/numpy",
  "reference/api/linalg",
  "explanation/what-is-v",
  "contribute/architecture",
  "tutorial/index",
  "tutorial/weights",
  "tutorial/jacobians",
  "tutorial/own-autograd",
  "tutorial/network",
  "tutorial/small-gpt",
];
const folder = process.argv[2];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
let failed = 0;

for (const name of PAGES) {
  for (const [width, colorScheme] of [
    [1300, "light"],
    [1300, "dark"],
    [390, "light"],
  ]) {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    await page.goto(String(pathToFileURL(`${folder}/${name}.html`)));
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => axe.run({ exclude: ["iframe"] }));
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${name.replaceAll("/", "-")}-${width}-${colorScheme}.png` });
    for (const { id, help, nodes } of violations) {
      console.log(`${name} ${width} ${colorScheme}: ${id}: ${help}: ${nodes.length} times, as ${nodes[0].html.slice(0, 200)}`);
      if (process.env.DETAILS) console.log(nodes[0].failureSummary);
    }
    if (wide > 0) console.log(`${name} ${width} ${colorScheme}: ${wide} pixels wider than the window`);
    failed += violations.length + (wide > 0);
    await page.close();
  }
}
await browser.close();
console.log(`site: ${PAGES.length} pages, wide, dark and on a phone: ${failed || "no"} violations`);
process.exit(failed ? 1 : 0);
