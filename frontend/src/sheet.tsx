// What was found beside the call: a sentence, and a table with a bar for each row.
import { Fragment, h } from "preact";
import type { Page } from "./page";

/** A line of the program: where steps stop at it, a button that goes there. */
function Where({ page, text }: { page: Page; text: string }) {
  const to = page.stops.findIndex(({ source, line }) => `${page.trace.sources[source!]?.file}:${line}` === text.split(",")[0]);
  return to < 0 ? <>{text}</> : <button class="link" onClick={() => page.move(to - page.stop)}>{text}</button>;
}

export function SheetTable({ page }: { page: Page }) {
  const sheet = page.trace.sheets?.find(({ kind }) => kind === page.state.drawer);
  if (!sheet) return null;
  return (
    <>
      <p class="said">{sheet.said}</p>
      {sheet.rows.length > 0 && (
        <div class="sheet" tabIndex={0} role="region" aria-label={sheet.title}>
          <table>
            <thead><tr>{sheet.columns.map((name) => <th key={name} scope="col">{name}</th>)}</tr></thead>
            <tbody>
              {sheet.rows.map((row, i) => (
                <tr key={i} class={i === sheet.marked ? "now" : ""} aria-current={i === sheet.marked}>
                  {row.map((cell, k) => <td key={k} class="mono" dir="auto">{k ? cell : <Where page={page} text={cell} />}{k === row.length - 1 && sheet.bars[i]! > 0 && <span class="bar" style={{ width: `${120 * sheet.bars[i]!}px` }} />}</td>)}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}
