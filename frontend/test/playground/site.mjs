// A folder with the playground, and a server for it: its own core with npm's Pyodide, or python-wasm in its place.
import { execFileSync } from "node:child_process";
import { cpSync, createReadStream, existsSync, mkdirSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const { resolve } = createRequire(import.meta.url);
const TYPES = { html: "text/html; charset=utf-8", js: "text/javascript", mjs: "text/javascript", css: "text/css", wasm: "application/wasm", json: "application/json" };

/** Builds the playground with pullback's wheel; `engine` is "wasm" or "pyodide". Returns its folder. */
export function built(folder, wheel, engine) {
  const place = `${folder}/${engine}/playground`;
  if (existsSync(`${place}/index.html`)) return place;
  const options = engine === "wasm" ? ["--engine", "test/playground/wasm.js"] : ["--distribution", "./distribution/"];
  mkdirSync(place, { recursive: true });
  if (engine === "wasm") {
    const numpy = `${dirname(resolve("@cowasm/py-numpy/package.json"))}/dist/wasm`;
    mkdirSync(`${place}/wasm`);
    cpSync(`${dirname(resolve("@cowasm/kernel"))}/kernel.wasm`, `${place}/wasm/kernel.wasm`);
    for (const name of ["python.wasm", "python-stdlib.zip"]) cpSync(`${dirname(resolve("python-wasm"))}/${name}`, `${place}/wasm/${name}`);
    execFileSync("python3", ["-c", ZIP, `${place}/wasm/numpy.zip`, numpy]);
    cpSync(wheel, `${place}/wasm/pullback.zip`);
  } else {
    mkdirSync(`${place}/distribution`);
    const core = dirname(resolve("pyodide/package.json"));
    for (const name of ["pyodide.asm.wasm", "python_stdlib.zip"]) cpSync(`${core}/${name}`, `${place}/distribution/${name}`);
  }
  execFileSync("node", ["playground.mjs", place, wheel, process.env.FIGURES, ...options], { cwd: `${here}../..`, stdio: "inherit" });
  return place;
}

const ZIP = `
import sys, zipfile, pathlib
with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as packed:
    for path in sorted(pathlib.Path(sys.argv[2]).rglob("*")):
        if path.is_file() and "tests" not in path.parts:
            packed.write(path, path.relative_to(sys.argv[2]))
`;

/** Serves a folder on a free port; resolves to its address, what was asked for, and `close`. */
export function served(folder) {
  const asked = [];
  const server = createServer((request, response) => {
    const path = folder + decodeURIComponent(new URL(request.url, "http://x").pathname).replace(/\/$/, "/index.html");
    asked.push(request.url);
    if (path.includes("..") || !existsSync(path) || !statSync(path).isFile()) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": TYPES[path.split(".").pop()] ?? "application/octet-stream", "content-length": statSync(path).size });
    createReadStream(path).pipe(response);
  });
  return new Promise((settle) => server.listen(0, "127.0.0.1", () => settle({ address: `http://127.0.0.1:${server.address().port}/`, asked, close: () => (server.closeAllConnections(), server.close()) })));
}
