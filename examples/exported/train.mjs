// Trains the network of moons.py in Node: node train.mjs FOLDER
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const { load } = await import(pathToFileURL(`${folder}/step.mjs`));
const { points, labels } = JSON.parse(readFileSync(`${folder}/data.json`));
const { step } = await load(readFileSync(`${folder}/step.wasm`));

const bits = (x) => new Uint32Array(Float32Array.of(x).buffer)[0].toString(16).padStart(8, "0");
for (let number = 1; number <= 200; ++number) {
    const loss = step(points, labels, [0.01]);
    if (number % 10 === 0) console.log(`${number} ${bits(loss[0])}`);
}
const before = step.state.weight.slice();
try {
    step(points, labels.with(5, 2), 0.01);
} catch (error) {
    const same = before.every((x, place) => x === step.state.weight[place]);
    console.log(`${error.message}: ${same}`);
}
