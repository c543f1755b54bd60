// "Explain this error": what is behind the errors that stop most programs, and the page that says more.

interface Hint {
  match: RegExp;
  text: string;
  page: string;
}

const HINTS: Hint[] = [
  {
    match: /implicitly created only for scalar outputs/,
    text: "The result has several numbers, so it has several derivatives, a row of the Jacobian for each. backward computes one vector: pass a weight for each number of the result, or sum it first, which weights all with 1.",
    page: "tutorial/weights.html",
  },
  {
    match: /the gradient has shape|Mismatch in shape: grad_output/,
    text: "The argument of backward holds a weight for each number of the tensor on which it is called, so both must have the same shape. It is not the shape of the inputs.",
    page: "tutorial/weights.html",
  },
  {
    match: /backward through the graph a second time/,
    text: "The first backward freed what the operations had saved for their slopes. Keep it with retain_graph=True in the first call, or compute the result again.",
    page: "how-to/memory.html",
  },
  {
    match: /a leaf Variable that requires grad is being used in an in-place/,
    text: "A leaf is where gradients end. Written over while operations are recorded, it would be a result itself. An update of a weight is not part of what is differentiated: write it in a block of no_grad().",
    page: "how-to/control.html",
  },
  {
    match: /modified by an inplace operation|in-place/,
    text: "An operation needs a value again for its slope, and something has written over that memory since. Compute into a new tensor in place of the in-place operation.",
    page: "how-to/debugging.html",
  },
  {
    match: /does not require grad/,
    text: "Nothing in the history of this tensor requires grad, so there is nothing to differentiate with respect to. Make the inputs with requires_grad=True, and look for what cuts the history: detach, item, numpy, a block of no_grad.",
    page: "how-to/debugging.html",
  },
  {
    match: /not have been used in the graph/,
    text: "The output was not computed from this input, or the history between them was cut.",
    page: "how-to/debugging.html",
  },
  {
    match: /^ModuleNotFoundError/,
    text: "Here are Python's own library, NumPy, pullback and what it offers under the name torch. Nothing else can be imported.",
    page: "how-to/playground.html",
  },
  {
    match: /^AttributeError: .*torch|pullback lacks/,
    text: "pullback stands in for torch here, and lacks this name.",
    page: "reference/torch-differences.html",
  },
  {
    match: /^(SyntaxError|IndentationError)/,
    text: "Python could not read the program, so none of it was run. The mark shows where it stopped; the mistake may be one line above.",
    page: "",
  },
  {
    match: /^RecursionError/,
    text: "Functions called each other too deeply. A browser gives Python less room than a computer does.",
    page: "",
  },
  {
    match: /^MemoryError/,
    text: "The program asked for more memory than a browser gives: at most 4 GB, and often less.",
    page: "how-to/playground.html",
  },
  {
    match: /shape|size|broadcast|dimension|mat1/i,
    text: "Two shapes do not fit. Below is every tensor that the line names: compare them from the last dimension to the first; each pair must be equal, or one of them 1. For a product of matrices the inner two must be equal.",
    page: "",
  },
  {
    match: /dtype|Float|Long|Int/,
    text: "The dtypes do not fit. Only floating and complex numbers have derivatives; convert with .float() or dtype=.",
    page: "",
  },
];

/** What is behind an error, and the page of the site that says more, or "". */
export function hint(text: string): { text: string; page: string } {
  return HINTS.find(({ match }) => match.test(text)) ?? { text: "The message says what did not fit, and where. Below is what the line worked with.", page: "" };
}
