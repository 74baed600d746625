// Conviction staking over JSON lines: one message in on standard input, one answer out on standard output.
import { createHash } from "node:crypto";
import { createInterface } from "node:readline";

const option = (name, otherwise) =>
  process.argv.find((a) => a.startsWith(`--${name}=`))?.slice(name.length + 3) ?? otherwise;
const ADMIN = option("admin", "admin");
const DEFECTS = new Set(option("defects", process.env.CONVICTION_DEFECTS ?? "").split(",").filter(Boolean));
const RULES = {
  invitePayment: 100, maximumCredit: 1e9, selfStake: 50, maxThinkTicks: 3, kickOutPenalty: 0, feedbackStake: 5,
  maxFeedback: 3, feedbackChars: 500, cycles: 2, maxMultiplier: 2.0, targetFraction: 0.98, saturationRounds: 5,
  stakeRounds: 3, ...JSON.parse(option("rules", "{}")),
};
const NO_ACTION = { title: "No Action", action: "", rationale: "" };

let tick = 0;
let issue = null;
const agents = Object.create(null);
const issues = Object.create(null);
const log = [];

class No extends Error {}
const need = (condition, why) => { if (!condition) throw new No(why); };
const isText = (value) => typeof value === "string" && value !== "";
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
const note = (ev, fields) => log.push({ n: log.length + 1, tick, ev, ...fields });

// ---- what the administrator and the scheduler send

const admin = {
  "admin.invite"({ name, hooks = [], metadata = {} }) {
    need(isText(name), "BadAgent");
    const uid = `u${Object.keys(agents).length + 1}`;
    const key = createHash("sha256").update(`${ADMIN}:${uid}`).digest("base64url").slice(0, 20);
    const balance = Math.min(RULES.invitePayment, RULES.maximumCredit);
    agents[uid] = { uid, name, key, balance, enrolled: false, hooks, metadata };
    note("Credit", { agent: uid, amount: balance });
    return { uid, key };
  },
  "admin.issue"({ problem, background, cycles = RULES.cycles, context = null }) {
    need(isText(problem) && isText(background), "IssueIncomplete");
    need(Number.isInteger(cycles) && cycles >= 0, "BadCycles");
    need(!issue || issue.phase === "FINAL", "IssueRunning");
    const id = `i${Object.keys(issues).length + 1}`;
    issues[id] = issue = {
      id, problem, background, context, cycles, phase: "OPEN", round: 0, agents: [], acted: new Set(), waited: {},
      proposals: DEFECTS.has("inherited_id") ? {} : Object.create(null), choice: {}, stakes: [], feedback: [],
    };
    note("IssueOpened", { issue: id });
    return { issue: id };
  },
  "admin.assign"({ uid }) {
    need(issue?.phase === "OPEN", "WrongPhase");
    need(typeof uid === "string" && agents[uid]?.enrolled && !issue.agents.includes(uid), "NotEnrolled");
    issue.agents.push(uid);
    note("Assigned", { agent: uid, issue: issue.id });
    if (DEFECTS.has("paid_again") && Object.keys(issues).length > 1) {
      agents[uid].balance += RULES.invitePayment;
      note("Credit", { agent: uid, amount: RULES.invitePayment });
    }
  },
  "admin.begin"() {
    need(issue?.phase === "OPEN" && issue.agents.length, "WrongPhase");
    enter("PROPOSE");
  },
  "admin.tick"() {
    tick += 1;
    if (!issue || issue.phase === "OPEN" || issue.phase === "FINAL") return { tick };
    const late = issue.agents.filter((uid) => !issue.acted.has(uid));
    for (const uid of late) issue.waited[uid] += 1;
    const kicked = late.filter((uid) => issue.waited[uid] >= RULES.maxThinkTicks);
    if (late.length && !kicked.length) return { tick };
    if (issue.phase === "PROPOSE") {
      for (const uid of issue.agents) if (!issue.choice[uid]) submit(uid, null);
    }
    for (const uid of kicked) {
      note("Substituted", { agent: uid, issue: issue.id, by: issue.phase === "PROPOSE" ? "NoAction" : "Abstain" });
      if (issue.phase !== "STAKE") burn(uid, Math.min(RULES.kickOutPenalty, agents[uid].balance), "KickOutPenalty");
    }
    leave();
    return { tick };
  },
};

