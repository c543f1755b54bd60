// The keys, in a dialog.
import { h } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Page } from "./page";

const KEYS: [string, string][] = [
  ["→ or j, ← or k", "one step forwards, backwards"],
  ["Shift →", "the next step that uses this tensor"],
  ["Space", "play or pause"],
  ["Home, End", "before the first step, after the last"],
  ["F, B", "the first forward, the first backward step"],
  ["N", "the next finding of Health"],
  ["↑ ↓, Enter", "in the tape: choose a row and go there"],
  ["arrows, Enter", "on a box: along the edges, and go there"],
  ["+ and −", "unfold and fold, here or at the focused box"],
  ["0", "the whole graph, or as large as it can be read"],
  ["/", "find by name, operation, line or shape"],
  ["V", "type another v"],
  ["1 to 9", "row e_0 to e_8 of J"],
  ["G, C, H", "graph or table, cost, health"],
  ["W", "why this rule?"],
  ["Q", "the quiz"],
  ["T", "light, dark or as the system has it"],
  ["Esc", "close, or back to your own v"],
];

export function Help({ page }: { page: Page }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (page.state.help) dialog.current?.showModal();
    else dialog.current?.close();
  }, [page.state.help]);
  return (
    <dialog ref={dialog} aria-labelledby="keys-title" onClose={() => page.state.help && page.set({ help: false })}>
      <h2 id="keys-title">Keys</h2>
      <table>
        <tbody>
          {KEYS.map(([key, what]) => (
            <tr key={key}><th scope="row"><kbd>{key}</kbd></th><td>{what}</td></tr>
          ))}
        </tbody>
      </table>
      <p class="muted">
        J[i][j] is dyᵢ/dxⱼ, and backward(v) gives v @ J. A leaf is a tensor you made; the output is what backward was called on. pullback {page.trace.pullback}
      </p>
      <button class="primary" onClick={() => page.set({ help: false })}>Close</button>
    </dialog>
  );
}
