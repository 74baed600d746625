// A desk with one thing, in Node, and all the glue it needs: read a line, answer it.
//
//     evenhand examine --command 'node docs/examples/examine/desk.mjs'
import { createInterface } from "node:readline";

let agents = [], given = 0;

const methods = {
  start(request) {
    agents = request.agents;
    given = 0;
    return { offers: ["agents", "observe"] };
  },
  choices: () => ["ask", "pass"],
  act({ choices }) {
    const asking = new Set(choices.filter(([, choice]) => choice === "ask").map(([agent]) => agent));
    const winner = agents.find((agent) => asking.has(agent)); // the arbiter: whoever is listed first
    given += winner === undefined ? 0 : 1;
    return Object.fromEntries(choices.map(([agent]) => [agent, agent === winner ? "got" : "nothing"]));
  },
  observe: () => given,
};

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  console.log(JSON.stringify({ id: request.id, shown: methods[request.do](request) }));
}
