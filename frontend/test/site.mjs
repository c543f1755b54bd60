// The built site in a real browser: no accessibility violation (axe), nothing wider than the window, light and dark; and blocks
// of code are copied without prompts and outputs, by the keyboard.
// node test/site.mjs FOLDER; CHROMIUM names the browser.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const PAGES = [
  "index",
  "start/first-gradient",
  "start/faq",
  "start/from-jax",
  "start/for-libraries",
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

{
  const page = await browser.newPage();
  await page.goto(String(pathToFileURL(`${folder}/start/faq.html`)));
  await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { window.copied = text; } } }));
  await page.locator("pre", { hasText: "w -= 0.1" }).evaluate((block) => block.parentElement.querySelector("button.copy").focus());
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => window.copied !== undefined);
  const copied = await page.evaluate(() => [window.copied, document.activeElement.textContent]);
  const typed = "w = pullback.tensor([1.0, 2.0], requires_grad=True)\nw -= 0.1\nwith pullback.no_grad():\n    w -= 0.1\n\nw\n";
  if (copied.join() !== `${typed},Copied`) {
    console.log(`start/faq: copied ${JSON.stringify(copied)}`);
    failed += 1;
  }
  await page.close();
}
await browser.close();
console.log(`site: ${PAGES.length} pages, wide, dark and on a phone: ${failed || "no"} violations`);
process.exit(failed ? 1 : 0);
