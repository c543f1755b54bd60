// What all pages do first: they read what they were written with, and show it, or say why they cannot.
import { render, type VNode } from "preact";

export interface Data {
  schema: string;
  version: number;
}

export function start(show: (data: Data) => VNode): void {
  const place = document.querySelector("#app")!;
  try {
    const shown = show(JSON.parse(document.querySelector("#trace")!.textContent!));
    place.textContent = "";
    render(shown, place);
  } catch (error) {
    place.textContent = `pullback explain: ${error instanceof Error ? error.message : String(error)}`;
    throw error;
  }
}
