// The search of the built site: the page that a reader looks for comes first, for names, titles and symptoms.
// node test/search.mjs FOLDER; SHOW=1 prints the first results of each query.
import { readFileSync } from "node:fs";
import vm from "node:vm";

const WANTED = {
  "zero_grad": "reference/api/nn.Module",
  "requires_grad": "reference/api/Tensor",
  "backward": "reference/api/Tensor",
  "v": "explanation/what-is-v",
  "matmul": "reference/api/pullback",
  "no_grad": "reference/api/pullback.no_grad",
  "conv2d": "reference/api/pullback-convolution",
  "linear": "reference/api/nn.Linear",
  "adam": "reference/api/optim.Adam",
  "vmap": "reference/api/pullback",
  "hessian": "reference/api/pullback",
  "jacobian": "how-to/derivatives",
  "checkpoint": "how-to/memory",
  "detach": "reference/api/pullback",
  "save": "reference/api/pullback",
  "load": "reference/api/pullback",
  "grad is None": "start/faq",
  "gradient none": "start/faq",
  "does not require grad": "start/faq",
  "nan gradient": "how-to/debugging",
  "nan loss": "how-to/debugging",
  "out of memory": "how-to/memory",
  "retain_graph": "start/questions",
  "in-place": "start/faq",
  "random seed": "reference/api/pullback",
  "install": "start/install",
  "compile": "how-to/compile",
  "numpy": "start/from-numpy",
  "jax": "start/from-jax",
  "hooks": "reference/api/observe",
  "sparse": "how-to/sparse",
  "kalman": "how-to/kalman-filters",
  "ode": "how-to/odes",
  "gaussian process": "how-to/gaussian-processes",
  "export C": "how-to/export",
  "dtype": "reference/api/pullback.dtype",
  "playground": "how-to/playground",
  "explain": "how-to/explain",
};

const folder = process.argv[2];
const read = (name) => readFileSync(`${folder}/${name}`, "utf8");
const document = { addEventListener() {}, getElementById: () => ({}), readyState: "loading" };
const context = vm.createContext({ document, localStorage: {}, SPHINX_HIGHLIGHT_ENABLED: false, _: (text) => text, _ready() {} });
const scripts = ["language_data", "searchtools"].map((name) => read(`_static/${name}.js`));
vm.runInContext(["var window = globalThis;", ...scripts, read("searchindex.js")].join("\n"), context);

let failed = 0;
for (const [query, page] of Object.entries(WANTED)) {
  const found = vm.runInContext(`Search._performSearch(...Search._parseQuery(${JSON.stringify(query)}))`, context).toReversed();
  const [first] = found;
  const fits = first && (first[0] === page || first[0].startsWith(`${page}-`));
  if (!fits) {
    failed += 1;
    const place = found.findIndex(([name]) => name === page || name.startsWith(`${page}-`));
    console.log(`search: ${query}: ${page} is number ${place + 1}, the first is ${first?.[0]} (${first?.[1]})`);
  }
  if (process.env.SHOW) for (const [name, title, , , score, , kind] of found.slice(0, 5)) console.log(`  ${query}: ${score} ${kind} ${name}: ${title}`);
}
console.log(`search: ${Object.keys(WANTED).length - failed} of ${Object.keys(WANTED).length} queries have their page first`);
process.exit(failed ? 1 : 0);
