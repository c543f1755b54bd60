// The page in a real browser, offline: the acceptance checks 10 to 24 of the design of explain.
// PAGES names the folder that pages.py has filled, CHROMIUM the browser; SHOTS, if set, a folder for screenshots.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { closed, open as opened, PAGES, press, SHOTS, text, trace, violations } from "./opened.mjs";
import { compare, missingFonts, pinFonts } from "./pictures.mjs";
import { check, newPage, settled } from "./watched.mjs";

/** A page in its workbench, if it has one. */
const open = (name, { hash, ...options } = {}) =>
  opened(name, { hash: hash || (/^(notebook|executed|started|runs|eight|training)/.test(name) ? "" : "#mode=workbench"), ...options });

/** Waits until the address, which follows the page after a while, ends as a pattern says. */
const addressed = async (page, { source }) => {
  await page.waitForFunction((wanted) => new RegExp(wanted).test(location.href), source, { polling: 50 }).catch(async (error) => {
    error.message += `: the address is ${await page.evaluate(() => location.href)}, not /${source}/`;
    throw error;
  });
};
const grad = (page) => page.$eval('table[aria-label="x.grad"]', (table) => table.innerText.split(/\s+/).filter(Boolean).map(Number));
const dashed = (page) =>
  page.$$eval(".box.zero", (boxes) => boxes.map((box) => box.getAttribute("data-box").slice(1)).map(Number).sort((a, b) => a - b));

function short(value) {
  return String(Number(value.toPrecision(5)));
}

check("10: opening the file is one request, no error, no breach of the policy", async () => {
  for (const name of ["seed", "long", "hostile", "redacted"]) {
    const page = await open(name);
    await page.waitForTimeout(200);
    // The worker that lays out is made of the page's own text: a blob, no request.
    assert.equal(page.requests.filter((url) => !url.startsWith("blob:") && !url.startsWith("data:")).length, 1, name);
    const policy = await page.$eval("meta[http-equiv]", (meta) => meta.content);
    assert.match(policy, /^default-src 'none'/);
    assert.doesNotMatch(policy, /unsafe/);
    await closed(page);
  }
});

check("11: Home and 29 steps reach x.grad; each step shows the trace's numbers; Left undoes", async () => {
  const [call] = trace("seed").calls;
  const page = await open("seed");
  await press(page, "Home");
  assert.equal(await text(page, "#position"), "before the first step");
  const seen = [await text(page, ".right-body")];
  for (let i = 0; i < 29; i++) {
    await press(page, "ArrowRight");
    const step = call.steps[i];
    const panel = await page.$eval(".right-body", (body) => body.innerText);
    seen.push(panel);
    assert.ok(panel.includes(step.phase === "forward" ? step.op : step.node), `step ${i + 1}`);
    const tables = await page.$$eval(".right-body .product table", (all) => all.map((one) => one.innerText.split(/\s+/).filter(Boolean)));
    const wanted = step.terms.flatMap((term) => [step.v[0].data, term.jacobians[0].data, term.out.data]);
    assert.deepEqual(tables, wanted.map((numbers) => numbers.map(short)), `step ${i + 1}`);
    for (const term of step.terms.filter((one) => one.of > 1 && one.before)) {
      assert.ok(panel.includes(`contribution ${term.nth} of ${term.of}`));
      assert.ok(panel.includes(`= [${term.after.data.join(", ")}]`), panel);
    }
  }
  assert.equal(await text(page, "#position"), "backward 15 of 15");
  assert.match(await page.$eval("[data-box=t0]", (box) => box.textContent), /26\., 1240\./);
  for (let i = 28; i >= 0; i--) {
    await press(page, "ArrowLeft");
    assert.equal(await text(page, ".right-body"), seen[i], `back to ${i}`);
  }
  await closed(page);
});

check("12: another v is replayed and labelled, 'yours' restores, a row is one press", async () => {
  const page = await open("seed");
  await press(page, "End");
  await page.fill('[data-v="0"]', "2");
  await settled(page);
  assert.deepEqual(await grad(page), [32, 1240]);
  assert.match(await text(page, ".header"), /what if: not the call in your script/);
  assert.match(await page.$eval("[data-box=t0]", (box) => box.textContent), /32\., 1240\./);
  await page.click("#yours");
  assert.deepEqual(await grad(page), [26, 1240]);
  assert.doesNotMatch(await text(page, ".header"), /what if/);
  await page.click('[data-row="2"]');
  assert.deepEqual(await grad(page), [0, 10]);
  assert.equal(await page.getAttribute('[data-row="2"]', "aria-pressed"), "true");
  await page.fill('[data-v="1"]', "-");
  assert.equal(await page.getAttribute('[data-v="1"]', "aria-invalid"), "true");
  assert.deepEqual(await grad(page), [0, 10]);
  await closed(page);
  const single = await open("single", { hash: "#v=0,1,0" });
  assert.match(await text(single, ".gloss"), /float64/);
  await closed(single);
});

check("13: with v = e_1 exactly the nodes that feed y[0] and y[2] are dashed", async () => {
  const { tensors } = trace("seed").calls[0];
  const page = await open("seed", { hash: "#step=29&v=0,1,0" });
  const feeding = tensors.flatMap((tensor, i) => (/^(x\[0\]|x\[0\]\*\*2)$/.test(tensor.name) && i < 4 ? [i] : []));
  const others = tensors.flatMap((tensor, i) => (["3*x[0]**2", "10*x[1]"].includes(tensor.name) || i === 12 || i === 4 ? [i] : []));
  assert.deepEqual(await dashed(page), [...new Set([...feeding, ...others])].sort((a, b) => a - b));
  await closed(page);
});

