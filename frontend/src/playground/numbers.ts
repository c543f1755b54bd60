// The numbers of a program, for sliders.
import { pythonLanguage } from "@codemirror/lang-python";

/** A number as it stands in a program, from one place up to another, its sign included. */
export interface Literal {
  from: number;
  to: number;
  line: number;
  text: string;
  value: number;
}

const MOST = 24;

/** The numbers of a program that a slider may change, in their order; at most 24. */
export function literals(program: string): Literal[] {
  const found: Literal[] = [];
  pythonLanguage.parser.parse(program).iterate({
    enter: (node) => {
      if (node.name !== "Number" || found.length >= MOST) return;
      const sign = node.node.parent?.name === "UnaryExpression" && program[node.node.parent.from] === "-" ? node.node.parent.from : node.from;
      const text = program.slice(sign, node.to).replaceAll("_", "").replace(/\s/g, "");
      if (!/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return; // hexadecimal, imaginary
      found.push({ from: sign, to: node.to, line: program.slice(0, sign).split("\n").length, text, value: Number(text) });
    },
  });
  return found;
}

/** The range of a slider that starts at this number: whole numbers stay whole. */
export function range(text: string): { min: number; max: number; step: number } {
  const value = Number(text);
  if (/^-?\d+$/.test(text)) return { min: Math.min(0, 2 * value), max: Math.max(2 * value, 5), step: 1 };
  const size = value ? 10 ** Math.floor(Math.log10(Math.abs(value))) : 0.1;
  const most = value ? 3 * Math.abs(value) : 1;
  return { min: -most, max: most, step: size / 10 };
}

/** A slider's position as Python writes it; a number with a point keeps its point. */
export function written(value: number, text: string): string {
  const { step } = range(text);
  if (step === 1 && /^-?\d+$/.test(text)) return String(Math.round(value));
  const digits = Math.min(12, Math.max(1, 1 - Math.floor(Math.log10(step * 10))));
  const short = String(Number(value.toFixed(digits)));
  return /[.e]/.test(short) ? short : `${short}.0`;
}
