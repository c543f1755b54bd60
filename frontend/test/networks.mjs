// Networks by their layers and modules, in a real browser, offline. PAGES names the folder that pages.py has filled.
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { closed, open, PAGES, press, text, trace, violations } from "./opened.mjs";
import { check, settled } from "./watched.mjs";

const NETWORKS = ["classes", "batch", "letters", "squares", "deep"];
const WIDTHS = [320, 390, 600, 768, 900, 1024, 1200, 1300, 1400];
const stops = async (page) => Number((await text(page, "#position")).split(" of ")[1]);
const tables = (page) => page.$$eval(".open .parts table", (all) => all.map((table) => [...table.querySelectorAll("tbody tr")].map((row) => [...row.querySelectorAll("td")].map((cell) => Number(cell.title)))));

/** What lies outside of its card, and of the step's. */
const outside = (page) =>
  page.evaluate(() => {
    const found = [];
    for (const card of document.querySelectorAll(".card, .open")) {
      const bounds = card.getBoundingClientRect();
      for (const element of card.querySelectorAll("*")) {
        const { left, right, width, height } = element.getBoundingClientRect();
        if (width && height && !element.closest(".unseen") && (left < bounds.left - 0.5 || right > bounds.right + 0.5)) found.push(element.outerHTML.slice(0, 100));
      }
    }
    return found;
  });

/** The least contrast of text in the cells of matrices. */
const contrast = (page) =>
  page.evaluate(() => {
    const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const light = (color) => {
      context.fillStyle = color;
      context.fillRect(0, 0, 1, 1);
      const parts = [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)].map((part) => (part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
      return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
    };
    const back = (element) => {
      for (let at = element; at; at = at.parentElement) {
        const color = getComputedStyle(at).backgroundColor;
        if (!/, 0\)$|transparent/.test(color)) return color;
      }
      return "white";
    };
    return Math.min(...[...document.querySelectorAll("td.cell")].map((cell) => {
      const [a, b] = [light(getComputedStyle(cell).color), light(back(cell))].sort((x, y) => y - x);
      return (a + 0.05) / (b + 0.05);
    }));
  });

check("networks: nothing lies outside of its card at any width, step by step", async () => {
  for (const name of NETWORKS) {
    let seen = 0;
    for (const width of name === "deep" ? [320, 1300] : WIDTHS) {
      const page = await open(name, { width });
      for (let i = await stops(page); i > 0; i--) {
        const button = await page.$('.open .module-lines button[aria-expanded="false"]');
        await button?.click();
        await settled(page);
        assert.deepEqual(await outside(page), [], `${name}, ${width} px, ${i} before the end`);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} scrolls sideways at ${width}`);
        seen++;
        await page.click("#step");
        await settled(page);
      }
      await closed(page);
    }
    console.log(`${name}: nothing outside in ${seen} states`);
  }
});

check("networks: text in colored cells has a contrast of 4.5 in both themes", async () => {
  for (const theme of ["light", "dark"]) {
    for (const name of ["classes", "squares"]) {
      const page = await open(name, { hash: `#mode=read&theme=${theme}` });
      let [least, cells] = [Infinity, 0];
      for (let i = await stops(page); i > 0; i--) {
        least = Math.min(least, await contrast(page));
        cells += await page.$$eval("td.cell.above, td.cell.below", (all) => all.length);
        await page.click("#step");
        await settled(page);
      }
      assert.ok(cells > 20);
      assert.ok(least >= 4.5, `${least} in ${name}, ${theme}`);
      console.log(`${name}, ${theme}: contrast ${least.toFixed(1)} at least, of ${cells} cells`);
      await closed(page);
    }
  }
});

