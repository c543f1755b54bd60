// What a program printed, and how it failed.
import { h } from "preact";
import { useState } from "preact/hooks";

import { hint } from "./hints";
import type { Failure, Known, Progress } from "./protocol";
import type { Shown } from "./session";

const size = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

function Loading({ progress }: { progress: Progress[] }) {
  return (
    <div class="loading">
      <p>Loading Python, once for this browser:</p>
      <ul>
        {progress.map(({ what, loaded, total }) => (
          <li key={what}>
            <label>
              {what} <progress value={loaded} max={total} />
            </label>
            {total > 1 && (
              <span class="muted">
                {size(loaded)} of {size(total)}
              </span>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Tensors({ tensors, line }: { tensors: Known[]; line: number }) {
  return (
    <div class="scroll" tabIndex={0}>
      <table>
        <caption>What line {line} worked with</caption>
        <thead>
          <tr>
            {["name", "shape", "dtype", "what it is", "values"].map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {tensors.map(({ name, shape, dtype, what, values }) => (
            <tr key={name}>
              <th scope="row">
                <code>{name}</code>
              </th>
              <td>{shape}</td>
              <td>{dtype}</td>
              <td>{what}</td>
              <td>
                <code>{values}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Fault({ failure, site, show, recorded }: { failure: Failure; site: string; show: (line: number) => void; recorded: boolean }) {
  const [open, setOpen] = useState(false);
  const { text, page } = hint(`${failure.type}: ${failure.message}`);
  return (
    <section class="fault" aria-label="Error">
      <p role="alert" class="what">
        {failure.text}
      </p>
      <p class="row">
        {failure.line !== null && (
          <button type="button" onClick={() => show(failure.line!)}>
            Go to line {failure.line}
          </button>
        )}
        <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
          Explain this error
        </button>
      </p>
      {open && (
        <div class="why">
          <p>{text}</p>
          {failure.tensors.length > 0 && failure.line !== null && <Tensors tensors={failure.tensors} line={failure.line} />}
          {recorded && <p>The graph shows what was recorded up to there.</p>}
          {page && (
            <p>
              <a href={`${site}${page}`} target="_blank" rel="noopener">
                Read more
              </a>
            </p>
          )}
        </div>
      )}
    </section>
  );
}

export function Outcome({ shown, site, show }: { shown: Shown; site: string; show: (line: number) => void }) {
  const { phase, progress, output, failure, note, page, seconds } = shown;
  return (
    <div class="outcome">
      {phase === "loading" && <Loading progress={progress} />}
      {output.length > 0 && (
        <pre class="output" tabIndex={0} aria-label="What the program printed">
          {output.map(({ text, error }, index) => (
            <span key={index} class={error ? "error" : ""}>
              {text}
            </span>
          ))}
        </pre>
      )}
      {failure && <Fault key={failure.text} failure={failure} site={site} show={show} recorded={page !== null} />}
      {note && <p class="note">{note}</p>}
      <p class="unseen" role="status">
        {phase === "loading" ? "Loading Python" : phase === "running" ? "The program runs" : seconds ? (failure ? "The program failed" : "Done") : ""}
      </p>
      {seconds && (
        <p class="muted" id="seconds" data-whole={seconds.whole} data-run={seconds.run}>
          {seconds.run.toFixed(2)} s
        </p>
      )}
    </div>
  );
}
