// A link that carries a program: all of it is in the fragment, which browsers don't send to servers.

/** What a link carries. */
export interface State {
  program: string;
  /** The state of the page of explain, as in its address. */
  start?: string;
  /** A program that is run first and not shown: what stands above a block of the tutorial. */
  before?: string;
  echo?: "last" | "all";
}

const LONGEST = 200_000; // characters of a program, unpacked

async function through(bytes: Uint8Array<ArrayBuffer>, transform: GenericTransformStream): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(transform as ReadableWritablePair<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>)).arrayBuffer());
}

/** The fragment for a state, without `#`. */
export async function packed(state: State): Promise<string> {
  const bytes = await through(new TextEncoder().encode(JSON.stringify(state)), new CompressionStream("deflate-raw"));
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return `p=${btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

/** The state in a fragment, or null where there is none. Throws where it is damaged. */
export async function unpacked(fragment: string): Promise<State | null> {
  const found = /(?:^#?|&)p=([\w-]+)/.exec(fragment)?.[1];
  if (!found) return null;
  const bytes = Uint8Array.from(atob(found.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
  const data: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(await through(bytes, new DecompressionStream("deflate-raw"))));
  const text = (key: string) => {
    const value = (data as Record<string, unknown> | null)?.[key];
    return typeof value === "string" && value.length <= LONGEST ? value : undefined;
  };
  const program = text("program");
  if (program === undefined) throw new Error("the link holds no program");
  const state: State = { program, echo: text("echo") === "all" ? "all" : "last" };
  const [start, before] = [text("start"), text("before")];
  if (start && /^#[\w=&.,~-]*$/.test(start)) state.start = start;
  if (before) state.before = before;
  return state;
}
