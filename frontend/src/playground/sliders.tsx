// A slider for each number of the program: moving it changes the program and runs it again.
import { h } from "preact";
import { useRef } from "preact/hooks";

import { literals, range, written, type Literal } from "./numbers";

const NEAR = 12; // characters

interface Properties {
  program: string;
  change: (literal: Literal, text: string) => void;
}

/** What stands before a number, or the end of it. */
const near = (text: string) => (text.length > NEAR ? `…${text.slice(-NEAR)}` : text);

export function Sliders({ program, change }: Properties) {
  const found = literals(program);
  // A slider keeps its range while it moves: the numbers that were there when the program was typed decide it.
  const first = useRef<string[]>([]);
  const shape = program.replace(/[\d.]+/g, "#").length;
  const before = useRef(-1);
  if (before.current !== shape || first.current.length !== found.length) first.current = found.map(({ text }) => text);
  before.current = shape;
  const lines = program.split("\n");
  return (
    <details class="sliders">
      <summary>Numbers of the program ({found.length})</summary>
      <ul>
        {found.map((literal, index) => {
          const start = first.current[index]!;
          const { min, max, step } = range(start);
          const name = `${literal.text} in line ${literal.line}`;
          return (
            <li key={index}>
              <code title={lines[literal.line - 1]}>
                <span class="muted">{literal.line}</span> {near(program.slice(0, literal.from).split("\n").at(-1)!.trimStart())}
                <mark>{literal.text}</mark>
                {program.slice(literal.to).split("\n")[0]}
              </code>
              <input
                type="range"
                aria-label={name}
                min={min}
                max={max}
                step={step}
                value={literal.value}
                onInput={(event) => change(literal, written(Number(event.currentTarget.value), start))}
              />
              <output>{literal.text}</output>
            </li>
          );
        })}
      </ul>
    </details>
  );
}
