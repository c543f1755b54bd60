// Inputs and constants of the program are typed over in a real browser, and all is computed anew, or blank.
import assert from "node:assert/strict";
import { closed, open, press, text, violations } from "./opened.mjs";
import { check, settled } from "./watched.mjs";

const shown = (page) => page.$eval("main", (one) => one.innerText);
/** How many scripts the page has run, what unpacks it included, when all of them have come. */
const scripts = async (page) => {
  await page.waitForSelector("script[data-later]", { state: "detached" });
  return page.$$eval("script:not([type])", (all) => all.length);
};
const type = async (page, label, value) => {
  await page.fill(`[aria-label^="${label}"]`, value);
  await settled(page);
};

check("edit 1: x is typed over, and values, J, gradients and drawing follow; yours brings the call back", async () => {
  const page = await open("plane");
  await press(page, "End");
  const before = await shown(page);
  await type(page, "x[0], an input", "3");
  await type(page, "x[1], an input", "-1");
  assert.equal(await text(page, "h1"), "y.backward([1, 2]) would put [11, 5] into x.grad");
  assert.match(await page.$eval("[data-box=t0]", (box) => box.textContent), /\[3, -1\].*\[11, 5\]/);
  assert.match(await page.$eval('[aria-label="J, the Jacobian of y by x"]', (table) => table.innerText), /-1\s+3\s+6\s+1/);
  assert.deepEqual(await violations(page), []);
  assert.match(await page.evaluate(() => location.hash), /x=0:3,-1/);
  await page.reload();
  await page.waitForSelector(".node");
  assert.match(await text(page, "h1"), /\[11, 5\]/);
  await page.click("#original");
  await settled(page);
  assert.equal((await shown(page)).replace(/\s+/g, " "), before.replace(/\s+/g, " "));
  await closed(page);
});

check("edit 2: a constant is typed over where it stands, on either side", async () => {
  const page = await open("edited");
  await press(page, "End");
  await type(page, "3 on line 6", "2");
  assert.match(await page.$eval("[data-box=t0]", (box) => box.parentNode.textContent), /value\[3, -3\]/);
  await type(page, "1 on line 7", "5");
  assert.match(await page.$eval("[data-box=t0]", (box) => box.parentNode.textContent), /value\[-1, 8\]/);
  await closed(page);
});

check("edit 3: where the program would go another way, numbers are blank, and what to run is said", async () => {
  const page = await open("edited");
  await press(page, "End");
  await type(page, "x[0], an input", "0.5");
  await type(page, "x[1], an input", "0.5");
  assert.match(await text(page, ".unknown"), /asks for a number on line 9 .* Run again: pullback explain edited\.py/);
  assert.match(await text(page, "h1"), /run again/);
  await page.click("text=Workbench");
  await page.waitForSelector("#picture .box");
  assert.match(await page.$eval("#picture", (one) => one.textContent), /run again/);
  await closed(page);
});

check("edit 4: a page whose program is not recorded, or too large, has nothing to type and no script for it", async () => {
  const page = await open("wide");
  assert.equal(await scripts(page), 5);
  await closed(page);
  const large = await open("huge");
  assert.equal(await scripts(large), 4);
  assert.equal(await large.$(".x-cell"), null);
  await closed(large);
});
