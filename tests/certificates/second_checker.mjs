// A second checker of certificates, written from the descriptions in `evenhand_certificates/check.py` and `theorems.py`.
// It reads one certificate a line, or {"theorem": …, "files": {name: certificate, …}}, and answers one line each:
// `valid`, or `invalid: ` and the reason.
// SPDX-License-Identifier: MIT

import { createInterface } from "node:readline";

class Invalid extends Error {}
const fail = (why) => { throw new Invalid(why); };
const isText = (x) => typeof x === "string";
const isPlace = (x, below) => Number.isInteger(x) && x >= 0 && x < below;
const isList = Array.isArray;

let work = 0;
const spend = (units) => { if ((work += units) > 40_000_000) fail("too much work"); };

// ---- exact fractions -------------------------------------------------------------------------------------------
const gcd = (a, b) => { a = a < 0n ? -a : a; while (b) [a, b] = [b, a % b]; return a; };
const frac = (n, d = 1n) => { if (d < 0n) { n = -n; d = -d; } const g = gcd(n, d) || 1n; return [n / g, d / g]; };
const add = ([a, b], [c, d]) => frac(a * d + c * b, b * d);
const mul = ([a, b], [c, d]) => frac(a * c, b * d);
const zero = ([n]) => n === 0n;
const ONE = frac(1n), MINUS = frac(-1n);
const readFraction = (text) => {
  const found = isText(text) && /^(-?[0-9]{1,400})(?:\/([0-9]{1,400}))?$/.exec(text);
  if (!found || (found[2] && BigInt(found[2]) === 0n)) fail("no fraction");
  return frac(BigInt(found[1]), BigInt(found[2] ?? "1"));
};

// ---- polynomials: Map from a sorted list of term numbers (as text) to a fraction ---------------------------------
const plus = (one, other, factor) => {
  const sum = new Map(one);
  for (const [key, by] of other) {
    const value = add(sum.get(key) ?? frac(0n), mul(factor, by));
    if (zero(value)) sum.delete(key); else sum.set(key, value);
  }
  return sum;
};
const degree = (p) => Math.max(0, ...[...p.keys()].map((key) => (key ? key.split(",").length : 0)));
const times = (one, other) => {
  if (one.size * other.size > 2000 || degree(one) + degree(other) > 16) fail("product too large");
  spend(10 * one.size * other.size);
  let sum = new Map();
  for (const [a, x] of one) {
    const row = new Map();
    for (const [b, y] of other) {
      const key = [a, b].filter(Boolean).join(",").split(",").filter(Boolean).map(Number).sort((p, q) => p - q).join(",");
      row.set(key, y);
    }
    sum = plus(sum, row, x);
  }
  return sum;
};

// ---- one certificate ------------------------------------------------------------------------------------------
class Checker {
  constructor(certificate) {
    this.nodes = []; this.known = new Map(); this.free = []; this.depth = [];
    this.sortCache = new Map(); this.good = new Set(); this.polynomials = new Map();
    this.clauses = []; this.literals = new Map(); this.quantified = []; this.atoms = new Map(); this.count = 0;
    this.declare(certificate);
  }

  declare({ sorts, functions, relations }) {
    const names = (list, unique) => {
      if (!isList(list) || !list.every(isText)) fail("names expected");
      if (unique && new Set(list).size < list.length) fail("a name twice");
      return list;
    };
    this.sorts = new Set(names(sorts, true));
    if (this.sorts.has("Number")) fail("Number is declared");
    this.functions = new Map(); this.relations = new Map();
    const fresh = (name) => {
      if (!isText(name) || name.startsWith("number.") || this.functions.has(name) || this.relations.has(name)) fail("bad symbol");
      return name;
    };
    const domain = (list) => { if (!names(list).every((s) => this.sorts.has(s))) fail("unknown sort"); return list; };
    for (const row of functions) {
      if (!isList(row) || row.length !== 3) fail("bad function");
      const name = fresh(row[0]), from = domain(row[1]);
      if (row[2] !== "Number" && !this.sorts.has(row[2])) fail("unknown sort of a value");
      this.functions.set(name, [from, row[2]]);
    }
    for (const row of relations) {
      if (!isList(row) || row.length !== 2) fail("bad relation");
      this.relations.set(fresh(row[0]), domain(row[1]));
    }
  }

