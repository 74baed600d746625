// Coordination under deadlock, one JSON message per line on standard input, one answer per line.
//   node kernel.mjs [defect ...]        (or CUD_DEFECTS=a,b in the environment)

const defects = new Set([...process.argv.slice(2), ...(process.env.CUD_DEFECTS ?? "").split(",")]);
const REFUSED = "JOINT_ADMISSIBILITY_FAILURE";
const ASK_FIELDS = ["as", "cites", "delta", "id", "op", "scope"];
const STALL_LIMIT = 3;

let run = null;

const isObject = (thing) => typeof thing === "object" && thing !== null && !Array.isArray(thing);
const isPrimitive = (value) =>
  value === null || ["string", "boolean"].includes(typeof value) || Number.isFinite(value);
const isText = (value) => typeof value === "string";
function isFiniteJson(thing, depth = 0) {
  if (depth > 100) throw new Error("nested too deeply");
  return typeof thing === "object" && thing !== null
    ? Object.values(thing).every((inner) => isFiniteJson(inner, depth + 1)) : isPrimitive(thing);
}
const asObject = (map) => Object.fromEntries(map);
const over = () => run.active.size === 0 || run.epoch >= run.epochs;
const here = () => run.agents.filter((agent) => run.active.has(agent));

function start(message) {
  const { agents, world, rules, epochs, talk = false, limit = 4096 } = message;
  if (!Array.isArray(agents) || !agents.length || !agents.every(isText)
      || new Set(agents).size < agents.length) throw new Error("agents: distinct names, at least one");
  if (!isObject(world) || !Object.values(world).every(isPrimitive)) throw new Error("world: flat");
  if (!Array.isArray(rules) || new Set(rules.map((rule) => rule.id)).size < rules.length)
    throw new Error("rules: a list with distinct ids");
  if (!Number.isInteger(epochs)) throw new Error("epochs: a whole number");
  run = {
    agents, world: new Map(Object.entries(world)), rules, epochs, talk, limit, epoch: 0,
    active: new Set(agents), mail: [], trace: [{ what: "start", given: structuredClone(message) }],
    last: new Map(agents.map((agent) => [agent, { outcome: null, id: null, scope: null }])),
    stall: 0, stalled: false, stuck: false, executed: false, waited: new Map(),
  };
  return { agents, world };
}

function look({ agent }) {
  if (!run.active.has(agent)) throw new Error("no such active agent");
  const last = run.last.get(agent);
  const outcome = defects.has("early_no_action") ? last.outcome ?? "NO_ACTION" : last.outcome;
  return {
    epoch: run.epoch, world: asObject(run.world), lastOutcome: outcome, lastId: last.id,
    lastScope: last.scope, messages: run.mail.filter((letter) => letter.sender !== agent),
  };
}

function rulesOn(key, op, says) {
  const atom = `${op} STATE:/${key}`;
  return run.rules.filter((rule) => rule.says === says && rule.scope.some((entry) =>
    defects.has("prefix_target") ? entry.startsWith(atom) : entry === atom));
}

function isKnown(key) {
  return defects.has("known_by_in") ? key in asObject(run.world) : run.world.has(key);
}

function isWellFormed(agent, ask) {
  if (!isObject(ask) || Object.keys(ask).sort().join() !== ASK_FIELDS.join()) return false;
  const { as, id, op, scope, delta, cites } = ask;
  return as === agent && id === `${agent}:${run.epoch}:0` && (op === "READ" || op === "WRITE")
    && Array.isArray(scope) && scope.length > 0 && scope.every((key) => isText(key) && isKnown(key))
    && new Set(scope).size === scope.length
    && isObject(delta) && Object.values(delta).every(isPrimitive)
    && (op === "WRITE" || Object.keys(delta).length === 0)
    && Array.isArray(cites) && cites.every(isText);
}

function passOne(agent, ask) {
  if (!isWellFormed(agent, ask)) return ["ACTION_FAULT", "MALFORMED_REQUEST"];
  const held = run.rules.filter((rule) => rule.holder === agent).map((rule) => rule.id);
  if (!ask.cites.every((id) => held.includes(id))) return ["ACTION_FAULT", "INVALID_CAPABILITY_CLAIM"];
  for (const key of ask.scope) {
    if (rulesOn(key, ask.op, "DENY").length) return [REFUSED, `veto on ${ask.op} ${key}`];
    if (!rulesOn(key, ask.op, "ALLOW").some((rule) => ask.cites.includes(rule.id)))
      return [REFUSED, `no cited capability for ${ask.op} ${key}`];
  }
  return ["", "admitted"];
}

function passTwo(asks) {
  const users = new Map();
  for (const [agent, ask] of asks)
    for (const key of ask.scope) users.set(key, [...(users.get(key) ?? []), agent]);
  const struck = new Set();
  for (let group of users.values()) {
    if (group.length < 2 || group.every((agent) => asks.get(agent).op === "READ")) continue;
    if (defects.has("impatient") && run.stall >= STALL_LIMIT)
      group = group.toSorted((a, b) => run.waited.get(b) - run.waited.get(a)).slice(1);
    group.forEach((agent) => struck.add(agent));
  }
  return struck;
}

function strays(ask) {
  const changed = Object.entries(ask.delta).filter(([key, value]) =>
    defects.has("loose_equal") ? run.world.get(key) != value : run.world.get(key) !== value);
  return changed.map(([key]) => key).filter((key) => !ask.scope.includes(key));
}

