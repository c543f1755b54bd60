// As much of a document as Preact needs to draw into: it is read back as HTML.

const VOID = new Set(["input", "br", "wbr"]);
const escaped = (text: string) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

const maker = {
  createElementNS: (space: string, name: string) => new Still(name, "", space),
  createTextNode: (text: string) => new Still("", text),
};

/** An element, or, with a text, a piece of text. */
export class Still {
  parentNode: Still | null = null;
  readonly childNodes: Still[] = [];
  readonly attributes: { name: string; value: string }[] = [];
  readonly ownerDocument = maker;
  readonly style: Record<string, string> = {};
  readonly nodeType: number;

  constructor(
    readonly localName: string,
    public data = "",
    readonly namespaceURI = "http://www.w3.org/1999/xhtml",
  ) {
    this.nodeType = localName ? 1 : 3;
  }


  get firstChild(): Still | null {
    return this.childNodes[0] ?? null;
  }

  get nextSibling(): Still | null {
    const around = this.parentNode?.childNodes ?? [];
    return around[around.indexOf(this) + 1] ?? null;
  }

  insertBefore(child: Still, before: Still | null): Still {
    child.parentNode?.removeChild(child);
    const at = before ? this.childNodes.indexOf(before) : -1;
    this.childNodes.splice(at < 0 ? this.childNodes.length : at, 0, child);
    child.parentNode = this;
    return child;
  }

  appendChild(child: Still): Still {
    return this.insertBefore(child, null);
  }

  removeChild(child: Still): Still {
    this.childNodes.splice(this.childNodes.indexOf(child), 1);
    child.parentNode = null;
    return child;
  }

  setAttribute(name: string, value: unknown): void {
    this.removeAttribute(name);
    this.attributes.push({ name, value: String(value) });
  }

  removeAttribute(name: string): void {
    const at = this.attributes.findIndex((one) => one.name === name);
    if (at >= 0) this.attributes.splice(at, 1);
  }

  addEventListener(): void {}

  removeEventListener(): void {}

  inner(): string {
    return this.childNodes.map((child) => child.outer()).join("");
  }

  private outer(): string {
    if (!this.localName) return escaped(String(this.data));
    const styles = Object.entries(this.style).map(([name, value]) => `${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}:${value}`);
    const attributes = [...this.attributes, ...(styles.length ? [{ name: "style", value: styles.join(";") }] : [])].map(({ name, value }) => ` ${name}="${escaped(value)}"`).join("");
    return `<${this.localName}${attributes}>${VOID.has(this.localName) ? "" : `${this.inner()}</${this.localName}>`}`;
  }
}
