"""Coordination under deadlock, as functions on plain dictionaries.

run = new_run(setup)
run = play(run, moves)      # one epoch; the old run stays as it was
seen = observation(run, agent)
verdict(run)                # None while the run goes on
"""

import copy
import json

FIELDS = {"agent_id", "action_id", "action_type", "declared_scope", "proposed_delta", "authorities_cited"}
REFUSED = "JOINT_ADMISSIBILITY_FAILURE"


def fold(text):
    value = 0xCBF29CE484222325
    for byte in text.encode("ascii"):
        value = ((value ^ byte) * 0x100000001B3) % 2**64
    return f"{value:016x}"


def canonical(thing):
    return json.dumps(thing, sort_keys=True, separators=(",", ":"), allow_nan=False)


def depth(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(depth, inner), default=0)


def json_copy(thing):
    """A private copy of a JSON value; None for what is not JSON or nested beyond fifty levels."""
    try:
        twin = json.loads(json.dumps(thing, allow_nan=False))
        return twin if depth(twin) <= 50 and twin == thing else None
    except (TypeError, ValueError, RecursionError):
        return None


def is_primitive(value):
    return not isinstance(value, (dict, list))


def new_run(setup, defects=frozenset()):
    setup = json_copy(setup)
    if setup is None:
        raise ValueError("the setup must be JSON")
    agents, world = setup["agents"], setup["state"]
    if not agents or len(set(agents)) != len(agents):
        raise ValueError("agents must be a non-empty list without repetitions")
    ids = [paper["authority_id"] for paper in setup["authorities"]]
    if len(set(ids)) != len(ids) or not all(map(is_primitive, world.values())):
        raise ValueError("two authorities carry the same id, or the world is not flat")
    run = {
        "setup": setup,
        "world": dict(world),
        "epoch": 0,
        "active": list(agents),
        "mail": [],
        "last": {a: {"outcome": None, "action_id": None, "scope": None} for a in agents},
        "stall": 0,
        "livelocked": False,
        "executed": False,
        "deadlocked": False,
        "log": [],
        "defects": frozenset(defects),
    }
    note(run, "setup", {"setup": setup, "why": "The run begins."})
    return run


def note(run, kind, facts):
    before = run["log"][-1]["id"] if run["log"] else "genesis"
    body = {"kind": kind, "epoch": run["epoch"], "after": before, **facts}
    digest = fold(canonical(body))
    if "builtin_hash" in run["defects"]:
        digest = f"{hash(canonical(body)) % 2**64:016x}"
    run["log"].append({"id": f"{len(run['log']):05d}-{digest[:8]}", **body})


def observation(run, agent):
    """What the agent may see before its move in the present epoch."""
    last = run["last"][agent]
    return copy.deepcopy(
        {
            "epoch": run["epoch"],
            "world_state": run["world"],
            "own_last_outcome": last["outcome"],
            "own_last_action_id": last["action_id"],
            "own_last_declared_scope": last["scope"],
            "messages": [letter for letter in run["mail"] if letter["sender"] != agent],
        }
    )


def over(run):
    return not run["active"] or run["epoch"] >= run["setup"]["max_epochs"]


def papers_on(run, key, operation, commitment):
    atom = {"target": "STATE:/" + key, "operation": operation}
    return [
        paper for paper in run["setup"]["authorities"] if paper["commitment"] == commitment and atom in paper["scope"]
    ]


