"""A run as a coroutine that asks for artifacts and actions; sets of preferences are the bits of an integer."""

import hashlib
import json
import random
from functools import reduce
from itertools import combinations
from operator import and_, or_

DEFECTS = (
    "eight_bits",
    "compiler_keeps_one",
    "rp_defaults_to_rest",
    "asks_again",
    "first_is_forever",
    "bypass_compiles",
    "unseeded_scramble",
    "record_before_select",
    "lone_action_passes",
)
CONDITIONS = ("asb", "mvra", "scramble", "bypass")
MODES = ("MAINTAIN", "REVISE")


class Invalid(Exception):
    """Of the world: the run is over."""


class Rejected(Exception):
    """Of an artifact: the step halts."""


def blake(thing):
    text = json.dumps(thing, sort_keys=True, separators=(",", ":"))
    return "blake2b128:" + hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


class Registry:
    def __init__(self, preferences, narrow=False):
        self.names = sorted(set(preferences))
        self.bit = {p: 1 << (i % 8 if narrow else i) for i, p in enumerate(self.names)}
        self.all = reduce(or_, self.bit.values(), 0)

    def pack(self, value, error):
        if not isinstance(value, (set, frozenset, list)):
            raise error("not a set")
        if any(not isinstance(p, str) or p not in self.bit for p in value):
            raise error("unknown preference")
        return reduce(or_, (self.bit[p] for p in value), 0)

    def unpack(self, bits):
        return [p for p in self.names if self.bit[p] & bits]


# --- the compiler: a table of rules over bits --------------------------------------------------

RULES = (
    ("E_AV_WITHOUT_COLLISION", lambda f: f["av"] and not f["pairs"]),
    ("E_GRATUITOUS_VIOLATION", lambda f: f["av"] & ~f["always"]),
    ("E_FALSE_COLLISION", lambda f: any(not pair & v for pair in f["pairs"] for v in f["violates"])),
    ("E_PRECEDENT_VIOLATION", lambda f: f["mode"] == "MAINTAIN" and f["new"] != f["old"]),
)


def parse(artifact, registry):
    if not isinstance(artifact, dict) or not isinstance(artifact.get("precedent_reference"), str):
        raise Rejected("not an artifact")
    av = registry.pack(artifact.get("authorized_violations"), Rejected)
    rp = registry.pack(artifact.get("required_preservations"), Rejected)
    listed = artifact.get("conflict_attribution")
    if not isinstance(listed, (set, frozenset, list)):
        raise Rejected("not a set")
    if any(not isinstance(pair, (tuple, list)) or len(pair) != 2 for pair in listed):
        raise Rejected("not a pair")
    pairs = frozenset(registry.pack(list(pair), Rejected) for pair in listed)
    if any(pair.bit_count() != 2 for pair in pairs):
        raise Rejected("not two preferences")
    resolution = artifact.get("conflict_resolution")
    if not isinstance(resolution, dict) or resolution.get("mode") not in MODES:
        raise Rejected("no mode")
    return (av, rp, pairs), resolution["mode"], resolution.get("previous_artifact_digest")


def digest(fields, registry):
    av, rp, pairs = fields
    return blake([registry.unpack(av), registry.unpack(rp), sorted(registry.unpack(pair) for pair in pairs)])


def failures(new, old, mode, apcm, registry, defects=frozenset()):
    """[(code, preferences)] in order of rank."""
    av, rp, pairs = new
    violates = [v for v, _ in apcm.values()]
    keep = registry.all & ~av if "rp_defaults_to_rest" in defects and not rp else rp
    always = reduce(and_, (v for v in violates if not v & keep), registry.all)
    facts = {"av": av, "pairs": pairs, "always": always, "violates": violates, "mode": mode, "new": new, "old": old}
    return [
        (code, registry.unpack(av & ~always) if code == "E_GRATUITOUS_VIOLATION" else [])
        for code, fails in RULES
        if fails(facts)
    ]


