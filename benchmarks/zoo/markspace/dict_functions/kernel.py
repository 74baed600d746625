"""A mark space and its guard as functions on one plain dictionary, with a journal in prose."""

import json
import math

NUMBER, TEXT, OBJECT, FLAG = "a number from 0 to 1", "a text", "an object", "true or false"
FIELDS = {
    "intent": {"resource": TEXT, "action": TEXT, "confidence": NUMBER},
    "action": {"action": TEXT, "result": OBJECT},
    "observation": {"topic": TEXT, "content": OBJECT, "confidence": NUMBER, "source": TEXT},
    "warning": {"topic": TEXT, "reason": TEXT, "severity": TEXT},
    "need": {"question": TEXT, "context": OBJECT, "priority": NUMBER, "blocking": FLAG},
}
OPTIONAL = {"action": {"resource": TEXT, "failed": FLAG}, "warning": {"invalidates": TEXT}}
WORD_LISTS = {
    "intent": ("action", "allowed_intent_verbs"),
    "action": ("action", "allowed_action_verbs"),
    "observation": ("topic", "observation_topics"),
    "warning": ("topic", "warning_topics"),
}
CONTENT = ("result", "content", "reason", "question", "context")
TRUST = {"fleet": 1.0, "external_verified": 0.7, "external_unverified": 0.3}
SEVERITIES = ("info", "caution", "critical")
POLICIES = ("first_writer", "highest_confidence", "yield_all")
VISIBILITIES = ("open", "protected", "classified")
GUARD = "guard"


def is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= 1e300


def fits(value, sort):
    if sort is NUMBER:
        return is_number(value) and 0 <= value <= 1
    return isinstance(value, {TEXT: str, OBJECT: dict, FLAG: bool}[sort])


def is_scope_name(name):
    return isinstance(name, str) and all(name.split("/"))


def fingerprint(*parts):
    total = 2166136261
    for byte in json.dumps(parts, sort_keys=True).encode():
        total = (total ^ byte) * 16777619 % 2**32
    return f"{total:08x}"


