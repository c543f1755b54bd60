// Pictures of the page compared with those in references/, in a way that another version of the browser passes.
//
// PICTURES=new takes new references; look at them before they are committed. A reference has half the width of the
// screen and 64 levels of each colour. Pictures are compared as means of squares of 4 by 4 pixels, in which the edges of
// letters, which each rasteriser draws in its own way, hardly show, and a colour, a size or a place does.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import pixelmatch from "pixelmatch";
import { PNG } from "pngjs";

const REFERENCES = new URL("./references/", import.meta.url);
const SQUARE = 4;
const STORED = 2;
/** How far a square may be off, from 0 to 1 as pixelmatch counts, and how many of a thousand squares may be further off. */
const THRESHOLD = 0.035;
const MOST = 0.3;
/** The fonts that scripts/test-page installs beside Chromium: others have other widths. */
const FONTS = { "--sans": '"DejaVu Sans"', "--mono": '"DejaVu Sans Mono"' };

const written = ({ data, width, height }, options) => PNG.sync.write({ data, width, height }, { deflateLevel: 9, deflateStrategy: 0, filterType: 0, ...options });

/** A picture made smaller: each pixel the mean of a square. */
function reduced({ data, width, height }, by) {
  const small = { width: Math.floor(width / by), height: Math.floor(height / by) };
  const out = Buffer.alloc(4 * small.width * small.height);
  for (let y = 0; y < small.height; y++) {
    for (let x = 0; x < small.width; x++) {
      for (let channel = 0; channel < 4; channel++) {
        let sum = 0;
        for (let i = 0; i < by * by; i++) sum += data[4 * ((by * y + Math.floor(i / by)) * width + by * x + (i % by)) + channel];
        out[4 * (y * small.width + x) + channel] = Math.round(sum / (by * by));
      }
    }
  }
  return { data: out, ...small };
}

const coarse = ({ data, ...size }) => ({ data: data.map((value, i) => (i % 4 === 3 ? value : Math.min(255, 4 * Math.round(value / 4)))), ...size });

/** Have a page that is not open yet use the fonts of the references, whatever else is installed. */
export async function pinFonts(page) {
  await page.addInitScript((fonts) => {
    const pin = () => {
      for (const [name, family] of Object.entries(fonts)) document.documentElement?.style.setProperty(name, family);
      return document.documentElement !== null;
    };
    if (!pin()) new MutationObserver((_, observer) => pin() && observer.disconnect()).observe(document, { childList: true });
  }, FONTS);
}

/** The fonts that are not installed: a family that is missing is drawn as the one after it. */
export function missingFonts(page) {
  return page.evaluate((families) => {
    const context = document.createElement("canvas").getContext("2d");
    const width = (family) => ((context.font = `40px ${family}`), context.measureText("Wimg 0123 @").width);
    return families.filter((family) => ["serif", "cursive"].every((other) => width(`${family}, ${other}`) === width(other)));
  }, Object.values(FONTS));
}

let folder;
const kept = () => (folder ??= process.env.SHOTS || mkdtempSync(`${tmpdir()}/pullback-pictures-`));

/** Compare a screenshot with the reference of its name; the shares of squares that differ, in thousandths. */
export function compare(name, screenshot) {
  const shot = PNG.sync.read(screenshot);
  const file = new URL(`${name}.png`, REFERENCES);
  if (process.env.PICTURES === "new") {
    mkdirSync(REFERENCES, { recursive: true });
    writeFileSync(file, written(coarse(reduced(shot, STORED)), { colorType: 2 }));
    return 0;
  }
  assert.ok(existsSync(file), `there is no reference for ${name}: PICTURES=new scripts/test-page takes one`);
  const reference = reduced(PNG.sync.read(readFileSync(file)), SQUARE / STORED);
  const now = reduced(shot, SQUARE);
  const sizes = [reference, now].map(({ width, height }) => `${SQUARE * width} x ${SQUARE * height}`);
  const same = sizes[0] === sizes[1];
  const difference = new PNG({ width: reference.width, height: reference.height });
  const found = same ? pixelmatch(reference.data, now.data, difference.data, now.width, now.height, { threshold: THRESHOLD, includeAA: true }) : 0;
  const share = (1000 * found) / (now.width * now.height);
  if (same && share <= MOST) return share;
  writeFileSync(`${kept()}/${name}-now.png`, screenshot);
  if (same) writeFileSync(`${kept()}/${name}-difference.png`, written(difference));
  assert.fail(
    `${name} does not look like its reference frontend/test/references/${name}.png: ` +
      (same ? `${found} squares differ, ${share.toFixed(1)} of a thousand (at most ${MOST}): see ${kept()}/${name}-difference.png and ` : `it is ${sizes[1]}, not ${sizes[0]}: see `) +
      `${kept()}/${name}-now.png. If it shall look so: PICTURES=new scripts/test-page`,
  );
}