function leave() {
  const { phase } = issue;
  if (phase === "FEEDBACK") return enter("REVISE");
  if (phase !== "STAKE" && issue.cycles > 0) {
    issue.cycles -= 1;
    return enter("FEEDBACK");
  }
  if (phase !== "STAKE") return enter("STAKE");
  if (issue.round === RULES.stakeRounds) return finalize();
  for (const stake of issue.stakes) stake.held += 1;
  enter("STAKE");
}

function enter(phase) {
  issue.phase = phase;
  issue.round += phase === "STAKE" ? 1 : 0;
  issue.acted = new Set();
  issue.waited = Object.fromEntries(issue.agents.map((uid) => [uid, 0]));
  note("Phase", { issue: issue.id, phase, round: issue.round });
}

// ---- what agents send: [phases, handler]

const acts = {
  "proposal.submit": [["PROPOSE"], (uid, m) => {
    need(!issue.choice[uid], "AlreadySubmitted");
    if (m.noAction === true) return { pid: submit(uid, null, DEFECTS.has("no_action_free")) };
    return { pid: submit(uid, draft(m)) };
  }],
  "feedback.give": [["FEEDBACK"], (uid, { pid, comment }) => {
    const target = find(pid);
    const { name } = agents[uid];
    const own = DEFECTS.has("same_name_author") ? agents[target.author]?.name === name : target.author === uid;
    need(!own && target.author !== null, "NotByAnotherAgent");
    need(typeof comment === "string", "BadComment");
    need(issue.feedback.filter((f) => f.from === uid).length < RULES.maxFeedback, "FeedbackLimitReached");
    const length = DEFECTS.has("utf16_limit") ? comment.length : [...comment].length;
    need(length <= RULES.feedbackChars, "FeedbackTooLong");
    need(agents[uid].balance >= RULES.feedbackStake, "InsufficientCredit");
    issue.feedback.push({ from: uid, to: pid, comment, tick });
    note("Feedback", { agent: uid, pid, issue: issue.id });
    burn(uid, RULES.feedbackStake, "FeedbackStake");
  }],
  "proposal.revise": [["REVISE"], (uid, m) => {
    const pid = issue.choice[uid];
    const old = issue.proposals[pid];
    need(old.author === uid, "NoActionIsCanonical");
    const text = draft(m);
    const [a, b] = [old, text].map((d) => `${d.title} ${d.action} ${d.rationale}`.split(/\s+/).filter(Boolean));
    const longer = Math.max(a.length, b.length);
    const same = DEFECTS.has("delta_by_position") ? a.filter((word, i) => word === b[i]).length : common(a, b);
    const cost = longer ? Math.ceil((RULES.selfStake * (longer - same)) / longer) : 0;
    const tap = Math.max(0, cost - agents[uid].balance);
    need(tap <= stakeOn(pid, uid), "InsufficientCredit");
    if (tap) {
      take(uid, pid, tap);
      agents[uid].balance += tap;
      note("Unstaked", { agent: uid, pid, amount: tap, issue: issue.id });
    }
    burn(uid, cost, "RevisionCost");
    Object.assign(old, text, { updated: tick });
    if (!DEFECTS.has("revision_stuck")) old.revision += 1;
    note("Revision", { agent: uid, pid, delta: `${longer - same}/${longer || 1}`, cost, tap, issue: issue.id });
    return { cost, tap };
  }],
  "stake.add": [["STAKE"], (uid, { pid, cp }) => {
    const target = find(pid);
    needAmount(cp);
    need(agents[uid].balance >= cp, "InsufficientCredit");
    put(uid, pid, cp, "StakeAdded");
    target.lastStake = tick;
  }],
  "stake.move": [["STAKE"], (uid, { from, to, cp }) => {
    const [source, target] = [find(from), find(to)];
    needAmount(cp);
    need(source !== target && stakeOn(from, uid) >= cp, "InsufficientStake");
    take(uid, from, cp);
    issue.stakes.push({ by: uid, on: to, amount: cp, held: 0 });
    target.lastStake = tick;
    note("StakeMoved", { agent: uid, from, pid: to, amount: cp, issue: issue.id });
  }],
  ready: [["PROPOSE", "FEEDBACK", "REVISE", "STAKE"], (uid) => note("Ready", { agent: uid, issue: issue.id })],
};