# --- the run -----------------------------------------------------------------------------------


def validated(world, registry):
    steps = []
    for step in world["steps"]:
        apcm = {}
        for action, entry in step.items():
            if action not in world["actions"] or not isinstance(entry, dict):
                raise Invalid(f"{action}: unknown, or without an entry")
            apcm[action] = tuple(registry.pack(entry.get(side), Invalid) for side in ("violates", "satisfies"))
        steps.append((dict(sorted(apcm.items())), sum(isinstance(v, list) for e in step.values() for v in e.values())))
    return steps


def machine(world, log, condition="mvra", seed=0, defects=frozenset()):  # noqa: C901
    """Yields ("justify", briefing) and takes an artifact; yields ("select", permitted) and takes an action."""
    registry = Registry(world["preferences"], "eight_bits" in defects)
    noise = random.Random() if "unseeded_scramble" in defects else random.Random(seed)
    previous = None
    try:
        steps = validated(world, registry)
    except Invalid as invalid:
        log.append({"invalid": str(invalid)})
        return
    for number, (apcm, coerced) in enumerate(steps):
        names = list(apcm)
        shown = {a: {"violates": registry.unpack(v), "satisfies": registry.unpack(s)} for a, (v, s) in apcm.items()}
        record = {
            "step": number,
            "feasible_actions_pre_mask": {"digest": blake(names), "count": len(names)},
            "apcm_digest": blake(shown),
            "coerced_lists": coerced,
            "AV": [],
            "RP": [],
            "conflict_attribution": [],
            "mode": None,
            "compile_ok": None,
            "compile_error_code": None,
            "compile_errors": [],
            "forbidden_actions": [],
            "nontrivial_forbidden_count": 0,
            "gridlock": False,
            "halt": False,
            "revision_event": False,
            "selected_action": None,
            "selected_action_violates": [],
        }
        forbidden = set()
        while condition != "asb":
            cited = previous and digest(previous, registry)
            artifact = yield (
                "justify",
                {
                    "preferences": list(registry.names),
                    "feasible": list(names),
                    "apcm": json.loads(json.dumps(shown)),
                    "previous": previous and fields_of(previous, registry),
                    "previous_digest": cited,
                },
            )
            if condition == "scramble" and isinstance(artifact, dict):
                artifact = scrambled(artifact, registry.names, noise)
            try:
                fields, mode, claimed = parse(artifact, registry)
                record.update(fields_of(fields, registry), mode=mode, revision_event=mode == "REVISE")
                errors = failures(fields, previous, mode, apcm, registry, defects)
                if claimed != cited:
                    errors = [("E_PREVIOUS_DIGEST", [])]
            except Rejected as rejected:
                fields, errors = None, [("E_SCHEMA", [str(rejected)])]
            if condition == "bypass" and "bypass_compiles" not in defects:
                previous = fields or previous
                break
            if "lone_action_passes" in defects and len(names) == 1:
                break
            record["compile_ok"] = not errors
            if not errors:
                forbidden = {a for a, (v, _) in apcm.items() if v & fields[1] or v & ~fields[0]}
                if previous is None or "first_is_forever" not in defects:
                    previous = fields
                break
            record["compile_error_code"] = errors[0][0]
            record["compile_errors"] = [":".join([code, *named]) for code, named in errors]
            if "asks_again" in defects:
                continue
            record["halt"] = True
            break
        permitted = [a for a in names if a not in forbidden]
        if "compiler_keeps_one" in defects and condition != "asb":
            forbidden.update(permitted[1:])
            permitted = permitted[:1]
        if condition == "bypass":
            permitted, forbidden = names, set()
        record["forbidden_actions"] = sorted(forbidden)
        record["nontrivial_forbidden_count"] = len(forbidden)
        if not record["halt"]:
            record["gridlock"] = not permitted
        if "record_before_select" in defects:
            log.append(dict(record))
        if permitted and not record["halt"]:
            action = yield "select", frozenset(permitted)
            if isinstance(action, str) and action in permitted:
                record["selected_action"], record["selected_action_violates"] = action, shown[action]["violates"]
            else:
                record["refused_selection"] = repr(action)
        if "record_before_select" not in defects:
            log.append(record)


