// The first screen, "Read", in a real browser, offline: what people see first.
// PAGES names the folder that pages.py has filled, CHROMIUM the browser.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { closed, open, PAGES, press, text, trace, violations } from "./opened.mjs";
import { check, settled } from "./watched.mjs";

const EXAMPLES = ["plane", "rounds", "pictured", "several", "invalid"];
const stops = async (page) => Number((await text(page, "#position")).split(" of ")[1]);
const cards = (page) => page.$eval(".open", (one) => one.innerText);
const row = (page, line) => page.$$eval(".lines .line", (all, wanted) => all.find((one) => one.querySelector(".number")?.innerText === wanted)?.innerText.split("\n").at(-1), String(line));

check("read 1: the page opens with a sentence, the program and one step; the workbench is one switch away, and old addresses open it", async () => {
  const page = await open("plane");
  assert.equal(await text(page, "h1"), "y.backward([1, 2]) put [9, 4] into x.grad");
  assert.equal(await page.getAttribute(".mode-switch button:nth-child(1)", "aria-pressed"), "true");
  assert.match(await text(page, ".program h2"), /plane\.py/);
  await page.click("text=Workbench");
  await page.waitForSelector("#picture .box");
  await page.click("text=Read");
  assert.equal(await page.$(".panes"), null);
  await page.waitForFunction(() => location.hash.startsWith("#mode=read"), null, { polling: 50 });
  await page.reload();
  await page.waitForSelector(".node");
  await closed(page);
  const old = await open("twice", { hash: "#call=2&step=8" });
  assert.ok(await old.$(".panes"));
  assert.match(await text(old, "#position"), /backward/);
  await closed(old);
  assert.ok(await (await open("started")).$(".program"), "the page of to_html(step=8) is read");
});

check("read 1: another v is typed, and all numbers follow", async () => {
  const page = await open("plane");
  await press(page, "End");
  await page.fill('[data-v="0"]', "0");
  await settled(page);
  assert.equal(await text(page, "h1"), "y.backward([0, 2]) would put [8, 2] into x.grad");
  assert.match(await page.$eval("[data-box=t0]", (box) => box.textContent), /\[8, 2\]/);
  assert.match(await row(page, 5), /\[8, 2\]/);
  await page.click("#yours");
  assert.match(await text(page, "h1"), / put \[9, 4\]/);
  await closed(page);
});

check("read 1.1: stops are lines: 5 in plane.py; rounds of a loop are told; what one line computes is one stop", async () => {
  const page = await open("plane");
  assert.equal(await stops(page), 5);
  const lines = [];
  await press(page, "Home");
  for (let i = 0; i < 5; i++) {
    lines.push(Number(await text(page, ".line.now .number")));
    await press(page, "ArrowRight");
  }
  assert.deepEqual(lines, [10, 9, 8, 7, 6]);
  assert.match(await row(page, 5), /\[9, 4\]/);
  assert.match(await page.$eval("[data-box=t0]", (box) => box.textContent), /grad\[9, 4\]/);
  await page.click("text=by operation");
  assert.equal(await stops(page), 6);
  await closed(page);

  const looped = await open("rounds");
  assert.equal(await stops(looped), 5);
  await press(looped, "Home");
  await press(looped, "ArrowRight");
  const card = await cards(looped);
  for (const { outputs, phase, place } of trace("rounds").calls[0].steps) {
    if (phase !== "backward" || place?.line !== 12) continue;
    assert.ok(card.includes(trace("rounds").calls[0].tensors[outputs[0]].name), card);
  }
  assert.equal(await looped.$(".round"), null, "a line that ran once has no round");
  for (const nth of [3, 2, 1]) {
    await press(looped, "ArrowRight");
    assert.equal(await text(looped, ".line.now .round"), `round ${nth} of 3`);
  }
  assert.match(await text(looped, ".fold"), /⋯ 2 lines/);
  await closed(looped);
});