function takeMessage(agent, say, outbox) {
  const text = JSON.stringify(say);
  const size = defects.has("chars_not_bytes") ? text.length : Buffer.byteLength(text);
  const dropped = !run.talk ? "no communication here" : !isObject(say) ? "not an object"
    : !isFiniteJson(say) ? "not JSON" : size > run.limit ? "too long" : null;
  if (!dropped) outbox.push({ sender: agent, epoch: run.epoch, content: say });
  run.trace.push({ what: "message", epoch: run.epoch, agent, content: say, dropped });
}

function epoch({ moves = [] }) {
  if (over()) throw new Error("the run is over");
  if (!Array.isArray(moves) || !moves.every(isObject)) throw new Error("moves: a list of objects");
  const byAgent = new Map(moves.map((move) => [move.agent, move]));
  if (byAgent.size < moves.length) throw new Error("moves: one for each agent");
  const now = run.epoch;
  const asks = new Map(), outbox = [], results = new Map();
  for (const agent of here()) {
    const move = byAgent.get(agent) ?? {};
    if (move.exit === true) {
      run.active.delete(agent);
      run.trace.push({ what: "exit", epoch: now, agent });
      if (defects.has("grant_inherited"))
        for (const rule of run.rules)
          if (rule.says === "ALLOW" && rule.holder === agent) rule.holder = here()[0] ?? agent;
      continue;
    }
    if (move.say != null) takeMessage(agent, move.say, outbox);
    if (move.ask != null) asks.set(agent, move.ask);
  }
  if (defects.has("no_reply_on_collapse") && run.active.size === 0) return undefined;

  for (const [agent, ask] of asks) results.set(agent, passOne(agent, ask));
  const admitted = new Map([...asks].filter(([agent]) => results.get(agent)[1] === "admitted"));
  const struck = passTwo(admitted);
  const next = new Map(run.world);
  for (const [agent, ask] of admitted) {
    if (struck.has(agent)) results.set(agent, [REFUSED, "interference"]);
    else if (strays(ask).length) results.set(agent, ["ACTION_FAULT", "SCOPE_VIOLATION"]);
    else {
      results.set(agent, ["EXECUTED", ""]);
      for (const [key, value] of Object.entries(ask.delta))
        if (run.world.get(key) !== value) next.set(key, value);
    }
  }
  const outcomes = new Map();
  for (const agent of here()) {
    const [outcome, code] = results.get(agent) ?? ["NO_ACTION", ""];
    const ask = asks.get(agent);
    outcomes.set(agent, outcome);
    run.last.set(agent, {
      outcome, id: ask === undefined ? null : `${agent}:${now}:0`,
      scope: ask === undefined || code === "MALFORMED_REQUEST" ? null : ask.scope,
    });
    run.trace.push({ what: "action", epoch: now, agent, ask: ask ?? null, outcome, code });
  }
  const still = [...next].every(([key, value]) => run.world.get(key) === value);
  const enough = !defects.has("stall_needs_all") || asks.size === run.active.size;
  run.stall = struck.size && still && enough ? run.stall + 1 : 0;
  for (const agent of here())
    run.waited.set(agent, struck.has(agent) ? (run.waited.get(agent) ?? 0) + 1 : 0);
  run.stalled ||= run.stall >= STALL_LIMIT;
  run.executed ||= [...outcomes.values()].includes("EXECUTED");
  run.stuck = asks.size > 0 && admitted.size === 0 && !openDoor();
  run.world = next;
  run.mail = outbox;
  run.epoch += 1;
  run.trace.push({ what: "world", epoch: now, world: asObject(next) });
  return { epoch: now, outcomes: asObject(outcomes), world: asObject(next), over: over(), class: verdict() };
}

// Could some active agent have some well-formed action admitted in pass 1?
function openDoor() {
  return [...run.world.keys()].some((key) => ["READ", "WRITE"].some((op) =>
    !rulesOn(key, op, "DENY").length
    && rulesOn(key, op, "ALLOW").some((rule) => run.active.has(rule.holder))));
}

function isOrphan(key) {
  const holders = rulesOn(key, "WRITE", "ALLOW").map((rule) => rule.holder);
  return holders.some((agent) => run.agents.includes(agent) && !run.active.has(agent))
    && !holders.some((agent) => run.active.has(agent));
}

function verdict() {
  if (!over()) return null;
  if (!run.active.size) return "COLLAPSE";
  if ([...run.world.keys()].some(isOrphan)) return "ORPHANING";
  if (run.stuck) return "STATE_DEADLOCK";
  if (run.stalled) return "STATE_LIVELOCK";
  return run.executed ? "COORDINATED" : "INVALID_RUN/NONTERMINATING_CONDITION";
}

const commands = { start, look, epoch, trace: () => ({ trace: run.trace }), class: () => ({ class: verdict() }) };

function answer(line) {
  const message = JSON.parse(line);
  if (!isObject(message) || !Object.hasOwn(commands, message.do)) throw new Error("do: unknown");
  if (message.do !== "start" && run === null) throw new Error("no run yet");
  isFiniteJson(message);
  const found = commands[message.do](message);
  return found && { ok: true, ...found };
}

function safely(line) {
  try {
    return answer(line);
  } catch (error) {
    if (defects.has("dies_on_garbage") && error instanceof SyntaxError) throw error;
    return { ok: false, error: error.message };
  }
}

function handle(line) {
  const reply = line.trim() ? safely(line) : undefined;
  if (reply) process.stdout.write(JSON.stringify(reply) + "\n");
}

let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  lines.forEach(handle);
});
process.stdin.on("end", () => handle(rest));