function find(pid) {
  need(typeof pid === "string" && issue.proposals[pid], "NoSuchProposal");
  return issue.proposals[pid];
}

function draft({ title, action, rationale, more }) {
  need([title, action, rationale].every(isText), "ProposalIncomplete");
  return more === undefined ? { title, action, rationale } : { title, action, rationale, more };
}

function needAmount(cp) {
  need(issue.round >= 2, "NotInFirstRound");
  need(Number.isSafeInteger(cp) || (DEFECTS.has("text_amount") && typeof cp === "string"), "BadAmount");
  need(cp > 0, "BadAmount");
}

function submit(uid, text, free = false) {
  let pid = text ? null : Object.keys(issue.proposals).find((p) => issue.proposals[p].author === null);
  if (!pid) {
    pid = `p${Object.keys(issue.proposals).length + 1}`;
    const author = text ? uid : null;
    issue.proposals[pid] = {
      ...(text ?? NO_ACTION), author, issue: issue.id, revision: 0, created: tick, updated: tick, lastStake: -1,
    };
  }
  issue.choice[uid] = pid;
  note("Proposal", { agent: uid, pid, issue: issue.id });
  if (!free) put(uid, pid, Math.min(RULES.selfStake, agents[uid].balance), "SelfStake");
  return pid;
}

function put(uid, pid, amount, ev) {
  if (!amount) return;
  agents[uid].balance -= amount;
  issue.stakes.push({ by: uid, on: pid, amount, held: 0 });
  note(ev, { agent: uid, pid, amount, issue: issue.id });
}

function take(uid, pid, amount) {
  for (const stake of issue.stakes.filter((s) => s.by === uid && s.on === pid)) {
    const part = Math.min(stake.amount, amount);
    stake.amount -= part;
    amount -= part;
  }
  issue.stakes = issue.stakes.filter((s) => s.amount > 0);
}

function burn(uid, amount, reason) {
  if (!amount) return;
  agents[uid].balance -= amount;
  note("Burn", { agent: uid, amount, reason, issue: issue.id });
}

const stakeOn = (pid, uid) =>
  sum(issue.stakes.filter((s) => s.on === pid && (!uid || s.by === uid)).map((s) => s.amount));

function common(a, b) {
  let row = new Array(b.length + 1).fill(0);
  for (const word of a) {
    const last = row;
    row = [0];
    b.forEach((other, j) => row.push(word === other ? last[j] + 1 : Math.max(last[j + 1], row[j])));
  }
  return row[b.length];
}

function multiplier(held) {
  const k = -Math.log(1 - RULES.targetFraction) / RULES.saturationRounds;
  return 1 + (RULES.maxMultiplier - 1) * (1 - Math.exp(-k * Math.min(held, RULES.saturationRounds)));
}

