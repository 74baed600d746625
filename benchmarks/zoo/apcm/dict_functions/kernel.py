"""Justify, compile, mask, select, execute: functions on plain dicts."""

import copy
import hashlib
import json
from fractions import Fraction

DEFECTS = (
    "necessity_any",
    "lazy_all_feasible",
    "collision_by_satisfies",
    "precedent_ignores_pairs",
    "gridlock_as_halt",
    "cached_apcm",
    "log_omits_violates",
    "prevented_counts_all",
    "registers_unknown",
)
FIELDS = ("authorized_violations", "required_preservations", "conflict_attribution")
RANK = ("E_AV_WITHOUT_COLLISION", "E_GRATUITOUS_VIOLATION", "E_FALSE_COLLISION", "E_PRECEDENT_VIOLATION")


def fnv(text):
    h = 0xCBF29CE484222325
    for byte in text.encode():
        h = (h ^ byte) * 0x100000001B3 % 2**64
    return f"{h:016x}"


def canonical(thing):
    return json.dumps(thing, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(fields):
    """Of the three set fields of an artifact, in the form that an artifact cites."""
    body = {
        "authorized_violations": sorted(fields["authorized_violations"]),
        "required_preservations": sorted(fields["required_preservations"]),
        "conflict_attribution": sorted(sorted(pair) for pair in fields["conflict_attribution"]),
    }
    return "blake2b128:" + hashlib.blake2b(canonical(body).encode(), digest_size=16).hexdigest()


# --- the environment ---------------------------------------------------------------------------


def invalid_world(world):
    """Why the run may not start, in prose, or None."""
    known, inventory = set(world["preferences"]), set(world["actions"])
    for number, step in enumerate(world["steps"]):
        for action in step["feasible"]:
            if not isinstance(action, str) or action not in inventory:
                return f"step {number}: {action!r} is not in the inventory"
            entry = step["apcm"].get(action)
            if not isinstance(entry, dict):
                return f"step {number}: the APCM does not map {action!r}"
            for key in ("violates", "satisfies"):
                value = entry.get(key)
                if not isinstance(value, (set, frozenset, list)):
                    return f"step {number}: {key} of {action!r} is missing or no set"
                if not all(isinstance(p, str) and p in known for p in value):
                    return f"step {number}: {key} of {action!r} names an unknown preference"
    return None


def lists_in(world):
    return [
        f"steps/{n}/{action}/{key}"
        for n, step in enumerate(world["steps"])
        for action in step["feasible"]
        for key in ("violates", "satisfies")
        if isinstance(step["apcm"][action][key], list)
    ]


def new_run(world, defects=frozenset(), condition="mvra", seed=0):
    world = copy.deepcopy(world)
    why = invalid_world(world)
    run = {
        "preferences": list(world["preferences"]),
        "steps": []
        if why
        else [
            {
                "feasible": sorted(set(step["feasible"])),
                "apcm": {
                    a: {key: frozenset(step["apcm"][a][key]) for key in ("violates", "satisfies")}
                    for a in step["feasible"]
                },
            }
            for step in world["steps"]
        ],
        "step": 0,
        "phase": "justify",
        "condition": condition,
        "seed": seed,
        "previous": None,
        "permitted": None,
        "executed": [],
        "log": [],
        "apcm_seen": {},
        "defects": frozenset(defects),
    }
    if why:
        run["phase"] = "invalid"
        run["log"].append({"id": fnv(why)[:8], "event": "run invalidated (scope exit)", "why": why})
    else:
        for place in lists_in(world):
            run["log"].append({"id": fnv(place)[:8], "event": "list coerced to set", "where": place})
        _open_step(run)
    return run


def _open_step(run):
    done = run["step"] >= len(run["steps"])
    run["phase"] = "done" if done else "select" if run["condition"] == "asb" else "justify"
    run["permitted"] = None
    if run["phase"] == "select":
        feasible = run["steps"][run["step"]]["feasible"]
        run["permitted"] = list(feasible)
        run["record"] = _record(run, None)
        if not feasible:
            _close_step(run, gridlock=True)


def offer(run):
    """All that a generator gets."""
    step = run["steps"][run["step"]]
    previous = run["previous"]
    return {
        "preferences": list(run["preferences"]),
        "feasible": list(step["feasible"]),
        "apcm": {a: {key: sorted(s) for key, s in entry.items()} for a, entry in step["apcm"].items()},
        "previous": previous
        and {
            **{f: sorted(previous[f]) for f in FIELDS[:2]},
            "conflict_attribution": sorted(sorted(p) for p in previous[FIELDS[2]]),
            "digest": digest(previous),
        },
    }


# --- the compiler ------------------------------------------------------------------------------


def parse(artifact, known):
    """(fields, None) or (None, (code, prose))."""
    if not isinstance(artifact, dict):
        return None, ("E_SCHEMA", "the artifact is not an object")
    fields = {}
    for name in FIELDS:
        value = artifact.get(name)
        if not isinstance(value, (list, set, frozenset)):
            return None, ("E_SCHEMA", f"{name} is missing or no set")
        fields[name] = value
    for pair in fields["conflict_attribution"]:
        if not isinstance(pair, (list, tuple, frozenset)) or len(pair) != 2:
            return None, ("E_SCHEMA", "a collision is not a pair")
    for p in [*fields[FIELDS[0]], *fields[FIELDS[1]], *(p for pair in fields[FIELDS[2]] for p in pair)]:
        if not isinstance(p, str):
            return None, ("E_SCHEMA", "a preference id is not a string")
        if p not in known:
            return None, ("E_UNKNOWN_PREFERENCE", f"{p!r} is not registered")
    if any(len(set(pair)) != 2 for pair in fields["conflict_attribution"]):
        return None, ("E_SCHEMA", "a preference cannot collide with itself")
    if not isinstance(artifact.get("precedent_reference"), str):
        return None, ("E_SCHEMA", "precedent_reference is missing or no string")
    resolution = artifact.get("conflict_resolution")
    if not isinstance(resolution, dict) or resolution.get("mode") not in ("MAINTAIN", "REVISE"):
        return None, ("E_SCHEMA", "conflict_resolution has no mode MAINTAIN or REVISE")
    return {
        "authorized_violations": frozenset(fields[FIELDS[0]]),
        "required_preservations": frozenset(fields[FIELDS[1]]),
        "conflict_attribution": frozenset(frozenset(pair) for pair in fields[FIELDS[2]]),
        "mode": resolution["mode"],
        "cited": resolution.get("previous_artifact_digest"),
    }, None


def compile_fields(fields, feasible, apcm, previous, defects=frozenset()):
    """The failures as a dict from code to prose, and the forbidden actions."""
    if fields["cited"] != (previous and digest(previous)):
        return {"E_DIGEST_MISMATCH": "the cited digest is not the one of the previous artifact"}, []
    av, rp, pairs = (fields[name] for name in FIELDS)
    violates = {a: apcm[a]["violates"] for a in feasible}
    found = {}
    if av and not pairs:
        found["E_AV_WITHOUT_COLLISION"] = "violations are authorised though no collision is declared"
    a_ok = [a for a in feasible if not violates[a] & rp]
    if "lazy_all_feasible" in defects:
        a_ok = list(feasible)
    quantifier = any if "necessity_any" in defects and a_ok else all
    idle = sorted(p for p in av if not quantifier(p in violates[a] for a in a_ok))
    if idle:
        found["E_GRATUITOUS_VIOLATION"] = "not a last resort: " + ", ".join(idle)
    for pair in pairs:
        if "collision_by_satisfies" in defects:
            escapes = [a for a in feasible if pair <= apcm[a]["satisfies"]]
        else:
            escapes = [a for a in feasible if not pair & violates[a]]
        if escapes:
            found["E_FALSE_COLLISION"] = "some action violates neither side of a declared collision"
    if fields["mode"] == "MAINTAIN":
        compared = FIELDS[:2] if "precedent_ignores_pairs" in defects else FIELDS
        if previous is None or any(fields[f] != previous[f] for f in compared):
            found["E_PRECEDENT_VIOLATION"] = "the artifact maintains what it also changes"
    if found:
        return found, []
    return {}, [a for a in feasible if violates[a] & rp or not violates[a] <= av]


# --- the loop ----------------------------------------------------------------------------------


def _record(run, fields):
    step = run["steps"][run["step"]]
    apcm = {a: {key: sorted(s) for key, s in entry.items()} for a, entry in step["apcm"].items()}
    fields = fields or {}
    return {
        "id": fnv(f"{run['seed']}/{run['step']}")[:8],
        "step": run["step"],
        "feasible_actions_pre_mask": {"digest": fnv(canonical(step["feasible"])), "count": len(step["feasible"])},
        "apcm_digest": fnv(canonical(apcm)),
        "AV": sorted(fields.get(FIELDS[0], [])),
        "RP": sorted(fields.get(FIELDS[1], [])),
        "conflict_attribution": sorted(sorted(p) for p in fields.get(FIELDS[2], [])),
        "mode": fields.get("mode"),
        "compile_ok": None,
        "compile_error_code": None,
        "codes": [],
        "why": "",
        "forbidden_actions": [],
        "nontrivial_forbidden_count": 0,
        "gridlock": False,
        "halt": False,
        "revision_event": fields.get("mode") == "REVISE",
        "selected_action": None,
        "selected_action_violates": [],
    }


def _close_step(run, **marks):
    record = {**run.pop("record"), **marks}
    if record["gridlock"] and "gridlock_as_halt" in run["defects"]:
        record["gridlock"], record["halt"] = False, True
    if "log_omits_violates" in run["defects"]:
        del record["selected_action_violates"]
    run["log"].append(record)
    run["step"] += 1
    _open_step(run)
    return record


def submit(run, artifact):
    """Compile the artifact of this step. The answer says what is permitted, or why nothing is."""
    if run["phase"] != "justify":
        return {"ok": False, "why": f"not now: the run is in phase {run['phase']}"}
    step, defects = run["steps"][run["step"]], run["defects"]
    feasible, apcm = step["feasible"], step["apcm"]
    if run["condition"] == "scramble" and isinstance(artifact, dict):
        artifact = scramble(artifact, run["seed"] + run["step"])
    if "cached_apcm" in defects:
        apcm = {a: run["apcm_seen"].setdefault(a, apcm[a]) for a in feasible}
    if "registers_unknown" in defects and isinstance(artifact, dict):
        named = [p for f in FIELDS[:2] for p in artifact.get(f) or [] if isinstance(p, str)]
        run["preferences"] += sorted(set(named) - set(run["preferences"]))
    fields, error = parse(artifact, run["preferences"])
    run["record"] = record = _record(run, fields)
    if run["condition"] == "bypass":
        forbidden = []
    else:
        found, forbidden = (
            ({error[0]: error[1]}, []) if error else compile_fields(fields, feasible, apcm, run["previous"], defects)
        )
        codes = sorted(found, key=lambda code: RANK.index(code) if code in RANK else -1)
        record["compile_ok"] = not codes
        if codes:
            record.update(compile_error_code=codes[0], codes=codes, why="; ".join(found[c] for c in codes))
            _close_step(run, halt=True)
            return {"ok": False, "codes": codes, "why": record["why"]}
    if fields:
        run["previous"] = fields
    record["forbidden_actions"] = forbidden
    record["nontrivial_forbidden_count"] = len(forbidden)
    permitted = [a for a in feasible if a not in forbidden]
    if not permitted:
        _close_step(run, gridlock=True)
        return {"ok": True, "permitted": [], "why": "gridlock: every feasible action is forbidden"}
    run["permitted"], run["phase"] = permitted, "select"
    return {"ok": True, "permitted": list(permitted), "why": ""}


def select(run, action):
    if run["phase"] != "select":
        return {"ok": False, "why": f"not now: the run is in phase {run['phase']}"}
    if not isinstance(action, str) or action not in run["permitted"]:
        return {"ok": False, "why": "the mask does not permit that action"}
    violated = sorted(run["steps"][run["step"]]["apcm"][action]["violates"])
    run["executed"].append(action)
    _close_step(run, selected_action=action, selected_action_violates=violated)
    return {"ok": True, "executed": action, "why": ""}


# --- generator, selector, ablations, metrics ---------------------------------------------------


def generate(offered):
    """Rule based: give way on a smallest set of violations, preserve all the rest."""
    sets = [frozenset(entry["violates"]) for entry in offered["apcm"].values()]
    names = offered["preferences"]
    pairs = [[p, q] for p in names for q in names if p < q and all({p, q} & s for s in sets)]
    least = min(sets, key=lambda s: (len(s), sorted(s)), default=frozenset())
    av = sorted(least) if pairs else []
    fields = {
        "authorized_violations": av,
        "required_preservations": sorted(set(names) - set(av)),
        "conflict_attribution": sorted(pairs)[:1] if av else [],
    }
    previous = offered["previous"]
    same = previous is not None and all(fields[f] == previous[f] for f in FIELDS)
    cited = previous and previous["digest"]
    return {
        **fields,
        "precedent_reference": cited or "none",
        "conflict_resolution": {"mode": "MAINTAIN" if same else "REVISE", "previous_artifact_digest": cited},
    }


def scramble(artifact, number):
    garbled = copy.deepcopy(artifact)
    if number % 3 == 0:
        garbled["conflict_resolution"] = {"mode": "ERVISE"}
    elif number % 3 == 1:
        garbled[FIELDS[0]], garbled[FIELDS[1]] = garbled.get(FIELDS[1]), garbled.get(FIELDS[0])
    else:
        garbled["conflict_attribution"] = []
    return garbled


def selector(seed):
    """A selector that sees the permitted actions and nothing else."""

    def choose(permitted):
        names = sorted(permitted)
        return names[int(fnv(f"{seed}:{','.join(names)}"), 16) % len(names)]

    return choose


def run_all(world, condition, seed=0, defects=frozenset(), generator=generate):
    run, choose = new_run(world, defects, condition, seed), selector(seed)
    while run["phase"] in ("justify", "select"):
        if run["phase"] == "justify":
            submit(run, generator(offer(run)))
        else:
            select(run, choose(frozenset(run["permitted"])))
    return run


def metrics(run):
    steps = [r for r in run["log"] if "step" in r]

    def rate(hits, of):
        return str(Fraction(hits, of)) if of else "0"

    prevented = ("E_GRATUITOUS_VIOLATION",)
    if "prevented_counts_all" in run["defects"]:
        prevented = ("E_GRATUITOUS_VIOLATION", "E_AV_WITHOUT_COLLISION")
    held = [(r["AV"], r["RP"]) for r in steps if r["mode"]]
    done = [r["step"] for r in steps if r["selected_action"] is not None]
    broken = [p for n, a in zip(done, run["executed"], strict=False) for p in run["steps"][n]["apcm"][a]["violates"]]
    return {
        "compile_failure_rate": rate(sum(r["compile_ok"] is False for r in steps), len(steps)),
        "gridlock_rate": rate(sum(r["gridlock"] for r in steps), len(steps)),
        "revision_frequency": rate(sum(r["revision_event"] for r in steps), len(steps)),
        "oscillations": sum(a == c != b for a, b, c in zip(held, held[1:], held[2:], strict=False)),
        "violation_rates": {p: rate(broken.count(p), len(run["executed"])) for p in run["preferences"]},
        "prevented_gratuitous_authorizations": sum(r["compile_error_code"] in prevented for r in steps),
        "false_collision_attempts": sum("E_FALSE_COLLISION" in r["codes"] for r in steps),
    }


SOPHIE = {
    "preferences": ["P1", "P2"],
    "actions": ["A", "B", "C"],
    "steps": [
        {
            "feasible": ["A", "B"],
            "apcm": {"A": {"violates": {"P1"}, "satisfies": {"P2"}}, "B": {"violates": {"P2"}, "satisfies": {"P1"}}},
        },
        {
            "feasible": ["A", "C"],
            "apcm": {
                "A": {"violates": {"P1"}, "satisfies": {"P2"}},
                "C": {"violates": set(), "satisfies": {"P1", "P2"}},
            },
        },
    ],
}
