"""A fleet whose agents are generators: they yield requests, and the fleet takes one from each agent in turn.

The guard is a table of rules; the first row whose condition holds gives the verdict.
"""

import json
import math

NUMBER = (int, float)
CONTENT = ("result", "content", "reason", "question", "context")
TRUST = {"fleet": 1.0, "external_verified": 0.7, "external_unverified": 0.3}
LISTS = {
    "intent": ("action", "allowed_intent_verbs"),
    "action": ("action", "allowed_action_verbs"),
    "observation": ("topic", "observation_topics"),
    "warning": ("topic", "warning_topics"),
}


class Refused(Exception):
    pass


def is_share(value):
    return type(value) in NUMBER and 0 <= value <= 1


def is_text(value):
    return isinstance(value, str)


def depth(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return 1 + max(map(depth, inner), default=0)


def is_struct(value):
    try:
        return isinstance(value, dict) and depth(value) <= 50 and json.dumps(value, allow_nan=False) is not None
    except (TypeError, ValueError, RecursionError):
        return False


def is_flag(value):
    return isinstance(value, bool)


def one_of(*names):
    return lambda value: isinstance(value, str) and value in names


MUST = {
    "intent": {"resource": is_text, "action": is_text, "confidence": is_share},
    "action": {"action": is_text, "result": is_struct},
    "observation": {"topic": is_text, "content": is_struct, "confidence": is_share, "source": one_of(*TRUST)},
    "warning": {"topic": is_text, "reason": is_text, "severity": one_of("info", "caution", "critical")},
    "need": {"question": is_text, "context": is_struct, "priority": is_share, "blocking": is_flag},
}
MAY = {"action": {"resource": is_text, "failed": is_flag}, "warning": {"invalidates": is_text}}
COMMON = {"supersedes": is_text, "initial_strength": lambda value: type(value) in NUMBER and 0 <= value <= 1e300}


def named_well(scope):
    return isinstance(scope, str) and all(scope.split("/"))


def inside(scope, parent):
    return scope == parent or scope.startswith(parent + "/")


def copied(value):
    return json.loads(json.dumps(value))


# The guard's table: name, condition, verdict, reason. Rows of the first table are tried before an intent is written.

BEFORE = [
    ("no right", lambda case: case["fault"], "DENIED", "{fault}"),
    ("acted on", lambda case: case["claim"], "CONFLICT", "{claim[agent_id]} has already acted on it"),
]
AFTER = [
    ("deferred", lambda case: case["deferred"], "BLOCKED", "pending resolution"),
    ("alone", lambda case: not case["rivals"], "ALLOW", "no conflict"),
    ("yield", lambda case: case["policy"] == "yield_all", "BLOCKED", "the principal has to decide"),
    ("first", lambda case: case["best"]["agent_id"] == case["agent"], "ALLOW", "goes before the others"),
    ("beaten", lambda case: True, "CONFLICT", "{best[agent_id]} goes first"),
]
BOUNDARY = [
    BEFORE[1],
    ("yield", lambda case: case["policy"] == "yield_all" and case["rivals"], "BLOCKED", "the principal has to decide"),
    ("first", lambda case: case["best"]["agent_id"] == case["agent"], "ALLOW", "won at the boundary"),
    ("beaten", lambda case: True, "BLOCKED", "{best[agent_id]} won at the boundary"),
]


def execute(scope, resource, verbs, tool, confidence):
    """For programs: decision, result = yield from execute(...). Takes up to three turns."""
    intent_verb, action_verb = verbs
    ask = {"do": "pre", "scope": scope, "resource": resource, "action": intent_verb, "confidence": confidence}
    decision = yield {**ask, "result_action": action_verb}
    if decision.get("verdict") != "ALLOW":
        return decision, None
    outcome = yield {"do": "tool", "intent_id": decision["intent_id"], "run": tool}
    act = {"scope": scope, "resource": resource, "action": action_verb, **outcome}
    yield {"do": "post", "intent_id": decision["intent_id"], "mark": act}
    return decision, outcome["result"]


class Marks:
    """The mark space: what is stored, and how strong it is now."""

    def __init__(self, config, defects):
        self.defects, self.now, self.rows, self.scopes = defects, 0, {}, {}
        for scope in config["scopes"]:
            full = {"visibility": "open", "conflict_policy": "first_writer", "deferred": False, **copied(scope)}
            times = [full["decay"][name] for name in ("observation_half_life", "warning_half_life", "intent_ttl")]
            fine = named_well(full["name"]) and full["visibility"] in ("open", "protected", "classified")
            fine = fine and full["conflict_policy"] in ("first_writer", "highest_confidence", "yield_all")
            if not fine or not all(type(value) in NUMBER and 0 < value <= 1e300 for value in times):
                raise ValueError(f"bad scope {full['name']!r}")
            self.scopes[full["name"]] = full
        self.agents = {agent["id"]: copied(agent) for agent in config["agents"]}
        if "guard" in self.agents:
            raise ValueError("the name guard is taken")
        self.principal = config.get("principal")

    def rules(self, scope):
        while scope and scope not in self.scopes:
            scope = scope.rpartition("/")[0]
        return self.scopes.get(scope)

    def may_write(self, agent, scope, kind):
        rows = self.agents.get(agent, {}).get("permissions", [])
        return any(inside(scope, row["scope"]) and kind in row["mark_types"] for row in rows)

    def check(self, agent, mark):
        kind = mark.get("mark_type") if isinstance(mark, dict) else None
        if not isinstance(kind, str) or kind not in MUST:
            raise Refused("this is no mark of the five types")
        scope = mark.get("scope")
        if not named_well(scope) or self.rules(scope) is None:
            raise Refused("there is no such scope")
        if not self.may_write(agent, scope, kind):
            raise Refused(f"{agent} may not write {kind} marks to {scope}")
        tests = {**MUST[kind], **MAY.get(kind, {}), **COMMON}
        for name in {**MUST[kind], **mark}:
            if name not in ("mark_type", "scope") and not (name in tests and name in mark and tests[name](mark[name])):
                raise Refused(f"the field {name} is missing, unknown or malformed")
        for name in ("supersedes", "invalidates"):
            if name in mark and mark[name] not in self.rows:
                raise Refused(f"{name} names no mark")
        if kind in LISTS:
            name, allowed = LISTS[kind][0], self.rules(scope).get(LISTS[kind][1], [])
            if mark[name] not in allowed and not (name == "topic" and "*" in allowed):
                raise Refused(f"{mark[name]} is not allowed in {scope}")

    def store(self, agent, mark):
        mark_id = f"{len(self.rows) + 1:05d}"
        head = {"id": mark_id, "agent_id": agent, "created_at": self.now, "projected": False}
        counts = mark["mark_type"] == "action" and not mark.get("failed")
        lost = self.claims(mark["scope"], mark.get("resource"), agent) if counts else []
        self.rows[mark_id] = {"initial_strength": 1.0, "supersedes": None, **copied(mark), **head}
        for old in lost:
            reason = f"{agent} acted later on {mark['resource']}"
            fields = {"topic": "superseded", "reason": reason, "severity": "caution", "invalidates": old["id"]}
            self.store("guard", {"mark_type": "warning", "scope": mark["scope"], **fields})
        return mark_id

    def overtakes(self, later, mark):
        if "sweeps_intents" in self.defects and mark["mark_type"] == "intent" and later["mark_type"] == "action":
            same = all(later.get(name) == mark[name] for name in ("scope", "resource"))
            return same and later["id"] > mark["id"]
        if mark["mark_type"] != "action" or later["mark_type"] != "action" or mark.get("resource") is None:
            return False
        same = all(later.get(name) == mark[name] for name in ("scope", "resource"))
        both = same and later["agent_id"] != mark["agent_id"] and not later.get("failed") and not mark.get("failed")
        return both and (later["created_at"], later["id"]) > (mark["created_at"], mark["id"])

    def superseded(self, mark):
        above = [row for row in self.rows.values() if row["supersedes"] == mark["id"] or self.overtakes(row, mark)]
        if "shallow_supersession" in self.defects:
            return any(not self.superseded(row) for row in above)
        return bool(above)

    def effective(self, mark):
        decay, age, kind = self.rules(mark["scope"])["decay"], self.now - mark["created_at"], mark["mark_type"]
        dead = kind == "intent" and age > decay["intent_ttl"]
        if dead or mark.get("resolved_by") or self.superseded(mark):
            return 0.0
        factor = 0.5 ** (age / decay[kind + "_half_life"]) if kind in ("observation", "warning") else 1.0
        return mark["initial_strength"] * factor * TRUST[mark.get("source", "fleet")]

    def strength(self, mark):
        against = (self.effective(row) for row in self.rows.values() if row.get("invalidates") == mark["id"])
        return max(0.0, self.effective(mark) - sum(against))

    def shown(self, mark, reader):
        visibility = self.rules(mark["scope"])["visibility"]
        sees = self.agents.get(reader, {}).get("read_scopes", [])
        if reader is None or visibility == "open" or any(inside(mark["scope"], parent) for parent in sees):
            return copied(mark)
        if visibility == "classified":
            return None
        return {**copied(mark), **{name: None for name in CONTENT if name in mark}, "projected": True}

    def read(self, scope, reader=None, min_strength=0.01, **filters):
        found = []
        for mark in self.rows.values():
            wanted = mark["scope"] == scope and all(mark.get(name) == value for name, value in filters.items())
            strength = self.strength(mark) if wanted else 0.0
            shown = self.shown(mark, reader) if wanted and strength >= min_strength else None
            if shown:
                found.append({**shown, "effective_strength": strength})
        return sorted(found, key=lambda mark: (-mark["effective_strength"], mark["created_at"], mark["id"]))

    def of_kind(self, kind, scope, resource):
        rows = [row for row in self.rows.values() if row["mark_type"] == kind and row["scope"] == scope]
        return [row for row in rows if resource is not None and row.get("resource") == resource]

    def claims(self, scope, resource, agent):
        """Actions of others that hold the resource."""
        rows = [row for row in self.of_kind("action", scope, resource) if row["agent_id"] != agent]
        return [row for row in rows if not row.get("failed") and not self.superseded(row)]

    def intents(self, scope, resource):
        return [row for row in self.of_kind("intent", scope, resource) if self.strength(row) > 0]

    def open_needs(self):
        rows = [row for row in self.rows.values() if row["mark_type"] == "need" and not row.get("resolved_by")]
        return [row for row in rows if not self.superseded(row)]


class Fleet:
    def __init__(self, config, programs, defects=frozenset()):
        """`programs` maps an agent's id to a generator; the agents take turns in the order of the configuration."""
        self.defects = frozenset(defects)
        self.marks = Marks(config, self.defects)
        self.programs = {name: programs[name] for name in self.marks.agents if name in programs}
        self.order = list(set(self.programs)) if "turns_from_a_set" in self.defects else list(self.programs)
        self.replies, self.waiting, self.verdicts, self.allowed = dict.fromkeys(self.order), {}, {}, set()
        self.spent = {name: {"input": 0, "output": 0} for name in self.order}
        self.warned, self.history = set(), []

    # turns

    def run(self, rounds):
        for _ in range(rounds):
            for name in list(self.order):
                self.step(name)
            self.end_round()
        return self.history

    def step(self, name):
        """One turn of one agent."""
        if name not in self.programs:
            return
        if self.out_of_tokens(name):
            self.history.append((self.marks.now, name, "activation", "rejected: the token budget is used up"))
            return
        if name in self.waiting:
            found = self.woken(name, self.waiting[name])
            if found is None:
                return
            del self.waiting[name]
            self.replies[name] = found
        try:
            request = self.programs[name].send(self.replies[name])
        except StopIteration:
            del self.programs[name]
            return
        except Exception as error:
            del self.programs[name]
            self.history.append((self.marks.now, name, "program", f"ended with {error!r}"))
            return
        what = request.get("do") if isinstance(request, dict) else None
        if what in ("wait", "verdict") and named_well(request.get("scope")) and is_text(request.get("resource")):
            self.waiting[name] = request
            return
        try:
            handler = getattr(self, f"do_{what}", None) if isinstance(what, str) else None
            reply = handler(name, request) if handler else {"error": "no such request"}
        except Refused as error:
            reply = {"error": str(error)}
        except (KeyError, TypeError, AttributeError):
            reply = {"error": "the request is malformed"}
        self.replies[name] = reply
        self.history.append((self.marks.now, name, what, reply))

    def woken(self, name, request):
        place = request.get("scope"), request.get("resource")
        rivals = [mark for mark in self.marks.intents(*place) if mark["agent_id"] != name]
        if "waits_for_ever" in self.defects:
            rivals = [mark for mark in self.marks.of_kind("intent", *place) if mark["agent_id"] != name]
            rivals = [mark for mark in rivals if not self.marks.superseded(mark)]
        if request["do"] == "wait":
            if self.marks.claims(*place, name):
                return {"free": False}
            return None if rivals else {"free": True}
        if (name, *place) in self.verdicts:
            return self.verdicts.pop((name, *place))
        pending = any(mark["agent_id"] == name for mark in self.marks.intents(*place))
        return None if pending else {"verdict": None, "reason": "no intent of yours is pending"}

    def end_round(self):
        """Deferred scopes have a boundary at the end of each round; then a second passes."""
        rows = [row for row in self.marks.rows.values() if row["mark_type"] == "intent"]
        for place in dict.fromkeys((row["scope"], row["resource"]) for row in rows):
            if self.marks.rules(place[0])["deferred"]:
                self.boundary(*place)
        self.marks.now += 1

    # requests

    def do_write(self, name, request):
        self.marks.check(name, request["mark"])
        return {"id": self.marks.store(name, request["mark"])}

    def do_read(self, name, request):
        asked = {key: request[key] for key in ("resource", "topic", "mark_type", "min_strength") if key in request}
        return {"marks": self.marks.read(request["scope"], name, **asked)}

    def do_pre(self, name, request):
        scope, resource = request["scope"], request["resource"]
        intent = {"mark_type": "intent", "scope": scope, "resource": resource}
        intent.update(action=request["action"], confidence=request["confidence"])
        act = {"mark_type": "action", "scope": scope, "action": request.get("result_action"), "result": {}}
        case = {"agent": name, "fault": None, "claim": None, "intent": None, "rivals": []}
        try:
            self.marks.check(name, intent)
            if "result_action" in request:
                self.marks.check(name, act)
            elif not self.marks.may_write(name, scope, "action"):
                raise Refused(f"{name} may not write action marks to {scope}")
            case["claim"] = next(iter(self.marks.claims(scope, resource, name)[::-1]), None)
        except Refused as error:
            case["fault"] = str(error)
        early = self.judge(BEFORE, case)
        if early:
            return early
        own = [mark for mark in self.marks.intents(scope, resource) if mark["agent_id"] == name]
        case["intent"] = self.marks.store(name, {**intent, **({"supersedes": own[-1]["id"]} if own else {})})
        self.verdicts.pop((name, scope, resource), None)
        table = sorted(AFTER, key=lambda row: row[0] == "yield") if "yield_row_last" in self.defects else AFTER
        return self.judge(table, {**case, **self.contest(name, scope, resource)})

    def contest(self, name, scope, resource):
        rules, intents = self.marks.rules(scope), self.marks.intents(scope, resource)
        surest = rules["conflict_policy"] == "highest_confidence"
        intents.sort(key=lambda mark: (-mark["confidence"] if surest else 0, mark["created_at"], mark["id"]))
        rivals = [mark for mark in intents if mark["agent_id"] != name]
        best = intents[0] if intents else None
        return {"deferred": rules["deferred"], "policy": rules["conflict_policy"], "rivals": rivals, "best": best}

    def judge(self, table, case):
        found = next((entry for entry in table if entry[1](case)), None)
        if found is None:
            return None
        row, _, verdict, reason = found
        winner = case["best"] if row == "beaten" else self.behind(case["claim"]) if row == "acted on" else None
        others = [winner] if row == "acted on" else case["rivals"]
        if row == "yield":
            self.ask_principal(case["agent"], self.marks.rows[case["intent"]])
        if verdict == "ALLOW":
            self.allowed.add((case["agent"], case["intent"]))
        shown = [mark for mark in (self.marks.shown(mark, case["agent"]) for mark in others) if mark]
        about = {"intent_id": case["intent"], "winning_intent": copied(winner), "conflicting_intents": shown}
        return {"verdict": verdict, "reason": reason.format(**case), **about}

    def behind(self, claim):
        origin = self.marks.rows.get(claim["supersedes"])
        if origin and origin["mark_type"] == "intent":
            return origin
        names = ("id", "agent_id", "scope", "resource", "action", "created_at", "initial_strength", "projected")
        return {"mark_type": "intent", "confidence": 1.0, "supersedes": None, **{name: claim[name] for name in names}}

    def ask_principal(self, name, intent):
        question = f"Who may act on {intent['resource']} in {intent['scope']}?"
        asked = [need["question"] for need in self.marks.open_needs()]
        if "need_for_the_first_only" in self.defects and question in asked:
            return
        fields = {"question": question, "context": {"agent": name}, "priority": intent["confidence"], "blocking": True}
        self.marks.store("guard", {"mark_type": "need", "scope": intent["scope"], **fields})

    def do_tool(self, name, request):
        """Runs a tool under an ALLOW that was not used yet."""
        if (name, request["intent_id"]) not in self.allowed:
            raise Refused("the guard has not allowed this")
        self.allowed.discard((name, request["intent_id"]))
        try:
            result = request["run"]()
        except Exception as error:
            return {"result": {"error": str(error)}, "failed": True}
        return {"result": copied(result) if is_struct(result) else {"value": str(type(result))}, "failed": False}

    def do_post(self, name, request):
        mark = {**request["mark"], "mark_type": "action"}
        intent_id = request.get("intent_id")
        if intent_id is not None:
            if self.marks.rows.get(intent_id, {}).get("mark_type") != "intent":
                raise Refused("intent_id names no intent")
            mark["supersedes"] = intent_id
        self.marks.check(name, mark)
        return {"id": self.marks.store(name, mark)}

    def boundary(self, scope, resource):
        found = {}
        for name in dict.fromkeys(mark["agent_id"] for mark in self.marks.intents(scope, resource)):
            case = {"agent": name, **self.contest(name, scope, resource)}
            mine = [mark for mark in self.marks.intents(scope, resource) if mark["agent_id"] == name]
            case["claim"] = next(iter(self.marks.claims(scope, resource, name)[::-1]), None)
            case["intent"] = case["best"]["id"] if case["best"]["agent_id"] == name else mine[-1]["id"]
            found[name] = self.judge(BOUNDARY, case)
        for name, decision in found.items():
            self.verdicts[(name, scope, resource)] = decision
        return found

    def resolve(self, need_id, action_id):
        need, act = self.marks.rows.get(need_id), self.marks.rows.get(action_id)
        if need is None or need["mark_type"] != "need" or need.get("resolved_by") or self.marks.superseded(need):
            raise Refused("this is no open need")
        if act is None or act["mark_type"] != "action" or act["scope"] != need["scope"]:
            raise Refused("this is no action in the scope of the need")
        if act["agent_id"] != self.marks.principal:
            raise Refused("only an action of the principal resolves a need")
        return self.marks.store(need["agent_id"], {**need, "supersedes": need_id, "resolved_by": action_id})

    def aggregate_needs(self):
        groups = {}
        for need in self.marks.open_needs():
            groups.setdefault((need["scope"], need["question"].strip().lower()), []).append(copied(need))
        rows = [
            {
                "scope": scope,
                "needs": needs,
                "effective_priority": max(need["priority"] for need in needs) + math.log(len(needs)) * 0.1,
                "blocking_count": sum(need["blocking"] for need in needs),
                "contexts": [need["context"] for need in needs],
            }
            for (scope, _), needs in groups.items()
        ]
        return sorted(rows, key=lambda row: -row["effective_priority"])

    # token budgets

    def budget(self, name):
        return self.marks.agents[name].get("budget") or {}

    def do_spend(self, name, request):
        for side in self.budget(name) and ("input", "output"):
            if type(request[side]) is not int or request[side] < 0:
                raise Refused("tokens are counted in whole numbers from 0 up")
        for side in self.budget(name) and ("input", "output"):
            self.spent[name][side] += request[side]
            total = self.budget(name).get(f"max_{side}_tokens_total")
            fraction = self.budget(name).get("warning_fraction", 0.8)
            told = (name, side) in self.warned and "warns_again" not in self.defects
            if total is not None and self.spent[name][side] >= fraction * total and not told:
                self.warned.add((name, side))
                fields = {"question": f"May {name} have more {side} tokens?", "context": dict(self.spent[name])}
                scope = self.marks.agents[name]["permissions"][0]["scope"]
                need = {"mark_type": "need", "scope": scope, "priority": 0.5, "blocking": False, **fields}
                self.marks.store("guard", need)
        return dict(self.spent[name])

    def out_of_tokens(self, name):
        for side, used in self.spent[name].items():
            total = self.budget(name).get(f"max_{side}_tokens_total")
            if total is not None and (used > total if "stops_above" in self.defects else used >= total):
                return True
        return False

    def set_budget(self, name, budget):
        """The principal's new budget."""
        self.marks.agents[name]["budget"] = dict(budget)
        if "raise_resets" in self.defects:
            self.spent[name] = {"input": 0, "output": 0}
