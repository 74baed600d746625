"""The data of a fuzzing across its examples: counts, watchers, and their verdicts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Generator as Generates
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from itertools import islice
from typing import Any, cast

from hypothesis import assume
from hypothesis import strategies as st

from evenhand.core.alike import deep_copy
from evenhand.core.answers import ModelError, error_text, located, short
from evenhand.core.canonical import Json, canonical_text
from evenhand.core.codec import decode, encode
from evenhand.core.generator import Draw, Event, Generator
from evenhand.core.generator import Rule as DrawRule
from evenhand.core.property import Property, checked_claims, speaks_of
from evenhand.core.purity import refuse_impure
from evenhand.core.system import AnyStep, AnySystem
from evenhand.core.verdict import UNREPLAYED, Evidence, Status, Verdict, in_short
from evenhand.evidence.judge import judge, refutes, restate
from evenhand.evidence.replay import REFERENCE
from evenhand.evidence.shrink import shrink
from evenhand.machine.pursuit import MENU, anything, pursuing
from evenhand.machine.watch import Run, Watch
from evenhand.machine.watch_runs import watch

JUDGED = 4_000
"""Candidates of the shrinker that are judged for one claim."""
COPIED = 100
"""The first so many steps are compared with a copy of the state before; later ones seldom."""
CODED = 300
"""Distinct actions that are encoded to a file's form and back."""
TRUSTED = ("the model's step", "the claim's predicates", "the choice of runs")


class Refuted(AssertionError):
    """A claim is false on the current run; raised under pytest only."""


@dataclass(frozen=True, repr=False)
class Fuzzing:
    """The result of a fuzzing: one verdict per claim, in order, and the coverage.

    `coverage` counts `rule:NAME` (drawn), `event:NAME` (seen), `met:CLAIM` and `unmet:CLAIM` (antecedents),
    `states` (distinct, with their configuration), and `runs`.  `examples` were drawn, `steps` taken in all of them.
    The coverage of a claim about whole runs counts `ahead` (states opened ahead of drawn ones), `closed` (drawn states
    of which all that lies ahead was opened) and `pursued` (steps by the machine's own rules).
    `findings` are sentences about the system itself, not about a claim: values that no file can hold, or that change
    when a file's data does.  `interrupted`: it was stopped early; the results so far are valid.
    """

    verdicts: tuple[Verdict, ...]
    coverage: Mapping[str, int]
    examples: int
    steps: int
    seed: int
    findings: tuple[str, ...] = ()
    interrupted: bool = False

    @property
    def holds(self) -> bool:
        """Whether there are claims and all hold on the drawn runs; never a proof."""
        return bool(self.verdicts) and all(verdict.holds for verdict in self.verdicts)

    def __repr__(self) -> str:
        """Return one line: the status of each claim, and how much was drawn."""
        return f"<Fuzzing: {self.examples} examples, {self.steps} steps; {in_short(self.verdicts)}>"

    def __bool__(self) -> bool:
        """Return `holds`, so that `assert evenhand.fuzz(…)` works."""
        return self.holds