  parts(node) {
    const [tag] = node;
    if (tag === "var" || tag === "any" || tag === "wit") return [];
    return node.slice(["app", "rel", "all", "some"].includes(tag) ? 2 : 1);
  }

  put(node) {
    const key = JSON.stringify(node);
    if (this.known.has(key)) return this.known.get(key);
    spend(node.length);
    if (this.nodes.length >= 1_000_000) fail("too many nodes");
    const parts = this.parts(node);
    let free = node[0] === "var" ? node[1] + 1 : Math.max(0, ...parts.map((p) => this.free[p]));
    if (node[0] === "all" || node[0] === "some") free = Math.max(0, free - node[1].length);
    const depth = 1 + Math.max(0, ...parts.map((p) => this.depth[p]));
    if (depth > 200) fail("too deep");
    this.known.set(key, this.nodes.length); this.nodes.push(node); this.free.push(free); this.depth.push(depth);
    return this.nodes.length - 1;
  }

  read(entries) {
    const places = [];
    const at = (list) => list.map((p) => (isPlace(p, places.length) ? places[p] : fail("no earlier node")));
    const arity = { "not": 1, "=": 2, "=>": 2, "iff": 2, "ite": 3 };
    for (const entry of entries) {
      if (!isList(entry) || !isText(entry[0])) fail("bad node");
      const [tag, ...rest] = entry;
      let node;
      if (tag === "var" && rest.length === 1 && isPlace(rest[0], 200)) node = entry;
      else if (tag === "any" && rest.length === 1 && isText(rest[0])) node = entry;
      else if ((tag === "app" || tag === "rel") && isText(rest[0])) node = [tag, rest[0], ...at(rest.slice(1))];
      else if (tag === "and" || tag === "or") node = [tag, ...at(rest)];
      else if ((tag === "all" || tag === "some") && rest.length === 2 && isList(rest[0]) && rest[0].every(isText))
        node = [tag, rest[0], ...at([rest[1]])];
      else if (Object.hasOwn(arity, tag) && rest.length === arity[tag]) node = [tag, ...at(rest)];
      else fail("unknown node");
      places.push(this.put(node));
    }
    return places;
  }

  sort(n, bound) {
    const key = `${n}|${bound}`;
    if (!this.sortCache.has(key)) { spend(bound.length + 1); this.sortCache.set(key, this.sortOf(this.nodes[n], bound)); }
    return this.sortCache.get(key);
  }

  sortOf(node, bound) {
    const [tag, name] = node;
    if (tag === "var") return name < bound.length ? bound[bound.length - 1 - name] : fail("free variable");
    if (tag === "any") return this.sorts.has(name) ? name : fail("no sort");
    if (tag === "wit") return this.nodes[name][1][node[2]];
    if (tag !== "app") fail("a term is expected");
    let domain, value;
    if (["number.plus", "number.minus", "number.times"].includes(name)) [domain, value] = [["Number", "Number"], "Number"];
    else if (this.functions.has(name)) [domain, value] = this.functions.get(name);
    else if (name.startsWith("number.is.")) [domain, value] = [[], "Number"];
    else fail("no function");
    this.fit(domain, node.slice(2), bound);
    return value;
  }

  fit(domain, parts, bound) {
    const found = parts.map((p) => this.sort(p, bound));
    if (found.length !== domain.length || found.some((s, i) => s !== domain[i])) fail("wrong sorts");
  }

