// What chooses: the view, the theme, the call, and what of it.
import { Fragment, h } from "preact";
import { Choice } from "./choice";
import type { Page } from "./page";
import type { Theme } from "./state";

const NEXT_THEME: Record<Theme, Theme> = { auto: "light", light: "dark", dark: "auto" };

/** The story, or everything at once. */
export function ModeSwitch({ page }: { page: Page }) {
  return <Choice label="View" also="mode-switch" names={{ read: "Read", workbench: "Workbench" }} value={page.state.mode} choose={(mode) => page.set({ mode })} />;
}

export function ThemeButton({ page }: { page: Page }) {
  const { theme } = page.state;
  return (
    <button onClick={() => page.set({ theme: NEXT_THEME[theme] })} aria-label={`Theme: ${theme}`}>
      {theme === "auto" ? "Theme" : theme === "dark" ? "Dark" : "Light"}
    </button>
  );
}

/** Which of several calls is shown; nothing where there is one. */
export function CallPicker({ page }: { page: Page }) {
  const { trace, state } = page;
  if (trace.calls.length < 2) return null;
  return (
    <label class="calls">
      call{" "}
      <select value={state.call} onChange={(event) => page.set({ call: Number(event.currentTarget.value) })}>
        {trace.calls.map((call, k) => <option value={k}>{`${k + 1} of ${trace.calls.length}${call.place ? `, line ${call.place.line}` : ""}`}</option>)}
      </select>
    </label>
  );
}

/** Which output, and the gradient of which leaf. */
export function Pickers({ page }: { page: Page }) {
  const { call, model, state } = page;
  return (
    <>
      {call.outputs.length > 1 && (
        <label>
          output{" "}
          <select value={state.output} onChange={(event) => page.set({ output: Number(event.currentTarget.value) })}>
            {call.outputs.map((output, k) => (
              <option value={k}>{model.name(output.tensor).slice(0, 60)}</option>
            ))}
          </select>
        </label>
      )}
      {call.leaves.length > 1 && (
        <label>
          gradient of{" "}
          <select value={state.leaf} onChange={(event) => page.set({ leaf: Number(event.currentTarget.value) })}>
            {call.leaves.map((leaf, k) => (
              <option value={k}>{model.name(leaf.tensor).slice(0, 60)}</option>
            ))}
          </select>
        </label>
      )}
    </>
  );
}
