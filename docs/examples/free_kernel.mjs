// A kernel of cud's free agents in Node, and all the glue it needs: read a line, answer it.
//
//     evenhand check cud --command 'node docs/examples/free_kernel.mjs' --system free
import { createInterface } from "node:readline";

class Kernel {
  constructor({ config, start }) {
    this.agents = config.agents;
    this.authorities = config.authorities.filter((one) => one.epoch === 0);
    this.world = new Map(start.world);
    this.gone = new Set(this.agents.filter((_, place) => start.marks[place] === "EXITED"));
  }

  governs(authority, key, operation) {
    return authority.scope.some(([target, op]) => target === `STATE:/${key}` && op === operation);
  }

  passesOne(agent, { action_type: operation, declared_scope: scope, authorities_cited: cited }) {
    const mine = this.authorities.filter(
      (one) => one.commitment === "ALLOW" && one.holder_agent_id === agent && cited.includes(one.authority_id));
    return scope.every((key) => mine.some((one) => this.governs(one, key, operation))
      && !this.authorities.some((one) => one.commitment === "DENY" && this.governs(one, key, operation)));
  }

  step({ choices }) {
    const chosen = new Map();
    for (const [agent, choice] of choices)
      if (this.agents.includes(agent) && !this.gone.has(agent) && !chosen.has(agent)) chosen.set(agent, choice);
    const requests = [...chosen].filter(([, choice]) => choice.request && !choice.exits)
      .map(([agent, choice]) => ({ agent, ...choice.request }));
    const passed = requests.filter((one) => this.passesOne(one.agent, one));
    const collide = (one, other) => !(one.action_type === "READ" && other.action_type === "READ")
      && one.declared_scope.some((key) => other.declared_scope.includes(key));
    const admitted = passed.filter((one) => !passed.some((other) => other !== one && collide(one, other)));
    const tokens = [...chosen].map(([agent, choice]) => [agent, choice.exits ? "EXITED"
      : !choice.request ? "NO_ACTION"
      : admitted.some((one) => one.agent === agent) ? "EXECUTED" : "JOINT_ADMISSIBILITY_FAILURE"]);
    const before = new Map(this.world);
    for (const one of admitted) for (const [key, value] of one.proposed_delta) this.world.set(key, value);
    for (const [agent, choice] of chosen) if (choice.exits) this.gone.add(agent);
    const effects = [...before].filter(([key, old]) => old.text !== this.world.get(key).text)
      .map(([key, old]) => ({ $: "Effect", key, before: old, after: this.world.get(key) }));
    return {
      $: "FreeShown",
      tokens: tokens.sort(([a], [b]) => (a < b ? -1 : 1)),
      effects,
      happened: { $: "Happened", attempted: requests.length > 0, refused: passed.length < requests.length,
        collided: admitted.length < passed.length, changed: effects.length > 0 },
    };
  }
}

// The glue.  One answer to each line, with its id; what is thrown is told as an error.
let kernel = null;
for await (const line of createInterface({ input: process.stdin })) {
  const { do: what, id, ...request } = JSON.parse(line);
  const answer = { id };
  try {
    if (what === "start" && request.system !== "free") answer.unsupported = `no system ${request.system}`;
    else if (what === "start") kernel = new Kernel(request);
    else if (what === "step") answer.shown = kernel.step(request.action);
  } catch (error) {
    answer.error = String(error);
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