check("14: the address restores step and v; a frame of its own page makes no exception", async () => {
  const page = await open("seed", { hash: "#step=22" });
  assert.equal(await text(page, "#position"), "backward 8 of 15");
  await page.goto(page.url().replace(/#.*/, "#step=29&v=0,1,0"));
  await settled(page);
  assert.deepEqual(await grad(page), [2, 24]);
  await addressed(page, /#step=29&v=0,1,0$/);
  await page.reload();
  await page.waitForSelector("#picture .box");
  assert.deepEqual(await grad(page), [2, 24]);
  assert.match(page.url(), /#step=29&v=0,1,0$/);
  for (const broken of ["#step=999999", "#v=1,2", "#step=x&v=a", "#call=9&leaf=7", "#v=1,2,3,4;5"]) {
    await page.goto(page.url().replace(/#.*/, broken));
    await page.reload();
    await page.waitForSelector("#picture .box");
  }
  await closed(page);
  const cell = await open("notebook");
  const frame = await (await cell.waitForSelector("iframe")).contentFrame();
  await frame.waitForSelector(".node");
  await frame.click("#step");
  await closed(cell);
});

check("15: by keyboard alone, with focus to be seen, no trap, and the order of reading", async () => {
  const page = await open("seed");
  await press(page, "End");
  await press(page, "v");
  await page.keyboard.type("2");
  await settled(page);
  assert.deepEqual(await grad(page), [32, 1240]);
  await press(page, "Escape");
  assert.deepEqual(await grad(page), [26, 1240]);
  await press(page, "3");
  assert.deepEqual(await grad(page), [0, 10]);
  await press(page, "Escape");
  await press(page, "f");
  assert.equal(await text(page, "#position"), "forward 1 of 14");
  await press(page, "b");
  assert.equal(await text(page, "#position"), "backward 1 of 15");
  for (const [key, selector] of [["g", ".table-view"], ["g", "#picture"], ["c", ".cost-table"], ["c", ".step-title"], ["h", ".well"], ["h", ".step-title"], ["/", "#find"]]) {
    await press(page, key);
    await page.waitForSelector(selector);
  }
  await page.waitForFunction(() => document.activeElement?.id === "find");
  await page.keyboard.type("line 18");
  await press(page, "Escape");
  await press(page, "?");
  assert.ok(await page.isVisible("dialog[open]"));
  await press(page, "Escape");
  assert.ok(!(await page.isVisible("dialog[open]")));

  await page.evaluate(() => (document.activeElement?.blur(), scrollTo(0, 0)));
  const places = [];
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const element = document.activeElement;
      if (!element || element === document.body) return null;
      const style = getComputedStyle(element);
      const inside = element.closest("g.box") ? getComputedStyle(element.querySelector(".frame")).strokeWidth : "0";
      const shown = (parseFloat(style.outlineWidth) > 0 && style.outlineStyle !== "none") || parseFloat(inside) >= 4;
      const all = [...document.querySelectorAll("*")];
      return { order: all.indexOf(element), shown, what: element.outerHTML.slice(0, 80) };
    });
    if (at === null) break;
    places.push(at);
  }
  assert.ok(places.length > 20 && places.length < 60, `${places.length} stops: there is a way out`);
  assert.deepEqual(places.filter((one) => !one.shown).map((one) => one.what), []);
  assert.deepEqual(places.map((one) => one.order), places.map((one) => one.order).sort((a, b) => a - b));

  await page.focus("[role=listbox]");
  await press(page, "ArrowDown", 3);
  await press(page, "Enter");
  assert.equal(await text(page, "#position"), "backward 4 of 15");
  await page.focus(".box.now");
  await press(page, "ArrowUp");
  assert.notEqual(await page.evaluate(() => document.activeElement.getAttribute("data-box")), null);
  await press(page, "Enter");
  assert.notEqual(await text(page, "#position"), "backward 4 of 15");
  await closed(page);
});


check("16: axe finds nothing in any theme and width", async () => {
  for (const scheme of [{ colorScheme: "light" }, { colorScheme: "dark" }, { forcedColors: "active" }]) {
    for (const width of [1440, 960, 390]) {
      const page = await open("seed", { width, ...scheme, hash: "#step=29&v=0,1,0" });
      assert.deepEqual(await violations(page), [], `${JSON.stringify(scheme)} ${width}`);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${width}`);
      await closed(page);
    }
  }
});

check("16: axe finds nothing in any state; nothing scrolls sideways at 390 and 320", async () => {
  const states = [["seed", "#panel=cost&view=table"], ["invalid", "#panel=health"], ["failing", ""], ["overwritten", ""], ["network", ""], ["deep", ""], ["masked", ""], ["long", "#step=3000"], ["hostile", ""], ["twice", ""], ["seed", "#step=27&why=1"], ["layers", "#step=6&why=1&quiz=1"], ["seed", "#step=22&quiz=1"]];
  for (const [name, hash] of states) {
    const page = await open(name, { hash: hash || "#step=1" });
    assert.deepEqual(await violations(page), [], `${name} ${hash}`);
    for (const width of [1440, 1024, 720, 390, 320]) {
      await page.setViewportSize({ width, height: 800 });
      await settled(page);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} ${width}`);
    }
    await closed(page);
  }
});

const STATES = [
  ["seed", "step", { hash: "#step=22" }],
  ["seed", "what-if-dark", { hash: "#step=29&v=0,1,0", colorScheme: "dark" }],
  ["long", "folded", { hash: "#step=3000" }],
  ["invalid", "health", { hash: "#panel=health" }],
  ["seed", "phone", { hash: "#step=22", width: 390, height: 844 }],
];

check("17: text in the picture is 10 px or more, none is cut by its box, nothing lies on anything", async () => {
  for (const [name, title, options] of [...STATES, ["network", "network", {}], ["deep", "deep", { width: 1400, height: 1000 }], ["deep", "deep-phone", { width: 390, height: 844 }], ["masked", "masked", {}], ["seed", "narrow", { width: 960 }]]) {
    const page = await open(name, options);
    await page.waitForTimeout(400);
    const found = await page.evaluate(() => {
      const wrong = [];
      const rectangle = (element) => element.getBoundingClientRect();
      const svg = document.querySelector("#picture");
      const scale = rectangle(svg).width / svg.viewBox.baseVal.width;
      for (const element of svg.querySelectorAll("text")) {
        const size = parseFloat(getComputedStyle(element).fontSize) * scale;
        if (size < 9.99) wrong.push(`${element.textContent}: ${size} px`);
        const frame = element.closest(".box")?.querySelector(".frame");
        const [inner, outer] = [rectangle(element), frame && rectangle(frame)];
        if (outer && !element.matches(".arriving") && (inner.left < outer.left - 1 || inner.right > outer.right + 1)) wrong.push(`${element.textContent}: out of its box`);
      }
      const bodies = [...svg.querySelectorAll(".box .frame, .pill rect")].map((element) => [element.closest("g").textContent, rectangle(element)]);
      bodies.forEach(([a, one], i) => {
        for (const [b, other] of bodies.slice(i + 1)) {
          const apart = one.right <= other.left + 1 || other.right <= one.left + 1 || one.bottom <= other.top + 1 || other.bottom <= one.top + 1;
          if (!apart) wrong.push(`${a} lies on ${b}`);
        }
      });
      for (const box of svg.querySelectorAll(".box")) {
        const texts = [...box.querySelectorAll("text")].map(rectangle);
        texts.forEach((one, i) => texts.slice(i + 1).forEach((other) => {
          const apart = one.right <= other.left + 1 || other.right <= one.left + 1 || one.bottom <= other.top + 3 || other.bottom <= one.top + 3;
          if (!apart) wrong.push(`text on text in ${box.textContent}`);
        }));
      }
      for (const element of document.querySelectorAll("main *, header *, footer *")) {
        if (element.closest("svg, .unseen") || !element.childNodes.length) continue;
        const says = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
        if (says && parseFloat(getComputedStyle(element).fontSize) < 10) wrong.push(`${element.className}: small`);
      }
      for (const cell of document.querySelectorAll(".matrix td, .addition td, .v-cell, .facts dd, #position, .sum")) {
        if (cell.scrollWidth > cell.clientWidth + 1 && cell.clientWidth > 0) wrong.push(`cut: ${cell.innerText || cell.value}`);
      }
      return wrong;
    });
    if (SHOTS) writeFileSync(`${SHOTS}/${title}.png`, await page.screenshot());
    assert.deepEqual(found, [], title);
    await closed(page);
  }
});

const PICTURES = {
  home: {},
  step: { hash: "#step=22" },
  "what-if": { hash: "#step=29&v=0,1,0" },
  dark: { hash: "#step=22", colorScheme: "dark" },
  phone: { hash: "#step=22", width: 390, height: 844 },
  read: { hash: "#mode=read&step=22" },
  "read-plane": { hash: "#mode=read&step=29&figure=plane", colorScheme: "dark" },
  "read-phone": { hash: "#mode=read&step=22", width: 390, height: 844 },
};

check("17: eight states look like the pictures that were looked at", async (context) => {
  for (const [name, options] of Object.entries(PICTURES)) {
    const page = await open("pictured", { ...options, reducedMotion: "reduce", prepare: pinFonts });
    const missing = await missingFonts(page);
    if (missing.length) {
      await closed(page);
      return context.skip(`the fonts of the references are not installed: ${missing.join(", ")}`);
    }
    await page.waitForTimeout(400);
    const share = compare(name, await page.screenshot({ fullPage: name.endsWith("phone") }));
    console.log(`${name}: ${share.toFixed(2)} of a thousand squares differ`);
    await closed(page);
  }
});

check("18: two thousand nodes: boxes, first paint, unfolding, stepping, no long task", async () => {
  const page = await newPage({ viewport: { width: 1440, height: 960 } });
  await page.addInitScript(() => {
    globalThis.long = [];
    new PerformanceObserver((list) => globalThis.long.push(...list.getEntries().map((entry) => [entry.startTime, entry.duration]))).observe({ type: "longtask", buffered: true });
  });
  await page.goto(String(pathToFileURL(`${PAGES}/long.html`)) + "#mode=workbench");
  await page.waitForSelector("#picture .box");
  const measured = { paint: await page.evaluate(() => performance.now()) };
  const boxes = () => page.$$eval("#picture .box", (all) => all.length);
  assert.ok((await boxes()) <= 150);
  await page.waitForTimeout(300);
  const began = await page.evaluate(() => performance.now());
  const before = await boxes();
  await page.evaluate(() => document.querySelector(".box.group .plus").dispatchEvent(new MouseEvent("click", { bubbles: true })));
  await page.waitForFunction((old) => document.querySelectorAll("#picture .box").length !== old, before);
  measured.unfold = (await page.evaluate(() => performance.now())) - began;
  for (let i = 0; i < 12; i++) {
    await page.evaluate(() => document.querySelector(".box.group .plus")?.dispatchEvent(new MouseEvent("click", { bubbles: true })));
    await page.waitForTimeout(60);
    assert.ok((await boxes()) <= 150);
  }
  measured.steps = await page.evaluate(async () => {
    const times = [];
    for (let i = 0; i < 20; i++) {
      const from = performance.now();
      document.querySelector("#step").click();
      await new Promise((done) => setTimeout(done));
      times.push(performance.now() - from);
    }
    return times.sort((a, b) => a - b)[10];
  });
  measured.longest = Math.max(0, ...(await page.evaluate((from) => globalThis.long.filter(([start]) => start > from).map(([, duration]) => duration), began)));
  console.log(`2 000 nodes, ms: ${JSON.stringify(measured, (_, value) => (typeof value === "number" ? Math.round(value) : value))}`);
  await page.keyboard.press("/");
  await page.fill("#find", "tanh");
  await page.keyboard.press("Enter");
  await page.context().close();
  const huge = await open("huge");
  assert.ok((await huge.$$eval("#picture .box", (all) => all.length)) <= 150);
  await press(huge, "ArrowRight", 3);
  await closed(huge);
});

check("19: hostile names and sources are text", async () => {
  for (const hash of ["#step=20", "#step=20&why=1", "#step=29&view=table", "#step=14&panel=cost", "#step=20&quiz=1"]) {
    const page = await open("hostile", { hash });
    for (let i = 0; i < 16; i++) await page.keyboard.press("ArrowRight");
    await settled(page);
    assert.notEqual(await page.title(), "owned");
    assert.equal(await page.$$eval("img", (all) => all.length), 0);
    await page.waitForSelector("script[data-later]", { state: "detached" });
    assert.equal(await page.$$eval("script", (all) => all.length), 6); // the trace, what unpacks the page, and its four programs
    const seen = await page.evaluate(() => document.querySelector("#app").textContent);
    assert.ok(seen.includes("onerror"));
    assert.doesNotMatch(seen, /[\u202a-\u202e\u2028\u2029]/);
    await closed(page);
  }
});

check("20: nan and inf are shown and survive a replay", async () => {
  const page = await open("invalid", { hash: "#step=99" });
  assert.match(await text(page, ".answer"), /nan/);
  assert.equal(await page.inputValue('[data-v="1"]'), "inf");
  await press(page, "h");
  await page.waitForSelector(".findings");
  await page.click(".findings button");
  assert.ok((await page.$$eval(".box.path", (boxes) => boxes.length)) > 0);
  const before = await text(page, 'table[aria-label="x.grad"]');
  await page.fill('[data-v="2"]', "inf");
  await settled(page);
  assert.match(await text(page, 'table[aria-label="x.grad"]'), /inf/);
  await page.fill('[data-v="2"]', "nan");
  await settled(page);
  assert.match(await text(page, 'table[aria-label="x.grad"]'), /nan/);
  await page.click("#yours");
  assert.equal(await text(page, 'table[aria-label="x.grad"]'), before);
  await closed(page);
});

check("a network: the sentence, the gradients as bars, sorted, unfolded, and a click goes to the step", async () => {
  const page = await open("deep");
  const [call] = trace("deep").calls;
  const norms = call.leaves.map(({ grad }) => Math.hypot(...grad.data));
  assert.match(await text(page, ".said"), /^The loss is [\d.]+\. 50 parameters have a gradient; the largest, of norm [\d.]+, is that of model\..*\. The gradient of model\.h\.0 is [\d.]+ times that of model\.h\.11\.$/);
  assert.doesNotMatch(await text(page, ".top"), /stored|jacobian=/);
  const rows = () => page.$$eval(".gradients tbody tr", (all) => all.map((row) => row.innerText.split(/\s+/).filter(Boolean)));
  const first = await rows();
  assert.deepEqual(first.map((row) => row[0] === "+" ? row[1] : row[0]).slice(0, 2), ["model.h.0", "model.h.1"]);
  assert.equal(first.length, 14);
  const inside = call.leaves.flatMap(({ tensor }, i) => (call.tensors[tensor].name.startsWith("model.h.0.") ? [norms[i]] : []));
  assert.ok(Math.abs(Number(first[0][4]) / Math.hypot(...inside) - 1) < 0.01);
  await page.selectOption('select[aria-label="Sort the parameters by"]', "norm");
  const sizes = (await rows()).map((row) => Number(row.at(-3)));
  assert.deepEqual(sizes, [...sizes].sort((a, b) => b - a));
  await page.selectOption('select[aria-label="Sort the parameters by"]', "order");
  await page.click(".gradients tbody button");
  assert.equal((await rows()).length, 18);
  await page.click(".gradients tr:nth-child(2) button");
  await settled(page);
  assert.match(await text(page, ".right-body"), /AccumulateGrad/);
  assert.match(await text(page, ".right-body"), /model\.h\.0\.attn\.weight/);
  await closed(page);
  // Another v: the gradient of one number is proportional to it.
  const of = async (hash) => {
    const other = await open("network", { hash });
    const found = await other.$$eval(".gradients tbody tr", (all) => all.map((row) => row.innerText.split(/\s+/).filter(Boolean).slice(-3).map(parseFloat)));
    await closed(other);
    return found;
  };
  const [own, triple] = [await of(""), await of("#v=-3")];
  assert.equal(own.length, 6);
  own.forEach(([norm, ratio, zeros], i) => {
    assert.ok(Math.abs(triple[i][0] / norm - 3) < 0.04 && Math.abs(triple[i][1] / ratio - 3) < 0.4, // three digits, and two
      `${triple[i]} of ${own[i]}`);
    assert.equal(triple[i][2], zeros);
  });
  assert.ok((await of("#v=0")).every(([norm, , zeros]) => norm === 0 && zeros === 100));
});

check("a graph that is too large is folded, has an overview, and fits when asked", async () => {
  const page = await open("deep", { width: 1400, height: 1000 });
  assert.ok((await page.$$("#picture .box")).length <= 16);
  assert.match(await page.$eval("#picture", (svg) => svg.textContent), /model\.h\.0 … 11/);
  await page.click('.zoom button[aria-label="Zoom in"]');
  await page.click('.zoom button[aria-label="Zoom in"]');
  await settled(page);
  await page.waitForSelector(".overview .window");
  await press(page, "0");
  const fits = () => page.$eval(".canvas", (view) => view.scrollWidth <= view.clientWidth && view.scrollHeight <= view.clientHeight);
  assert.ok(await fits());
  assert.equal(await page.$(".overview"), null);
  await closed(page);
  const small = await open("layers", { width: 1400, height: 1000 });
  assert.ok(await small.$eval(".canvas", (view) => view.scrollWidth <= view.clientWidth && view.scrollHeight <= view.clientHeight));
  await closed(small);
});

check("a page with NaN opens at its birth, in red, with the fix", async () => {
  const page = await open("masked");
  assert.match(await text(page, "#position"), /^forward 3 of/);
  assert.match(await text(page, ".findings"), /softmax gives nan.*\nFix: all of a row is -inf/);
  assert.match(await page.$eval(".box.born", (box) => box.textContent), /softmax/);
  assert.match(await text(page, ".said"), /1 parameter has nan or inf/);
  await closed(page);
});

/** The cells of a notebook, which may lie in a frame: the heights of what is static and of the page in each, and its text. */
const cells = (host) =>
  host.$$eval(".output", (outputs) =>
    outputs.map((output) => {
      const [still, page] = [output.querySelector("pre"), output.querySelector("iframe")].map((one) => one?.getBoundingClientRect().height ?? 0);
      return { still, page, height: output.scrollHeight, text: output.innerText };
    }),
  );

check("21: in a notebook's cell the pages run: Jupyter, VS Code with its policy, and Colab's sandbox", async () => {
  for (const name of ["notebook", "notebook-jupyter", "notebook-vscode", "notebook-colab"]) {
    const page = await open(name);
    await page.waitForFunction((count) => window.frames.length >= count, name === "notebook-colab" ? 1 : 2);
    const host = name === "notebook-colab" ? await (await page.waitForSelector("#outer")).contentFrame() : page.mainFrame();
    const [explained, run] = await Promise.all((await host.$$(".output iframe")).map((each) => each.contentFrame()));
    await explained.waitForSelector(".node");
    await run.waitForSelector(".multiples");
    await host.waitForFunction(() => [...document.querySelectorAll(".output iframe")].every((one) => one.clientHeight > 300));
    for (const { still } of await cells(host)) assert.equal(still, 0, name);
    assert.match(await text(explained, "#position"), /2 of 4/);
    await explained.click("#step");
    assert.match(await text(explained, "#position"), /3 of 4/);
    // The frame is as high as what it shows: nothing in it scrolls.
    for (const frame of [explained, run]) {
      await frame.waitForFunction(() => document.documentElement.scrollHeight === document.documentElement.clientHeight && document.querySelector("#app").offsetHeight >= innerHeight - 1);
    }
    const { width, height } = await (await explained.$(".diagram svg")).boundingBox();
    assert.ok(width > 100 && height > 100, `${name}: ${width} x ${height}`);
    assert.match(await text(run, "main"), /200 steps/);
    if (SHOTS) writeFileSync(`${SHOTS}/${name}.png`, await page.screenshot({ fullPage: true }));
    await closed(page);
  }
});

check("21: where a notebook runs no scripts, text is seen, and no gap", async () => {
  const places = [["notebook", false], ["notebook-static", true], ["notebook-untrusted", true], ["notebook-strict", true]];
  for (const [name, javaScriptEnabled] of places) {
    const page = await open(name, { javaScriptEnabled });
    await page.waitForTimeout(300);
    const host = name === "notebook-static" ? await (await page.waitForSelector("#outer")).contentFrame() : page.mainFrame();
    const found = await cells(host);
    assert.equal(found.length, 2, name);
    for (const { still, page: shown, height } of found) {
      assert.ok(still > 100, `${name}: ${still}`);
      assert.equal(shown, 0, name);
      assert.ok(height < still + 300, `${name}: ${height}`); // and a picture, where Graphviz is installed
    }
    assert.match(found[0].text, /put \[26 1240\] into x\.grad/);
    assert.match(found[1].text, /200 steps, one in 10 recorded/);
    if (SHOTS) writeFileSync(`${SHOTS}/${name}.png`, await page.screenshot({ fullPage: true }));
    assert.deepEqual(page.complaints.filter((complaint) => !/Content Security Policy|sandboxed/.test(complaint)), []);
    await page.context().close();
  }
});

check("21: an executed notebook, converted by nbconvert: the page runs in its frame, without scripts the picture is seen", async (context) => {
  if (!existsSync(`${PAGES}/executed.html`)) return context.skip("no notebook was executed: ipykernel and nbconvert are not installed");
  const STILL = ".jp-OutputArea-output > div:has(+ iframe)";
  const page = await open("executed");
  assert.equal(await page.locator(STILL).count(), 2);
  const [frame, run] = await Promise.all((await page.$$(`${STILL} + iframe`)).map((each) => each.contentFrame()));
  await frame.waitForSelector(".node");
  await run.waitForSelector(".multiples");
  assert.match(await text(run, "main"), /5 steps of 1 parameter/);
  for (const still of await page.locator(STILL).all()) assert.ok(await still.isHidden());
  assert.match(await text(frame, "#position"), /^2 of /);
  await frame.click("#step");
  assert.match(await text(frame, "#position"), /^2 of 2/); // all its lines
  await frame.fill('[data-v="0"]', "2");
  assert.deepEqual(await grad(frame), [32, 1240]);
  // nbconvert's page asks for scripts of its own, which it does not get offline: no complaint may be about ours.
  assert.deepEqual(page.complaints.filter((complaint) => !/require|mathjax|ERR_INTERNET_DISCONNECTED/i.test(complaint)), []);
  await page.context().close();
  const without = await open("executed", { javaScriptEnabled: false });
  for (const still of await without.locator(`${STILL} pre`).all()) {
    const { width, height } = await still.boundingBox();
    assert.ok(width > 200 && height > 100, `${width} x ${height}`);
  }
  assert.ok(await without.$$eval(`${STILL} img`, (pictures) => pictures.every((one) => one.complete && one.naturalWidth > 0)));
  if (SHOTS) writeFileSync(`${SHOTS}/notebook-still.png`, await without.screenshot());
  await without.context().close();
});

check("22: the saved picture opens alone and matches the screen", async () => {
  const page = await open("seed", { hash: "#step=22" });
  await page.waitForTimeout(400);
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("text=Save SVG")]);
  assert.match(download.suggestedFilename(), /\.svg$/);
  const source = readFileSync(await download.path(), "utf8");
  assert.doesNotMatch(source, /var\(|class=|href=|<script/);
  const alone = await page.context().newPage();
  await alone.setContent(`<body style="margin:0">${source}</body>`);
  const words = (where) => where.$$eval("svg text", (all) => all.map((one) => one.textContent));
  const [legend, ...rest] = (await words(alone)).reverse();
  assert.match(legend, /values, forward.*gradients, backward/);
  assert.deepEqual(rest.reverse(), await page.$$eval("#picture text", (all) => all.map((one) => one.textContent)));
  const boxes = (where, selector) => where.$$eval(selector, ([svg]) => {
    const origin = svg.getBoundingClientRect();
    return [...svg.querySelectorAll("text")].map((one) => {
      const { x, y, width } = one.getBoundingClientRect();
      return [x - origin.x, y - origin.y, width].map(Math.round);
    });
  });
  const [there, here] = [await boxes(alone, "svg"), await boxes(page, "#picture")];
  there.slice(0, -1).forEach((one, i) => one.forEach((value, k) => assert.ok(Math.abs(value - here[i][k]) <= 2, `text ${i}: ${one} and ${here[i]}`)));
  const colours = (where, selector) => where.$$eval(`${selector} rect`, (all) => all.map((one) => [getComputedStyle(one).fill, getComputedStyle(one).stroke]));
  assert.deepEqual((await colours(alone, "svg")).slice(1), await colours(page, "#picture"));
  await closed(page);
});

check("23: a failed run opens, with the whole message, both versions and the line; outlined is only the node whose step failed", async () => {
  const { error, calls } = trace("failing"); // of an operation that failed there is no node
  const page = await open("failing");
  const said = await text(page, ".failed-run");
  assert.ok(said.includes(error.type));
  assert.ok(said.includes(`:${error.place.line}`));
  assert.ok(error.message.split("\n").every((line) => said.replace(/\s+/g, " ").includes(line.trim().replace(/\s+/g, " "))));
  assert.deepEqual([error.tensor, await page.$$eval(".box.failed", (all) => all.length)], [null, 0]);
  assert.ok(calls[error.call].tensors.length > 0);
  await closed(page);
  const versions = await open("overwritten");
  const { overwritten, tensor, place } = trace("overwritten").error;
  const [call] = trace("overwritten").calls;
  assert.deepEqual([overwritten.name, overwritten.expected, overwritten.version], ["w", 0, 1]);
  const told = (await text(versions, ".versions")).replace(/\s+/g, " ");
  assert.equal(told, `w was used at version 0, and is at version 1: last written at pages.py:${overwritten.place.line}`);
  assert.ok((await text(versions, ".failed-run h2")).endsWith(`pages.py:${place.line}`));
  assert.deepEqual(await versions.$$eval(".box.failed", (all) => all.map((box) => box.getAttribute("data-box"))), [`t${tensor}`]);
  assert.equal(call.tensors[tensor].op, "sin");
  assert.deepEqual(await versions.$$eval(".box.overwritten", (all) => all.map((box) => box.getAttribute("data-box"))), [`t${overwritten.tensor}`]);
  const marked = (what) => text(versions, `.source li.${what} .number`);
  assert.deepEqual([await marked("failed"), await marked("overwritten")], [String(place.line), String(overwritten.place.line)]);
  assert.match(await text(versions, ".source li.overwritten"), /w\.mul_\(2\)/);
  await closed(versions);
  const refused = await open("refused");
  assert.ok((await text(refused, ".failed-run")).includes(trace("refused").error.type));
  await closed(refused);
});

check("25: two training runs: the slider, the measures and the findings, by keyboard, in any theme and width", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const page = await open("runs", { colorScheme });
    assert.equal(page.requests.length, 1);
    assert.deepEqual(await violations(page), [], colorScheme);
    assert.equal(await page.$$eval(".small-multiple", (all) => all.length), 7);
    assert.equal(await page.$$eval(".small-multiple path", (all) => all.filter((path) => path.getAttribute("d")).length), 12);
    assert.match(await text(page, ".slide"), /step 299/);
    await page.focus(".slide input");
    await press(page, "Home");
    assert.match(await text(page, ".slide"), /step 0\b/);
    await page.click(".happened button");
    assert.match(await text(page, ".slide"), /step 100[^]*loss nan/);
    const before = await text(page, ".small-multiple");
    await page.selectOption(".find select", "zeros");
    assert.notEqual(await text(page, ".small-multiple"), before);
    for (const width of [1440, 390, 320]) {
      await page.setViewportSize({ width, height: 800 });
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${width}`);
    }
    await closed(page);
  }
});

check("25: eight training runs: their settings, aligned by time, in any theme and width", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const page = await open("eight", { colorScheme });
    assert.deepEqual(await violations(page), [], colorScheme);
    assert.deepEqual(await page.$$eval(".settings tr", (all) => all.map((row) => row.innerText.split("\t").length)), [9, 9]);
    assert.match(await text(page, ".settings"), /lr 1e-7/);
    assert.match(await text(page, ".runs main"), /after 300 steps/);
    await page.click(".runs details summary");
    assert.match(await text(page, ".runs details p"), /^optimizer SGD, momentum 0\.9$/);
    const drawn = await page.$eval(".loss path.run7:not(.raw)", (path) => path.getBoundingClientRect().width);
    await page.selectOption(".tuning label:nth-of-type(2) select", "time");
    assert.match(await text(page, ".slide"), /2\.\d+ s/);
    const [first, last] = await page.$$eval(".loss path:not(.raw)", (all) => [all[0], all[7]].map((path) => path.getBoundingClientRect().width));
    assert.ok(Math.abs(last - drawn) < 0.05 * drawn && Math.abs(8 * first - last) < 0.1 * last, `${first} ${last} ${drawn}`);
    await page.waitForFunction(() => /#ms=2\d\d\d$/.test(location.href), null, { polling: 100 });
    await page.click(".happened button");
    assert.match(await text(page, ".slide"), /150 ms/);
    for (const width of [1440, 390, 320]) {
      await page.setViewportSize({ width, height: 800 });
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${width}`);
    }
    await closed(page);
  }
});