@dataclass
class Ledger:
    """The data shared by all examples: the watchers, the counts, the errors.

    `raising`: a refuted claim ends the example.  `roams`: a run that ends is followed by one of another configuration.
    """

    system: AnySystem
    claims: tuple[Property, ...]
    generator: Generator | None = None
    raising: bool = False
    roams: bool = False
    asked: int = 0
    progress: Callable[[int, int], None] | None = None
    watches: list[Watch[Any]] = field(default_factory=list[Watch[Any]])
    rules: tuple[DrawRule, ...] = ()
    counts: dict[str, int] = field(default_factory=dict[str, int])
    states: set[Any] = field(default_factory=set[Any])
    spoken: set[str] = field(default_factory=set[str])
    findings: dict[str, str] = field(default_factory=dict[str, str])
    interrupted: bool = False
    raised: Exception | None = None
    current: Run | None = None
    _coded: set[Any] = field(default_factory=set[Any])
    _configs: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        self.claims = checked_claims(self.system, self.claims)
        generator = self.generator
        if generator is not None and not isinstance(generator, Generator):
            raise TypeError(f"{self.system.label}: a generator is a Generator of rules, not {short(generator)}")
        if generator is not None and not generator.rules:
            raise ValueError(f"{self.system.label}: the generator has no rules, so that no step is drawn; give it one")
        if generator is not None and generator.system != self.system.name:
            raise ValueError(f"the generator draws for system {generator.system!r}, not for {self.system.name!r}")
        refuse_impure(self.system.label, self.system, self.system.rules, self.system.joint, *self.claims)
        self.watches = [watch(claim) for claim in self.claims]
        self.rules = generator.rules if generator is not None else (anything(self.system),)
        for name in ("examples", "runs", "steps"):
            self.counts[name] = 0
        for drawing in self.rules:
            self.counts[f"rule:{drawing.name}"] = 0
        for event in generator.events if generator is not None else ():
            self.counts[f"event:{event.name}"] = 0

    def draw_config(self, draw: Draw) -> Any:
        """Return a drawn configuration, by the generator or else from the scope."""
        if self.generator is not None:
            return draw(self.generator.configs(self.system.scope, self.system.readings))
        if self._configs is None:
            self._configs = tuple(islice(self.system.all_configs(), MENU))
        assume(self._configs)
        return draw(st.sampled_from(self._configs))

    def begin(self, draw: Draw, config: Any) -> Run:
        """Return a fresh run from a drawn initial state, passed to every watcher of its configuration."""
        starts = tuple(islice(self.system.initial(config), MENU))
        if not starts:
            raise ModelError(f"{self.system.label}: configuration {short(config)} has no initial state")
        run = Run(self.system, config, draw(st.sampled_from(starts)))
        self.counts["runs"] += 1
        self.current = run
        self.states.add((config, run.state))
        for one in self.watching(config):
            self.spoken.add(one.claim.name)
            with self._noting(one):
                one.begin(run)
        self.confront()
        return run

    def watching(self, config: Any) -> list[Watch[Any]]:
        """Return the watchers whose claims are about this configuration and system."""
        return [one for one in self.watches if one.claim.applies(config) and speaks_of(one.claim, self.system)]

    def step(self, run: Run, action: Any) -> None:
        """Take the action, count its events, and pass the step to every watcher."""
        number = self.counts["steps"] = self.counts["steps"] + 1
        kept = deep_copy(run.state) if number <= COPIED or number & (number - 1) == 0 else None
        step = run.take(action)
        if kept is not None and kept[0] != step.before:
            raise ModelError(
                f"{self.system.label}: the step of action {short(action)} changes the state it is given; it was "
                f"{short(kept[0])}, it is now {short(step.before)}. A step is pure: return a new state"
            )
        self.states.add((run.config, step.after))
        for event in self.generator.events if self.generator is not None else ():
            self.counts[f"event:{event.name}"] += self._seen(event, step)
        for one in self.watching(run.config):
            with self._noting(one):
                one.look(run, step)
        self.through_a_file(step)
        self.confront()

    def _seen(self, event: Event, step: AnyStep) -> bool:
        """Whether a step is the event.  One that raises on what a mutant records was not seen: its floor says so.

        Raises ModelError where it raises on the reference, because that is a mistake of its author.
        """
        try:
            return bool(event.seen(step))
        except Exception as error:
            if self.system.variant != REFERENCE:
                return False
            raise ModelError(f"{self.system.label}: the event {event.name!r} raised {error_text(error)}") from error

    def end(self, run: Run) -> None:
        """Pass the end of the run to every watcher, and what lies ahead of where it began and of where it stops."""
        for one in self.watching(run.config):
            with self._noting(one):
                one.end(run)
        for drawn in (Run(self.system, run.config, run.start), run.offered()):
            if drawn is not None:
                self.look_ahead(drawn)
        self.confront()

    def look_ahead(self, run: Run) -> None:
        """Let the watchers that still look for a loop or a dead end look ahead of a run."""
        for one in self.watching(run.config):
            with self._noting(one):
                one.look_ahead(run)

    def pursuits(self) -> Iterator[tuple[Watch[Any], Ledger]]:
        """Yield each open claim about whole runs with a ledger of its own and the machine's own rules.

        Each claim alone, so that its verdict does not depend on the other claims of the run.
        """
        for one in self.watches:
            serves = one.served
            if serves is None or one.evidence is not None or self.interrupted or self.findings:
                continue
            yield one, self._pursuit(one.claim, serves)

    def _pursuit(self, claim: Property, serves: Callable[[AnyStep], bool]) -> Ledger:
        second = Ledger(self.system, (claim,), roams=True)

        def met(state: Any) -> bool:
            return second.current is not None and state in second.current.met

        def known(step: AnyStep) -> bool:
            return (step.config, step.after) in second.states

        second.rules = pursuing(self.system, serves, met, known)
        second.counts |= {f"rule:{drawing.name}": 0 for drawing in second.rules}
        return second

    def join(self, one: Watch[Any], second: Ledger) -> None:
        """Take over what the pursuit of a claim found and how much it saw."""
        (other,) = second.watches
        if other.evidence is not None:
            one.fails(other.evidence)
        one.ahead += other.ahead
        one.closed += other.closed
        one.pursued = second.counts["steps"]
        self.interrupted = second.interrupted

    @contextmanager
    def _noting(self, one: Watch[Any]) -> Generates[None]:
        """Name the claim in what its watcher raises, and keep the error: Hypothesis may tell of another one."""
        try:
            yield
        except Exception as error:
            placed: Exception = error
            if isinstance(error, ModelError):
                placed = located(f"{self.system.label}, claim {one.claim.name!r}", error, one.claim.name)
            self.raised = self.raised or placed
            if placed is error:
                raise
            raise placed from error.__cause__

    def confront(self) -> None:
        """Under pytest: raise Refuted for the first claim with evidence."""
        for one in self.watches if self.raising else ():
            if one.evidence is not None and not one.claim.existential:
                raise Refuted(f"{one.claim.name}: {one.claim.sentence}")

    def through_a_file(self, step: AnyStep) -> None:
        """Check the action as if it came from a file whose data change afterwards.

        The decoded action must equal the encoded one and give the same step, and neither it nor the new state may
        share mutable data with the file.
        """
        if not self.system.types or step.action in self._coded or len(self._coded) >= CODED or self.findings:
            return

        self._coded.add(step.action)
        try:
            data = json.loads(canonical_text(encode(step.action)))
            action = decode(data, *self.system.types)
            again = self.system.take(step.config, step.before, action)
            alike = (action, again.shown, again.after) == (step.action, step.shown, step.after)
            before = canonical_text(encode((action, again.after)))
            scramble(data)
            after = canonical_text(encode((action, again.after)))
        except ValueError as error:
            self.findings["codec"] = f"an action or state has no file form: {error}"
            return
        if not alike:
            self.findings["codec"] = f"an action read back from a file is taken differently: {step.action!r}"
        elif before != after:
            self.findings["aliasing"] = f"changing a file's data after the step changes the state: {step.action!r}"

    def result(self, steps: int, seed: int) -> Fuzzing:
        """Return the verdicts, with every candidate judged and shrunk."""
        for one in self.watches:
            self.counts[f"met:{one.claim.name}"] = one.met
            self.counts[f"unmet:{one.claim.name}"] = one.unmet
        self.counts["states"] = len(self.states)
        scope = {**self.system.scope, "examples": self.counts["examples"], "steps": steps, "seed": seed}
        return Fuzzing(
            verdicts=tuple(self._verdict(one, scope) for one in self.watches),
            coverage=dict(sorted(self.counts.items())),
            examples=self.counts["examples"],
            steps=self.counts["steps"],
            seed=seed,
            findings=tuple(self.findings.values()),
            interrupted=self.interrupted,
        )

    def _verdict(self, one: Watch[Any], scope: Mapping[str, Any]) -> Verdict:
        claim: Property = one.claim
        evidence = one.evidence
        unreplayed = False
        if evidence is None:
            because = self.undecided(one)
            status = Status.UNDECIDED if because else Status.HOLDS
        else:
            judgement = judge(self.system, claim, evidence)
            found = Status.HOLDS if claim.existential else Status.REFUTED
            status = found if judgement else Status.UNDECIDED
            if judgement:
                evidence = self._shrunk(claim, evidence)
                because = judge(self.system, claim, evidence).reason
            else:
                unreplayed = judgement.decided
                evidence, because = None, f"a run looked wrong and does not replay: {judgement.reason}"
        events = self.generator.events if self.generator is not None else ()
        return Verdict(
            claim=claim.name,
            status=status,
            engine="fuzz",
            system=self.system.name,
            variant=self.system.variant,
            scope=scope,
            readings=chosen_readings(self.system),
            evidence=evidence,
            coverage={
                "met": one.met,
                "unmet": one.unmet,
                "states": len(self.states),
                "steps": self.counts["steps"],
                **({UNREPLAYED: 1} if unreplayed else {}),
                **({"pursued": one.pursued, "ahead": one.ahead, "closed": one.closed} if one.served else {}),
                **{event.name: self.counts[f"event:{event.name}"] for event in events},
            },
            because=because,
            trusted_base=TRUSTED,
        )

    def _shrunk(self, claim: Property, evidence: Evidence) -> Evidence:
        """The evidence shrunk; unchanged after Ctrl-C."""
        try:
            small = shrink(self.system, evidence, lambda less: refutes(self.system, claim, less), limit=JUDGED)
        except KeyboardInterrupt:
            self.interrupted = True
            return evidence
        return restate(self.system, claim, small)

    def undecided(self, one: Watch[Any]) -> str:
        """Return why a claim without evidence is UNDECIDED; empty if it holds."""
        claim: Property = one.claim
        if not speaks_of(claim, self.system):
            return f"the claim does not speak of system {self.system.name}"
        if self.interrupted:
            return f"interrupted after {self.counts['examples']} of {self.asked} examples"
        if self.findings:
            return next(iter(self.findings.values()))
        if claim.name not in self.spoken:
            return "the claim is made under none of the configurations drawn"
        if shortfall := self.below_floor():
            return shortfall
        if claim.existential:
            return f"not reached in {self.counts['steps']} steps; sampling cannot show that it never is"
        if not claim.sampled:
            return (
                f"not decided by sampling: no fair violating loop and no dead end in {self.counts['steps']} steps, "
                f"{one.pursued} more by the machine's own rules, and {one.ahead} states ahead of drawn ones; "
                f"{one.closed} of these were closed"
            )
        if not one.met:
            return f"its antecedent was never met in {self.counts['steps']} steps"
        return ""

    def below_floor(self) -> str:
        """Return a sentence about the first event below its floor; empty if there is none."""
        for event in self.generator.events if self.generator is not None else ():
            count = self.counts[f"event:{event.name}"]
            if count < event.floor:
                return f"the event {event.name!r} was seen {count} times, below its floor of {event.floor}"
        return ""


def scramble(data: Json) -> None:
    """Change everything mutable inside a JSON value in place."""
    if isinstance(data, dict):
        entries = cast("dict[str, Json]", data)
        for key in list(entries):
            scramble(entries[key])
            entries[key] = "scrambled"
    elif isinstance(data, list):
        items = cast("list[Json]", data)
        for item in items:
            scramble(item)
        items[:] = ["scrambled"]


def chosen_readings(system: AnySystem) -> dict[str, Any]:
    """Return the readings of a system that are not their default."""
    record = system.readings
    if record is None or not is_dataclass(record):
        return {}
    values = {entry.name: (getattr(record, entry.name), entry.default) for entry in fields(record)}
    return {name: value for name, (value, default) in values.items() if value != default}
