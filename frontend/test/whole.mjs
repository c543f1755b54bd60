// All kinds of pages as wholes, in a real browser: nothing lies on anything in the workbench, axe finds nothing, and all can be
// done by the keyboard alone.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { closed, open, PAGES, press, text, violations } from "./opened.mjs";
import { check, settled } from "./watched.mjs";

/** The pairs of parts of the workbench that cover each other, and what stands out of what holds it. */
const overlaps = () => {
  const rect = (one) => one.getBoundingClientRect();
  const seen = (one) => rect(one).width > 0 && rect(one).height > 0;
  const meets = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  const said = (one) => `${one.tagName} ${one.getAttribute("class") ?? ""} ${one.textContent.slice(0, 30)}`;
  scrollTo(0, 1e6); // a bar that sticks to the window lies at its own place then
  const wrong = [];
  // What stands side by side: the children of each bar and pane.
  for (const parent of document.querySelectorAll(".page, main, .top, .panes, .header, .modes, .chips, .pane-title, .legend, .zoom, .card-head, .transport, .left-pane, .right-body, .answer-body, .equation, .product, .gradients thead tr, .source-pane, .term, .facts")) {
    const all = [...parent.children].filter((one) => seen(one) && !one.matches(".unseen, .notice, dialog, thead, .overview"));
    all.forEach((one, i) => all.slice(i + 1).forEach((other) => meets(rect(one), rect(other)) && wrong.push(`${said(one)} / ${said(other)}`)));
  }
  // What a bar, a cell or a button says stays inside of it.
  for (const one of document.querySelectorAll(".pane-title > *, .header > *, .transport > *, button, .chip, .position, .facts dd, .card-head > *, .gradients td, .gradients th, .cost-table td")) {
    if (!seen(one) || one.closest(".tape, .source")) continue;
    if (one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX === "visible" && one.clientWidth > 0) wrong.push(`out of ${said(one)}`);
    const card = one.closest(".card, .header");
    if (card && (rect(one).left < rect(card).left - 1 || rect(one).right > rect(card).right + 1)) wrong.push(`out of its card: ${said(one)}`);
  }
  // The current box, and what is drawn around it.
  const view = document.querySelector(".canvas");
  for (const now of document.querySelectorAll(".box.now .frame")) {
    const others = [...document.querySelectorAll("#picture .box:not(.now) .frame, .pane-title > *, .overview, .transport")].filter(seen);
    const inView = rect(now).bottom < rect(view).bottom && rect(now).right < rect(view).right && rect(now).top > rect(view).top;
    for (const other of others) if ((inView || other.closest("#picture")) && meets(rect(now), rect(other))) wrong.push(`on the current box: ${said(other)}`);
  }
  if (document.documentElement.scrollWidth > innerWidth) wrong.push(`wider than the window: ${document.documentElement.scrollWidth}`);
  return [...new Set(wrong)];
};

check("whole 1: nothing lies on anything in the workbench, at every step, at 390, 1300 and 1400", async () => {
  for (const name of ["plane", "seed", "twice", "invalid", "network", "classes", "several", "failing"]) {
    const page = await open(name, { hash: "#mode=workbench&step=0" });
    for (const width of [1400, 1300, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await press(page, "Home");
      for (let at = "", left = 24; left > 0 && at !== (at = await text(page, "#position")); left--) {
        assert.deepEqual(await page.evaluate(overlaps), [], `${name} ${width}: ${at}`);
        await press(page, "ArrowRight");
      }
      for (const panel of ["Health", "Cost"]) {
        await page.click(`.right-pane .tab:has-text("${panel}")`);
        await settled(page);
        assert.deepEqual(await page.evaluate(overlaps), [], `${name} ${width}: ${panel}`);
      }
      await page.click('.right-pane .tab:has-text("This step")');
    }
    await closed(page);
  }
});

/** Goes by Tab to what a selector names, wherever the focus is. */
async function reach(page, selector) {
  for (let i = 0; i < 120; i++) {
    if (await page.evaluate((wanted) => document.activeElement.matches(wanted), selector)) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`Tab does not reach ${selector}`);
}

check("whole 2: by Tab, Enter and arrows alone: a step, another value, a drawer, the workbench and back", async () => {
  const page = await open("plane");
  await page.waitForSelector("script[data-later]", { state: "detached" });
  const at = () => text(page, "#position");
  assert.equal(await at(), "2 of 5");
  await press(page, "ArrowRight");
  assert.equal(await at(), "3 of 5");
  await reach(page, "#step");
  await press(page, "Enter");
  assert.equal(await at(), "4 of 5");
  await press(page, "ArrowLeft");
  assert.equal(await at(), "3 of 5");
  await reach(page, '[aria-label^="x[0], an input"]');
  await page.keyboard.type("3"); // what was there is selected
  await settled(page);
  assert.match(await text(page, "h1"), /would put \[13, 5\] into x\.grad/);
  await reach(page, "#original");
  await press(page, "Enter");
  await reach(page, '[data-v="1"]');
  await page.keyboard.type("0");
  await settled(page);
  assert.match(await text(page, "h1"), /would put \[1, 2\] into x\.grad/);
  await reach(page, "#yours");
  await press(page, "Enter");
  assert.match(await text(page, "h1"), / put \[9, 4\] into x\.grad/);
  await reach(page, "[data-drawer=rows]");
  await press(page, "Enter");
  assert.match(await text(page, ".drawer.rows"), /\[1, 0\]/);
  await press(page, "Enter");
  assert.equal(await page.$(".drawer.rows"), null);
  await reach(page, ".mode-switch button:nth-child(2)");
  await press(page, "Enter");
  await page.waitForSelector("#picture .box");
  await press(page, "Home");
  await press(page, "ArrowRight");
  assert.equal(await at(), "forward 1 of 5");
  await reach(page, ".mode-switch button:nth-child(1)");
  await press(page, "Enter");
  await page.waitForSelector(".program .open");
  await closed(page);
});

check("whole 3: the figure of the start page: no way is left out at its end, and axe finds nothing", async () => {
  const folder = `${PAGES}/figure`;
  mkdirSync(`${folder}/_static`, { recursive: true });
  writeFileSync(`${folder}/index.md`, "<!-- figure -->");
  execFileSync(process.execPath, [fileURLToPath(new URL("../figure.mjs", import.meta.url)), folder, `${PAGES}/plane.json`]);
  // axe would ask for a style of its own file.
  const figure = readFileSync(`${folder}/index.md`, "utf8").replace(/(<link[^>]*>)+/, () => `<style>${readFileSync(`${folder}/_static/figure.css`, "utf8")}</style>`);
  writeFileSync(`${folder}/index.html`, `<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content="width=device-width"><title>pullback</title><body data-theme=light><main><h1>pullback</h1>${figure}</main>`);
  for (const width of [1400, 390]) {
    const page = await open("figure/index", { width });
    await page.waitForSelector("#figure:not(.still)");
    for (let left = 5; left > 0; left--) {
      assert.deepEqual(await violations(page), [], `${width}, ${left} left`);
      await page.click("#step");
      await settled(page);
    }
    assert.equal(await page.$eval("[data-box=t0] .grad", (one) => one.textContent), "[9, 4]");
    assert.deepEqual(await page.$$eval(".way", (all) => all.map((one) => one.getAttribute("class").includes("sent") && one.textContent)), ["↑ [9, 0]", "↑ [0, 4]", "↑ 1", "↑ 2", "↑ 8", "↑ 2", "↑ 1", "↑ 2"]);
    await closed(page);
  }
});