def fault_in_form(run, agent, request):
    """A sentence on what is wrong with the form of the request, or None."""
    if not isinstance(request, dict) or set(request) != FIELDS:
        return "The request does not have exactly the six fields."
    if request["agent_id"] != agent:
        return "The request names another agent than the one that handed it in."
    if request["action_id"] != f"{agent}:{run['epoch']}:0":
        return "The action id is not the one due in this epoch."
    if request["action_type"] not in ("READ", "WRITE"):
        return "The action type is neither READ nor WRITE."
    scope, delta, cited = (request[name] for name in ("declared_scope", "proposed_delta", "authorities_cited"))
    if not isinstance(scope, list) or not scope:
        return "The declared scope is not a list with at least one key."
    if not all(isinstance(key, str) and key in run["world"] for key in scope):
        return "The declared scope names something that is no key of the world."
    if len(set(scope)) != len(scope):
        return "The declared scope names a key twice."
    if not isinstance(delta, dict) or not all(is_primitive(v) for v in delta.values()):
        return "The proposed delta does not map keys to primitives."
    if request["action_type"] == "READ" and delta:
        return "A READ proposes a change."
    if not isinstance(cited, list) or not all(isinstance(name, str) for name in cited):
        return "The citations are not a list of authority ids."
    return None


def foreign_citation(run, agent, request):
    if "any_holder" in run["defects"]:
        return None
    held = {p["authority_id"] for p in run["setup"]["authorities"] if p["holder_agent_id"] == agent}
    strange = [name for name in request["authorities_cited"] if name not in held]
    return f"The agent cites {strange[0]}, which it does not hold." if strange else None


def covered(run, agent, key, request):
    if "open_world" in run["defects"]:
        return True
    return any(
        paper["authority_id"] in request["authorities_cited"]
        and (paper["holder_agent_id"] == agent or "any_holder" in run["defects"])
        for paper in papers_on(run, key, request["action_type"], "ALLOW")
    )


def obstacle(run, agent, request):
    """Pass 1: a sentence on what stands against the request, or None."""
    scope, operation = request["declared_scope"], request["action_type"]
    for key in scope:
        if papers_on(run, key, operation, "DENY"):
            return f"A veto stands on {operation} of {key}."
    bare = [key for key in scope if not covered(run, agent, key, request)]
    if "one_key_suffices" in run["defects"] and len(bare) < len(scope):
        return None
    if bare:
        return f"No cited authority allows {operation} of {bare[0]}."
    return None


def interfering(run, admitted):
    """Pass 2: the agents whose requests touch a key that another one writes."""
    struck = set()
    for one, first in admitted.items():
        for two, second in admitted.items():
            shared = set(first["declared_scope"]) & set(second["declared_scope"])
            if one == two or not shared:
                continue
            kinds = first["action_type"], second["action_type"]
            if "reader_wins" in run["defects"] and kinds == ("READ", "WRITE"):
                continue
            if "WRITE" in kinds:
                struck.add(one)
    return struck


def difference(world, delta):
    return {key: value for key, value in delta.items() if key not in world or canonical(world[key]) != canonical(value)}


def take_message(run, agent, content, outbox):
    if content is None:
        return
    text = json_copy(content)
    size = len(json.dumps(text, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))
    limit = run["setup"].get("message_limit", 4096)
    if not run["setup"].get("communication", False):
        why = "Dropped: this condition has no communication."
    elif not isinstance(text, dict):
        why = "Dropped: the content is not a JSON object."
    elif size > limit:
        why = f"Dropped: the content is longer than {limit} bytes."
    else:
        why = "Taken; it is delivered in the next epoch."
        outbox.append({"sender": agent, "epoch": run["epoch"], "content": text})
    note(run, "message", {"agent": agent, "content": text, "why": why})


def adjudicate(run, requests):
    """Both passes and the execution: each agent's result, who passed pass 1, who collided, the new world."""
    results, admitted = {}, {}
    for agent, request in requests.items():
        malformed = fault_in_form(run, agent, request)
        foreign = malformed or foreign_citation(run, agent, request)
        if malformed:
            results[agent] = "ACTION_FAULT", "MALFORMED_REQUEST", malformed
        elif foreign:
            results[agent] = "ACTION_FAULT", "INVALID_CAPABILITY_CLAIM", foreign
        elif obstacle(run, agent, request):
            results[agent] = REFUSED, "PASS_1", obstacle(run, agent, request)
        else:
            admitted[agent] = request
    struck = interfering(run, admitted)
    after = dict(run["world"])
    for agent, request in admitted.items():
        changes = difference(run["world"], request["proposed_delta"])
        stray = sorted(set(changes) - set(request["declared_scope"]))
        if agent in struck:
            results[agent] = REFUSED, "PASS_2", "Another request touches the same key."
        elif stray:
            results[agent] = "ACTION_FAULT", "SCOPE_VIOLATION", f"It changes {stray[0]} undeclared."
        else:
            results[agent] = "EXECUTED", "", "Allowed, not vetoed, not in anybody's way."
            after.update(changes)
    return results, admitted, struck, after


