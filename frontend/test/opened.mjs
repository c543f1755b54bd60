// What the tests of the page share: pages that are opened offline, watched, and must not complain.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { newPage, settled } from "./watched.mjs";

export const { PAGES, SHOTS } = process.env;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export const trace = (name) => JSON.parse(readFileSync(`${PAGES}/${name}.json`, "utf8"));

/** Pages in which explain's own is a frame. */
const isNotebook = (name) => name === "executed" || name.startsWith("notebook");

/** A page, offline; what it asks for and what it complains about is kept. */
export async function open(name, { hash = "", width = 1440, height = 960, prepare, ...context } = {}) {
  const page = await newPage({ viewport: { width, height }, acceptDownloads: true, offline: true, ...context });
  await prepare?.(page);
  page.requests = [];
  page.complaints = [];
  page.on("request", (request) => page.requests.push(request.url()));
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && page.complaints.push(message.text()));
  page.on("pageerror", (error) => page.complaints.push(error.stack));
  await page.goto(`${pathToFileURL(`${PAGES}/${name}.html`)}${hash}`);
  if (context.javaScriptEnabled !== false && !isNotebook(name)) await page.waitForSelector("#picture .box, .table-view td, .multiples, .map, .node, .arrow, .failure, .layer, .stage-row");
  return page;
}

export async function closed(page) {
  assert.deepEqual(page.complaints, []);
  await page.context().close();
}

export const press = async (page, key, times = 1) => {
  for (let i = 0; i < times; i++) {
    await page.keyboard.press(key);
    await settled(page);
  }
};
export const text = (page, selector) => page.$eval(selector, (element) => element.innerText);

export async function violations(page) {
  await page.evaluate(axe);
  // What a bar that stays in view covers for now can be scrolled to: it is not too small to be pressed.
  await page.evaluate(() => document.querySelectorAll(".stepper, footer").forEach((bar) => (bar.style.position = "static")));
  const { violations: found } = await page.evaluate(() =>
    globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }),
  );
  return found.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(" | ")}`);
}
