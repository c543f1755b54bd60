// The story of a run that failed, in a real browser, offline: each planted error of tests/explain/planted.py has a page.
// PAGES names the folder that pages.py has filled, CHROMIUM the browser.
import assert from "node:assert/strict";
import { closed, open, text, trace, violations } from "./opened.mjs";
import { check, settled } from "./watched.mjs";

const ERRORS = 20;
const OTHERS = 8;
const ALL = Array.from({ length: ERRORS + OTHERS }, (_, i) => `failure${i}`);

const texts = (page, selector) => page.$$eval(selector, (all) => all.map((one) => one.innerText));
const numbers = (page, kind) => texts(page, `.line.${kind} .number`);

/** What lies outside of its card, or makes the page wider than the window. */
const outside = (page) => page.evaluate(() => {
  const found = document.documentElement.scrollWidth > innerWidth ? ["the page"] : [];
  for (const card of document.querySelectorAll(".card")) {
    const frame = card.getBoundingClientRect();
    for (const part of card.querySelectorAll("*")) {
      const { left, right, width } = part.getBoundingClientRect();
      if (width && !part.closest(".unseen") && (left < frame.left - 1 || right > frame.right + 1)) found.push(`${part.tagName} ${part.className}: ${part.textContent.slice(0, 40)}`);
    }
  }
  return found;
});

/** The colors that draw the border of an element. */
const border = (page, selector) => page.$$eval(selector, (all) => all.map((one) => getComputedStyle(one).borderTopColor));

check("failures 1: each page names what failed and the line; what ran is not outlined as what failed", async () => {
  for (const [number, name] of ALL.entries()) {
    const { error, scopes } = trace(name);
    const page = await open(name);
    assert.equal(await text(page, "h1"), error.said);
    assert.deepEqual(await numbers(page, "failed"), [String(error.place.line)], name);
    assert.deepEqual(await numbers(page, "made"), error.made && error.made.line !== error.place.line ? [String(error.made.line)] : [], name);
    assert.deepEqual((await texts(page, ".stage > b")).map((one) => one.split(/\s/)[0]), error.stages.map(({ scope }) => scopes[scope].name), name);
    assert.equal((await texts(page, ".stage.wrong")).length, error.scope === null ? 0 : 1, name);
    const [wrong, well] = [await border(page, ".stage.wrong"), await border(page, ".stage.well")];
    assert.ok(well.every((color) => !wrong.includes(color)), name);
    assert.equal(await page.$$eval(".box.failed, .node.failed", (all) => all.length), 0, name);
    if (number >= ERRORS) assert.match(await text(page, "h1"), /No operation of pullback failed\.$/);
    await closed(page);
  }
});

check("failures 2: nothing overflows at 390, 1300 and 1400, and axe finds nothing, light and dark", async () => {
  for (const name of [...ALL, "tried", "failing", "overwritten", "refused"]) {
    const page = await open(name, { width: 1400 });
    for (const width of [1400, 1300, 390, 320]) {
      await page.setViewportSize({ width, height: 900 });
      await settled(page);
      assert.deepEqual(await outside(page), [], `${name} ${width}`);
    }
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await violations(page), [], `${name} ${colorScheme}`);
    }
    await closed(page);
  }
});

check("failures 3: the message and the traceback are one press away", async () => {
  const { error } = trace("failure1");
  const page = await open("failure1");
  assert.equal(await page.$(".message"), null);
  await page.click("text=Whole message");
  assert.equal((await text(page, ".message")).replace(/\s+/g, " "), error.message.replace(/\s+/g, " "));
  await page.click("text=Traceback");
  assert.equal(await page.$(".message"), null);
  const frames = await texts(page, ".frames li");
  assert.deepEqual(frames.map((one) => /^failure1\.py:(\d+), in (\S+)/.exec(one).slice(1)), [["25", "<module>"], ["21", "Net.forward"], ["12", "Block.forward"]]);
  assert.match(frames.at(-1), /return self\.second/);
  assert.deepEqual(await numbers(page, "called"), ["21", "25"]);
  await closed(page);
});

check("failures 4: the shapes are to scale, with the sides that do not fit", async () => {
  const page = await open("failure0");
  const drawn = await page.$$eval(".shape", (all) => all.map((one) => {
    const { width, height } = one.querySelector(".area").getBoundingClientRect();
    const side = one.querySelector(".side").getBoundingClientRect();
    return { width, height, side: Math.max(side.width, side.height) };
  }));
  const unit = drawn[0].width / 8;
  const rounded = drawn.map(({ width, height, side }) => [width, height, side].map((size) => Math.round((size / unit) * 10) / 10));
  assert.deepEqual(rounded, [[8, 3, 8], [2, 9, 9]]);
  assert.deepEqual(await texts(page, ".shape > b"), ["8 columns", "9 rows"]);
  await closed(page);
});

check("failures 5: what helps is shown as two lines, and called tried only if it was", async () => {
  const page = await open("tried");
  const [first, second] = await texts(page, ".helps li");
  assert.match(first, /Tried here: the program then runs to its end\./);
  const plain = (line) => line.replace(/\s+/g, " ").trim();
  assert.deepEqual((await texts(page, ".diff .new")).map((line) => /nn\.Linear\(4, (\d)\).*nn\.Linear\((\d), 2\)/.exec(plain(line)).slice(1)), [["8", "8"], ["9", "9"]]);
  assert.deepEqual(await texts(page, ".diff del"), ["9", "8"]);
  assert.ok(second.includes("Tried here"));
  await closed(page);
  const untried = await open("failure0");
  for (const each of await texts(untried, ".helps li")) assert.match(each, /Not tried\./);
  await closed(untried);
});
