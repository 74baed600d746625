// A mark space with a guard, a barrier and a canary probe: one JSON message per line in, one answer per line out.
// node kernel.mjs [defect ...]       (or MARKSPACE_DEFECTS=a,b in the environment)

import readline from "node:readline";

const defects = new Set([...process.argv.slice(2), ...(process.env.MARKSPACE_DEFECTS ?? "").split(",")]);
const has = (name) => defects.has(name);

const SHAPES = {
  intent: { on: "text", verb: "text", sure: "share" },
  action: { verb: "text", body: "object" },
  obs: { about: "text", body: "object", sure: "share", src: "source" },
  warn: { about: "text", why: "text", level: "level" },
  need: { ask: "text", body: "object", prio: "share", block: "flag" },
};
const MORE = { action: { on: "text", failed: "flag" }, warn: { hits: "ref" } };
const LISTS = { intent: ["verb", "plans"], action: ["verb", "deeds"], obs: ["about", "topics"], warn: ["about", "alerts"] };
const TRUST = new Map([["fleet", 1], ["verified", 0.7], ["unverified", 0.3]]);
const LEVELS = ["info", "caution", "critical"];
const CONTENT = { action: ["body"], obs: ["body"], warn: ["why"], need: ["ask", "body"], intent: [] };

const isNumber = (x, top = 1e300) =>
  typeof x === "number" ? x >= 0 && x <= top : has("text_numbers") && x !== "" && Number(x) >= 0 && Number(x) <= top;
const isObject = (x) => typeof x === "object" && x !== null && !Array.isArray(x);
const isScope = (x) => typeof x === "string" && x.split("/").every((part) => part !== "");
const under = (scope, parent) => scope === parent || scope.startsWith(parent + "/");
const copy = (x) => structuredClone(x);

const tooDeep = (x, left = 100) =>
  typeof x === "object" && x !== null && (left === 0 || Object.values(x).some((part) => tooDeep(part, left - 1)));

let space = null;

class Refusal extends Error {}
const refuseIf = (condition, sentence) => {
  if (condition) throw new Refusal(sentence);
};

function open({ scopes, agents, boss, token }) {
  const fresh = { now: 0, scopes: new Map(), agents: new Map(), marks: new Map(), revoked: new Map(), canaries: new Map() };
  const life = { obs: 300, warn: 60, intent: 60 };
  for (const given of [{ name: "diagnostics", topics: ["probe-canary"], life }, ...scopes]) {
    const scope = { sight: "open", rule: "first", deferred: false, ...given };
    const times = ["obs", "warn", "intent"].map((key) => scope.life[key]);
    refuseIf(!isScope(scope.name) || fresh.scopes.has(scope.name), "a scope is named badly or twice");
    refuseIf(!times.every((time) => typeof time === "number" && time > 0), "a half-life or TTL is not above 0");
    refuseIf(!["first", "surest", "boss"].includes(scope.rule), "an unknown rule");
    refuseIf(!["open", "shadow", "secret"].includes(scope.sight), "an unknown visibility");
    fresh.scopes.set(scope.name, copy(scope));
  }
  for (const agent of agents) {
    refuseIf(["guard", "probe"].includes(agent.id) || fresh.agents.has(agent.id), "an agent is named badly or twice");
    fresh.agents.set(agent.id, copy({ may: [], sees: [], ...agent }));
  }
  fresh.agents.set("probe", { id: "probe", may: [["diagnostics", ["obs", "need"]]], sees: [] });
  space = Object.assign(fresh, { boss, token });
  return {};
}

// scopes and permissions

function rulesOf(scope) {
  for (let name = scope; name; name = name.slice(0, Math.max(name.lastIndexOf("/"), 0))) {
    if (space.scopes.has(name)) return space.scopes.get(name);
  }
  return null;
}

function agentOf(who) {
  return has("inherited_names") ? Object.fromEntries(space.agents)[who] : space.agents.get(who);
}

function permitted(who, scope, type) {
  const agent = agentOf(who);
  return agent !== undefined && agent.may.some(([parent, types]) => under(scope, parent) && types.includes(type));
}

function barred(who, scope, type) {
  const entries = space.revoked.get(who) ?? new Set();
  return entries.has(`${type} ${scope}`) || (entries.has(`${type} *`) && !has("exact_narrow"));
}

function seesAll(who, scope) {
  const sees = agentOf(who)?.sees ?? [];
  return sees.some((parent) => under(scope, parent) || (has("child_grants_parent") && under(parent, scope)));
}

