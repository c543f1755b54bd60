// The playground in a real browser: node --test test/playground.mjs, with WHEEL, pullback's own, and CHROMIUM. SHOTS=folder keeps pictures.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { chromium } from "playwright-core";
import { built, served } from "./playground/site.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const { WHEEL, CHROMIUM = "/usr/bin/chromium", SHOTS } = process.env;

/** Of each example: what it prints, and numbers that its page of explain shows. */
const EXPECTED = {
  "seeds-loop": [/1\.0240e\+02, 1\.0240e\+03, 1\.0240e-01/, ["102.4 1024 0.1024"]],
  "seeds-rows": [/first row: +tensor\(\[\[1., 3.\]\]\)\nsecond row: tensor\(\[\[2., 4.\]\]\)\ntheir sum: +tensor\(\[\[3., 7.\]\]\)/, ["3 7"]],
  "seeds-sigmoid": [/0\.0738, -0\.1476, +0\.2952/, ["0.1476"]],
  "seeds-weights": [/tensor\(\[ +6., 120.\]\)/, ["6 120"]],
  "seeds-leaves": [/a .*True True None[\s\S]*c .*False True <MulBackward0/, ["Each factor gets v times the other factor"]],
  shape: [/^$/, []],
  accumulation: [/tensor\(6.\)[\s\S]*tensor\(12.\)[\s\S]*tensor\(6.\)/, ["slope of the power"]],
  second: [/tensor\(6.\)/, ["a graph that the backward before has freed"]],
  inplace: [/slope of the loss: tensor\(-14.\)/, ["writes in place to a leaf that requires grad"]],
  nan: [/tensor\(\[ +nan, 0.2500\]\)/, ["nan"]],
  broadcasting: [/tensor\(\[2., 2., 2.\]\)/, ["[1, 2, 3]", "1 1 1 1 1 1"]],
  network: [/0 0\.5284[\s\S]*1 0\.2975[\s\S]*2 0\.2607/, ["Tanh"]],
  attention: [/0\.6698, 0\.3302/, ["0.3128"]],
  hook: [/arrives at y: tensor\(2.\)\nx.grad: tensor\(3.\)/, ["3"]],
  hessian: [/gradient: tensor\(\[7., 4.\][\s\S]*tensor\(\[6., 4.\]\)[\s\S]*tensor\(\[4., 2.\]\)/, ["4 2"]],
};
const FAILING = { shape: /gradient has shape \(1,\)/, second: /a second time/, inplace: /a leaf Variable that requires grad/ };

const folder = mkdtempSync(`${tmpdir()}/playground-`);
let browser, site;

before(async () => {
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  const place = built(folder, WHEEL, "wasm");
  site = await served(place.replace(/\/playground$/, ""));
});

after(async () => {
  await browser?.close();
  site?.close();
  rmSync(folder, { recursive: true });
});

async function opened({ address = site.address, hash = "", query = "", context, ...options } = {}) {
  const page = await (context ?? (await browser.newContext({ viewport: { width: 1400, height: 900 }, ...options }))).newPage();
  page.elsewhere = [];
  page.faults = [];
  page.on("request", (request) => /^(blob|data|about):/.test(request.url()) || request.url().startsWith(address) || page.elsewhere.push(request.url()));
  page.on("pageerror", (error) => page.faults.push(String(error)));
  await page.goto(`${address}playground/${query}${hash}`);
  await page.waitForSelector(".cm-content");
  return page;
}

const typed = async (page, program) => {
  await page.click(".cm-content");
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(program);
};

/** Waits for the end of what runs. */
const done = (page, timeout = 60_000) => page.waitForFunction(() => document.querySelector("#seconds, .note") && document.querySelector("button.primary:enabled"), null, { timeout, polling: 100 });

const run = async (page, program, timeout) => {
  if (program !== undefined) await typed(page, program);
  await page.click("button.primary");
  await page.waitForTimeout(50);
  await done(page, timeout);
};

const printed = (page) => page.evaluate(() => document.querySelector(".output")?.textContent ?? "");
const note = (page) => page.evaluate(() => document.querySelector(".note")?.textContent ?? "");
const close = (page) => page.context().close();

async function explained(page) {
  await page.waitForFunction(() => {
    const frames = document.querySelectorAll(".frames iframe");
    return frames.length === 1 && frames[0].dataset.run === frames[0].parentNode.dataset.run;
  });
  const frame = page.frameLocator(".frames iframe:not(.behind)");
  await frame.locator(".page").waitFor({ state: "attached" });
  return (await frame.locator("body").innerText()).replace(/\s+/g, " ");
}

const shot = (page, name) => SHOTS && page.screenshot({ path: `${SHOTS}/${name}.png` });

test("all examples go the whole way, from the click to the explained page", async (t) => {
  const page = await opened();
  await shot(page, "first");
  const names = await page.$$eval("select option", (options) => options.map(({ value }) => value));
  assert.deepEqual(names.toSorted(), Object.keys(EXPECTED).toSorted());
  for (const [name, [prints, numbers]] of Object.entries(EXPECTED)) {
    await page.selectOption("select", name);
    if (name === names[0]) await page.click("button.primary:enabled", { timeout: 120_000 }); // it was chosen from the start
    await page.waitForTimeout(50);
    await done(page);
    assert.match(await printed(page), prints, name);
    assert.equal(await page.evaluate(() => document.querySelector("select").value), name);
    const fault = await page.evaluate(() => document.querySelector(".fault .what")?.textContent ?? "");
    if (FAILING[name]) assert.match(fault, FAILING[name]);
    else assert.equal(fault, "", name);
    const text = await explained(page);
    for (const number of numbers) assert.ok(text.toLowerCase().includes(number.toLowerCase()), `${name}: ${number} in ${text.slice(0, 1500)}`);
    const { whole, run } = await page.evaluate(() => ({ ...document.querySelector("#seconds").dataset }));
    t.diagnostic(`${name}: ${Number(whole).toFixed(2)} s from the click, ${Number(run).toFixed(2)} s of them the program`);
    if (["seeds-weights", "nan", "network"].includes(name)) await shot(page, name);
  }
  assert.deepEqual([page.elsewhere, page.faults], [[], []]);
  await close(page);
});

test("an example has its figure before it is run, and after an edit no number of another text can be read", async () => {
  const page = await opened({ hash: "#e=seeds-weights" });
  const figure = page.frameLocator(".frames iframe");
  await figure.locator(".program").waitFor();
  assert.match(await figure.locator("h1").innerText(), /put \[6, 120\] into x\.grad/);
  assert.match(await figure.locator(".lines").innerText(), /y = .*\* x\*\*2/);
  assert.deepEqual(page.elsewhere, []);
  const readable = () => page.$$eval(".question, .answer, .frames, .output", (all) => all.filter((one) => !one.closest(".stale")).map((one) => one.className));
  assert.deepEqual(await readable(), ["question", "answer", "frames"]);
  assert.equal(await page.locator(".changed").innerText(), "");
  await page.click(".cm-content");
  await page.keyboard.press("Control+End");
  await page.keyboard.type("\nprint(7)");
  assert.deepEqual(await readable(), []);
  assert.equal(await page.locator(".changed").innerText(), "The program has changed: run again.");
  const blurred = await page.$eval(".frames", async (one) => (await Promise.all(one.getAnimations().map((each) => each.finished)), getComputedStyle(one).filter));
  assert.match(blurred, /blur/);
  await run(page);
  assert.match(await printed(page), /7\n$/);
  await explained(page);
  assert.deepEqual(await readable(), ["output", "frames"]); // the question and its answer are of the example
  assert.equal(await page.locator(".changed").innerText(), "");
  await close(page);
});

test("an error marks its line, and is explained by the tensors that the line names", async () => {
  const page = await opened();
  await page.selectOption("select", "shape");
  await done(page);
  assert.equal(await page.locator(".cm-lintRange-error").innerText(), "y.backward(torch.tensor([1.0]))");
  await page.click("text=Explain this error");
  const table = await page.locator(".why table").innerText();
  assert.match(table, /y\s+\(2,\)\s+float32\s+computed by PowBackward0\s+\[1\.0, 4\.0\]/);
  assert.match(await page.locator(".why").innerText(), /a weight for each number/);
  await page.click("text=Go to line 5");
  assert.equal(await page.evaluate(() => document.activeElement.classList.contains("cm-content")), true);
  await shot(page, "error");
  await run(page, "x = 1\nif x\n    print(x)\n");
  assert.match(await page.locator(".fault .what").innerText(), /SyntaxError/);
  assert.match(await page.locator(".fault").innerText(), /Go to line 2/);
  await run(page, "import requests\n");
  await page.click("text=Explain this error");
  assert.match(await page.locator(".why").innerText(), /Nothing else can be imported/);
  await run(page, "print(1 / 1)\n");
  assert.equal(await page.locator(".fault, .cm-lintRange-error").count(), 0);
  await close(page);
});

test("stop ends an endless loop, and the next program runs", async () => {
  const page = await opened();
  await run(page, "print('before')\n");
  await typed(page, "print('round', flush=True)\nwhile True:\n    pass\n");
  await page.click("button.primary");
  await page.waitForFunction(() => document.querySelector(".output")?.textContent.includes("round"));
  await page.click("text=Stop");
  await done(page);
  assert.match(await note(page), /^Stopped/);
  await run(page, "print('after')\n");
  assert.equal(await printed(page), "after\n");
  await close(page);
});

test("a program that fills the memory, floods the output or ends Python harms nothing", async () => {
  const page = await opened();
  await run(page, "kept = []\nwhile True:\n    kept.append(bytearray(10**8))\n", 120_000);
  assert.match((await note(page)) + (await page.evaluate(() => document.querySelector(".fault .what")?.textContent ?? "")), /MemoryError|Python broke off/);
  await run(page, "print(6 * 7)\n");
  assert.equal(await printed(page), "42\n");
  await run(page, "for _ in range(1000):\n    print('x' * 1000)\n");
  const flood = await printed(page);
  assert.ok(flood.length < 205_000 && flood.endsWith("left out\n"), flood.slice(-100));
  await run(page, "raise SystemExit(3)\n");
  assert.match(await note(page), /ended itself: 3/);
  await run(page, "def f():\n    return f()\nf()\n");
  assert.match((await note(page)) + (await page.evaluate(() => document.querySelector(".fault .what")?.textContent ?? "")), /RecursionError|Python broke off/);
  await run(page, "print(6 * 7)\n");
  assert.equal(await printed(page), "42\n");
  await close(page);
});

test("what a program writes is text, in the page and in the frame", async () => {
  const page = await opened();
  const evil = "</script><script>parent.document.title='taken'</script><img src=x onerror=\"document.title='taken'\">";
  await run(page, `import torch\n\nevil = ${JSON.stringify(evil)}\nprint(evil)\nx = torch.ones(2, requires_grad=True)  # ${evil}\n(x * x).sum().backward()\n`);
  assert.equal(await printed(page), `${evil}\n`);
  await explained(page);
  await run(page, `raise ValueError(${JSON.stringify(evil)})\n`);
  assert.match(await page.locator(".fault .what").innerText(), /ValueError: <\/script>/);
  assert.equal(await page.title(), "pullback playground");
  const frames = await page.$$eval("iframe", (all) => all.map((frame) => frame.getAttribute("sandbox")));
  assert.ok(frames.every((sandbox) => !sandbox.includes("same-origin")));
  const blocked = await page.evaluate(() => fetch("https://example.com/").then(() => "reached", () => "blocked"));
  assert.equal(blocked, "blocked");
  await close(page);
});

test("a run starts from the same state as the one before", async () => {
  const page = await opened();
  const random = "import random\nimport numpy as np\nimport torch\nprint(torch.rand(2), np.random.rand(), random.random())\n";
  await run(page, random);
  const first = await printed(page);
  await run(page, "import torch\ntorch.set_default_dtype(torch.float64)\ntorch.set_grad_enabled(False)\ntorch.set_printoptions(precision=2)\n");
  await run(page, random);
  assert.equal(await printed(page), first);
  await run(page, "import torch\nx = torch.ones(1, requires_grad=True)\n(x / 3).requires_grad");
  assert.equal(await printed(page), "True\n");
  await close(page);
});

test("a slider changes a number of the program, and runs it again", async () => {
  const page = await opened();
  await run(page, "import torch\n\nx = torch.tensor([1.5, 2.0], requires_grad=True)\n(x**2).sum().backward()\nprint(x.grad)\n");
  await page.click("summary");
  const slider = page.getByLabel("1.5 in line 3");
  await slider.focus();
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => /3\.2/.test(document.querySelector(".output")?.textContent));
  assert.match(await page.locator(".cm-content").innerText(), /\[1\.6, 2\.0\]/);
  await page.keyboard.press("End");
  await page.waitForFunction(() => /9\./.test(document.querySelector(".output")?.textContent));
  assert.match(await page.locator(".cm-content").innerText(), /\[4\.5, 2\.0\]/);
  await shot(page, "sliders");
  await close(page);
});