check("25: a run of 10 000 steps and 150 parameters: its map, a step of the slider, a row and a module by keyboard", async () => {
  const page = await open("training");
  const painted = await page.evaluate(() => performance.now());
  await page.focus(".slide input");
  const moved = await page.evaluate(async () => {
    const slider = document.querySelector(".slide input");
    const times = [];
    for (let step = 0; step < 20; step++) {
      const start = performance.now();
      slider.value = String(500 * step);
      slider.dispatchEvent(new Event("input", { bubbles: true }));
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      times.push(performance.now() - start);
    }
    return times.sort((a, b) => a - b)[10];
  });
  console.log(`25: the map is there after ${painted.toFixed(0)} ms, a step of the slider ${moved.toFixed(0)} ms`);
  assert.equal(await page.$$eval(".small-multiple", (all) => all.length), 0);
  assert.equal(await page.$$eval(".labels span", (all) => all.length), 13);
  await page.focus(".heat");
  await press(page, "Home");
  await press(page, "ArrowRight");
  assert.match(await page.getAttribute(".heat", "aria-valuetext"), /^h\.0, mean of 12 parameters, step \d+: [\d.]+$/);
  await press(page, "Enter");
  await press(page, "ArrowDown");
  assert.equal(await page.$$eval(".labels span", (all) => all.length), 25);
  assert.match(await page.getAttribute(".heat", "aria-valuetext"), /^h\.0\.attn\.layer0\.weight 64×64, step \d+: [\d.]+$/);
  const pixels = await page.$eval(".field canvas", (canvas) => new Set(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data).size);
  assert.ok(pixels > 50, `${pixels}`);
  assert.deepEqual(await violations(page), []);
  await closed(page);
});

