// The built site in a real browser: no accessibility violation (axe), nothing wider than the window, light and dark; and blocks
// of code are copied without prompts and outputs, by the keyboard.
// node test/site.mjs FOLDER [all]; CHROMIUM names the browser. With `all`, every page of the site is opened in place of some, and none
// may be higher than readers scroll: an hour on two cores.
import { readdirSync, readFileSync } from "node:fs";
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
const [, , folder, all] = process.argv;
const HIGHEST = 12_000;
/** Pages that may be higher: records and lists, read by searching. */
const LONG = /^(changelog|genindex|appendix\/|reference\/operators$|contribute\/)/;
/** Not of the site's own pages: what explain wrote, the playground, programs that were exported. */
const OTHERS = /^(_|playground\/|exported\/|genindex|search$)/;
const every = () => readdirSync(folder, { recursive: true }).filter((file) => file.endsWith(".html")).map((file) => file.slice(0, -5)).filter((name) => !OTHERS.test(name)).sort();
const pages = all ? every() : PAGES;
const views = all ? [[1400, "light"], [390, "dark"]] : [[1300, "light"], [1300, "dark"], [390, "light"]];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
let failed = 0;

for (const name of pages) {
  for (const [width, colorScheme] of views) {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    await page.goto(String(pathToFileURL(`${folder}/${name}.html`)));
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => axe.run({ exclude: ["iframe"] }));
    const high = await page.evaluate(() => document.documentElement.scrollHeight);
    const long = all && width > 1000 && high > HIGHEST && !LONG.test(name);
    if (long) console.log(`${name}: ${high} pixels high`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${name.replaceAll("/", "-")}-${width}-${colorScheme}.png` });
    for (const { id, help, nodes } of violations) {
      console.log(`${name} ${width} ${colorScheme}: ${id}: ${help}: ${nodes.length} times, as ${nodes[0].html.slice(0, 200)}`);
      if (process.env.DETAILS) console.log(nodes[0].failureSummary);
    }
    if (wide > 0) console.log(`${name} ${width} ${colorScheme}: ${wide} pixels wider than the window`);
    failed += violations.length + (wide > 0) + long;
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

/** The start page: its figure is on the first screen, works at once, has the page's theme, and is seen without scripts. */
async function start(width, height, options) {
  const context = await browser.newContext({ viewport: { width, height }, ...options });
  const page = await context.newPage();
  const wrong = [];
  const wanted = (fact, what) => fact || wrong.push(what);
  await page.goto(String(pathToFileURL(`${folder}/index.html`)));
  await page.waitForSelector("#figure:not(.still) #step");
  const paint = await page.evaluate(() => new Promise((done) => new PerformanceObserver((list) => done(list.getEntries().at(-1).startTime)).observe({ type: "largest-contentful-paint", buffered: true })));
  const { y, height: high } = await (await page.$("#step")).boundingBox();
  wanted(y + high <= height, `Step ends at ${y + high} of ${height}`);
  wanted(paint < 1000, `the largest paint came after ${paint} ms`);
  for (let i = 0; i < 5; i++) await page.click("#step");
  const grad = () => page.$eval("#figure [data-box=t0]", (box) => box.textContent);
  wanted((await grad()).endsWith("grad[9, 4]"), await grad());
  await page.fill('#figure [data-v="0"]', "0");
  await page.waitForTimeout(100);
  wanted((await grad()).endsWith("grad[8, 2]"), await grad());
  const color = () => page.$eval("#figure .card", (card) => getComputedStyle(card).backgroundColor);
  const before = await color();
  await page.evaluate((theme) => (document.body.dataset.theme = theme), options.colorScheme === "dark" ? "light" : "dark");
  wanted((await color()) !== before, "the theme changes nothing in it");
  await context.close();
  console.log(`start page ${width} ${options.colorScheme}: largest paint ${paint.toFixed(0)} ms, Step ends at ${Math.round(y + high)} of ${height}${wrong.map((what) => `; WRONG: ${what}`).join("")}`);
  return wrong.length;
}

for (const [width, height] of [[1400, 900], [390, 1300]]) {
  for (const colorScheme of ["light", "dark"]) failed += await start(width, height, { colorScheme });
}
{
  const page = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
  await page.goto(String(pathToFileURL(`${folder}/index.html`)));
  const seen = await page.locator("#figure").innerText();
  if (!(await page.locator("#figure .node").count()) || !seen.includes("to a")) failed += console.log("start page: without scripts there is no figure") ?? 1;
}
{
  const page = await browser.newPage({ viewport: { width: 1300, height: 900 } });
  await page.goto(String(pathToFileURL(`${folder}/tutorial/weights.html`)));
  const place = page.locator("iframe.explain").first();
  await place.scrollIntoViewIfNeeded();
  const frame = await (await place.elementHandle()).contentFrame();
  const even = await frame.waitForFunction(() => document.documentElement.scrollHeight === document.documentElement.clientHeight && document.querySelector("#app").offsetHeight >= innerHeight - 1, null, { timeout: 10_000 }).then(() => true, () => false);
  const high = await frame.evaluate(() => [document.documentElement.scrollHeight, document.documentElement.clientHeight]);
  console.log(`tutorial/weights: the frame shows ${high[1]} of ${high[0]} pixels`);
  failed += !even;
}
await browser.close();
console.log(`site: ${pages.length} pages, wide, dark and on a phone: ${failed || "no"} violations`);
process.exit(failed ? 1 : 0);
