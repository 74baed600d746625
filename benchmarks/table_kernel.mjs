// The same in Node.
import { createInterface } from "node:readline";

const shown = JSON.parse(process.argv[2]);
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  const answer = { id: request.id };
  if (request.do === "step") answer.shown = shown;
  process.stdout.write(JSON.stringify(answer) + "\n");
}