  formula(n, bound) {
    const key = `${n}|${bound}`;
    if (this.good.has(key)) return;
    spend(bound.length + 1);
    const node = this.nodes[n], [tag] = node;
    if (tag === "all" || tag === "some") {
      if (!node[1].length || !node[1].every((s) => this.sorts.has(s))) fail("bad quantifier");
      this.formula(node[2], [...bound, ...node[1]]);
    } else if (tag === "rel") {
      const domain = ["number.at_most", "number.below"].includes(node[1]) ? ["Number", "Number"] : this.relations.get(node[1]);
      this.fit(domain ?? fail("no relation"), node.slice(2), bound);
    } else if (tag === "=") {
      if (this.sort(node[1], bound) !== this.sort(node[2], bound)) fail("equality of two sorts");
    } else if (["not", "and", "or", "=>", "iff", "ite"].includes(tag)) node.slice(1).forEach((p) => this.formula(p, bound));
    else fail("a formula is expected");
    this.good.add(key);
  }

  substitute(n, terms, depth, done) {
    if (this.free[n] <= depth) return n;
    const key = `${n}|${depth}`;
    if (!done.has(key)) {
      const node = this.nodes[n], [tag] = node;
      spend(node.length);
      let result;
      if (tag === "var") result = terms[terms.length - 1 - (node[1] - depth)];
      else if (tag === "all" || tag === "some")
        result = this.put([tag, node[1], this.substitute(node[2], terms, depth + node[1].length, done)]);
      else {
        const first = tag === "app" || tag === "rel" ? 2 : 1;
        result = this.put([...node.slice(0, first), ...node.slice(first).map((p) => this.substitute(p, terms, depth, done))]);
      }
      done.set(key, result);
    }
    return done.get(key);
  }

  literal(n) {
    if (!this.literals.has(n)) {
      const node = this.nodes[n];
      this.literals.set(n, node[0] === "not" ? -this.literal(node[1]) : this.define(n, node));
    }
    return this.literals.get(n);
  }

  define(n, [tag, ...rest]) {
    const parts = ["and", "or", "=>", "iff", "ite"].includes(tag) ? rest.map((p) => this.literal(p)) : [];
    const own = ++this.count;
    const both = (v, list) => {
      for (const p of list) this.clauses.push([-v, p]);
      this.clauses.push([v, ...list.map((p) => -p)]);
    };
    const [a, b, c] = parts;
    if (tag === "and") both(own, parts);
    else if (tag === "or") both(-own, parts.map((p) => -p));
    else if (tag === "=>") both(-own, [a, -b]);
    else if (tag === "iff") this.clauses.push([-own, -a, b], [-own, a, -b], [own, a, b], [own, -a, -b]);
    else if (tag === "ite") this.clauses.push([-own, -a, b], [-own, a, c], [own, -a, -b], [own, a, -c]);
    else if (tag === "all" || tag === "some") this.quantified.push(n);
    else this.atoms.set(own, n);
    return own;
  }

  open(n, terms, isWitness) {
    const whole = this.literal(n), body = this.literal(this.substitute(this.nodes[n][2], terms, 0, new Map()));
    const down = (this.nodes[n][0] === "all") !== isWitness;
    this.clauses.push(down ? [-whole, body] : [whole, -body]);
  }

  term(entry, witnesses, depth = 0) {
    if (isList(entry)) {
      const [tag, first, ...rest] = entry;
      if (tag === "app" && isText(first) && depth < 100) return this.put(["app", first, ...rest.map((p) => this.term(p, witnesses, depth + 1))]);
      if (tag === "any" && isText(first) && !rest.length) return this.put(["any", first]);
      if (tag === "wit" && rest.length === 1 && witnesses.has(first) && isPlace(rest[0], witnesses.get(first).length)) return witnesses.get(first)[rest[0]];
    }
    return fail("no closed term");
  }

  steps(steps) {
    const witnesses = new Map();
    steps.forEach((step, number) => {
      if (!isList(step) || step.length < 1 || step.length > 2 || !isPlace(step[0], this.quantified.length)) fail("bad step");
      const n = this.quantified[step[0]], sorts = this.nodes[n][1];
      if (step.length === 1) {
        const terms = sorts.map((_, i) => this.put(["wit", n, i]));
        witnesses.set(number, terms);
        this.open(n, terms, true);
      } else {
        if (!isList(step[1])) fail("terms are no list");
        const terms = step[1].map((t) => this.term(t, witnesses));
        this.fit(sorts, terms, []);
        this.open(n, terms, false);
      }
    });
    return witnesses;
  }

