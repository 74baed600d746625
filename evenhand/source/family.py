"""Read a whole system: its states, where it starts, what is on offer, what each step gives, and its claims."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, cast

from evenhand.core.ending import NAME
from evenhand.core.kinds import Always, EachStep, Liveness, Property, every_state, every_step
from evenhand.core.relations import DeterminedBy, TwoRun
from evenhand.core.system import AnySystem
from evenhand.smt.logic import FALSE, TRUE, Formula, Function, Relation
from evenhand.smt.theory import Axiom, Theory
from evenhand.source.assumptions import Assumption, assumptions, falls
from evenhand.source.functions import Functions, Move, Start
from evenhand.source.reading import plain
from evenhand.source.refusal import Unreadable, refuse
from evenhand.source.second import Second
from evenhand.source.shapes import Parts, Vocabulary, record_shape
from evenhand.source.simplify import all_of, any_of, implication, some
from evenhand.source.values import Record, Value, thing, truth
from evenhand.source.world import World, world_of

STATE = "s"
"""The name under which a state's symbols are declared."""

OTHER = "t"
"""The name under which those of a second state are declared, to which the first is compared."""


@dataclass(frozen=True)
class Side:
    """What a claim about two steps asks of one of them: whether it is about it, key and value, where it raises."""

    when: Formula
    key: Value
    value: Value
    raises: Formula


@dataclass(frozen=True)
class Course:
    """What a claim about whole runs asks of a move: whether it raises and serves, and which assumptions it serves.

    `ranked` is that the claim's own rank falls by the move, and that it does not rise, if the claim has one.
    """

    raised: Formula
    served: Formula
    fair: Mapping[str, Formula]
    ranked: tuple[Formula, Formula] | None
    raises: Formula


@dataclass(frozen=True)
class Stated:
    """A claim that was read: the formula of a state, or of a step, with where it would raise.

    `here` is a formula of reachable states that is not asked of the state after a step: some action is on offer.
    `of_start` is one of initial states.  `sides` are, for each move, what a claim about two steps compares, `courses`
    what a claim about whole runs asks; `fair` are its assumptions, `helps` where those of each agent help, if it says,
    and `firsts` what is true for it because there are finitely many agents.
    """

    claim: Property
    of_state: Callable[[Value], tuple[Formula, Formula]] | None = None
    of_step: Callable[[Value, Move], tuple[Formula, Formula]] | None = None
    here: Formula | None = None
    of_start: Formula = TRUE
    sides: tuple[Side, ...] = ()
    courses: tuple[Course, ...] = ()
    fair: Mapping[str, Assumption] = field(default_factory=dict[str, Assumption])
    helps: Mapping[str, Formula] | None = None
    firsts: tuple[Formula, ...] = ()


@dataclass(frozen=True)
class Ghost:
    """A proposition that no state has: what it is at each start, and after each move, in the symbols before it."""

    relation: Relation
    starts: tuple[Formula, ...]
    moves: tuple[Formula, ...]


@dataclass
class Family:
    """A system of any size, read from its source.

    `raises` says in which states `actions` would raise.  `unread` are claims with the reason why they are not read.
    """

    system: AnySystem
    world: World
    shape: Parts
    vocabulary: Vocabulary
    state: Record
    starts: tuple[Start, ...]
    moves: tuple[Move, ...]
    raises: Formula
    start_raises: Formula
    chosen: tuple[tuple[Function, Axiom | None], ...]
    claims: dict[str, Stated] = field(default_factory=dict[str, Stated])
    unread: dict[str, str] = field(default_factory=dict[str, str])
    ghosts: tuple[Ghost, ...] = ()

    @property
    def theory(self) -> Theory:
        """The symbols of a state, of the agents' order, and of initial choices, with their axioms."""
        functions, relations, axioms = self.world.symbols()
        return Theory(
            self.system.name.replace(" ", "_") or "system",
            self.vocabulary.sorts,
            (*self.vocabulary.functions, *functions, *(one for one, _ in self.chosen)),
            (*self.vocabulary.relations, *relations, *(one.relation for one in self.ghosts)),
            (*self.vocabulary.axioms, *axioms, *(one for _, one in self.chosen if one is not None)),
        )


