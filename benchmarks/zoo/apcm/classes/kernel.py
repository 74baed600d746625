"""The justification machine as objects that keep their own state."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import asdict, dataclass, field

DEFECTS = (
    "live_registry",
    "aliased_artifact",
    "shared_mask",
    "selector_sees_world",
    "violations_of_feasible",
    "shared_previous",
    "empty_division",
    "any_authorized",
    "gridlock_opens",
)


class InvalidRun(Exception):
    """The environment broke its contract; the run is over."""


class Refused(Exception):
    """A call that is out of turn or not permitted; nothing happened."""


class Halted(Exception):
    """The artifact did not compile; the step ends without an action."""

    def __init__(self, codes, detail=()):
        super().__init__(", ".join(codes))
        self.codes = list(codes)
        self.detail = list(detail)


@dataclass
class Artifact:
    authorized_violations: set
    required_preservations: set
    conflict_attribution: set
    precedent_reference: str
    mode: str
    previous_artifact_digest: str

    def fields(self):
        return self.authorized_violations, self.required_preservations, self.conflict_attribution

    def digest(self):
        av, rp, pairs = self.fields()
        text = json.dumps([sorted(av), sorted(rp), sorted(map(list, pairs))], separators=(",", ":"))
        return "blake2b128:" + hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

    def frozen(self):
        return Artifact(
            *map(frozenset, self.fields()), self.precedent_reference, self.mode, self.previous_artifact_digest
        )


EMPTY = Artifact(frozenset(), frozenset(), frozenset(), "", "REVISE", "")


@dataclass
class Record:
    step: int
    feasible_actions_pre_mask: dict
    apcm_digest: str
    AV: list = field(default_factory=list)
    RP: list = field(default_factory=list)
    conflict_attribution: list = field(default_factory=list)
    mode: str | None = None
    compile_ok: bool = False
    compile_error_code: str | None = None
    compile_errors: list = field(default_factory=list)
    forbidden_actions: list = field(default_factory=list)
    nontrivial_forbidden_count: int = 0
    gridlock: bool = False
    halt: bool = False
    revision_event: bool = False
    selected_action: str | None = None
    selected_action_violates: list = field(default_factory=list)


class View(frozenset):
    """The permitted actions as a selector gets them."""

    apcm = None


class Step:
    """What the environment published: for each feasible action what it violates and satisfies."""

    def __init__(self, number, apcm):
        self.number = number
        self.violates = {a: frozenset(entry["violates"]) for a, entry in apcm.items()}
        self.satisfies = {a: frozenset(entry["satisfies"]) for a, entry in apcm.items()}

    @staticmethod
    def check(apcm, actions, preferences):
        if not isinstance(apcm, dict):
            raise InvalidRun("the APCM is no mapping")
        for action, entry in apcm.items():
            if action not in actions:
                raise InvalidRun(f"{action!r} is not in the inventory")
            for name in ("violates", "satisfies"):
                value = entry.get(name) if isinstance(entry, dict) else None
                if not isinstance(value, (set, frozenset)):
                    raise InvalidRun(f"{action!r}: {name} is no set")
                if any(not isinstance(p, str) or p not in preferences for p in value):
                    raise InvalidRun(f"{action!r}: unknown preference in {name}")

    def describe(self):
        names = sorted(self.violates)
        entries = [[a, sorted(self.violates[a]), sorted(self.satisfies[a])] for a in names]
        return {"digest": self.sum(names), "count": len(names)}, self.sum(entries)

    @staticmethod
    def sum(thing):
        return hashlib.blake2b(json.dumps(thing).encode(), digest_size=8).hexdigest()


class Compiler:
    def __init__(self, preferences, defects):
        self.preferences = preferences
        self.defects = defects

    def parse(self, artifact):
        if not isinstance(artifact, Artifact) or not isinstance(artifact.precedent_reference, str):
            raise Halted(["E_MALFORMED"])
        if not all(isinstance(value, (set, frozenset)) for value in artifact.fields()):
            raise Halted(["E_MALFORMED"])
        av, rp, pairs = artifact.fields()
        if artifact.mode not in ("MAINTAIN", "REVISE"):
            raise Halted(["E_MALFORMED"])
        if any(not isinstance(pair, tuple) or len(pair) != 2 for pair in pairs):
            raise Halted(["E_MALFORMED"])
        named = [*av, *rp, *(p for pair in pairs for p in pair)]
        if not all(isinstance(p, str) for p in named):
            raise Halted(["E_MALFORMED"])
        if unknown := sorted(p for p in named if p not in self.preferences):
            raise Halted(["E_UNREGISTERED"], unknown)

    def compile(self, artifact, step, previous):
        """The forbidden actions; raises Halted with every code that applies."""
        if artifact.previous_artifact_digest != previous.digest():
            raise Halted(["E_DIGEST"])
        av, rp, pairs = artifact.fields()
        codes = []
        if av and not pairs:
            codes.append("E_AV_WITHOUT_COLLISION")
        keeping = [v for v in step.violates.values() if not v & rp]
        gratuitous = sorted(p for p in av if any(p not in v for v in keeping))
        if gratuitous:
            codes.append("E_GRATUITOUS_VIOLATION")
        if any(p not in v and q not in v for p, q in pairs for v in step.violates.values()):
            codes.append("E_FALSE_COLLISION")
        if artifact.mode == "MAINTAIN" and artifact.fields() != previous.fields():
            codes.append("E_PRECEDENT_VIOLATION")
        if codes:
            raise Halted(codes, gratuitous)
        return {a for a, v in step.violates.items() if v & rp or self.unlawful(v, av)}

    def unlawful(self, violated, av):
        if "any_authorized" in self.defects:
            return bool(violated) and not violated & av
        return not violated <= av


class Machine:
    previous = EMPTY

    def __init__(self, preferences, actions, defects=frozenset()):
        self.defects = frozenset(defects)
        live = "live_registry" in self.defects
        self.preferences = preferences if live else frozenset(preferences)
        self.actions = frozenset(actions)
        self.compiler = Compiler(self.preferences, self.defects)
        self.step = None
        self.mask = None
        self.record = None
        self.invalid = False
        self._records = []
        self._executed = []
        self._violations = Counter()

    # what the environment does

    def publish(self, apcm):
        """The next step: a mapping of the feasible actions to {"violates": set, "satisfies": set}."""
        if self.invalid or self.step is not None:
            raise Refused("the run is over" if self.invalid else "the step is still open")
        try:
            Step.check(apcm, self.actions, self.preferences)
        except InvalidRun:
            self.invalid = True
            raise
        self.step = Step(len(self._records), apcm)
        self.record = Record(self.step.number, *self.step.describe())

    # what the generator sees and does

    def briefing(self):
        if self.step is None:
            raise Refused("no step is open")
        apcm = {
            a: {"violates": set(self.step.violates[a]), "satisfies": set(self.step.satisfies[a])}
            for a in self.step.violates
        }
        return {
            "preferences": set(self.preferences),
            "feasible": set(apcm),
            "apcm": apcm,
            "previous": self.previous.frozen(),
            "digest": self.previous.digest(),
        }

    def justify(self, artifact):
        """Compiles; returns the permitted actions, an empty set in a gridlock."""
        if self.step is None or self.mask is not None:
            raise Refused("nothing to justify now")
        try:
            self.compiler.parse(artifact)
            self.note(artifact)
            forbidden = self.compiler.compile(artifact, self.step, self.previous)
        except Halted as halted:
            self.record.compile_error_code = halted.codes[0]
            self.record.compile_errors = halted.codes + halted.detail
            self.record.halt = True
            self.close()
            raise
        owner = Machine if "shared_previous" in self.defects else self
        owner.previous = artifact if "aliased_artifact" in self.defects else artifact.frozen()
        if "gridlock_opens" in self.defects and len(forbidden) == len(self.step.violates):
            forbidden = set()
        self.record.compile_ok = True
        self.record.forbidden_actions = sorted(forbidden)
        self.record.nontrivial_forbidden_count = len(forbidden)
        permitted = set(self.step.violates) - forbidden
        if not permitted:
            self.record.gridlock = True
            self.close()
            return frozenset()
        self.mask = permitted
        return frozenset(permitted)

    def note(self, artifact):
        self.record.AV, self.record.RP, self.record.conflict_attribution = map(sorted, artifact.fields())
        self.record.mode = artifact.mode
        self.record.revision_event = artifact.mode == "REVISE"

    # selection and execution

    def act(self, selector):
        """Calls the selector with the permitted actions and executes what it returns."""
        if self.mask is None:
            raise Refused("no mask, no action")
        view = View(self.mask)
        if "selector_sees_world" in self.defects:
            view.apcm = self.step.violates
        elif "shared_mask" in self.defects:
            view = self.mask
        action = selector(view)
        if not isinstance(action, str) or action not in self.mask:
            raise Refused("the mask does not permit that action")
        violated = sorted(self.step.violates[action])
        self.record.selected_action = action
        self.record.selected_action_violates = violated
        self._executed.append(action)
        if "violations_of_feasible" in self.defects:
            violated = [p for v in self.step.violates.values() for p in v]
        self._violations.update(violated)
        self.close()
        return action

    def close(self):
        self._records.append(self.record)
        self.step = self.mask = self.record = None

    # reading

    def records(self):
        return [asdict(record) for record in self._records]

    def executed(self):
        return tuple(self._executed)

    def rates(self):
        if "empty_division" in self.defects:

            def share(hits, of):
                return hits / of
        else:

            def share(hits, of):
                return hits / of if of else 0.0

        records = self._records
        held = [(r.AV, r.RP) for r in records if r.mode]
        return {
            "compile_failure_rate": share(sum(r.halt for r in records), len(records)),
            "gridlock_rate": share(sum(r.gridlock for r in records), len(records)),
            "revision_frequency": share(sum(r.revision_event for r in records), len(records)),
            "oscillations": sum(a == c and a != b for a, b, c in zip(held, held[1:], held[2:], strict=False)),
            "violation_rates": {p: share(self._violations[p], len(self._executed)) for p in sorted(self.preferences)},
            "prevented_gratuitous_authorizations": sum(
                r.compile_error_code == "E_GRATUITOUS_VIOLATION" for r in records
            ),
            "false_collision_attempts": sum("E_FALSE_COLLISION" in r.compile_errors for r in records),
        }


class Legislator:
    """A rule-based generator: authorise least, preserve the rest."""

    def draft(self, briefing):
        sets = [entry["violates"] for entry in briefing["apcm"].values()]
        known = sorted(briefing["preferences"])
        pairs = [(p, q) for p in known for q in known if p < q and all({p, q} & v for v in sets)]
        least = min(sets, key=lambda v: (len(v), sorted(v)), default=set())
        av = set(least) if pairs else set()
        fields = av, set(known) - av, {pairs[0]} if av else set()
        mode = "MAINTAIN" if fields == briefing["previous"].fields() else "REVISE"
        return Artifact(*fields, briefing["digest"], mode, briefing["digest"])


class SophieWorld:
    """Two steps; in the first no action keeps both preferences."""

    preferences = ("P1", "P2")
    actions = ("A", "B", "C")

    def __iter__(self):
        yield {"A": {"violates": {"P1"}, "satisfies": {"P2"}}, "B": {"violates": {"P2"}, "satisfies": {"P1"}}}
        yield {"A": {"violates": {"P1"}, "satisfies": {"P2"}}, "C": {"violates": set(), "satisfies": {"P1", "P2"}}}