  // A lemma of equality, by merging classes until nothing changes.
  equality(clause) {
    if (!clause.every((l) => this.atoms.has(Math.abs(l)))) return false;
    const facts = clause.map((l) => [this.nodes[this.atoms.get(Math.abs(l))], l < 0]);
    const cls = new Map();
    const enter = (t) => { if (!cls.has(t)) { cls.set(t, t); const n = this.nodes[t]; if (n[0] === "app") n.slice(2).forEach(enter); } };
    for (const [node] of facts) (node[0] === "=" ? node.slice(1) : node.slice(2)).forEach(enter);
    const join = (a, b) => { const [x, y] = [cls.get(a), cls.get(b)]; if (x === y) return false; for (const [t, c] of cls) if (c === x) cls.set(t, y); spend(cls.size); return true; };
    for (const [node, holds] of facts) if (node[0] === "=" && holds) join(node[1], node[2]);
    for (let changed = true; changed;) {
      changed = false;
      const seen = new Map();
      for (const t of [...cls.keys()]) {
        const n = this.nodes[t];
        if (n[0] !== "app" || n.length === 2) continue;
        spend(n.length);
        const key = JSON.stringify([n[1], ...n.slice(2).map((p) => cls.get(p))]);
        if (seen.has(key)) changed = join(seen.get(key), t) || changed; else seen.set(key, t);
      }
    }
    const said = new Map();
    for (const [node, holds] of facts) {
      if (node[0] === "=") { if (!holds && cls.get(node[1]) === cls.get(node[2])) return true; continue; }
      const key = JSON.stringify([node[1], ...node.slice(2).map((p) => cls.get(p))]);
      if (said.has(key) && said.get(key) !== holds) return true;
      said.set(key, holds);
    }
    return false;
  }

  polynomial(t) {
    if (!this.polynomials.has(t)) {
      const [tag, name, a, b] = this.nodes[t];
      let p;
      if (tag === "app" && name === "number.plus") p = plus(this.polynomial(a), this.polynomial(b), ONE);
      else if (tag === "app" && name === "number.minus") p = plus(this.polynomial(a), this.polynomial(b), MINUS);
      else if (tag === "app" && name === "number.times") p = times(this.polynomial(a), this.polynomial(b));
      else if (tag === "app" && name.startsWith("number.is.")) {
        const found = /^number\.is\.([pm])([0-9]{1,400})\.([0-9]{1,400})$/.exec(name);
        if (!found || BigInt(found[3]) === 0n) fail("no numeral");
        const value = frac(BigInt(found[2]) * (found[1] === "p" ? 1n : -1n), BigInt(found[3]));
        p = zero(value) ? new Map() : new Map([["", value]]);
      } else p = new Map([[String(t), ONE]]);
      spend(10 * p.size + 1);
      this.polynomials.set(t, p);
    }
    return this.polynomials.get(t);
  }

  fact(literal) {
    if (!this.atoms.has(Math.abs(literal))) return null;
    const node = this.nodes[this.atoms.get(Math.abs(literal))], holds = literal > 0;
    if (node[0] === "=" && this.sort(node[1], []) === "Number")
      return [plus(this.polynomial(node[1]), this.polynomial(node[2]), MINUS), holds ? "=" : "!="];
    if (node[0] === "rel" && ["number.at_most", "number.below"].includes(node[1])) {
      const [l, r] = [this.polynomial(node[2]), this.polynomial(node[3])];
      return [holds ? plus(l, r, MINUS) : plus(r, l, MINUS), (node[1] === "number.below") === holds ? "<" : "<="];
    }
    return null;
  }