function sightOf(scope) {
  if (has("child_open") && !space.scopes.has(scope)) return "open";
  return rulesOf(scope).sight;
}

function fits(value, shape) {
  if (shape === "share") return isNumber(value, 1);
  if (shape === "ref") return typeof value === "string" && space.marks.has(value);
  if (shape === "source") return TRUST.has(value);
  if (shape === "level") return LEVELS.includes(value);
  if (shape === "flag") return typeof value === "boolean";
  return shape === "object" ? isObject(value) : typeof value === "string";
}

function check(who, mark) {
  refuseIf(!isObject(mark) || typeof mark.t !== "string" || !Object.hasOwn(SHAPES, mark.t), "no mark of the five types");
  const { t, in: scope } = mark;
  refuseIf(!isScope(scope) || rulesOf(scope) === null, "no such scope");
  refuseIf(!permitted(who, scope, t), `${who} has no permission for ${t} marks in ${scope}`);
  refuseIf(barred(who, scope, t), `the barrier bars ${who} from ${t} marks in ${scope}`);
  const shapes = { ...SHAPES[t], ...MORE[t], over: "ref" };
  for (const name of new Set([...Object.keys(SHAPES[t]), ...Object.keys(mark)])) {
    if (name === "t" || name === "in" || (name === "power" && isNumber(mark.power))) continue;
    const fine = Object.hasOwn(shapes, name) && Object.hasOwn(mark, name) && fits(mark[name], shapes[name]);
    refuseIf(!fine, `the field ${name} is missing, unknown or malformed`);
  }
  if (t !== "need") {
    const [name, list] = LISTS[t];
    const allowed = rulesOf(scope)[list] ?? [];
    refuseIf(!allowed.includes(mark[name]) && !(name === "about" && allowed.includes("*")), `${mark[name]} is not allowed here`);
  }
}

function store(who, mark) {
  const id = "k" + String(space.marks.size + 1).padStart(7, "0");
  const power = has("zero_is_missing") ? mark.power || 1 : mark.power ?? 1;
  const stored = { over: null, ...copy(mark), power, id, who, at: space.now, shadow: false };
  const beaten = mark.t === "action" && !mark.failed ? claims(mark.in, mark.on).filter((old) => old.who !== who) : [];
  space.marks.set(id, Object.freeze(stored));
  for (const old of beaten) {
    const why = `${who} acted later on ${mark.on}`;
    store("guard", { t: "warn", in: mark.in, about: "superseded", why, level: "caution", hits: old.id });
  }
  return id;
}

// strength

function overtakes(later, mark) {
  const acts = later.t === "action" && mark.t === "action" && !later.failed && !mark.failed && mark.on !== undefined;
  const same = acts && later.in === mark.in && later.on === mark.on && later.who !== mark.who;
  return same && (later.at > mark.at || (later.at === mark.at && later.id > mark.id));
}

const all = () => [...space.marks.values()];
const superseded = (mark) => all().some((other) => other.over === mark.id || overtakes(other, mark));

function effective(mark) {
  if (superseded(mark) || mark.resolvedBy) return 0;
  const age = space.now - mark.at;
  const { life } = rulesOf(mark.in);
  if (mark.t === "intent") return age <= life.intent ? mark.power : 0;
  if (mark.t !== "obs" && mark.t !== "warn") return mark.power;
  return mark.power * 0.5 ** (age / life[mark.t]) * (TRUST.get(mark.src) ?? 1);
}

function strength(mark) {
  const against = all().filter((other) => other.hits === mark.id);
  return Math.max(0, effective(mark) - against.reduce((sum, warning) => sum + effective(warning), 0));
}

const byWriting = (a, b) => a.at - b.at || (a.id < b.id ? -1 : 1);

function shown(mark, reader) {
  const sight = sightOf(mark.in);
  if (reader === null || sight === "open" || seesAll(reader, mark.in)) return { ...mark };
  if (sight === "secret" && !has("secret_shadows")) return null;
  const hidden = Object.fromEntries(CONTENT[mark.t].map((name) => [name, null]));
  return { ...mark, ...hidden, shadow: true };
}

function read({ in: scope, reader = null, least = 0.01, on, about, t }) {
  const wanted = (mark) =>
    mark.in === scope && [["on", on], ["about", about], ["t", t]].every(([name, value]) => value === undefined || mark[name] === value);
  const found = all().filter(wanted).map((mark) => [shown(mark, reader), strength(mark)]);
  const marks = found.filter(([mark, now]) => mark && now >= least).map(([mark, now]) => ({ ...mark, now }));
  return { marks: marks.sort((a, b) => b.now - a.now || byWriting(a, b)) };
}

