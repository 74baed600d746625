// JSON lines in, JSON lines out: worlds, steps, justifications, selections.
import { createInterface } from "node:readline";

const given = process.argv.find((a) => a.startsWith("--defects="))?.slice(10) ?? process.env.APCM_DEFECTS ?? "";
const DEFECTS = new Set(given.split(",").filter(Boolean));

// --- BLAKE2b with 16 bytes of output -----------------------------------------------------------

const IV = [
  0x6a09e667f3bcc908n, 0xbb67ae8584caa73bn, 0x3c6ef372fe94f82bn, 0xa54ff53a5f1d36f1n,
  0x510e527fade682d1n, 0x9b05688c2b3e6c1fn, 0x1f83d9abfb41bd6bn, 0x5be0cd19137e2179n,
];
const SIGMA = [
  "0123456789abcdef", "ea489fd61c02b753", "b8c052fdae367194", "7931dcbe265a40f8", "905724afe1bc683d",
  "2c6a0b834d75fe19", "c51fed4a0763928b", "db7ec13950f4862a", "6fe9b308c2d714a5", "a2847615fb9e3cd0",
].map((row) => [...row].map((x) => parseInt(x, 16)));
const LANES = [
  [0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15],
  [0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14],
];
const cut = (x) => BigInt.asUintN(64, x);
const turn = (x, n) => cut((x >> n) | (x << (64n - n)));

function blake2b128(text) {
  const data = Buffer.from(text, "utf8");
  const h = [...IV];
  h[0] ^= 0x01010010n;
  const blocks = Math.max(1, Math.ceil(data.length / 128));
  for (let n = 0; n < blocks; n++) {
    const block = Buffer.alloc(128);
    data.copy(block, 0, n * 128);
    const m = Array.from({ length: 16 }, (_, i) => block.readBigUInt64LE(i * 8));
    const v = [...h, ...IV];
    v[12] ^= BigInt(Math.min((n + 1) * 128, data.length));
    if (n === blocks - 1) v[14] = cut(~v[14]);
    for (let round = 0; round < 12; round++) {
      LANES.forEach(([a, b, c, d], i) => {
        const s = SIGMA[round % 10];
        v[a] = cut(v[a] + v[b] + m[s[2 * i]]);
        v[d] = turn(v[d] ^ v[a], 32n);
        v[c] = cut(v[c] + v[d]);
        v[b] = turn(v[b] ^ v[c], 24n);
        v[a] = cut(v[a] + v[b] + m[s[2 * i + 1]]);
        v[d] = turn(v[d] ^ v[a], 16n);
        v[c] = cut(v[c] + v[d]);
        v[b] = turn(v[b] ^ v[c], 63n);
      });
    }
    for (let i = 0; i < 8; i++) h[i] ^= v[i] ^ v[i + 8];
  }
  const out = Buffer.alloc(16);
  out.writeBigUInt64LE(h[0], 0);
  out.writeBigUInt64LE(h[1], 8);
  return out.toString("hex");
}

// --- sets --------------------------------------------------------------------------------------

const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
const sorted = (set) => [...set].sort(order);
const subset = (a, b) => [...a].every((x) => b.has(x));
const equal = (a, b) => a.size === b.size && subset(a, b);
const meets = (a, b) => [...a].some((x) => b.has(x));
const isObject = (x) => typeof x === "object" && x !== null && !Array.isArray(x);
const nameOf = (pair) => (DEFECTS.has("joined_pairs") ? sorted(pair).join(",") : JSON.stringify(sorted(pair)));

class Bad extends Error {}

function idSet(value, known) {
  if (DEFECTS.has("string_as_set") && typeof value === "string") value = [...value];
  if (!Array.isArray(value) || !value.every((x) => typeof x === "string")) throw new Bad("E_SHAPE");
  if (new Set(value).size !== value.length) throw new Bad("E_SHAPE");
  if (!value.every((x) => known.has(x))) throw new Bad("E_UNKNOWN_PREFERENCE");
  return new Set(value);
}

// --- the run -----------------------------------------------------------------------------------

const EMPTY = { av: new Set(), rp: new Set(), pairs: [] };
let run = null;

const canonical = (f) =>
  JSON.stringify({ av: sorted(f.av), pairs: f.pairs.map(sorted).map((p) => JSON.stringify(p)).sort(order), rp: sorted(f.rp) });
const digest = (f) => f && "blake2b128:" + blake2b128(canonical(f));