  numeric(clause, sums, witnesses) {
    const facts = clause.map((l) => this.fact(-l));
    const apart = facts.findIndex((f) => f && f[1] === "!=");
    if (facts.filter((f) => f && f[1] === "!=").length > 1 || sums.length !== (apart < 0 ? 1 : 2)) return false;
    return sums.every((sum, turn) => {
      const known = facts.map((f, i) => (i === apart ? [turn ? plus(new Map(), f[0], MINUS) : f[0], "<"] : f));
      return this.contradicts(known, sum, witnesses);
    });
  }

  contradicts(facts, sum, witnesses) {
    let total = new Map(), strict = false;
    const at = (p) => (isPlace(p, facts.length) && facts[p]) || fail("no such fact");
    for (const entry of isList(sum) ? sum : []) {
      if (!isList(entry) || entry.length < 2 || entry.length > 18) fail("bad part of a sum");
      const weight = readFraction(entry[entry.length - 1]);
      let [p, relation] = at(entry[0]);
      for (const factor of entry.slice(1, -1)) {
        let other;
        if (isList(factor)) {
          const t = this.term(factor, witnesses);
          if (this.sort(t, []) !== "Number") fail("no number");
          other = [this.polynomial(t), "any"];
        } else other = at(factor);
        const both = times(p, other[0]), kinds = [relation, other[1]];
        if (kinds.includes("=")) [p, relation] = [both, "="];
        else if (kinds.includes("any")) [p, relation] = [both, "any"];
        else [p, relation] = [plus(new Map(), both, MINUS), kinds.every((k) => k === "<") ? "<" : "<="];
      }
      if (relation === "any" || (relation !== "=" && weight[0] < 0n)) return false;
      strict ||= relation === "<" && weight[0] > 0n;
      total = plus(total, p, weight);
      spend(10 * total.size + 10);
    }
    const constant = total.get("") ?? frac(0n);
    total.delete("");
    return total.size === 0 && (constant[0] > 0n || (strict && zero(constant)));
  }
}

const refutes = (clauses, steps) => {
  for (const step of steps) {
    if (!isList(step) || step.length !== 2 || !step.every((part) => isList(part) && part.every(Number.isInteger))) fail("bad derivation");
    const [clause, hints] = step;
    const falsified = new Set(clause);
    let closed = false;
    for (const hint of hints) {
      if (!isPlace(hint, clauses.length)) fail("bad hint");
      spend(1 + (clauses[hint].length >> 2));
      const left = [...new Set(clauses[hint].filter((l) => !falsified.has(l)))];
      if (left.length > 1) fail("a hint is no unit");
      if (left.length === 0) { closed = true; break; }
      falsified.add(-left[0]);
    }
    if (!closed) fail("a step does not follow");
    if (!clause.length) return;
    clauses.push(clause);
  }
  fail("no empty clause");
};

const check = (certificate) => {
  if (certificate?.format !== "evenhand/certificate" || certificate.version !== 1) fail("format");
  for (const key of ["sorts", "functions", "relations", "nodes", "assertions", "steps", "atoms", "lemmas", "refutation"])
    if (!isList(certificate[key])) fail(`no list ${key}`);
  const made = new Checker(certificate);
  const places = made.read(certificate.nodes);
  for (const entry of certificate.assertions) {
    if (!isList(entry) || entry.length !== 2 || !isText(entry[0]) || !isPlace(entry[1], places.length)) fail("bad assertion");
    made.formula(places[entry[1]], []);
    made.clauses.push([made.literal(places[entry[1]])]);
  }
  const witnesses = made.steps(certificate.steps);
  for (const atom of certificate.atoms) {
    if (!isList(atom) || atom.length !== 2) fail("bad atom");
    const equality = made.put(["=", made.term(atom[0], witnesses), made.term(atom[1], witnesses)]);
    made.formula(equality, []);
    made.literal(equality);
  }
  const clauses = [...made.clauses];
  for (const lemma of certificate.lemmas) {
    const clause = isList(lemma) ? lemma : lemma?.clause;
    if (!isList(clause) || !clause.every(Number.isInteger)) fail("bad lemma");
    if (!isList(lemma) && (!isList(lemma.sums) || Object.keys(lemma).length !== 2)) fail("bad lemma");
    if (!(isList(lemma) ? made.equality(clause) : made.numeric(clause, lemma.sums, witnesses))) fail("a lemma is not true");
    clauses.push(clause);
  }
  refutes(clauses, certificate.refutation);
};