def fields_of(fields, registry):
    av, rp, pairs = fields
    return {
        "AV": registry.unpack(av),
        "RP": registry.unpack(rp),
        "conflict_attribution": sorted(registry.unpack(pair) for pair in pairs),
    }


# --- a generator, the scramble, whole runs, metrics --------------------------------------------


def legislate(briefing):
    """Rule based: where no action is clean, authorise what the least violating action violates."""
    sets = [set(entry["violates"]) for entry in briefing["apcm"].values()]
    names = briefing["preferences"]
    pairs = [list(pair) for pair in combinations(names, 2) if all(set(pair) & v for v in sets)]
    av = min((sorted(v) for v in sets), key=lambda v: (len(v), v), default=[]) if pairs else []
    fields = {"AV": av, "RP": [p for p in names if p not in av], "conflict_attribution": pairs[:1] if av else []}
    return {
        "authorized_violations": fields["AV"],
        "required_preservations": fields["RP"],
        "conflict_attribution": fields["conflict_attribution"],
        "precedent_reference": briefing["previous_digest"] or "none",
        "conflict_resolution": {
            "mode": "MAINTAIN" if fields == briefing["previous"] else "REVISE",
            "previous_artifact_digest": briefing["previous_digest"],
        },
    }


def scrambled(artifact, names, noise):
    """The same shape, with preferences drawn by lot."""

    def lot():
        return [p for p in names if noise.random() < 0.5]

    pair = noise.sample(names, 2) if len(names) > 1 else []
    return {
        **artifact,
        "authorized_violations": lot(),
        "required_preservations": lot(),
        "conflict_attribution": [pair] if pair else [],
    }


def play(world, condition="mvra", seed=0, generator=legislate, selector=None, defects=frozenset()):
    lot = random.Random(seed)
    selector = selector or (lambda permitted: lot.choice(sorted(permitted)))
    log, answer = [], None
    run = machine(world, log, condition, seed, defects)
    try:
        while True:
            asked, about = run.send(answer)
            answer = generator(about) if asked == "justify" else selector(about)
    except StopIteration:
        return log


def metrics(log, preferences):
    rows = [r for r in log if "step" in r]
    done = [r for r in rows if r["selected_action"] is not None]

    def share(hits, of):
        return f"{sum(hits)}/{len(of)}"

    held = [(r["AV"], r["RP"]) for r in rows if r["mode"]]
    return {
        "compile_failure_rate": share([r["compile_ok"] is False for r in rows], rows),
        "gridlock_rate": share([r["gridlock"] for r in rows], rows),
        "revision_frequency": share([r["revision_event"] for r in rows], rows),
        "oscillations": sum(a == c != b for a, b, c in zip(held, held[1:], held[2:], strict=False)),
        "violation_rates": {p: share([p in r["selected_action_violates"] for r in done], done) for p in preferences},
        "prevented_gratuitous_authorizations": sum(r["compile_error_code"] == "E_GRATUITOUS_VIOLATION" for r in rows),
        "false_collision_attempts": sum("E_FALSE_COLLISION" in r["compile_errors"] for r in rows),
    }


SOPHIE = {
    "preferences": ["P1", "P2"],
    "actions": ["A", "B", "C"],
    "steps": [
        {"A": {"violates": {"P1"}, "satisfies": {"P2"}}, "B": {"violates": {"P2"}, "satisfies": {"P1"}}},
        {"A": {"violates": {"P1"}, "satisfies": {"P2"}}, "C": {"violates": set(), "satisfies": {"P1", "P2"}}},
    ],
}
