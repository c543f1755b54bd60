// In the tutorial: a button below each block of Python, which opens the block in the playground, in its place.
import { packed } from "./link";

interface Piece {
  source: string;
  raises: boolean;
}

/** The statements of a block of a Python session, without its prompts and its output. */
export function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let output = true;
  for (const line of text.split("\n")) {
    const [, prompt, code = ""] = /^(>>>|\.\.\.)(?: (.*))?$/.exec(line) ?? [];
    const last = found.at(-1);
    if (prompt === ">>>") found.push({ source: code, raises: false });
    else if (prompt === "..." && !output && last) last.source += `\n${code}`;
    else if (last && /^Traceback \(most recent call last\)/.test(line)) last.raises = true;
    output = !prompt;
  }
  return found.map(({ source, raises }) => ({ source: source.replace(/ *# doctest:.*$/gm, "").replace(/\n+$/, ""), raises }));
}

const joined = (all: Piece[]) => all.map(({ source }) => `${source}\n`).join("");

/** What a block is run with: of all blocks above it, the statements that do not raise. */
export function program(blocks: Piece[][], index: number): { before: string; program: string } {
  return { before: joined(blocks.slice(0, index).flat().filter(({ raises }) => !raises)), program: joined(blocks[index]!) };
}

function equip(place: Element, blocks: Piece[][], index: number, root: string): void {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "edit-and-run";
  button.textContent = "Edit and run";
  button.setAttribute("aria-expanded", "false");
  let frame: HTMLIFrameElement | null = null;
  button.addEventListener("click", async () => {
    if (frame) {
      frame.remove();
      frame = null;
    } else {
      frame = document.createElement("iframe");
      frame.className = "playground";
      frame.title = "This block in the playground";
      frame.src = `${root}playground/index.html?embed#${await packed({ ...program(blocks, index), echo: "all" })}`;
      button.after(frame);
    }
    button.textContent = frame ? "Close" : "Edit and run";
    button.setAttribute("aria-expanded", String(frame !== null));
  });
  place.after(button);
}

if (typeof document !== "undefined") {
  const places = [...document.querySelectorAll("article div.highlight-python, article div.highlight-pycon, article div.highlight-default")].filter((place) => place.textContent?.trimStart().startsWith(">>>"));
  const blocks = places.map((place) => pieces(place.querySelector("pre")?.textContent ?? ""));
  const root = document.documentElement.dataset.content_root ?? "./";
  places.forEach((place, index) => equip(place, blocks, index, root));
}
