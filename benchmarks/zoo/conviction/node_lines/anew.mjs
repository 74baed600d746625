// Runs the program anew in one process for each scenario: a line of its options, then the lines that it is to read.
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";

const argv = process.argv.slice(0, 2);
let input, count = 0;
for await (const line of createInterface({ input: process.stdin })) {
  if (line.startsWith("[")) {
    input?.end();
    input = new PassThrough();
    Object.defineProperty(process, "stdin", { value: input, configurable: true });
    process.argv = [...argv, ...JSON.parse(line)];
    import(`./kernel.mjs?${++count}`);
  } else input.write(`${line}\n`);
}