def family_of(system: AnySystem, claims: tuple[Property, ...]) -> Family:
    """Return a system and its claims as formulas.  Raises Unreadable for a system that cannot be read."""
    config = next(iter(system.all_configs()), None)
    world = world_of(config)
    if system.joint is not None or system.actions is None:
        raise refuse("joint actions", "give the system `actions`")
    if system.constrained:
        raise refuse("a constraint bounds the runs", "prove it without the constraint")
    start = next(iter(system.initial(config)))
    cls: Any = start.__class__
    shape = record_shape(cls, world.types)
    vocabulary = Vocabulary(tuple(world.sorts.values()))
    state = cast("Record", vocabulary.symbolic(shape, STATE))
    reader = _Claims(system, world, state)
    starts, start_raises = reader.starts()
    moves, raises = reader.moves()
    found = Family(system, world, shape, vocabulary, state, starts, moves, raises, start_raises, tuple(world.chosen))
    for claim in claims:
        world.counting = not isinstance(claim, DeterminedBy | Liveness)
        try:
            found.claims[claim.name] = reader.stated(claim, found)
        except Unreadable as error:
            found.unread[claim.name] = str(error)
    world.counting = True
    for name in [name for name, one in found.claims.items() if world.totals and (one.sides or one.courses)]:
        found.unread[name] = "the system or a claim beside it counts, which proofs about two and whole runs do not know"
        del found.claims[name]
    return found


@dataclass(frozen=True)
class Twin:
    """A second copy of a family, whose symbols have names of their own; its initial choices are its own too."""

    vocabulary: Vocabulary
    state: Record
    starts: tuple[Start, ...]
    moves: tuple[Move, ...]
    raises: Formula
    chosen: tuple[tuple[Function, Axiom | None], ...]
    sides: Mapping[str, tuple[Side, ...]]


def twin_of(family: Family) -> Twin:
    """Return the second copy, read from the source as the first was."""
    vocabulary = Vocabulary(family.vocabulary.sorts)
    state = cast("Record", vocabulary.symbolic(family.shape, OTHER))
    reader = _Claims(family.system, family.world, state)
    before = len(family.world.chosen)
    starts, _ = reader.starts()
    moves, raises = reader.moves()
    sides = {
        name: reader.sides(stated.claim, moves)
        for name, stated in family.claims.items()
        if isinstance(stated.claim, DeterminedBy)
    }
    return Twin(vocabulary, state, starts, moves, raises, tuple(family.world.chosen[before:]), sides)