// ---- a theorem: texts of formulas are compared, in which a variable is named by how many binders are around it ------
const AFTER = ".after";
const interned = new Map();
const intern = (...parts) => {
  const key = parts.join(" ");
  if (!interned.has(key)) interned.set(key, interned.size);
  return interned.get(key);
};

const textOf = (made, { meanings = new Map(), opaque = [], named = (name) => name } = {}) => {
  const done = new Map();
  const walk = (n, env, depth) => {
    const key = `${n}|${env}|${depth}`;
    if (!done.has(key)) { spend(1 + env.length); done.set(key, written(made.nodes[n], env, depth)); }
    return done.get(key);
  };
  const written = ([tag, first, ...rest], env, depth) => {
    if (tag === "var") return env[env.length - 1 - first];
    if (tag === "any") return intern("any", JSON.stringify(first));
    if (tag === "all" || tag === "some") {
      const own = first.map((_, i) => intern("variable", depth + i));
      return intern(tag, JSON.stringify(first), walk(rest[0], [...env, ...own], depth + first.length));
    }
    if (tag !== "app" && tag !== "rel") return intern(tag, ...[first, ...rest].filter(Number.isInteger).map((p) => walk(p, env, depth)));
    const terms = rest.map((p) => walk(p, env, depth));
    if (tag === "rel" && meanings.has(first) && !opaque.includes(first)) return walk(meanings.get(first), terms, depth);
    return intern(tag, JSON.stringify(named(first)), ...terms);
  };
  return (n) => walk(n, [], 0);
};

const symbolsIn = (made, meanings, n, seen = new Set()) => {
  if (seen.has(n)) return new Set();
  seen.add(n);
  const [tag, name] = made.nodes[n];
  const found = new Set(tag === "app" || tag === "rel" ? [name] : []);
  const inner = [...made.parts(made.nodes[n]), ...(tag === "rel" && meanings.has(name) ? [meanings.get(name)] : [])];
  for (const part of inner) for (const one of symbolsIn(made, meanings, part, seen)) found.add(one);
  return found;
};

