// The examples: files of Python whose docstring has a title, a question and its answer.
import files from "examples";

export interface Example {
  name: string;
  group: string;
  title: string;
  question: string;
  answer: string;
  program: string;
}

/** Splits a file: its docstring has three paragraphs. */
export function parsed(group: string, name: string, text: string): Example {
  const [whole, docstring] = /^"""([\s\S]*?)"""\n+/.exec(text) ?? [];
  const [title, question, answer, ...more] = docstring?.trim().split(/\n\n+/).map((part) => part.replaceAll("\n", " ")) ?? [];
  if (!whole || !title || !question || !answer || more.length) throw new Error(`${name}.py: its docstring needs a title, a question and an answer`);
  return { name, group, title: title.replace(/\.$/, ""), question, answer, program: text.slice(whole.length) };
}

export const EXAMPLES: Example[] = files.map(([group, name, text]) => parsed(group, name, text));