function world({ prefs, actions }) {
  for (const list of [prefs, actions]) {
    if (!Array.isArray(list) || !list.every((x) => typeof x === "string")) return { ok: false, no: "bad world" };
  }
  run = {
    prefs: new Set(prefs), actions: new Set(actions), phase: "step", number: 0, previous: null, cited: new Set(),
    forbidden: new Set(), executed: [], log: [],
  };
  return { ok: true };
}

function readStep(feasible) {
  if (!isObject(feasible)) throw new Bad("E_SHAPE");
  const facts = new Map();
  for (const [action, entry] of Object.entries(feasible)) {
    if (!run.actions.has(action)) throw new Bad("E_UNKNOWN_ACTION");
    if (!isObject(entry)) throw new Bad("E_SHAPE");
    facts.set(action, { against: idSet(entry.against, run.prefs), for: idSet(entry.for, run.prefs) });
  }
  return facts;
}

function step({ feasible }) {
  if (run?.phase !== "step") return { ok: false, no: "not now" };
  try {
    run.facts = readStep(feasible);
  } catch (bad) {
    if (!(bad instanceof Bad)) throw bad;
    run.phase = "invalid";
    run.log.push({ step: run.number, invalid: bad.message });
    return { ok: false, no: "run invalid", why: bad.message };
  }
  const names = sorted(run.facts.keys());
  const facts = names.map((a) => [a, sorted(run.facts.get(a).against), sorted(run.facts.get(a).for)]);
  run.record = {
    step: run.number, feasible: { digest: blake2b128(JSON.stringify(names)), count: names.length },
    apcm: blake2b128(JSON.stringify(facts)), av: [], rp: [], pairs: [], mode: null, compiled: false, code: null, codes: [],
    forbidden: [], nontrivial: 0, gridlock: false, halt: false, revision: false, selected: null, violates: [],
  };
  run.phase = "justify";
  return { ok: true, step: run.number };
}

function brief() {
  if (run?.phase !== "justify") return { ok: false, no: "not now" };
  const facts = Object.fromEntries([...run.facts].map(([a, e]) => [a, { against: sorted(e.against), for: sorted(e.for) }]));
  const p = run.previous;
  const previous = p && { av: sorted(p.av), rp: sorted(p.rp), pairs: p.pairs.map(sorted), digest: digest(p) };
  return { ok: true, prefs: sorted(run.prefs), feasible: facts, previous };
}

function parse({ av, rp, pairs, ref, mode }) {
  const fields = { av: idSet(av, run.prefs), rp: idSet(rp, run.prefs), pairs: [] };
  if (!Array.isArray(pairs) || typeof ref !== "string" || !["MAINTAIN", "REVISE"].includes(mode)) throw new Bad("E_SHAPE");
  for (const pair of pairs) {
    if (!Array.isArray(pair) || pair.length !== 2) throw new Bad("E_SHAPE");
    fields.pairs.push(new Set(pair.flatMap((p) => [...idSet([p], run.prefs)])));
  }
  if (new Set(fields.pairs.map((p) => JSON.stringify(sorted(p)))).size !== pairs.length) throw new Bad("E_SHAPE");
  return fields;
}

function failures({ av, rp, pairs }, mode, previous) {
  const entries = [...run.facts.values()];
  const keeping = entries.filter((e) => !meets(e.against, rp));
  const idle = sorted(av).filter((p) => !keeping.every((e) => e.against.has(p)));
  const covers = (pair) => entries.every((e) => meets(pair, e.against));
  let truthful = pairs.every(covers);
  if (DEFECTS.has("first_pair_only")) truthful = pairs.slice(0, 1).every(covers);
  else if (DEFECTS.has("one_true_pair")) truthful = pairs.length === 0 || pairs.some(covers);
  const names = (list) => new Set(list.map(nameOf));
  const same = equal(av, previous.av) && equal(rp, previous.rp) && equal(names(pairs), names(previous.pairs));
  const codes = [];
  if (av.size && !pairs.length) codes.push("E_AV_WITHOUT_COLLISION");
  if (idle.length) codes.push("E_GRATUITOUS_VIOLATION");
  if (!truthful) codes.push("E_FALSE_COLLISION");
  if (mode === "MAINTAIN" && !same) codes.push("E_PRECEDENT_VIOLATION");
  return { codes, idle };
}