const checkTheorem = ({ theorem: told, files }) => {
  if (told?.format !== "evenhand/theorem" || told.version !== 1) fail("format");
  for (const key of ["sorts", "functions", "relations", "nodes", "definitions", "axioms", "lines"]) if (!isList(told[key])) fail(`no list ${key}`);
  const made = new Checker(told), machine = told.machine ?? null, meanings = new Map();
  let state = new Set(), inputs = new Set();
  if (machine !== null) {
    const known = (list) => isList(list) && list.every((name) => isText(name) && (made.functions.has(name) || made.relations.has(name)));
    if (!known(machine.state) || !known(machine.inputs)) fail("bad machine");
    state = new Set(machine.state); inputs = new Set(machine.inputs);
    if ([...state].some((name) => inputs.has(name))) fail("state and input");
    const names = [...made.functions.keys(), ...made.relations.keys(), ...told.definitions.map((row) => row?.[0])];
    if (names.some((name) => !isText(name) || name.includes("."))) fail("a name with a dot");
    for (const table of [made.functions, made.relations])
      for (const name of state) if (table.has(name)) table.set(name + AFTER, table.get(name));
  }
  const places = made.read(told.nodes);
  const formula = (place, bound = []) => {
    if (!isPlace(place, places.length)) fail("no place");
    made.formula(places[place], bound);
    return places[place];
  };
  for (const row of told.definitions) {
    if (!isList(row) || row.length !== 3 || !isText(row[0]) || row[0].startsWith("number.") || !isList(row[1])) fail("bad definition");
    const [name, sorts, body] = row;
    if (made.functions.has(name) || made.relations.has(name) || !sorts.every((s) => made.sorts.has(s))) fail("bad definition");
    const meaning = formula(body, sorts);
    made.relations.set(name, sorts); meanings.set(name, meaning);
  }
  const rows = (list, width) => list.forEach((row) => { if (!isList(row) || row.length !== width || !isText(row[0])) fail("bad row"); });
  rows(told.axioms, 2); rows(told.lines, 3);
  const axioms = told.axioms.map(([, place]) => formula(place));
  const lines = told.lines.map(([file, place, opaque]) => {
    if (!isList(opaque) || !opaque.every(isText)) fail("bad line");
    return [file, formula(place), opaque];
  });
  const says = formula(told.says);
  if (!lines.length) fail("no line");
  const moves = (n) => [...symbolsIn(made, meanings, n)].some((name) => inputs.has(name) || name.endsWith(AFTER));
  const texts = new Map();
  const at = (n, moment) => {
    const named = (name) => name.endsWith(AFTER) ? `${name.slice(0, -AFTER.length)}.${moment + 1}` : state.has(name) || inputs.has(name) ? `${name}.${moment}` : name;
    if (!texts.has(moment)) texts.set(moment, textOf(made, { meanings, named }));
    return texts.get(moment)(n);
  };
  const goal = lines[0][1], depth = lines.length - 1, span = machine === null ? 0 : Number(moves(goal));
  let init, step;
  if (machine === null) { if (lines[depth][1] !== says) fail("another theorem"); } else {
    [init, step] = [formula(machine.init), formula(machine.step)];
    if (depth < 1 || lines.some(([, n, opaque]) => n !== goal || opaque.length)) fail("no induction");
    const [tag, ...parts] = made.nodes[goal];
    if (says !== goal && !(tag === "and" && parts.includes(says))) fail("another invariant");
    if (moves(init)) fail("init is about a step");
  }
  const upTo = (n) => [...Array(n).keys()];
  lines.forEach(([file, n, opaque], number) => {
    let allowed;
    if (machine === null) {
      const text = textOf(made, { meanings, opaque });
      allowed = [...axioms, ...lines.slice(0, number).map(([, line]) => line)].map(text).concat(intern("not", text(n)));
    } else {
      const steps = number + span;
      allowed = axioms.flatMap((a) => upTo(Math.max(1, steps)).filter(() => steps || !moves(a)).map((i) => at(a, i)));
      allowed.push(...upTo(steps).map((i) => at(step, i)), intern("not", at(goal, number)));
      allowed.push(...(number < depth ? [at(init, 0)] : upTo(depth).map((i) => at(goal, i))));
    }
    if (!Object.hasOwn(files, file)) fail("no such file");
    const certificate = files[file];
    check(certificate);
    const base = (name) => { const found = /^(.+)\.[0-9]+$/.exec(name); return found && (state.has(found[1]) || inputs.has(found[1])) ? found[1] : name; };
    for (const [name, domain, sort] of certificate.functions)
      if (JSON.stringify(made.functions.get(base(name))) !== JSON.stringify([domain, sort])) fail("another function");
    for (const [name, domain] of certificate.relations)
      if (JSON.stringify(made.relations.get(base(name))) !== JSON.stringify(domain)) fail("another relation");
    const own = new Checker(certificate), found = own.read(certificate.nodes), text = textOf(own);
    if (!certificate.assertions.every(([, place]) => allowed.includes(text(found[place])))) fail("a line assumes what it may not");
  });
};

for await (const line of createInterface({ input: process.stdin })) {
  let said = "valid";
  work = 0;
  try {
    const read = JSON.parse(line);
    if (read !== null && Object.hasOwn(read, "theorem")) checkTheorem(read); else check(read);
  } catch (error) {
    said = error instanceof Invalid || error instanceof SyntaxError || error instanceof RangeError ? `invalid: ${error.message}` : `broken: ${error.stack}`;
  }
  console.log(said.replaceAll("\n", " "));
}
