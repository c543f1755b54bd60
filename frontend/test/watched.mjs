// Tests in a browser in which nothing is waited for without end.
//
// Playwright bounds some waits, and not those for `evaluate`, `newPage` or `close`. Here every call has a limit, and one that
// runs out of it fails with what was waited for, from where, and what the page did meanwhile; the next test gets a new browser.
import { after, test } from "node:test";
import { chromium } from "playwright-core";

/** Milliseconds: for a test, for one call in it (Playwright's own 30 s come first), and for an answer to a plain question. */
const TEST = 400_000;
const CALL = 120_000;
const ANSWER = 10_000;
const FRAME = 2_000;
const ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--font-render-hinting=none"];

class Late extends Error {
  name = "TimeoutError";
}

let running = null;
let deadline = Infinity;

function bounded(promise, what, most = CALL) {
  const left = deadline - Date.now();
  const late = new Late(left < most ? `the ${TEST / 1000} s of a test ended in ${what}` : `waited ${most / 1000} s for ${what}`);
  let timer;
  const end = new Promise((_, reject) => (timer = setTimeout(reject, Math.min(most, left), late)));
  return Promise.race([promise, end]).finally(() => clearTimeout(timer));
}

const inWords = (args) => args.map((arg) => (typeof arg === "function" ? String(arg) : JSON.stringify(arg))).join(", ").replace(/\s+/g, " ").slice(0, 150);
const isPlaywrights = (value) => typeof value === "object" && value !== null && ![Object, Array, Buffer].includes(value.constructor);

/** An object of Playwright's with a limit for each of its calls, and for those of the objects that these give. */
function watched(target, name) {
  const watch = (value, what) => (isPlaywrights(value) ? watched(value, what) : value);
  return new Proxy(target, {
    get(_, key) {
      const value = target[key];
      if (typeof value !== "function") return watch(value, `${name}.${String(key)}`);
      return (...args) => {
        const result = value.apply(target, args);
        return result instanceof Promise ? bounded(result, `${name}.${key}(${inWords(args)})`).then((found) => watch(found, key)) : watch(result, key);
      };
    },
  });
}

async function launch() {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ARGUMENTS, timeout: CALL });
  const asked = browser.newBrowserCDPSession().then((session) => session.send("SystemInfo.getProcessInfo"));
  const { processInfo } = await bounded(asked, "the new browser").catch(async (error) => {
    await bounded(browser.close(), "", ANSWER).catch(() => {});
    throw error;
  });
  return { browser, process: processInfo.find(({ type }) => type === "browser").id, debuggers: new Map() };
}

/** A page in a context of its own. Its debugger is ready: once a page loops, it is too late for that. */
export async function newPage(options) {
  const { browser, debuggers } = running;
  const context = await bounded(browser.newContext(options), "a context");
  const page = await bounded(context.newPage(), "a page");
  const session = await bounded(context.newCDPSession(page), "the debugger");
  await bounded(session.send("Debugger.enable").catch(() => {}), "the debugger"); // refused where scripts are
  debuggers.set(page, session);
  page.once("close", () => debuggers.delete(page));
  return watched(page, "page");
}

/** Two frames later, or after a while: at times a headless browser gives no more of them, and nothing in the page waits for one. */
export function settled(page) {
  return page.evaluate((most) => new Promise((done) => (setTimeout(done, most), requestAnimationFrame(() => requestAnimationFrame(done)))), FRAME);
}

/** Where the page's script is, if it is running and does not end. */
async function stack(session) {
  const paused = new Promise((done) => session.once("Debugger.paused", ({ callFrames }) => done(callFrames)));
  session.send("Debugger.pause").catch(() => {});
  const frames = await bounded(paused, "", ANSWER).catch(() => []);
  return frames.slice(0, 8).map(({ functionName, url, location }) => `${functionName || "a function"} ${url}:${location.lineNumber + 1}:${location.columnNumber + 1}`);
}

/** What keeps the pages: whether it is their own doing, and what to say of it. */
async function obstacle() {
  const over = deadline < Date.now();
  deadline = Infinity;
  for (const [page, session] of running.debuggers) {
    const framed = page.evaluate((most) => new Promise((done) => (setTimeout(done, most, false), requestAnimationFrame(() => done(true)))), ANSWER / 2);
    const gives = await bounded(framed, "", ANSWER).catch(() => null);
    if (gives) continue;
    if (gives === false) return { own: false, said: `${page.url()} answers, but the browser gives it no frames` };
    const lines = await stack(session);
    return { own: lines.length > 0, said: `${page.url()} does not answer: ${lines.length ? `it is in\n  ${lines.join("\n  ")}` : "no script runs in it"}` };
  }
  return { own: over, said: running.debuggers.size ? "every page answers and gets frames" : "no page is open" };
}

function kill() {
  try {
    process.kill(running.process, "SIGKILL");
  } catch {
    // It had ended by itself.
  }
  running = null;
}

/** Run the body; if a wait in it runs out or the browser has ended, once more in another one, unless the page's own script is what hangs. */
async function attempted(name, body, last = false) {
  if (!running?.browser.isConnected()) running = await launch();
  deadline = Date.now() + TEST;
  try {
    return await body();
  } catch (error) {
    const ended = !running.browser.isConnected();
    if (error.name !== "TimeoutError" && !ended) throw error;
    const { own, said } = ended ? { own: false, said: "the browser has ended" } : await obstacle();
    kill();
    error.message = `${error.message}\n${said}`;
    error.stack = `${error.name}: ${error.message}\n${error.stack.split("\n").filter((line) => /^\s+at /.test(line)).join("\n")}`;
    if (own || last) throw error;
    console.log(`${name}: once more, in another browser: ${error.stack}`);
  } finally {
    deadline = Infinity;
    const left = running?.browser.contexts() ?? [];
    await bounded(Promise.all(left.map((context) => context.close())), "", ANSWER).catch(kill);
  }
  return attempted(name, body, true);
}

/** A test of pages that it opens with newPage. */
export function check(name, body) {
  test(name, (context) => attempted(name, () => body(context)));
}

after(() => running && bounded(running.browser.close(), "", ANSWER).catch(kill));