check("24: on paper: answer, picture and tape on white", async () => {
  const page = await open("seed", { colorScheme: "dark" });
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  await page.waitForSelector(".printed tr:nth-child(15)");
  for (const selector of [".answer", "#picture", ".printed"]) assert.ok(await page.isVisible(selector), selector);
  for (const selector of ["footer", ".modes", ".left-pane"]) assert.ok(!(await page.isVisible(selector)), selector);
  assert.equal(await page.$eval("body", (body) => getComputedStyle(body).backgroundColor), "rgb(255, 255, 255)");
  const fill = await page.$eval(".box .frame", (frame) => getComputedStyle(frame).fill);
  assert.equal(fill, "rgb(255, 255, 255)");
  assert.ok((await page.pdf()).length > 10_000);
  await closed(page);
});

check("several calls: a picker, and gradients that add up", async () => {
  const page = await open("twice");
  await page.selectOption(".calls select", "1");
  await settled(page);
  assert.match(await text(page, ".gloss"), /adds up/);
  await closed(page);
});

check("why this rule: formulas, the reason and the step's numbers, at every step, without a network", async () => {
  for (const name of ["seed", "network", "layers", "several"]) {
    const data = trace(name);
    const [call] = data.calls;
    const page = await open(name, { hash: "#why=1&step=1" });
    for (let at = 0; at < call.steps.length; at++) {
      const step = call.steps[at];
      if (step.phase === "forward") continue;
      await page.evaluate((to) => (location.hash = `#why=1&step=${to}`), at + 1);
      await page.waitForFunction((wanted) => document.querySelector("#position").textContent === wanted, `backward ${step.number} of ${call.steps.filter(({ phase }) => phase === "backward").length}`);
      const found = await page.$$eval(".derivation", (all) => all.map((one) => ({ text: one.innerText, formulas: one.querySelectorAll(".formula math").length, code: one.querySelectorAll("code").length })));
      const wanted = step.op === null ? [[step.derivation, []]] : step.terms.map((term) => [term.derivation, term.numbers]);
      assert.equal(found.length, wanted.length, `${name} ${at + 1}`);
      wanted.forEach(([index, numbers], k) => {
        const made = data.derivations[index];
        assert.equal(found[k].formulas, [made.value, made.slope].filter(Boolean).length + numbers.length, `${name} ${at + 1}`);
        assert.equal(found[k].code, 0);
        assert.ok(found[k].text.includes(made.why));
      });
    }
    await closed(page);
  }
  const page = await open("seed", { hash: "#step=27" });
  assert.equal(await page.$(".derivation math"), null);
  await press(page, "w");
  const sets = () => page.$$eval(".formula math", (all) => all.map((one) => one.textContent));
  assert.deepEqual(await sets(), ["y=x2", "dydx=2·x", "dydx=2·1=2", "v@J=3·2=6"]);
  // The browser sets them itself: a fraction is higher than a line.
  assert.ok(await page.$eval(".formula mfrac", (one) => one.getBoundingClientRect().height) > 22);
  await page.fill('[data-v="0"]', "2");
  await settled(page);
  assert.equal((await sets()).length, 3, "v @ J is of the recorded v");
  await addressed(page, /why=1/);
  await closed(page);
});

