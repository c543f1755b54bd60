// The picture as a file of its own.
import type { Page } from "./page";

const COPIED = ["fill", "stroke", "stroke-width", "stroke-dasharray", "paint-order", "opacity", "font-family", "font-size", "font-weight", "font-style", "text-anchor"];

/** The SVG as it looks on the screen, with every style written into it: it needs nothing else to be shown. */
function pictureSource(svg: SVGSVGElement): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const [originals, copies] = [svg.querySelectorAll<SVGElement>("*"), copy.querySelectorAll<SVGElement>("*")];
  originals.forEach((original, i) => {
    const target = copies[i]!;
    const style = getComputedStyle(original);
    if (style.display === "none") return target.setAttribute("display", "none");
    for (const name of COPIED) target.setAttribute(name, style.getPropertyValue(name));
    const moved = style.transform;
    if (original.classList.contains("box") && moved !== "none") target.setAttribute("transform", moved);
    for (const name of ["class", "style", "role", "tabindex", "aria-label", "data-box"]) target.removeAttribute(name);
    return undefined;
  });
  const legend = document.createElementNS("http://www.w3.org/2000/svg", "text");
  const { y, width, height } = svg.viewBox.baseVal;
  legend.textContent = "grey, down: values, forward. Orange, up: gradients, backward. Dashed: zero";
  for (const [name, value] of Object.entries({ x: 8, y: y + height + 16, "font-size": 11, "font-family": "sans-serif", fill: getComputedStyle(svg).color })) legend.setAttribute(name, `${value}`);
  copy.append(legend);
  copy.setAttribute("viewBox", `0 ${y} ${width} ${height + 24}`);
  copy.setAttribute("height", `${svg.height.baseVal.value * (1 + 24 / height)}`);
  const background = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  background.setAttribute("width", "100%");
  background.setAttribute("height", "100%");
  background.setAttribute("fill", getComputedStyle(svg.closest(".center-pane") ?? document.body).backgroundColor);
  copy.prepend(background);
  for (const name of ["class", "id", "role"]) copy.removeAttribute(name);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return new XMLSerializer().serializeToString(copy);
}

export function savePicture(page: Page): void {
  const svg = document.querySelector<SVGSVGElement>("#picture");
  if (!svg) return page.set({ notice: "Show the graph first: the table has no picture." });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([pictureSource(svg)], { type: "image/svg+xml" }));
  link.download = `pullback-step-${page.state.position}.svg`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  page.set({ notice: `Saved ${link.download}` });
}