check("networks: cross-entropy is softmax minus target, by the number of examples", async () => {
  const [call] = trace("classes").calls;
  const output = call.tensors[call.outputs[0].tensor];
  const scores = call.tensors[output.inputs[0]].data.data;
  const right = output.saved.find(({ name }) => name === "indices").value.data;
  const page = await open("classes");
  await press(page, "Home");
  await press(page, "ArrowRight");
  const [shares, target, sent] = await tables(page);
  const close = (a, b) => assert.ok(Math.abs(a - b) < 1e-6, `${a}, not ${b}`);
  right.forEach((kind, i) => {
    const row = scores.slice(2 * i, 2 * i + 2).map(Math.exp);
    row.forEach((each, j) => {
      close(shares[i][j], each / (row[0] + row[1]));
      assert.equal(target[i][j], Number(j === kind));
      close(sent[i][j], (shares[i][j] - target[i][j]) / 4);
    });
  });
  const frames = await page.$$eval(".open table:last-of-type td.framed", (all) => all.length);
  assert.ok(frames >= 4);
  assert.match(await text(page, ".open"), /flowers\[\d\] is of class \d/);
  assert.deepEqual(await page.$$eval(".open table tbody th", (all) => all.slice(0, 4).map((one) => one.innerText)), ["flowers[0]", "flowers[1]", "flowers[2]", "flowers[3]"]);
  assert.match(await text(page, ".sentence"), /Guessing between 2 classes costs ln 2 = 0\.6931/);
  assert.match(await text(page, ".open"), /the one row of J is the result/);
  assert.equal(await page.$$eval(".open details:not([open]) summary", (all) => all.filter((one) => one.innerText === "J as 1×8").length), 1);
  await closed(page);
});

check("networks: relu, linear layers and squares have their own pictures, whose numbers are those of the trace", async () => {
  const page = await open("classes");
  await press(page, "Home");
  await press(page, "ArrowRight", 2);
  const [call] = trace("classes").calls;
  const [toInput, toWeight] = call.steps.find(({ terms, outputs }) => terms.length === 3 && call.tensors[outputs[0]].name === "model(flowers)").terms;
  const linear = await tables(page);
  const flat = (rows) => rows.flat();
  const alike = (a, b) => a.forEach((each, k) => assert.ok(Math.abs(each - b[k]) < 1e-6));
  alike(flat(linear[2]), toInput.out.data);
  alike(flat(linear[5]), toWeight.out.data);
  const times = (a, b) => a.map((row) => b[0].map((_, j) => row.reduce((sum, each, k) => sum + each * b[k][j], 0)));
  alike(flat(times(linear[0], linear[1])), flat(linear[2]));
  alike(flat(times(linear[3], linear[4])), flat(linear[5]));
  await press(page, "ArrowRight");
  const [v, out] = await tables(page);
  v.forEach((row, i) => row.forEach((each, j) => assert.ok(out[i][j] === 0 || out[i][j] === each)));
  assert.equal(await page.$$eval(".open table:last-of-type td.dimmed", (all) => all.filter((one) => Number(one.title) !== 0).length), flat(v).filter((each, k) => each !== flat(out)[k]).length);
  await closed(page);
  const squares = await open("squares");
  await press(squares, "Home");
  await press(squares, "ArrowRight");
  const [predicted, target, sent] = await tables(squares);
  alike(flat(sent), flat(predicted).map((each, k) => (2 * (each - target[k][0])) / 5));
  await closed(squares);
});

check("networks: a column of layers with value and gradient, which is not there yet until it is sent", async () => {
  const page = await open("classes");
  await press(page, "Home");
  const names = () => page.$$eval(".layer", (all) => all.map((one) => one.innerText.split("\n").filter(Boolean)));
  assert.deepEqual((await names()).map(([name, type]) => [name, type]), [["flowers", "input 4×3"], ["model.0", "Linear(3, 6)"], ["model.1", "ReLU"], ["model.2", "Linear(6, 2)"], ["loss", "cross_entropy"]]);
  const missing = () => page.$$eval(".layer", (all) => all.filter((one) => one.innerText.includes("not yet")).length);
  assert.equal(await missing(), 3);
  await press(page, "ArrowRight", 3);
  assert.equal(await missing(), 0);
  assert.equal(await page.$eval(".layer.now b", (one) => one.innerText), "model.1");
  await page.click(".layer button:has-text('model.0')");
  await settled(page);
  assert.equal(await page.$eval(".layer.now b", (one) => one.innerText), "model.0");
  await closed(page);
});