function needs() {
  const groups = new Map();
  for (const need of all().filter((mark) => mark.t === "need" && !mark.resolvedBy && !superseded(mark))) {
    const key = JSON.stringify([need.in, need.ask.trim().toLowerCase()]);
    groups.set(key, [...(groups.get(key) ?? []), need]);
  }
  const clusters = [...groups.values()].map((group) => ({
    in: group[0].in,
    needs: group,
    prio: Math.max(...group.map((need) => need.prio)) + Math.log(group.length) * 0.1,
    blocking: group.filter((need) => need.block).length,
    contexts: group.map((need) => need.body),
  }));
  return { clusters: clusters.sort((a, b) => b.prio - a.prio) };
}

function resolve({ need: needId, action: actionId }) {
  const [need, act] = [space.marks.get(needId), space.marks.get(actionId)];
  refuseIf(need?.t !== "need" || need.resolvedBy || superseded(need), "no open need");
  refuseIf(act?.t !== "action" || act.in !== need.in || act.who !== space.boss, "no action of the boss in the need's scope");
  return { id: store(need.who, { ...need, over: needId, resolvedBy: actionId }) };
}

// the guard

function claims(scope, on) {
  const acts = all().filter((mark) => mark.t === "action" && mark.in === scope && on !== undefined && mark.on === on);
  return acts.filter((mark) => !mark.failed && !superseded(mark));
}

const intents = (scope, on) =>
  all().filter((mark) => mark.t === "intent" && mark.in === scope && mark.on === on && strength(mark) > 0);

const best = (rule, marks) => [...marks].sort((a, b) => (rule === "surest" ? b.sure - a.sure : 0) || byWriting(a, b))[0];

function decision(verdict, reason, intent = null, winner = null, others = [], who = null) {
  const visible = others.map((mark) => shown(mark, who)).filter((mark) => mark !== null);
  return { verdict, reason, intent, winner, others: visible };
}

function taken(who, claim, intent) {
  const origin = space.marks.get(claim.over);
  const { id, at, power } = claim;
  const shape = { t: "intent", id, who: claim.who, in: claim.in, on: claim.on, verb: claim.verb, sure: 1, at, power };
  const winner = origin?.t === "intent" ? origin : shape;
  return decision("CONFLICT", `${claim.who} has already acted`, intent, winner, [winner], who);
}

function askBoss(intent) {
  const ask = `Who may act on ${intent.on} in ${intent.in}?`;
  store("guard", { t: "need", in: intent.in, ask, body: { who: intent.who }, prio: Number(intent.sure), block: true });
}

function pre({ who, in: scope, on, verb, sure }) {
  noteActivity(who);
  const mark = { t: "intent", in: scope, on, verb, sure };
  try {
    check(who, mark);
    refuseIf(!permitted(who, scope, "action"), `${who} has no permission for action marks in ${scope}`);
    refuseIf(barred(who, scope, "action"), `the barrier bars ${who} from action marks in ${scope}`);
  } catch (error) {
    if (error instanceof Refusal) return decision("DENIED", error.message);
    throw error;
  }
  if (space.canaries.has(who)) return decision("BLOCKED", "the canary has to be acknowledged first");
  const foreign = claims(scope, on).filter((act) => act.who !== who);
  if (foreign.length) return taken(who, foreign.at(-1), null);
  const before = intents(scope, on).filter((intent) => intent.who === who).at(-1);
  const id = store(who, { ...mark, ...(before && { over: before.id }) });
  const { deferred, rule } = rulesOf(scope);
  const rivals = intents(scope, on).filter((intent) => intent.who !== who);
  if (deferred) return decision("BLOCKED", "pending resolution", id, null, rivals, who);
  if (!rivals.length) return decision("ALLOW", "no conflict", id);
  if (rule === "boss") {
    askBoss(space.marks.get(id));
    return decision("BLOCKED", "the boss has to decide", id, null, rivals, who);
  }
  const winner = best(rule, intents(scope, on));
  if (winner.who === who) return decision("ALLOW", "goes before the others", id, null, rivals, who);
  return decision("CONFLICT", `${winner.who} goes first`, id, winner, rivals, who);
}

function post({ who, mark, intent }) {
  refuseIf(!isObject(mark), "no mark");
  refuseIf(intent !== undefined && space.marks.get(intent)?.t !== "intent", "intent names no intent");
  const full = { ...mark, t: "action", ...(intent !== undefined && { over: intent }) };
  check(who, full);
  return { id: store(who, full) };
}

