// How the page writes numbers, for tests in Python: lists of them, one a line, and as many texts.
import { createInterface } from "node:readline";
import { number } from "../src/format";
import { decode, type Raw } from "../src/trace";

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify((JSON.parse(line) as Raw[]).map((raw) => number(decode(raw)))));
}
