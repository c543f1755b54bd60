// Where the playground starts.
import { h, render } from "preact";

import { App } from "./app";
import { EXAMPLES } from "./examples";
import { unpacked, type State } from "./link";
import "./playground.css";

/** True inside a page of this site, whose button was pressed: a program from anywhere else waits for Run. */
function withinSite(): boolean {
  try {
    return parent !== window && parent.location.origin === location.origin;
  } catch {
    return false;
  }
}

async function start(): Promise<void> {
  let given: State | null = null;
  let damaged = "";
  try {
    given = await unpacked(location.hash);
  } catch {
    damaged = "The link is damaged or cut off: the program that it carried cannot be read.";
  }
  const query = new URLSearchParams(location.search);
  const base = new URL("./", document.baseURI).href;
  const place = document.querySelector("#app")!;
  place.textContent = "";
  const example = EXAMPLES.find(({ name }) => location.hash === `#e=${name}`) ?? EXAMPLES[0]!;
  render(<App base={base} site={new URL("../", base).href} given={given} first={example} damaged={damaged} embedded={query.has("embed")} trusted={withinSite()} />, place);
  if ("serviceWorker" in navigator && isSecureContext) await navigator.serviceWorker.register("service.js").catch(() => {}); // it works without, but not offline
}

// A link to another program that is followed in this page.
addEventListener("hashchange", () => location.reload());
void start();