function boundary({ in: scope, on }) {
  const rules = isScope(scope) ? rulesOf(scope) : null;
  const marks = rules?.deferred ? intents(scope, on) : [];
  if (!marks.length && has("silent_boundary")) return null;
  const verdicts = [...new Set(marks.map((mark) => mark.who))].map((who) => {
    const winner = best(rules.rule, marks);
    const mine = marks.filter((mark) => mark.who === who).at(-1);
    const rivals = marks.filter((mark) => mark.who !== who);
    const foreign = claims(scope, on).filter((act) => act.who !== who);
    if (foreign.length) return [who, taken(who, foreign.at(-1), mine.id)];
    if (rivals.length && rules.rule === "boss") {
      askBoss(mine);
      return [who, decision("BLOCKED", "the boss has to decide", mine.id, null, rivals, who)];
    }
    if (winner.who === who) return [who, decision("ALLOW", "won at the boundary", winner.id, null, rivals, who)];
    return [who, decision("BLOCKED", `${winner.who} won`, mine.id, null, rivals, who)];
  });
  return { verdicts };
}

// barrier and probe

function narrow({ who, in: scope, t }) {
  refuseIf(!Object.hasOwn(SHAPES, t), "no such type");
  space.revoked.set(who, new Set(space.revoked.get(who)).add(`${t} ${scope}`));
  return {};
}

function restore({ who, in: scope, t, token }) {
  const right = has("loose_token") ? token == space.token : token === space.token;
  refuseIf(!right, "this is not the boss's token");
  if (scope === undefined) space.revoked.delete(who);
  else space.revoked.get(who)?.delete(`${t} ${scope}`);
  return {};
}

function noteActivity(who) {
  const canary = space.canaries.get(who);
  if (canary) canary.active = true;
}

function canary({ who }) {
  refuseIf(!space.agents.has(who), "no such agent");
  const mark = { t: "obs", in: "diagnostics", about: "probe-canary", body: { for: who }, sure: 1, src: "fleet" };
  check("probe", mark);
  const id = store("probe", mark);
  space.canaries.set(who, { id, active: false });
  return { id };
}

function ack({ who, id }) {
  noteActivity(who);
  const right = space.canaries.get(who)?.id === id;
  if (right) space.canaries.delete(who);
  return { right };
}

function probe({ who }) {
  const open = space.canaries.get(who);
  if (!open) return { health: "HEALTHY" };
  if (!open.active) return { health: "INACTIVE" };
  space.canaries.delete(who);
  space.missed = (space.missed ?? new Map()).set(who, (space.missed?.get(who) ?? 0) + 1);
  if (has("one_grace") && space.missed.get(who) === 1) return { health: "COMPROMISED" };
  const body = { who, canary: open.id };
  store("probe", { t: "need", in: "diagnostics", ask: `Is ${who} compromised?`, body, prio: 1, block: true });
  for (const t of ["intent", "action", "obs", "warn"]) narrow({ who, in: "*", t });
  return { health: "COMPROMISED" };
}

function put({ who, mark }) {
  noteActivity(who);
  refuseIf(space.canaries.has(who), "the canary has to be acknowledged first");
  check(who, mark);
  return { id: store(who, mark) };
}

function tick({ seconds }) {
  refuseIf(typeof seconds !== "number" || !(seconds >= 0), "time runs forward");
  space.now += seconds;
  return { now: space.now };
}

const power = ({ id }) => {
  refuseIf(!space.marks.has(id), "no such mark");
  return { now: strength(space.marks.get(id)) };
};

const CALLS = { open, put, read, needs, resolve, pre, post, boundary, narrow, restore, canary, ack, probe, tick, power };

function answer(line) {
  let message;
  try {
    message = JSON.parse(line);
    if (tooDeep(message)) return { ok: false, error: "nested too deeply" };
    if (!isObject(message) || !Object.hasOwn(CALLS, message.do)) return { ok: false, error: "unknown call" };
    if (space === null && message.do !== "open") return { ok: false, error: "open a space first" };
  } catch {
    return { ok: false, error: "the line is not JSON" };
  }
  try {
    const found = CALLS[message.do](message);
    return found === null ? null : { ok: true, ...found };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, error: error.message };
    if (message.do === "open") return { ok: false, error: "the configuration is malformed" };
    throw error;
  }
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  const found = answer(line);
  if (found !== null) console.log(JSON.stringify(found));
}
