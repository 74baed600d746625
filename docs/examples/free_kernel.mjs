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

  // A request is a fault if it is not well-formed, or cites what its agent does not hold.
  isFault(agent, { agent_id: by, action_id: id, action_type: operation, declared_scope: scope, proposed_delta: delta,
    authorities_cited: cited }) {
    const wrong = (keys) => new Set(keys).size < keys.length || keys.some((key) => !this.world.has(key));
    const held = this.authorities.filter((one) => one.holder_agent_id === agent).map((one) => one.authority_id);
    return (by ?? agent) !== agent || (id ?? `${agent}:*:0`) !== `${agent}:*:0` || !["READ", "WRITE"].includes(operation)
      || scope.length === 0 || wrong(scope) || wrong(delta.map(([key]) => key))
      || (operation === "READ" && delta.length > 0) || delta.some(([, value]) => value.$ !== "Atom")
      || cited.some((one) => !held.includes(one));
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
    for (const agent of this.agents) // whoever chooses nothing gets NO_ACTION
      if (!this.gone.has(agent) && !chosen.has(agent)) chosen.set(agent, {});
    const requests = [...chosen].filter(([, choice]) => choice.request && !choice.exits)
      .map(([agent, choice]) => ({ agent, ...choice.request }));
    const sound = requests.filter((one) => !this.isFault(one.agent, one));
    const passed = sound.filter((one) => this.passesOne(one.agent, one));
    const collide = (one, other) => !(one.action_type === "READ" && other.action_type === "READ")
      && one.declared_scope.some((key) => other.declared_scope.includes(key));
    const admitted = passed.filter((one) => !passed.some((other) => other !== one && collide(one, other)));
    const tokens = [...chosen].map(([agent, choice]) => [agent, choice.exits ? "EXITED"
      : !choice.request ? "NO_ACTION"
      : !sound.some((one) => one.agent === agent) ? "ACTION_FAULT"
      : admitted.some((one) => one.agent === agent) ? "EXECUTED" : "JOINT_ADMISSIBILITY_FAILURE"]);
    const before = new Map(this.world);
    for (const one of admitted) for (const [key, value] of one.proposed_delta) this.world.set(key, value);
    for (const [agent, choice] of chosen) if (choice.exits) this.gone.add(agent);
    const effects = [...before].filter(([key, old]) => JSON.stringify(old) !== JSON.stringify(this.world.get(key)))
      .map(([key, old]) => ({ $: "Effect", key, before: old, after: this.world.get(key) }));
    return {
      $: "FreeShown",
      tokens: tokens.sort(([a], [b]) => (a < b ? -1 : 1)),
      effects,
      happened: { $: "Happened", attempted: requests.length > 0, refused: passed.length < sound.length,
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
