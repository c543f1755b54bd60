// Runs a Python file in WebAssembly: node wasm.js LANE FILE ARGUMENTS...; LANE has the node_modules of package.json.
const path = require("path");
const [lane, file, ...rest] = process.argv.slice(2);
const { syncPython } = require(path.join(lane, "node_modules", "python-wasm"));

syncPython().then((python) => {
    const given = { file, lane, arguments: rest };
    python.exec(`given = ${JSON.stringify(given)}\nexec(compile(open(given["file"]).read(), given["file"], "exec"))`);
});