test("a link carries the program, and runs nothing by itself", async () => {
  const page = await opened({ permissions: ["clipboard-read", "clipboard-write"] });
  await run(page, "import torch\n# ü ∂ 漢\nx = torch.tensor(2.0, requires_grad=True)\n(x**3).backward()\nprint(x.grad)\n");
  await explained(page); // until then the page of the example may still be in front
  await page.frameLocator(".frames iframe:not(.behind)").getByRole("button", { name: /Step/ }).first().click();
  await page.waitForTimeout(600);
  await page.click("text=Copy link");
  await page.waitForFunction(() => location.hash.startsWith("#p="));
  const address = page.url();
  const other = await opened({ hash: new URL(address).hash });
  assert.match(await other.locator(".cm-content").innerText(), /# ü ∂ 漢/);
  await other.waitForTimeout(500);
  assert.equal(await other.locator(".output, iframe, .loading").count(), 0);
  await run(other);
  assert.equal(await printed(other), "tensor(12.)\n");
  assert.match(await explained(other), /2 of 2/);
  const broken = await opened({ hash: "#p=abcdef" });
  assert.match(await note(broken), /damaged/);
  for (const one of [page, other, broken]) await close(one);
});

test("a link names an example", async () => {
  const page = await opened({ hash: "#e=nan", permissions: ["clipboard-read", "clipboard-write"] });
  assert.equal(await page.inputValue("select"), "nan");
  await page.frameLocator("iframe").locator("button").first().waitFor();
  await page.click("text=Copy link");
  await page.waitForFunction(() => document.querySelector(".copied").textContent.startsWith("Copied"), null, { polling: 100 });
  await page.waitForFunction(() => location.href.endsWith("playground/#e=nan"), null, { polling: 100 });
  await run(page);
  assert.match(await printed(page), /nan, 0\.2500/);
  await close(page);
});

test("it can be embedded", async () => {
  const page = await opened({ query: "?embed" });
  assert.equal(await page.locator("h1, select").count(), 0);
  await run(page);
  assert.match(await printed(page), /1\.0240e\+02/);
  await close(page);
});

test("a block of the tutorial is edited and run in its place, after the blocks above it", async () => {
  mkdirSync(`${folder}/wasm/tutorial`, { recursive: true });
  const block = (text) => `<div class="highlight-python"><pre>${text.replaceAll(">", "&gt;")}</pre></div>`;
  const blocks = [">>> import pullback\n>>> x = pullback.ones(2, requires_grad=True)\n>>> x.backward()\nTraceback (most recent call last):\n    ...\nRuntimeError\n", ">>> (3 * x).sum().backward()\n>>> x.grad\ntensor([3., 3.])\n"];
  writeFileSync(`${folder}/wasm/tutorial/page.html`, `<!doctype html><html data-content_root="../"><article>${blocks.map(block).join("")}</article><script type="module" src="../playground/blocks.js"></script></html>`);
  const page = await (await browser.newContext({ viewport: { width: 800, height: 900 } })).newPage();
  await page.goto(`${site.address}tutorial/page.html`);
  await page.getByText("Edit and run").nth(1).click();
  const frame = page.frameLocator("iframe.playground");
  await frame.locator(".output").waitFor({ timeout: 60_000 });
  assert.equal(await frame.locator(".output").textContent(), "tensor([3., 3.])\n");
  assert.match(await frame.locator(".before pre").textContent(), /^import pullback\nx = pullback.ones\(2, requires_grad=True\)\n$/);
  await shot(page, "block");
  await page.getByText("Close").click();
  assert.equal(await page.locator("iframe").count(), 0);
  await close(page);
});

test("the program is downloaded as a script and as a notebook", async () => {
  const page = await opened();
  for (const [button, name] of [
    [".py", "program.py"],
    [".ipynb", "program.ipynb"],
  ]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(`button:text-is("${button}")`)]);
    assert.equal(download.suggestedFilename(), name);
    const text = readFileSync(await download.path(), "utf8");
    if (name.endsWith(".py")) assert.match(text, /^import torch\n/);
    else assert.match(JSON.parse(text).cells[1].source.join(""), /^import pullback\n\nwith pullback.explain.record\(\) as explained:\n    import torch\n/);
  }
  await close(page);
});

