// The core for tests: npm's python-wasm with its NumPy, behind the interface of the site's own.
globalThis.document ??= {}; // its worker starts by itself where there is none
const wasmImport = require("@cowasm/kernel/dist/wasm/worker/browser").default;
const { createSyncKernel } = require("@cowasm/kernel/dist/kernel/kernel");
const { PythonWasmSync } = require("python-wasm/dist/common");

const BEFORE = `
import sys, types
for name in ("_sysconfigdata__wasm32-wasi", "webbrowser"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["_sysconfigdata__wasm32-wasi"].build_time_vars = {}
sys.path[:0] = ["/site", "/wheel"]
`;

exports.boot = async (base, report, print) => {
  const folder = `${base}wasm/`;
  const decoders = [new TextDecoder(), new TextDecoder()];
  const zip = (name, mountpoint) => ({ type: "zipurl", zipurl: folder + name, mountpoint });
  report({ what: "Python 3.11", loaded: 0, total: 1 });
  const kernel = await createSyncKernel({
    wasmSource: `${folder}kernel.wasm`,
    wasmImport: (source, options) =>
      wasmImport(source, {
        ...options,
        sendStdout: (data) => print(decoders[0].decode(data, { stream: true }), false),
        sendStderr: (data) => print(decoders[1].decode(data, { stream: true }), true),
      }),
    env: { PYTHONHOME: "/usr", PYTHONDONTWRITEBYTECODE: "1" },
    fs: [zip("python-stdlib.zip", "/usr/lib/python3.11"), zip("numpy.zip", "/site"), zip("pullback.zip", "/wheel"), { type: "dev" }],
  });
  await kernel.fetch(`${folder}python.wasm`, "/usr/lib/python.wasm");
  const python = new PythonWasmSync(kernel, "/usr/lib/python.wasm");
  python.init();
  python.exec(BEFORE);
  // exec says no more than that it failed, and repr is of values: strings come as the numbers of their letters.
  return {
    exec(code) {
      python.exec(`_code = ${JSON.stringify(code)}\ntry:\n  exec(_code, globals())\n  _failed = ""\nexcept BaseException:\n  import traceback\n  _failed = traceback.format_exc()`);
      const failed = read(python, "_failed");
      if (failed) throw new Error(failed);
    },
    evaluate(code) {
      this.exec(`_value = ${code}`);
      return read(python, "_value");
    },
  };
};

function read(python, name) {
  const hex = python.repr(`${name}.encode().hex()`).slice(1, -1);
  return new TextDecoder().decode(Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16)));
}