check("quiz: results are hidden until they are answered; advice, giving up and the score, by keyboard", async () => {
  const [call] = trace("seed").calls;
  const page = await open("seed");
  await press(page, "q");
  await page.waitForSelector(".quiz");
  assert.match(await page.evaluate(() => document.activeElement.innerText), /Quiz/);
  assert.match(await text(page, ".quiz"), /0 right, 0 shown, 18 to go/);
  const before = await text(page, "body");
  for (const number of ["1240", "[0, 1000]", "240."]) assert.ok(!before.includes(number), number);
  assert.match(await text(page, ".tape"), /MulBackward0\s+\?/);
  // The eighth step: v = [240] and J = [0 1].
  await page.evaluate(() => void (location.hash = "#quiz=1&step=22"));
  await page.waitForSelector(".ask input:nth-child(2)");
  const fields = await page.$$(".ask input");
  assert.equal(fields.length, 2);
  const type = async (...answers) => {
    for (const [i, one] of answers.entries()) {
      await page.focus(`.ask input:nth-child(${i + 1})`);
      await page.keyboard.press("Control+A");
      await page.keyboard.type(one);
    }
    await press(page, "Enter");
  };
  await type("0", "");
  assert.match(await text(page, ".advice"), /Every field/);
  await type("0", "<img>");
  assert.match(await text(page, ".advice"), /is no number/);
  await type("0", "1");
  assert.match(await text(page, ".advice"), /J alone/);
  await type("0", "-240");
  assert.match(await text(page, ".advice"), /sign/);
  await type("240", "0");
  assert.match(await text(page, ".advice"), /another order/);
  assert.ok(!(await text(page, ".right-body")).includes("[0, 240]"));
  await type("0", "480/2");
  assert.equal(await page.$(".ask"), null);
  assert.match(await text(page, ".right-body"), /✓ Right/);
  assert.match(await text(page, ".right-body"), /\[0, 1000\] \+ \[0, 240\] = \[0, 1240\]/);
  assert.match(await text(page, ".quiz"), /1 right, 0 shown, 17 to go/);
  // Enter goes on: to the next question, and into its first field.
  assert.equal(await page.evaluate(() => document.activeElement.innerText), "Next question");
  await press(page, "Enter");
  await page.waitForFunction(() => document.activeElement.matches(".ask input"));
  assert.equal(await text(page, "#position"), "backward 1 of 15");
  await page.click(".ask >> text=Show me");
  await settled(page);
  assert.match(await text(page, ".quiz"), /1 right, 1 shown, 16 to go/);
  for (let left = 16; left > 0; left--) {
    if (!(await page.$(".ask"))) await page.click(".quiz .primary");
    await page.waitForSelector(".ask");
    const [, phase, nth] = /(forward|backward) (\d+)/.exec(await text(page, "#position"));
    const open = await page.$$eval(".term", (all) => all.findIndex((one) => one.querySelector(".ask")));
    const step = call.steps.filter((one) => one.phase === phase)[nth - 1];
    const numbers = step.op === null ? call.leaves[0].grad.data : step.terms[open].out.data;
    await type(...numbers.map(String));
  }
  assert.match(await text(page, ".quiz"), /17 right, 1 shown, 0 to go/);
  assert.match(await text(page, ".quiz"), /All questions are answered/);
  assert.match(await text(page, ".right-body"), /\[26, 1240\]/);
  await page.click("text=End the quiz");
  await page.waitForSelector(".answer");
  assert.deepEqual(await grad(page), [26, 1240]);
  await closed(page);
});

