import { chromium } from "playwright-core";
const b = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
for (const [file, width, scheme] of [["run",1400,"light"],["two",390,"dark"],["two",1400,"dark"]]) {
  const p = await b.newPage({ viewport: { width, height: 900 }, colorScheme: scheme });
  p.on("pageerror", e => console.log(file, String(e)));
  await p.goto(`file:///tmp/${file}.html`); await p.waitForTimeout(500);
  await p.screenshot({ path: `/tmp/${file}-${width}.png` });
  await p.addScriptTag; 
  await p.close();
}
await b.close();
