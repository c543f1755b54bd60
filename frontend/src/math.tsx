// Formulas of the trace, which are Python expressions, as MathML: the browser sets them, without fonts or requests.
import { Fragment, h } from "preact";
import type { ComponentChildren, VNode } from "preact";

/** A part of a formula: as it is shown, and without brackets of its own, for where none are needed. */
interface Part {
  show: VNode;
  bare: VNode;
}

const TOKEN = /\s*(\.\.\.|\d[\d.]*(?:e[+-]?\d+)?|\w+|\*\*|==|!=|<=|>=|\+=|\S)/gy;
/** How strongly an operator binds, and its sign. */
const BINARY: Record<string, [number, string]> = {
  "=": [0, "="], "+=": [0, "+="], ";": [0, ";"], ",": [0, ","], or: [2, "or"], and: [3, "and"],
  "==": [5, "="], "!=": [5, "≠"], "<": [5, "<"], ">": [5, ">"], "<=": [5, "≤"], ">=": [5, "≥"],
  "+": [6, "+"], "-": [6, "−"], "*": [7, "·"], "@": [7, "@"], "/": [7, "/"], "**": [9, ""],
};
const NAMES: Record<string, string> = { pi: "π", inf: "∞", eps: "ε", sigmoid: "σ" };
const LARGE: Record<string, string> = { sum: "∑", prod: "∏" };

const row = (...inside: ComponentChildren[]) => <mrow>{inside}</mrow>;
const sign = (text: string) => <mo>{text}</mo>;
const plain = (show: VNode): Part => ({ show, bare: show });
/** A bracket. The attribute has to be there to be false, which Preact writes for texts only. */
const bracket = (text: string, tall: boolean) => h("mo", { stretchy: String(tall) } as object, text);
/** In brackets, which grow with fractions and sums only: fonts without mathematics make them too large. */
const enclosed = (inside: ComponentChildren, open = "(", close = ")", tall = false) => row(bracket(open, tall), inside, bracket(close, tall));

class Parser {
  private readonly tokens: string[];
  private at = 0;

  constructor(text: string) {
    this.tokens = [...text.matchAll(TOKEN)].map((found) => found[1]!);
  }

  whole(): VNode {
    const made = this.expression(0).bare;
    if (this.at < this.tokens.length) throw new SyntaxError(`${this.tokens[this.at]}`);
    return made;
  }

  private next(wanted?: string): string {
    const token = this.tokens[this.at++];
    if (token === undefined || (wanted && token !== wanted)) throw new SyntaxError(`${wanted ?? "more"} expected`);
    return token;
  }

  private sees(token: string): boolean {
    if (this.tokens[this.at] !== token) return false;
    this.at++;
    return true;
  }

  private expression(level: number): Part {
    let left = this.prefix();
    for (;;) {
      const token = this.tokens[this.at] ?? "";
      if (token === "if" && level <= 1) {
        this.next();
        const test = this.expression(2);
        this.next("else");
        const other = this.expression(1);
        left = plain(cases(left, test, other));
        continue;
      }
      const operator = BINARY[token];
      if (!operator || operator[0] < level) return left;
      this.next();
      left = combined(token, operator, left, this.expression(token === "**" ? 8 : operator[0] + 1));
    }
  }

  private prefix(): Part {
    if (this.sees("-")) return plain(row(sign("−"), this.expression(7).show));
    if (this.sees("not")) return plain(row(<mtext>not </mtext>, this.expression(4).show));
    return this.postfix(this.atom());
  }

  private atom(): Part {
    if (this.sees("(")) {
      const start = this.at;
      const inside = this.expression(0).bare;
      const indices = this.tokens[start + 1] === "==" && this.at === start + 3;
      const tall = this.isTall(start);
      this.next(")");
      return { show: indices ? enclosed(inside, "[", "]") : enclosed(inside, "(", ")", tall), bare: indices ? enclosed(inside, "[", "]") : inside };
    }
    const token = this.next();
    if (/^\d/.test(token)) return plain(<mn>{token}</mn>);
    if (!/^[\w:]|^\.\.\.$/.test(token)) throw new SyntaxError(token);
    if (this.tokens[this.at] === "(") return this.called(token);
    if (/^d[A-Za-z]/.test(token)) return plain(row(<mi>d</mi>, <mi>{token.slice(1)}</mi>));
    return plain(token === "..." ? sign("…") : <mi>{NAMES[token] ?? token}</mi>);
  }

  private isTall(start: number): boolean {
    return this.tokens.slice(start, this.at).some((token) => ["/", "if", "sum", "prod"].includes(token));
  }

  private list(end: string): VNode[] {
    const parts: VNode[] = [];
    while (!this.sees(end)) {
      if (parts.length) this.next(",");
      parts.push(this.expression(1).bare);
      if (this.sees("=")) parts.push(row(parts.pop(), sign("="), this.expression(1).bare));
    }
    return parts;
  }

  private called(name: string): Part {
    this.next("(");
    const start = this.at;
    const parts = this.list(")");
    const tall = this.isTall(start);
    const [first, second] = parts;
    if (name === "sqrt") return plain(<msqrt>{first}</msqrt>);
    if (name === "exp") return plain(<msup><mi>e</mi>{first}</msup>);
    if (name === "inv") return plain(<msup>{first}<mn>-1</mn></msup>);
    if (name === "abs") return plain(enclosed(first, "|", "|", tall));
    if (second && LARGE[name]) return plain(row(<munder>{sign(LARGE[name]!)}{second}</munder>, first));
    return plain(row(<mi>{NAMES[name] ?? name}</mi>, enclosed(commas(parts), "(", ")", tall)));
  }

  private postfix(base: Part): Part {
    for (;;) {
      if (this.sees("[")) base = plain(<msub>{base.show}{row(commas(this.list("]")))}</msub>);
      else if (this.sees(".")) base = plain(<msup>{base.show}<mi>{this.next()}</mi></msup>);
      else return base;
    }
  }
}

function commas(parts: VNode[]): ComponentChildren {
  return parts.map((part, i) => (i ? <Fragment key={i}>{sign(",")}{part}</Fragment> : part));
}

function cases(one: Part, test: Part, other: Part): VNode {
  const line = (value: VNode, condition: ComponentChildren) => <mtr><mtd>{value}</mtd><mtd>{condition}</mtd></mtr>;
  return row(bracket("{", true), <mtable>{line(one.bare, row(<mtext>if </mtext>, test.bare))}{line(other.bare, <mtext>else</mtext>)}</mtable>);
}

function combined(token: string, [level, text]: [number, string], left: Part, right: Part): Part {
  if (token === "/") return plain(<mfrac>{left.bare}{right.bare}</mfrac>);
  if (token === "**") return plain(<msup>{left.show}{right.bare}</msup>);
  const word = level === 2 || level === 3;
  return plain(row(left.show, word ? <mtext>{` ${text} `}</mtext> : sign(text), right.show));
}

/** A formula, or, where it is not one that is understood, its text. */
export function Formula({ text }: { text: string }) {
  try {
    return <math>{new Parser(text).whole()}</math>;
  } catch {
    return <code>{text}</code>;
  }
}

/** Prose with formulas between backquotes. */
export function Prose({ text }: { text: string }) {
  return <>{text.split("`").map((part, i) => (i % 2 ? <Formula key={i} text={part} /> : part))}</>;
}