check("quiz: steps of many numbers are not asked, and that is said", async () => {
  const page = await open("wide", { hash: "#quiz=1&step=3" });
  assert.match(await text(page, ".quiz"), /are not asked/);
  assert.match(await text(page, ".right-body"), /Not asked: more than 12 numbers/);
  await closed(page);
});

check("a link has the call, the step, what is open, and the views; of other texts nothing is taken", async () => {
  const page = await open("twice", { hash: "#call=1&step=8&why=1&view=table&theme=dark" });
  assert.equal(await page.inputValue(".calls select"), "0");
  assert.equal(await text(page, "#position"), "backward 4 of 4");
  assert.ok(await page.isVisible(".table-view"));
  assert.equal(await page.getAttribute("html", "data-theme"), "dark");
  await addressed(page, /#call=1&step=7&view=table&why=1&theme=dark$/);
  await page.evaluate(() => void (location.hash = "#call=2&step=6"));
  await page.waitForFunction(() => document.querySelector(".calls select").value === "1");
  assert.equal(await text(page, "#position"), "backward 3 of 4");
  await press(page, "ArrowRight");
  await addressed(page, /#step=7&theme=dark$/);
  await closed(page);
  const started = await open("started");
  assert.equal(await text(started, "#position"), "3 of 4");
  await closed(started);
  const folded = await open("deep");
  const count = () => folded.$$eval(".box", (all) => all.length);
  const before = await count();
  await folded.click(".box .plus");
  await addressed(folded, /open=/);
  await folded.waitForFunction((old) => document.querySelectorAll(".box").length > old, before);
  const boxes = await count();
  await folded.reload();
  await folded.waitForSelector("#picture .box");
  assert.match(folded.url(), /open=/);
  assert.equal(await count(), boxes);
  await closed(folded);
  const hostile = await open("seed");
  for (const hash of ["#call=__proto__&step=1e9", "#open=constructor,toString9", "#open=scope0<img src=x>", "#quiz=<b>&why=javascript:alert(1)&theme=x", "#%00%ff", "#step=5&step=7", `#v=${"1,".repeat(9999)}`]) {
    await hostile.goto(hostile.url().replace(/#.*/, hash));
    await hostile.reload();
    await hostile.waitForSelector("#picture .box");
    assert.match(await text(hostile, "#position"), /^(backward|forward|before) /, hash);
    assert.deepEqual(await grad(hostile), [26, 1240]);
  }
  await closed(hostile);
  const run = await open("runs", { hash: "#step=120&sort=largest&show=zeros" });
  assert.match(await text(run, ".slide"), /step 120/);
  assert.deepEqual(await run.$$eval(".find select", (all) => all.map((one) => one.value)), ["zeros", "1"]);
  await run.fill(".slide input", "7");
  await addressed(run, /#step=7&show=zeros&sort=largest$/);
  await closed(run);
});