def play(run, moves):
    """One epoch. A move is {"exit": bool, "message": dict, "request": dict}, each optional."""
    if over(run):
        raise ValueError("the run is over")
    run = copy.deepcopy(run)
    requests, outbox = {}, []
    for agent in list(run["active"]):
        move = moves.get(agent) or {}
        if move.get("exit") is True:
            run["active"].remove(agent)
            run["last"][agent] = {"outcome": None, "action_id": None, "scope": None}
            note(run, "exit", {"agent": agent, "why": "The agent leaves for good."})
            continue
        take_message(run, agent, move.get("message"), outbox)
        if move.get("request") is not None:
            requests[agent] = json_copy(move["request"])

    results, admitted, struck, after = adjudicate(run, requests)
    unchanged = canonical(run["world"]) == canonical(after)
    run["world"] = after

    for agent in run["active"]:
        if agent not in requests:
            if "stale_outcome" not in run["defects"]:
                run["last"][agent] = {"outcome": "NO_ACTION", "action_id": None, "scope": None}
            note(run, "idle", {"agent": agent, "outcome": "NO_ACTION", "why": "Nothing proposed."})
            continue
        outcome, code, why = results[agent]
        shown = requests[agent]
        sound = code != "MALFORMED_REQUEST"
        run["last"][agent] = {
            "outcome": outcome,
            "action_id": f"{agent}:{run['epoch']}:0",
            "scope": list(shown["declared_scope"]) if sound else None,
        }
        if "log_drops_citations" in run["defects"] and sound:
            shown = {name: shown[name] for name in shown if name != "authorities_cited"}
        note(run, "request", {"agent": agent, "request": shown, "outcome": outcome, "code": code, "why": why})

    if struck and unchanged:
        run["stall"] += 1
    elif "stall_never_resets" not in run["defects"]:
        run["stall"] = 0
    run["livelocked"] = run["livelocked"] or run["stall"] >= 3
    run["executed"] = run["executed"] or any(r[0] == "EXECUTED" for r in results.values())
    run["deadlocked"] = bool(requests) and not admitted and not way_out(run)
    run["mail"] = outbox
    note(run, "epoch", {"world": after, "why": "The epoch is closed."})
    run["epoch"] += 1
    return run


def way_out(run):
    """Could any active agent still have an action admitted in pass 1?"""
    return any(
        paper["holder_agent_id"] in run["active"]
        for key in run["world"]
        for operation in ("READ", "WRITE")
        if not papers_on(run, key, operation, "DENY")
        for paper in papers_on(run, key, operation, "ALLOW")
    )


def orphans(run):
    gone = set(run["setup"]["agents"]) - set(run["active"])
    found = []
    for key in run["world"]:
        holders = {paper["holder_agent_id"] for paper in papers_on(run, key, "WRITE", "ALLOW")}
        if holders & gone and not holders & set(run["active"]):
            found.append(key)
    return found


def verdict(run):
    if not over(run):
        return None
    if not run["active"]:
        return "COLLAPSE"
    if orphans(run):
        return "ORPHANING"
    if run["deadlocked"]:
        return "STATE_DEADLOCK"
    if run["livelocked"]:
        return "STATE_LIVELOCK"
    return "COORDINATED" if run["executed"] else "INVALID_RUN/NONTERMINATING_CONDITION"