check("networks: at most twelve stages, repeated ones numbered; a module's lines open", async () => {
  const page = await open("letters");
  await press(page, "Home");
  const names = await page.$$eval(".stage-row .layer-name b", (all) => all.map((one) => one.innerText));
  assert.deepEqual(names, ["letter + position", "layers.0", "layers.1", "layers.2", "layers.3", "norm", "scores", "loss"]);
  assert.equal(await stops(page), 9);
  await page.click(".stage-row button:has-text('layers.2')");
  await settled(page);
  assert.match(await text(page, ".open"), /layers\.2, a Layer: v of norm [\d.]+ arrives at its result, and [\d.]+ leaves at its input/);
  const lines = await page.$$eval(".open .module-lines tbody tr", (all) => all.map((row) => row.querySelectorAll("td")[1].innerText));
  assert.equal(new Set(lines).size, lines.length);
  assert.equal(lines.length, 4);
  await page.click(".open .module-lines button");
  await settled(page);
  assert.ok(await page.$(".open .module-lines .module-lines, .open .module-lines .parts"));
  const ticks = await page.$$eval(".stage-foot .ruler", (all) => all.map((one) => one.innerText.split("\n").length));
  assert.ok(ticks.every((count) => count >= 2), String(ticks));
  await closed(page);
  const deep = await open("deep");
  const stages = await deep.$$eval(".stage-row .layer-name b, .layer .layer-name b", (all) => all.map((one) => one.innerText));
  assert.ok(stages.length <= 13 && stages.some((name) => name.includes("…")), String(stages));
  await closed(deep);
});

check("networks: a bar has an axis, and a switch where values lie close", async () => {
  for (const hash of ["#mode=read", "#mode=workbench"]) {
    const page = await open("classes", { hash });
    if (hash === "#mode=read") await page.click(".layers .choice button:has-text('Parameters')");
    const bars = () => page.$$eval(".gradients .length", (all) => all.map((one) => parseFloat(one.style.width)));
    const logarithmic = await bars();
    await page.click(".gradients button:has-text('linear')");
    await settled(page);
    const norms = trace("classes").calls[0].gradients.map(({ norm }) => norm);
    const linear = await bars();
    linear.forEach((width, k) => assert.ok(Math.abs(width / linear[0] - norms[k] / norms[0]) < 0.01));
    assert.notDeepEqual(linear, logarithmic);
    assert.equal((await text(page, ".gradients .ruler")).split("\n")[0], "0");
    await closed(page);
  }
});

check("networks: axe finds nothing", async () => {
  for (const [name, width, theme] of [["classes", 1400, "light"], ["classes", 390, "dark"], ["letters", 1400, "dark"], ["letters", 390, "light"], ["batch", 1400, "light"]]) {
    const page = await open(name, { width, hash: `#mode=read&theme=${theme}&step=${name === "letters" ? 120 : 6}` });
    await page.click(".open button, .open summary").catch(() => {});
    await settled(page);
    assert.deepEqual(await violations(page), [], `${name}, ${width}, ${theme}`);
    await closed(page);
  }
});

check("networks: the page of a language model is small, and soon there", async () => {
  const bytes = statSync(`${PAGES}/letters.html`).size;
  assert.ok(bytes < 250_000, `${bytes} bytes`);
  const paints = [];
  for (let i = 0; i < 3; i++) {
    const page = await open("letters");
    paints.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? performance.now()));
    await closed(page);
  }
  console.log(`a language model: ${bytes} bytes, first paint after ${paints.map(Math.round)} ms`);
  assert.ok(Math.min(...paints) < 1500, `first paint after ${paints} ms, on a machine that may be busy`);
});
