// The page as a part of another: that one makes the frame as high as what it shows.

/** Tells the page around this one how high it is, whenever that changes, and when it asks. */
export function tellHeight(): void {
  const place = document.querySelector<HTMLElement>("#app")!;
  document.documentElement.classList.add("embedded");
  const tell = () => parent.postMessage({ pullback: "height", height: Math.ceil(place.getBoundingClientRect().height) }, "*");
  new ResizeObserver(tell).observe(place);
  addEventListener("message", ({ source, data }) => source === parent && data?.pullback === "height?" && tell());
}

/** Whether an address asks for it. */
export function isEmbedded(hash: string): boolean {
  return /[#&]embed\b/.test(hash);
}

/** The address as it is, or the state in which the page was written. */
export function startingHash(): string {
  return location.hash || document.documentElement.dataset["start"] || "";
}