check("read 1.2: the rows of J are arrows in the plane, their sum is the gradient, and a screen reader gets a sentence", async () => {
  const page = await open("plane", { hash: "#mode=read&figure=plane" });
  const drawn = () => page.$$eval(".arrow-label", (all) => all.map((one) => one.textContent).sort());
  assert.deepEqual(await drawn(), ["1·[1, 2]", "2·[4, 1]", "x.grad = [9, 4]"]);
  const said = () => page.$eval(".plane > svg", (svg) => [svg.getAttribute("role"), svg.getAttribute("aria-label")]);
  assert.deepEqual(await said(), ["img", "1 times [1, 2] plus 2 times [4, 1] is [9, 4], x.grad"]);
  // Head to tail: each arrow begins where the one before ends, and the sum ends where the last does.
  const ends = await page.$$eval(".arrow", (all) => all.map((one) => ({ from: one.querySelector(".body").getAttribute("d").match(/M([^L]*)/)[1], to: one.querySelector(".head").getAttribute("d").match(/M([^L]*)/)[1] })));
  assert.equal(ends[1].from, ends[0].to);
  assert.deepEqual([ends[2].from, ends[2].to], [ends[0].from, ends[1].to]);
  assert.match(await text(page, ".square figcaption"), /7 times its area/);
  await page.fill('[data-v="0"]', "0");
  await settled(page);
  assert.ok((await drawn()).includes("x.grad = [8, 2]"));
  for (const width of [390, 1300]) {
    await page.setViewportSize({ width, height: 900 });
    await settled(page);
    const inside = await page.$eval(".plane > svg", (svg) => {
      const { left, right, top, bottom } = svg.getBoundingClientRect();
      return [...svg.querySelectorAll("text")].every((one) => ((box) => box.left >= left - 1 && box.right <= right + 1 && box.top >= top - 1 && box.bottom <= bottom + 1)(one.getBoundingClientRect()));
    });
    assert.ok(inside, `every label lies in the drawing at ${width}`);
  }
  await closed(page);
});