class _Claims(Functions):
    """Reads the claims of a system too."""

    def stated(self, claim: Property, family: Family) -> Stated:
        """Return a claim as a formula.  Raises Unreadable for one that cannot be read, or is of another kind."""
        if claim.name == NAME and self.system.may_end is not None:
            return self._ending(claim, family)
        match claim:
            case Always():
                return self._of_states(claim)
            case EachStep():
                return self._of_steps(claim, family.moves)
            case DeterminedBy():
                if claim.across and len(list(islice(self.system.all_configs(), 2))) > 1:
                    raise refuse("a comparison of several configurations", "say `across=False`")
                return Stated(claim, sides=self.sides(claim, family.moves))
            case TwoRun():
                return self._of_twins(claim, family)
            case Liveness():
                return self._of_runs(claim, family)
            case _:
                kind = claim.kind
                raise refuse(f"a claim of kind {kind}", "claims of this kind are left to the search")

    def _of_states(self, claim: Always) -> Stated:
        def of_state(state: Value) -> tuple[Formula, Formula]:
            names = {"config": self.world.config, "state": state}
            return self._implied(claim.when, claim.check, names, every_state)

        of_state(self.state)  # raises here what it does not read
        return Stated(claim, of_state=of_state)

    def _of_steps(self, claim: EachStep, moves: Iterable[Move]) -> Stated:
        def of_step(state: Value, move: Move) -> tuple[Formula, Formula]:
            return self._implied(claim.when, claim.check, {"step": self.step_of(state, move)}, every_step)

        for move in moves:
            of_step(self.state, move)  # raises here what it does not read
        return Stated(claim, of_step=of_step)

    def _implied(self, when: Any, check: Any, names: dict[str, Value], always: Any) -> tuple[Formula, Formula]:
        found, raises = self.value(check, names)
        if not when_given(when, always):
            return truth(found), raises
        asked, unasked = self.value(when, names)
        test = truth(asked)
        return implication(test, truth(found)), any_of((unasked, all_of((test, raises))))

    def sides(self, claim: Property, moves: Iterable[Move]) -> tuple[Side, ...]:
        """Return what a claim about two steps compares of each move.  Raises Unreadable."""
        return tuple(self._side(claim, move) for move in moves)

    def _side(self, claim: Property, move: Move) -> Side:
        assert isinstance(claim, DeterminedBy)
        names: dict[str, Value] = {"step": self.step_of(self.state, move)}
        key, key_raises = self.value(claim.key, names)
        value, value_raises = self.value(claim.value, names)
        if not when_given(claim.when, every_step):
            return Side(TRUE, key, value, any_of((key_raises, value_raises)))
        asked, unasked = self.value(claim.when, names)
        test = truth(asked)
        return Side(test, key, value, any_of((unasked, all_of((test, any_of((key_raises, value_raises)))))))

    def _of_twins(self, claim: TwoRun, family: Family) -> Stated:
        second = Second(self, claim)
        of_start = second.starts(family.starts, family.moves, family.chosen) if claim.starts else TRUE
        for move in family.moves:
            second.agrees(self.state, move)  # raises here what it does not read
        return Stated(claim, of_step=second.agrees, of_start=of_start)

    def _of_runs(self, claim: Liveness, family: Family) -> Stated:
        fair = assumptions(self.world, self.system.fair, claim.fairness)
        since = len(self.world.firsts)
        helps = {name: self._helping(claim, one) for name, one in fair.items()}
        firsts = tuple(self.world.firsts[since:])
        courses = tuple(self._course(claim, move, fair) for move in family.moves)
        given = {name: helping for name, (helping, _) in helps.items()}
        wrong = any_of(raises for _, raises in helps.values())
        courses = tuple(replace(one, raises=any_of((one.raises, wrong))) for one in courses)
        return Stated(claim, courses=courses, fair=fair, firsts=firsts, helps=None if claim.helps is None else given)

    def _helping(self, claim: Liveness, one: Assumption) -> tuple[Formula, Formula]:
        """Where an assumption helps, and where the claim's function raises."""
        if claim.helps is None or not one.variables:
            return TRUE, FALSE
        names = {"config": self.world.config, "state": self.state, "agent": thing(one.variables[0])}
        found, raises = self.value(claim.helps, names)
        return truth(found), some(one.variables, raises)

    def _course(self, claim: Liveness, move: Move, fair: Mapping[str, Assumption]) -> Course:
        names: dict[str, Value] = {"step": self.step_of(self.state, move)}
        raises: list[Formula] = []

        def asked(test: Any, given: dict[str, Value]) -> Value:
            found, raised = self.value(test, given)
            raises.append(raised)
            return found

        trigger, goal = claim.tests
        raised = truth(asked(trigger, names)) if when_given(trigger, every_step) else TRUE
        served = truth(asked(goal, names))
        acting = {"state": self.state, "action": move.action}
        taken = {name: truth(asked(one.taken, acting)) for name, one in fair.items()}
        raises = [some([v for one in fair.values() for v in one.variables], one) for one in raises]
        ranked = None
        if claim.rank is not None:
            before, after = (
                asked(claim.rank, {"config": self.world.config, "state": state}) for state in (self.state, move.after)
            )
            ranked = falls(self.world, claim.rank, before, after)
        return Course(raised, served, taken, ranked, any_of(raises))

    def _ending(self, claim: Property, family: Family) -> Stated:
        """The claim that a run ends only where it may: elsewhere some action is on offer."""
        offered = any_of(some(move.variables, move.guard) for move in family.moves)
        may_end = self.system.may_end
        known_end = may_end is not None and getattr(may_end, "__name__", "") == "nowhere"
        if not known_end:
            raise refuse("a function that says where runs may end", "say `ends=False`, or claim it by `always`")

        return Stated(claim, here=offered)


def when_given(when: Any, always: Any) -> bool:
    """Return whether a claim has an antecedent of its own."""
    return plain(when) is not always