test("after the first visit it works without a network", async () => {
  const own = await served(`${folder}/wasm`);
  const context = await browser.newContext();
  const page = await opened({ address: own.address, context });
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.reload();
  await run(page);
  own.close();
  await context.setOffline(true);
  const began = Date.now();
  await page.reload();
  await page.waitForSelector(".cm-content");
  await page.selectOption("select", "seeds-weights");
  await done(page);
  assert.match(await printed(page), /120/);
  assert.ok(Date.now() > began);
  await explained(page);
  await context.close();
});

test("axe finds nothing, wide, dark and on a phone, and nothing is wider than the phone", async () => {
  for (const [name, options] of Object.entries({
    wide: { viewport: { width: 1400, height: 900 } },
    dark: { viewport: { width: 1400, height: 900 }, colorScheme: "dark" },
    phone: { viewport: { width: 390, height: 844 }, hasTouch: true },
  })) {
    const page = await opened({ ...options, bypassCSP: true });
    for (const chosen of ["seeds-weights", "shape"]) {
      await page.selectOption("select", chosen);
      await done(page);
      await explained(page);
      if (chosen === "shape") await page.click("text=Explain this error");
      await page.locator("summary").click();
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => axe.run({ exclude: ["iframe"] }));
      assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 150) + node.failureSummary)}`), [], `${name} ${chosen}`);
      const wider = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(wider <= 0, `${name}: ${wider} pixels wider`);
      if (SHOTS) await page.screenshot({ path: `${SHOTS}/${name}-${chosen}.png`, fullPage: name === "phone" });
    }
    await close(page);
  }
});

test("the keyboard alone chooses, edits, runs and reads", async () => {
  const page = await opened();
  const focused = () => page.evaluate(() => document.activeElement.textContent.slice(0, 20) || document.activeElement.tagName);
  const seen = [];
  for (let presses = 0; presses < 14; presses += 1) {
    await page.keyboard.press("Tab");
    seen.push(await focused());
  }
  for (const wanted of ["Run", "Copy link", "Embed", ".py", ".ipynb", "Numbers of the progr"]) assert.ok(seen.some((text) => text.startsWith(wanted)), `${wanted} in ${seen}`);
  for (let tries = 0; tries < 5 && !(await page.textContent(".cm-content")).includes("typed"); tries += 1) {
    await page.focus(".cm-content"); // at once keys may still go to the frame that the last Tab has reached
    await page.waitForTimeout(200);
    await page.keyboard.press("Control+End");
    await page.keyboard.type("print('typed')");
  }
  await page.keyboard.press("Control+Enter");
  await page.waitForTimeout(50);
  await done(page);
  assert.match(await printed(page), /typed/);
  await page.keyboard.press("Tab");
  assert.notEqual(await focused(), "import torch");
  await close(page);
});

test("the site's own engine starts npm's core of Pyodide, and says that NumPy is missing", async (t) => {
  const place = built(folder, WHEEL, "pyodide");
  const own = await served(place.replace(/\/playground$/, ""));
  const page = await opened({ address: own.address });
  await run(page);
  assert.match(await note(page), /^Python broke off: Python 3\.14\.\d+ started, but NumPy 2[\d.]+ could not be loaded from 127\.0\.0\.1:\d+: .*Nothing was run\.$/);
  assert.deepEqual(page.elsewhere, []);
  const sizes = readdirSync(place, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  for (const entry of sizes) {
    const path = `${entry.parentPath ?? entry.path}/${entry.name}`;
    t.diagnostic(`${entry.name}: ${statSync(path).size} bytes, ${gzipSync(readFileSync(path)).length} packed`);
  }
  await close(page);
  own.close();
});
