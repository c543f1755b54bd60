// The editor: CodeMirror with Python, and marks at the line of an error.
import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const colors = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.definitionKeyword, tags.controlKeyword, tags.moduleKeyword], color: "var(--keyword)" },
  { tag: [tags.string], color: "var(--string)" },
  { tag: [tags.number, tags.bool], color: "var(--number)" },
  { tag: [tags.comment], color: "var(--quiet)", fontStyle: "italic" },
]);

export class Editor {
  private readonly view: EditorView;

  constructor(place: HTMLElement, program: string, changed: (program: string, typed: boolean) => void, run: () => void) {
    // Tab leaves the editor, so that the keyboard does not get caught in it; Ctrl-] and Ctrl-[ indent.
    const keys = [{ key: "Mod-Enter", run: () => (run(), true), preventDefault: true }, { key: "Mod-]", run: indentMore }, { key: "Mod-[", run: indentLess }, ...defaultKeymap, ...historyKeymap];
    this.view = new EditorView({
      parent: place,
      state: EditorState.create({
        doc: program,
        extensions: [
          keymap.of(keys),
          lineNumbers(),
          history(),
          drawSelection(),
          highlightActiveLine(),
          indentOnInput(),
          indentUnit.of("    "),
          bracketMatching(),
          python(),
          syntaxHighlighting(colors),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ "aria-label": "Program. Control and Enter run it." }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) changed(this.program, update.transactions.some((one) => one.isUserEvent("input") || one.isUserEvent("delete") || one.isUserEvent("undo") || one.isUserEvent("redo")));
          }),
        ],
      }),
    });
  }

  get program(): string {
    return this.view.state.doc.toString();
  }

  set program(text: string) {
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
  }

  replace(from: number, to: number, text: string): void {
    this.view.dispatch({ changes: { from, to, insert: text } });
  }

  /** Marks a line with a message, or clears the marks. */
  mark(line: number | null, message = ""): void {
    const lines = this.view.state.doc.lines;
    const place = line && line <= lines ? this.view.state.doc.line(line) : null;
    const from = place && place.from + (place.text.length - place.text.trimStart().length);
    this.view.dispatch(setDiagnostics(this.view.state, place ? [{ from: from!, to: Math.max(place.to, from!), severity: "error", message }] : []));
  }

  /** Puts the cursor at a line, in sight. */
  show(line: number): void {
    const place = this.view.state.doc.line(Math.min(line, this.view.state.doc.lines));
    this.view.dispatch({ selection: { anchor: place.from }, effects: EditorView.scrollIntoView(place.from, { y: "center" }) });
    this.view.focus();
  }
}