def depth(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return 1 + max(map(depth, inner), default=0)


def copy_of(value):
    return json.loads(json.dumps(value, allow_nan=False))


def as_object(value):
    try:
        if depth(value) > 40:
            raise ValueError("nested too deeply")
        return copy_of(value) if isinstance(value, dict) else {"value": copy_of(value)}
    except (TypeError, ValueError, RecursionError):
        return {"value": f"a {type(value).__name__}"}


def new_space(config, defects=frozenset()):
    """`config` has "scopes", "agents" and the name of the "principal"."""
    scopes = {}
    for scope in config["scopes"]:
        full = {"visibility": "open", "conflict_policy": "first_writer", "deferred": False, **scope}
        halves = [full["decay"][name] for name in ("observation_half_life", "warning_half_life", "intent_ttl")]
        if not (
            is_scope_name(full["name"])
            and full["name"] not in scopes
            and all(is_number(value) and value > 0 for value in halves)
            and full["conflict_policy"] in POLICIES
            and full["visibility"] in VISIBILITIES
        ):
            raise ValueError(f"bad scope {full['name']!r}")
        scopes[full["name"]] = full
    if any(agent["id"] == GUARD for agent in config["agents"]):
        raise ValueError("the name guard is taken")
    return {
        "now": 0,
        "scopes": copy_of(scopes),
        "agents": copy_of({agent["id"]: agent for agent in config["agents"]}),
        "principal": config.get("principal"),
        "marks": {},
        "journal": [],
        "defects": frozenset(defects),
    }


def note(space, who, prose):
    last = space["journal"][-1]["hash"] if space["journal"] else ""
    line = {"at": space["now"], "who": who, "what": prose}
    space["journal"].append({**line, "hash": fingerprint(last, line)})


def tick(space, seconds):
    if not (is_number(seconds) and seconds >= 0):
        raise ValueError("time runs forward")
    space["now"] += seconds


# scopes and permissions


def definition(space, scope):
    while scope and scope not in space["scopes"]:
        scope = scope.rpartition("/")[0]
    return space["scopes"].get(scope)


def covers(space, parent, child):
    if "loose_prefix" in space["defects"]:
        return child.startswith(parent)
    return child == parent or child.startswith(parent + "/")


def may_write(space, agent, scope, mark_type):
    permissions = space["agents"].get(agent, {}).get("permissions", []) if isinstance(agent, str) else []
    return any(covers(space, entry["scope"], scope) and mark_type in entry["mark_types"] for entry in permissions)


def may_read(space, agent, scope):
    readable = space["agents"].get(agent, {}).get("read_scopes", []) if isinstance(agent, str) else []
    return any(covers(space, parent, scope) for parent in readable)


def why_not(space, agent, mark):
    """The first reason in prose against storing this mark for this agent, or None."""
    try:
        if depth(mark) > 50:
            return "the mark is nested too deeply"
        mark = copy_of(mark)
        mark_type, scope = mark["mark_type"], mark["scope"]
        required = FIELDS[mark_type]
    except (KeyError, TypeError, ValueError, RecursionError):
        return "this is not a mark of one of the five types"
    if not is_scope_name(scope) or definition(space, scope) is None:
        return "there is no such scope"
    if not may_write(space, agent, scope, mark_type):
        return f"{agent} has no permission to write {mark_type} marks to {scope}"
    known = {**required, **OPTIONAL.get(mark_type, {}), "supersedes": TEXT}
    extra = set(mark) - set(known) - {"mark_type", "scope", "initial_strength"}
    wrong = [name for name in known if name in mark and not fits(mark[name], known[name])]
    missing = [name for name in required if name not in mark]
    if extra or wrong or missing:
        return f"the {mark_type} mark has a bad field: {sorted([*extra, *wrong, *missing])[0]}"
    strength = mark.get("initial_strength", 1.0)
    if not is_number(strength) or strength < 0:
        return "the initial strength is not a number from 0 up"
    if mark.get("source", "fleet") not in TRUST or mark.get("severity", "info") not in SEVERITIES:
        return "the source or severity is unknown"
    if mark_type in WORD_LISTS:
        field, name = WORD_LISTS[mark_type]
        allowed = definition(space, scope).get(name, [])
        if mark[field] not in allowed and not (field == "topic" and "*" in allowed):
            return f"the scope does not allow the {field} {mark[field]}"
    for reference in ("supersedes", "invalidates"):
        if reference in mark and mark[reference] not in space["marks"]:
            return f"{reference} names no mark of this space"
    return None


# writing


def store(space, agent, mark):
    number = len(space["marks"]) + 1
    mark_id = f"mk-{number:05d}-{fingerprint(number, agent)}"
    claims = claims_on(space, mark) if mark["mark_type"] == "action" and not mark.get("failed") else []
    head = {"id": mark_id, "agent_id": agent, "created_at": space["now"], "projected": False}
    space["marks"][mark_id] = {"initial_strength": 1.0, "supersedes": None, **copy_of(mark), **head}
    for old in claims:
        if old["agent_id"] != agent and "no_notice" not in space["defects"]:
            lost = f"{agent} acted later on {mark['resource']}, which supersedes this action of {old['agent_id']}"
            notice = {"topic": "superseded", "reason": lost, "severity": "caution", "invalidates": old["id"]}
            store(space, GUARD, {"mark_type": "warning", "scope": mark["scope"], **notice})
    return mark_id


def write(space, agent, mark):
    why = why_not(space, agent, mark)
    if why:
        note(space, agent, f"tried to write a mark, but {why}")
        return {"ok": False, "why": why}
    mark_id = store(space, agent, mark)
    note(space, agent, f"wrote the {mark['mark_type']} mark {mark_id} to {mark['scope']}")
    return {"ok": True, "id": mark_id}


def resolve(space, need_id, action_id):
    need, act = space["marks"].get(need_id), space["marks"].get(action_id)
    if need is None or need["mark_type"] != "need" or need.get("resolved_by") or is_superseded(space, need):
        return {"ok": False, "why": "this is no open need"}
    if act is None or act["mark_type"] != "action" or act["scope"] != need["scope"]:
        return {"ok": False, "why": "this is no action mark in the scope of the need"}
    if act["agent_id"] != space["principal"]:
        return {"ok": False, "why": "only an action of the principal resolves a need"}
    if "resolves_in_place" in space["defects"]:
        need["resolved_by"] = action_id
        return {"ok": True, "id": need_id}
    number = len(space["marks"]) + 1
    copy_id = f"mk-{number:05d}-{fingerprint(number, need['agent_id'])}"
    changed = {"id": copy_id, "created_at": space["now"], "supersedes": need_id, "resolved_by": action_id}
    space["marks"][copy_id] = {**copy_of(need), **changed}
    note(space, space["principal"], f"resolved the need {need_id} by {action_id}")
    return {"ok": True, "id": copy_id}


# strength


def same_place(one, other):
    return one.get("resource") is not None and all(one.get(key) == other.get(key) for key in ("scope", "resource"))


def is_superseded(space, mark):
    if any(other["supersedes"] == mark["id"] for other in space["marks"].values()):
        return True
    return mark["mark_type"] == "action" and any(
        other["mark_type"] == "action"
        and same_place(other, mark)
        and other["agent_id"] != mark["agent_id"]
        and not other.get("failed")
        and not mark.get("failed")
        and (other["created_at"], other["id"]) > (mark["created_at"], mark["id"])
        for other in space["marks"].values()
    )


def base_strength(space, mark):
    decay, age = definition(space, mark["scope"])["decay"], space["now"] - mark["created_at"]
    initial = mark["initial_strength"]
    if mark["mark_type"] == "intent":
        return initial if age <= decay["intent_ttl"] else 0.0
    if mark["mark_type"] == "need":
        return 0.0 if mark.get("resolved_by") else initial
    if mark["mark_type"] == "action":
        return initial
    return initial * 0.5 ** (age / decay[mark["mark_type"] + "_half_life"])


def effective_strength(space, mark):
    return 0.0 if is_superseded(space, mark) else base_strength(space, mark) * TRUST[mark.get("source", "fleet")]


def strength(space, mark_id):
    mark = space["marks"][mark_id]
    against = [
        effective_strength(space, other) for other in space["marks"].values() if other.get("invalidates") == mark_id
    ]
    if "loudest_warning_only" in space["defects"]:
        against = [max(against, default=0.0)]
    return max(0.0, effective_strength(space, mark) - sum(against))


def reinforce(strengths):
    ordered = sorted(strengths, reverse=True)
    if not ordered:
        return 0.0
    return min(ordered[0] + 0.3 * sum(ordered[1:]), 2.0 * ordered[0])


# reading


def project(space, mark):
    hidden = CONTENT[:-1] if "context_shown" in space["defects"] else CONTENT
    return {**{key: None if key in hidden else value for key, value in mark.items()}, "projected": True}


def read(space, scope, reader=None, min_strength=0.01, **filters):
    """Filters: resource, topic, mark_type. Without a reader everything is shown in full."""
    rules = definition(space, scope) if is_scope_name(scope) else None
    if rules is None:
        return []
    full = reader is None or rules["visibility"] == "open" or may_read(space, reader, scope)
    if not full and rules["visibility"] == "classified":
        return []
    found = []
    for mark in space["marks"].values():
        power = strength(space, mark["id"])
        wanted = all(mark.get(key) == value for key, value in filters.items() if value is not None)
        if mark["scope"] == scope and wanted and power >= min_strength:
            shown = copy_of(mark) if full else copy_of(project(space, mark))
            found.append({**shown, "effective_strength": power})
    return sorted(found, key=lambda mark: (-mark["effective_strength"], mark["created_at"], mark["id"]))


def aggregate_needs(space):
    clusters = {}
    for need in space["marks"].values():
        if need["mark_type"] == "need" and not need.get("resolved_by") and not is_superseded(space, need):
            clusters.setdefault((need["scope"], " ".join(need["question"].lower().split())), []).append(copy_of(need))
    combine = sum if "priorities_add_up" in space["defects"] else max
    rows = [
        {
            "scope": scope,
            "needs": needs,
            "effective_priority": combine(need["priority"] for need in needs) + math.log(len(needs)) * 0.1,
            "blocking_count": sum(need["blocking"] for need in needs),
            "contexts": [need["context"] for need in needs],
        }
        for (scope, _), needs in clusters.items()
    ]
    return sorted(rows, key=lambda row: -row["effective_priority"])


# the guard


def claims_on(space, place):
    return [
        mark
        for mark in space["marks"].values()
        if mark["mark_type"] == "action"
        and same_place(mark, place)
        and not (mark.get("failed") and "failure_claims" not in space["defects"])
        and not is_superseded(space, mark)
    ]


def active_intents(space, place):
    return [
        mark
        for mark in space["marks"].values()
        if mark["mark_type"] == "intent"
        and same_place(mark, place)
        and (strength(space, mark["id"]) > 0 or "dead_intents_bind" in space["defects"])
        and not is_superseded(space, mark)
    ]


def winner(space, policy, intents):
    def rank(mark):
        surest = -mark["confidence"] if policy == "highest_confidence" else 0
        if "tie_by_name" in space["defects"] and policy == "highest_confidence":
            return surest, mark["agent_id"]
        return surest, mark["created_at"], mark["id"]

    return min(intents, key=rank)


def decide(space, agent, verdict, reason, **more):
    note(space, agent, f"was told {verdict}: {reason}")
    return {"verdict": verdict, "reason": reason, "intent_id": None, "winning_intent": None, **copy_of(more)}


def holder_intent(space, claim):
    """The intent behind an action; an action without one is shown in the shape of an intent."""
    intent = space["marks"].get(claim["supersedes"])
    if intent and intent["mark_type"] == "intent":
        return intent
    kept = ("id", "agent_id", "scope", "resource", "action", "created_at", "initial_strength")
    return {"mark_type": "intent", "confidence": 1.0, **{key: claim[key] for key in kept}}


def ask_principal(space, agent, intent):
    question = f"Who may act on {intent['resource']} in {intent['scope']}?"
    fields = {"question": question, "context": {"agent": agent, "intent": intent["id"]}, "blocking": True}
    need = {"mark_type": "need", "scope": intent["scope"], "priority": intent["confidence"], **fields}
    store(space, GUARD, need)


def pre_action(space, agent, scope, resource, action, confidence):
    place = {"scope": scope, "resource": resource}
    intent = {"mark_type": "intent", **place, "action": action, "confidence": confidence}
    why = why_not(space, agent, intent)
    if why is None and not may_write(space, agent, scope, "action"):
        why = f"{agent} has no permission to write action marks to {scope}"
    if why:
        return decide(space, agent, "DENIED", why, conflicting_intents=[])
    own = "own_claim_blocks" in space["defects"]
    claims = [mark for mark in claims_on(space, place) if own or mark["agent_id"] != agent]
    if claims:
        held = holder_intent(space, claims[-1])
        reason = f"{claims[-1]['agent_id']} has already acted on {resource}"
        return decide(space, agent, "CONFLICT", reason, winning_intent=held, conflicting_intents=[held])
    before = [mark["id"] for mark in active_intents(space, place) if mark["agent_id"] == agent]
    intent_id = store(space, agent, {**intent, **({"supersedes": before[-1]} if before else {})})
    intents = active_intents(space, place)
    rivals = [mark for mark in intents if mark["agent_id"] != agent]
    about = {"intent_id": intent_id, "conflicting_intents": rivals}
    rules = definition(space, scope)
    if rules["deferred"]:
        return decide(space, agent, "BLOCKED", "the claim waits for the next boundary", **about)
    if not rivals:
        return decide(space, agent, "ALLOW", "nobody else wants this resource", **about)
    if rules["conflict_policy"] == "yield_all":
        ask_principal(space, agent, space["marks"][intent_id])
        return decide(space, agent, "BLOCKED", "several agents want this, the principal was asked", **about)
    best = winner(space, rules["conflict_policy"], intents)
    if best["agent_id"] == agent:
        return decide(space, agent, "ALLOW", "this intent goes before the others", **about)
    return decide(space, agent, "CONFLICT", f"{best['agent_id']} goes first", winning_intent=best, **about)


def post_action(space, agent, scope, resource, action, result, intent_id=None, failed=False):
    mark = {"mark_type": "action", "scope": scope, "action": action, "result": result, "failed": failed}
    mark.update({"resource": resource} if resource is not None else {})
    if intent_id is not None:
        if space["marks"].get(intent_id, {}).get("mark_type") != "intent":
            return {"ok": False, "why": "intent_id names no intent"}
        mark["supersedes"] = intent_id
    return write(space, agent, mark)


def execute(space, agent, scope, resource, verbs, tool, confidence):
    """`verbs` is the pair of the intent's verb and the action's verb."""
    why = why_not(space, agent, {"mark_type": "action", "scope": scope, "action": verbs[1], "result": {}})
    if why:
        return decide(space, agent, "DENIED", why, conflicting_intents=[]), None
    decision = pre_action(space, agent, scope, resource, verbs[0], confidence)
    if decision["verdict"] != "ALLOW":
        return decision, None
    try:
        result, failed = tool(), False
    except Exception as error:
        result, failed = {"error": str(error)}, True
    result = as_object(result)
    post_action(space, agent, scope, resource, verbs[1], result, decision["intent_id"], failed)
    return decision, result


def resolve_deferred(space, scope, resource):
    place, rules = {"scope": scope, "resource": resource}, definition(space, scope)
    intents = active_intents(space, place) if rules and rules["deferred"] else []
    if not intents:
        return {}
    agents = list(dict.fromkeys(mark["agent_id"] for mark in intents))
    best, verdicts = winner(space, rules["conflict_policy"], intents), {}
    for agent in agents:
        mine = [mark for mark in intents if mark["agent_id"] == agent][-1]
        foreign = [mark for mark in claims_on(space, place) if mark["agent_id"] != agent]
        about = {"intent_id": mine["id"], "conflicting_intents": [m for m in intents if m["agent_id"] != agent]}
        if foreign:
            held = holder_intent(space, foreign[-1])
            answer = decide(space, agent, "CONFLICT", "the resource is taken", winning_intent=held, **about)
        elif rules["conflict_policy"] == "yield_all" and len(agents) > 1:
            ask_principal(space, agent, mine)
            answer = decide(space, agent, "BLOCKED", "several agents want this, the principal was asked", **about)
        elif agent == best["agent_id"]:
            answer = decide(
                space, agent, "ALLOW", "this claim won at the boundary", **{**about, "intent_id": best["id"]}
            )
        else:
            answer = decide(space, agent, "BLOCKED", f"{best['agent_id']} won at the boundary", **about)
        verdicts[agent] = answer
    return verdicts
