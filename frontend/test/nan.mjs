// The story of a nan, in a real browser, offline: which number it is and why, its way, and what helps.
// PAGES names the folder that pages.py has filled, CHROMIUM the browser.
import assert from "node:assert/strict";
import { closed, open, text, violations } from "./opened.mjs";
import { check, settled } from "./watched.mjs";

const flat = async (page, selector) => (await text(page, selector)).replace(/\s+/g, " ");
const all = (page, selector) => page.$$eval(selector, (found) => found.map((one) => one.innerText.replace(/\s+/g, " ")));

check("nan 1: the page begins with the element, the operation, its line and the number that it was taken of", async () => {
  const page = await open("root");
  assert.equal(await flat(page, "h1"), "w.grad[1] is nan, because sqrt on line 5 was taken of 0, where its slope is infinite.");
  assert.match(await flat(page, ".failure"), /loss itself, 1\.407, is finite.*1 of 3 elements of w\.grad is nan/);
  assert.ok(await page.$(".program"), "the program remains below");
  await closed(page);
});

check("nan 2: the way of one element, each tensor with value and grad, the element marked", async () => {
  const page = await open("root");
  const stations = await all(page, ".station");
  assert.deepEqual(stations.map((one) => one.split(" ")[0]), ["d", "w", "w"]);
  assert.match(stations[1], /value 2 0 3 grad 0\.01741 inf -0\.01161$/);
  assert.deepEqual(await all(page, ".station.hit .grad-cells .followed"), ["inf", "nan"]);
  const hops = await all(page, ".hop");
  assert.match(hops[0], /sqrt on line 5.*0\.4472 @ inf = inf/);
  assert.match(hops[1], /mul on line 5.*inf @ 0 = nan/);
  await page.click(".hop .link");
  await settled(page);
  assert.match(await text(page, ".line.now"), /sqrt/);
  await closed(page);
});

check("nan 3: a change is shown with the gradient that it gave, and one that does not help with its own", async () => {
  const page = await open("root");
  assert.match(await flat(page, ".helps li"), /Tried here: w\.grad = \[0\.01741, 1\., -0\.03482\]; the loss moves by 5e-7/);
  assert.equal(await flat(page, ".diff .new"), "after: + d = pb.sqrt((w * x).clamp(min=1e-12))");
  assert.match(await flat(page, ".vain"), /^Not enough: pb\.where\(.*w\.grad = \[0\.01741, nan, -0\.03482\]/);
  await closed(page);
});

check("nan 4: an inf of the forward pass that becomes nan on the way back is one way", async () => {
  const page = await open("squashed");
  assert.match(await flat(page, "h1"), /^lstm\.weight_ih_l0\.grad\[0, 0\] is nan, because log on line 6 was taken of 0, /);
  const hops = await all(page, ".hop");
  assert.match(hops[0], /through log on line 6 log\(0\) = -inf/);
  assert.match(hops.at(-1), /back through addmm/);
  assert.equal((await all(page, ".station.hit .followed")).at(-1), "nan");
  await closed(page);
});

check("nan 5: axe finds nothing, nothing leaves its card, and nothing scrolls sideways", async () => {
  for (const name of ["root", "squashed", "invalid"]) {
    for (const scheme of ["light", "dark"]) {
      for (const width of [1400, 1300, 390, 320]) {
        const page = await open(name, { hash: "#mode=read", width, colorScheme: scheme });
        if (width !== 1300) assert.deepEqual(await violations(page), [], `${name} ${scheme} ${width}`);
        const outside = await page.evaluate(() =>
          [...document.querySelectorAll(".failure, .way-pane, .helps")].flatMap((card) => {
            const { left, right, bottom } = card.getBoundingClientRect();
            return [...card.querySelectorAll("*:not(.unseen)")].filter((one) => {
              const box = one.getBoundingClientRect();
              return box.width && (box.left < left - 0.5 || box.right > right + 0.5 || box.bottom > bottom + 0.5);
            }).map((one) => one.outerHTML.slice(0, 80));
          }),
        );
        assert.deepEqual(outside, [], `${name} ${width}`);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} ${width}`);
        await closed(page);
      }
    }
  }
});