function finalize() {
  issue.phase = "FINAL";
  const pids = Object.keys(issue.proposals);
  issue.scores = {};
  for (const pid of pids) {
    const weight = sum(issue.stakes.filter((s) => s.on === pid).map((s) => s.amount * multiplier(s.held)));
    issue.scores[pid] = Number(Math.sqrt(weight).toFixed(9));
  }
  const ranked = Object.values(issue.scores).sort(DEFECTS.has("text_sort") ? undefined : (a, b) => a - b);
  const score = ranked.at(-1);
  let top = pids.filter((pid) => issue.scores[pid] === score);
  let tieBreaker = "none";
  if (top.length > 1) {
    const first = Math.min(...top.map((pid) => issue.proposals[pid].lastStake));
    top = top.filter((pid) => issue.proposals[pid].lastStake === first);
    tieBreaker = top.length > 1 ? "LowestProposalId" : "EarliestLastStakeTick";
    if (DEFECTS.has("no_tie_field")) tieBreaker = undefined;
  }
  issue.winner = top[0];
  note("Finalize", { issue: issue.id, pid: issue.winner, score, tieBreaker });
  const owners = new Map(issue.stakes.map((s) => [`${s.by} ${s.on}`, s]));
  for (const { by, on } of owners.values()) {
    note("StakeBurned", { agent: by, pid: on, amount: stakeOn(on, by), reason: "IssueConcluded", issue: issue.id });
  }
  issue.stakes = [];
}

// ---- reading

const proposalsOf = (it) => Object.fromEntries(Object.entries(it.proposals).map(
  ([pid, p]) => [pid, { ...p, currentStake: it === issue ? stakeOn(pid) : 0 }]));
const looks = {
  log: () => ({ log }),
  supply: () => ({ supply: sum(log.map((e) => (e.ev === "Credit" ? e.amount : /Burn/.test(e.ev) ? -e.amount : 0))) }),
  state: () => ({
    tick, phase: issue?.phase ?? "NONE", round: issue?.round ?? 0, proposals: issue ? proposalsOf(issue) : {},
    balances: Object.fromEntries(Object.values(agents).map((a) => [a.uid, a.balance])),
  }),
  ledger({ issue: id }) {
    const it = typeof id === "string" ? issues[id] : undefined;
    need(it?.phase === "FINAL", "NotFinal");
    const { problem, background, context, feedback, scores, winner } = it;
    return { problem, background, context, log, proposals: proposalsOf(it), feedback, scores, winner };
  },
};

function answer(m) {
  need(m && typeof m === "object" && !Array.isArray(m), "BadMessage");
  if (Object.hasOwn(looks, m.op)) return looks[m.op](m);
  if (Object.hasOwn(admin, m.op)) {
    need(m.key === ADMIN, "NotTheAdministrator");
    return admin[m.op](m);
  }
  const agent = Object.values(agents).find((a) => a.key === m.key);
  try {
    need(agent, "BadCredential");
    if (m.op === "enroll") {
      agent.enrolled = true;
      note("Enrolled", { agent: agent.uid });
      return {};
    }
    need(Object.hasOwn(acts, m.op), "UnknownOperation");
    need(issue && m.issue === issue.id && issue.agents.includes(agent.uid), "NotAssigned");
    const [phases, act] = acts[m.op];
    need(phases.includes(issue.phase), "WrongPhase");
    const result = act(agent.uid, m);
    issue.acted.add(agent.uid);
    return typeof result === "object" ? result : {};
  } catch (no) {
    if (no instanceof No) note(no.message, { agent: agent?.uid ?? null, issue: issue?.id ?? null });
    throw no;
  }
}

let number = 0;
for await (const line of createInterface({ input: process.stdin })) {
  if (!line.trim()) continue;
  const reply = { re: ++number };
  try {
    let message;
    try { message = JSON.parse(line); } catch { throw new No("BadMessage"); }
    Object.assign(reply, { ok: true }, answer(message));
  } catch (no) {
    if (!(no instanceof No)) throw no;
    Object.assign(reply, { ok: false, no: no.message });
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}