function justify(message) {
  if (run?.phase !== "justify") return { ok: false, no: "not now" };
  const record = run.record;
  let fields, codes, idle = [];
  try {
    fields = parse(message);
    Object.assign(record, { av: sorted(fields.av), rp: sorted(fields.rp), pairs: fields.pairs.map(sorted) });
    Object.assign(record, { mode: message.mode, revision: message.mode === "REVISE" });
    const known = DEFECTS.has("any_old_digest") && run.cited.has(message.prev);
    const fresh = known || message.prev === digest(run.previous);
    ({ codes, idle } = fresh ? failures(fields, message.mode, run.previous ?? EMPTY) : { codes: ["E_PREVIOUS"], idle });
    run.previous = fields;
    run.cited.add(digest(fields));
  } catch (bad) {
    if (!(bad instanceof Bad)) throw bad;
    codes = [bad.message];
  }
  if (codes.length) {
    Object.assign(record, { code: codes[0], codes, halt: true, gridlock: DEFECTS.has("halt_counts_as_gridlock") });
    close();
    return { ok: false, no: "halt", codes, idle };
  }
  if (!DEFECTS.has("mask_accumulates")) run.forbidden = new Set();
  for (const [action, { against, for: kept }] of run.facts) {
    const breaks = DEFECTS.has("needs_satisfaction") ? !subset(fields.rp, kept) : meets(against, fields.rp);
    if (breaks || !subset(against, fields.av)) run.forbidden.add(action);
  }
  run.permitted = new Set([...run.facts.keys()].filter((a) => !run.forbidden.has(a)));
  const nontrivial = run.facts.size - run.permitted.size;
  Object.assign(record, { compiled: true, forbidden: sorted(run.forbidden), nontrivial });
  if (!run.permitted.size) {
    record.gridlock = true;
    close();
    return DEFECTS.has("no_reply_on_gridlock") ? undefined : { ok: true, gridlock: true, permitted: [] };
  }
  run.phase = "select";
  return { ok: true, gridlock: false, permitted: sorted(run.permitted) };
}

function select({ action }) {
  if (run?.phase !== "select") return { ok: false, no: "not now" };
  let allowed = run.permitted.has(action);
  if (DEFECTS.has("not_forbidden_is_allowed")) allowed = run.actions.has(action) && !run.forbidden.has(action);
  if (!allowed) return { ok: false, no: "not permitted" };
  run.executed.push(action);
  Object.assign(run.record, { selected: action, violates: sorted(run.facts.get(action)?.against ?? []) });
  close();
  return { ok: true, executed: action };
}

function close() {
  run.log.push(run.record);
  run.number += 1;
  run.phase = "step";
}

function metrics() {
  const rows = (run?.log ?? []).filter((r) => !r.invalid);
  const done = rows.filter((r) => r.selected !== null);
  const share = (list, test) => (list.length ? list.filter(test).length / list.length : 0);
  const held = rows.filter((r) => r.mode).map((r) => JSON.stringify([r.av, r.rp]));
  return {
    ok: true,
    failureRate: share(rows, (r) => r.halt),
    gridlockRate: share(rows, (r) => r.gridlock),
    revisionFrequency: share(rows, (r) => r.revision),
    oscillations: held.filter((h, i) => i > 1 && h === held[i - 2] && h !== held[i - 1]).length,
    violations: sorted(run?.prefs ?? []).map((p) => [p, share(done, (r) => r.violates.includes(p))]),
    preventedGratuitous: rows.filter((r) => r.code === "E_GRATUITOUS_VIOLATION").length,
    falseCollisions: rows.filter((r) => r.codes.includes("E_FALSE_COLLISION")).length,
  };
}

const OPS = new Map(Object.entries({
  world, step, brief, justify, select, metrics,
  log: () => ({ ok: true, log: run?.log ?? [] }),
  state: () => ({ ok: true, phase: run?.phase ?? "none", step: run?.number ?? 0, executed: run?.executed ?? [] }),
}));

let line = 0;
for await (const text of createInterface({ input: process.stdin })) {
  line += 1;
  let message = null;
  try {
    message = JSON.parse(text);
  } catch {
    // answered below
  }
  const op = isObject(message) ? OPS.get(message.op) : null;
  const answer = op ? op(message) : { ok: false, no: isObject(message) ? "no such op" : "no JSON object" };
  if (answer) process.stdout.write(JSON.stringify({ re: line, ...answer }) + "\n");
}