check("read 1.4: nothing lies on the current box, at every step of five examples, at 390, 1300 and 1400", async () => {
  for (const name of EXAMPLES) {
    const page = await open(name, { hash: "#mode=read" });
    for (const width of [390, 1300, 1400]) {
      await page.setViewportSize({ width, height: 900 });
      await press(page, "Home");
      for (let i = await stops(page); i > 0; i--) {
        const met = await page.evaluate(() => {
          const current = [...document.querySelectorAll(".node.now")];
          const others = [...document.querySelectorAll(".node:not(.now), .sum, .figure-bar > *, .zoom, .overview, .stepper")];
          const meets = (a, b) => a.left < b.right - 0.5 && b.left < a.right - 0.5 && a.top < b.bottom - 0.5 && b.top < a.bottom - 0.5;
          const shape = (one) => (one.querySelector(":scope > .frame, :scope > rect") ?? one).getBoundingClientRect();
          scrollTo(0, 1e6); // a transport that sticks to the window lies at its own place then
          return [current.length, current.flatMap((one) => others.filter((other) => meets(shape(one), shape(other))).map((other) => other.textContent))];
        });
        assert.ok(met[0] > 0, `${name} ${width}: a current box`);
        assert.deepEqual(met[1], [], `${name} ${width}: stop ${i} from the end`);
        await press(page, "ArrowRight");
      }
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} ${width}: nothing sideways`);
    }
    await closed(page);
  }
});

check("read 1.5: embedded, without header and drawers, the frame is as high as the page, and Step lies under the program", async () => {
  const host = `${PAGES}/host.html`;
  const site = new URL("../../docs/_static/site.js", import.meta.url).href;
  writeFileSync(host, `<!doctype html><meta charset=utf-8><title>host</title><article><iframe class=explain title=explain style="width:100%;height:300px;border:1px solid" src="plane.html#embed"></iframe></article><script src="${site}"></script>`);
  const page = await open("plane");
  await page.goto(String(pathToFileURL(host)));
  const frame = await (await page.waitForSelector("iframe")).contentFrame();
  await frame.waitForSelector(".node");
  const even = () => frame.waitForFunction(() => document.documentElement.scrollHeight === document.documentElement.clientHeight && document.querySelector("#app").offsetHeight > innerHeight - 2);
  for (const width of [1400, 700, 390]) {
    await page.setViewportSize({ width, height: 900 });
    await even();
    for (let i = 0; i < 5; i++) {
      await frame.click("#step");
      await even();
    }
    await frame.press("#step", "Home");
  }
  assert.deepEqual(await frame.$$eval(".header, .drawers", (all) => all.length), 0);
  const [step, program, figure] = await Promise.all(["#step", ".lines", ".figure-pane"].map(async (one) => (await frame.$(one)).boundingBox()));
  assert.ok(step.y >= program.y + program.height, "under the program");
  assert.ok(step.y + step.height <= figure.y || step.x + step.width <= figure.x, "not over the graph");
  await page.context().close();
});

check("read 1.6: at 1300 no cell of the table lies outside of it, and the value is always there", async () => {
  for (const [hash, names] of [["#mode=read&drawer=table", ["plane", "rounds"]], ["#view=table", ["plane", "pictured"]]]) {
    for (const name of names) {
      const page = await open(name, { hash, width: 1300 });
      await page.waitForSelector(".table-view td");
      const { out, value } = await page.$eval(".table-view", (view) => {
        const edge = view.getBoundingClientRect();
        const cells = [...view.querySelectorAll("th, td")].filter((one) => one.offsetWidth);
        return { out: cells.filter((one) => one.getBoundingClientRect().right > edge.right + 1).map((one) => one.innerText), value: cells.some((one) => one.innerText.startsWith("value")) };
      });
      assert.deepEqual(out, [], `${name} ${hash}`);
      assert.ok(value);
      await closed(page);
    }
  }
});

check("read: drawers tell their answer, open one at a time, and hold the workbench's panels", async () => {
  const page = await open("plane");
  const labels = await page.$$eval(".drawers button", (all) => all.map((one) => one.innerText));
  assert.deepEqual(labels.slice(0, 5).map((label) => label.replace(/\d+ B/, "N B")), ["Rows of J 2", "All operations 11", "Health ✓ no NaN, inf or zero", "Cost N B at most", "Table 7 tensors"]);
  for (const [id, wanted] of [["rows", /row 1 of J/], ["operations", /StackBackward0/], ["health", /No NaN/], ["cost", /Bytes alive/], ["table", /UnbindBackward0/]]) {
    await page.click(`[data-drawer=${id}]`);
    await settled(page);
    assert.match(await text(page, ".drawer"), wanted);
    assert.equal(await page.$$eval(".drawer", (all) => all.length), 1);
  }
  await page.click("[data-drawer=table]");
  assert.equal(await page.$(".drawer"), null);
  await page.click("[data-drawer=rows]");
  await page.click('[data-row="1"]');
  assert.match(await text(page, "h1"), /backward\(\[0, 1\]\) would put \[4, 1\]/);
  await page.click(".drawers >> text=Quiz");
  await page.waitForSelector(".quiz");
  await closed(page);
  const bad = await open("invalid", { hash: "#mode=read" });
  assert.match(await text(bad, "[data-drawer=health]"), /^Health ! .*NaN/);
  await closed(bad);
});

check("read: digits, the first difference and the examples are drawers, opened by keyboard, with the marked row said", async () => {
  const page = await open("beside", { hash: "#mode=read" });
  for (const [kind, answer, said, marked] of [
    ["digits", /^Digits [\d.]+ of 7.2 right/, /rsub at pages\.py:\d+/, /1 - pb\.cos/],
    ["difference", /^First difference line \d+/, /multiply at pages\.py:\d+: .* gave .* in the first run and/, /multiply/],
    ["examples", /^Examples number \d+ of 24/, /of 24 examples, number \d+ adds most/, /^\d+/],
  ]) {
    assert.match(await text(page, `[data-drawer=${kind}]`), answer);
    await page.focus(`[data-drawer=${kind}]`);
    await press(page, "Enter");
    assert.match(await text(page, ".drawer .said"), said);
    assert.match(await text(page, ".drawer [aria-current=true]"), marked);
    await press(page, "Tab", 20);
    assert.ok(await page.$eval(".drawer .sheet", (one) => one.tabIndex === 0));
  }
  await page.reload();
  await page.waitForSelector(".drawer .sheet");
  await closed(page);
});

check("read: by keyboard alone: Tab reaches v, Step and the drawers; arrows step, and lines without a mouse", async () => {
  const page = await open("plane");
  const reached = [];
  for (let i = 0; i < 30; i++) {
    await page.keyboard.press("Tab");
    const found = await page.evaluate(() => {
      const { activeElement: one } = document;
      if (one === document.body) return { name: "", seen: true }; // after the last
      const { outlineStyle } = getComputedStyle(one);
      return { name: one.id || one.dataset.v || one.innerText?.trim() || one.getAttribute("aria-label"), seen: outlineStyle !== "none" || one.matches("input") };
    });
    assert.ok(found.seen, `the focus on ${found.name} can be seen`);
    reached.push(found.name);
  }
  for (const wanted of ["0", "1", "step", "Plane", "Quiz"]) assert.ok(reached.includes(wanted), `${wanted} in ${reached}`);
  await page.focus("#step");
  await page.keyboard.press("Enter");
  await settled(page);
  assert.equal(await text(page, "#position"), "3 of 5");
  await page.focus(".stepper input");
  await press(page, "End");
  assert.equal(await text(page, "#position"), "5 of 5");
  await page.waitForFunction(() => /x/.test(document.querySelector("#said").innerText));
  await closed(page);
});

check("read: axe finds nothing, light and dark, wide and narrow, in every state; nothing is wider than the window", async () => {
  for (const colorScheme of ["light", "dark"]) {
    for (const [name, hash] of [["plane", "#mode=read"], ["plane", "#mode=read&figure=plane&drawer=rows"], ["plane", "#embed"], ["rounds", "#mode=read&step=99&drawer=cost"], ["invalid", "#mode=read&drawer=health"], ["pictured", "#mode=read&by=operation&drawer=operations"], ["redacted", "#mode=read&drawer=table"], ["beside", "#mode=read&drawer=digits"], ["beside", "#mode=read&drawer=difference"], ["beside", "#mode=read&drawer=examples"], ["hostile", "#mode=read"]]) {
      const page = await open(name, { hash, colorScheme });
      for (const width of [1400, 390, 320]) {
        await page.setViewportSize({ width, height: 900 });
        await settled(page);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} ${hash} ${width}`);
        if (width !== 320) assert.deepEqual(await violations(page), [], `${name} ${hash} ${width} ${colorScheme}`);
      }
      await closed(page);
    }
  }
});

