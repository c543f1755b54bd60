// The address of a page, which holds what the reader sees: a link to it shows the same.
import { useEffect, useRef } from "preact/hooks";

/** Keeps the address at `hash`, and hears of another that is typed or followed. */
export function useAddress(hash: string, reopen: (hash: string) => void): void {
  const latest = useRef(reopen);
  latest.current = reopen;
  useEffect(() => {
    // When it has settled: browsers count the writes of an address, and refuse too many.
    const timer = setTimeout(() => {
      if (parent !== window) parent.postMessage({ pullback: "address", hash }, "*"); // to the playground, which holds the page
      try {
        history.replaceState(null, "", hash);
      } catch {
        // A page inside srcdoc has no address to write.
      }
    }, 150);
    return () => clearTimeout(timer);
  }, [hash]);
  useEffect(() => {
    // The address may have been written again meanwhile: the event knows which was asked for.
    const onHash = (event: HashChangeEvent) => latest.current(new URL(event.newURL).hash);
    addEventListener("hashchange", onHash);
    return () => removeEventListener("hashchange", onHash);
  }, []);
}