check("read: the theme changes it, and on paper there are no buttons", async () => {
  const page = await open("plane");
  const color = () => page.$eval("body", (body) => getComputedStyle(body).backgroundColor);
  const light = await color();
  await page.click("text=Theme");
  await page.click("text=Light");
  assert.notEqual(await color(), light);
  await page.emulateMedia({ media: "print" });
  await settled(page);
  assert.deepEqual(await page.$$eval("button", (all) => all.filter((one) => one.offsetWidth).map((one) => one.innerText)), []);
  assert.ok(await page.isVisible("h1"));
  assert.ok(await page.isVisible(".lines"));
  await closed(page);
});

check("read: the first paint of a small trace comes within 300 ms, and one of many operations is read as well", async () => {
  let session;
  const prepare = async (page) => {
    session = await page.context().newCDPSession(page);
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
  };
  const page = await open("plane", { prepare });
  await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length);
  const { metrics } = await session.send("Performance.getMetrics");
  const busy = 1000 * metrics.find(({ name }) => name === "TaskDuration").value;
  const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime);
  console.log(`first paint of plane: ${paint.toFixed(0)} ms, of which this page computed ${busy.toFixed(0)}`);
  assert.ok(busy < 300, `${busy} ms`); // by its own clock: others may compute on this machine
  await closed(page);
  const long = await open("long", { hash: "#mode=read" });
  assert.ok(await long.$("#picture .box"), "its graph folds");
  await press(long, "ArrowRight", 3);
  await closed(long);
});
