"""Evaluate claims about a kernel of which only `shown` is known.

A claim is first evaluated with the states withheld.  If it reads none, its answer rests on the configuration, the
actions and what the kernel shows.  If it reads one, it gets the reference's, reconstructed by the same actions.  The
basis of the answer says which:

* `shown`: no state was read; the answer is about this kernel.
* `state before`: the reference's state before the step; the kernel agreed with it until then.
* `state after`: the reference's state after the step too, although the kernel just differed; a candidate, no proof.
* `own state`: the kernel tells its state, and the claim was evaluated on that.

After a kernel has differed, its states are no longer the reference's: a claim that reads one is then not judged
(`left_open`), unless the kernel tells its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Literal, NoReturn, get_args

from evenhand.core.answers import Signal
from evenhand.core.canonical import Json
from evenhand.core.kinds import Property, Safety
from evenhand.core.system import AnyStep, Step

Words = Literal["shown", "own state", "state before", "state after"]


class Basis(IntEnum):
    """The basis of a violation, surest first."""

    SHOWN = 0
    OWN = 1
    BEFORE = 2
    AFTER = 3

    @property
    def words(self) -> Words:
        """The name in reports."""
        words: tuple[Words, ...] = get_args(Words)
        return words[self]


@dataclass(frozen=True)
class Violation:
    """A claim that is false on a run at its `step` (counted from 1), and the basis of this violation."""

    claim: Property
    step: int
    basis: Basis


@dataclass(frozen=True)
class KernelStep:
    """One step of a kernel: the reference's step, the kernel's observation, and its told states (or None).

    If the observation is `partial`, reading what the kernel did not show raises StateNeeded.  `told` is its encoding
    where it differs, what was not shown as in the model.  `chosen` is the observation with what the kernel chose by a
    rule of its own `of` some fields of the action.
    """

    step: AnyStep
    shown: Any
    differs: bool
    before: Any = None
    after: Any = None
    own: bool = False
    partial: bool = False
    told: Json = None
    of: frozenset[str] = frozenset()
    chosen: Any = None


class StateNeeded(Signal):
    """A claim read a withheld state.  Not an Exception, so that no claim catches it by accident."""


def _refuse(*_arguments: Any) -> NoReturn:
    raise StateNeeded


class Withheld:
    """A state of which every use raises StateNeeded."""

    __slots__ = ()


WITHHELD: tuple[Any, ...] = (Withheld(),)
"""A withheld state in a tuple, because doctest inspects every value of a module and must not touch this one."""
_NUMBERS = ("eq", "ne", "lt", "le", "gt", "ge", "hash", "bool")
for _way in (*_NUMBERS, "getattribute", "len", "iter", "getitem", "contains", "str", "repr", "format"):
    setattr(Withheld, f"__{_way}__", _refuse)


def views(
    ends: Sequence[KernelStep], *, guess: bool, known: bool = True
) -> Iterator[tuple[Basis, tuple[AnyStep, ...]]]:
    """Yield steps with more and more of their states, surest basis first; the model's only where they are `known`."""
    yield Basis.SHOWN, tuple(_seen(end, WITHHELD[0], WITHHELD[0]) for end in ends)
    if all(end.own for end in ends):
        yield Basis.OWN, tuple(_seen(end, end.before, end.after) for end in ends)
    elif known:
        after = (WITHHELD[0] if end.differs else end.step.after for end in ends)
        yield Basis.BEFORE, tuple(_seen(end, end.step.before, one) for end, one in zip(ends, after, strict=True))
        if guess:
            yield Basis.AFTER, tuple(_seen(end, end.step.before, end.step.after) for end in ends)


def _seen(end: KernelStep, before: Any, after: Any) -> AnyStep:
    return Step(end.step.config, before, end.step.action, end.shown, after)


def judged_kinds(claims: Iterable[Property], system: str) -> tuple[tuple[Safety, ...], tuple[Property, ...]]:
    """Return the claims about `system` that single runs can refute, and the others."""
    speaking = [claim for claim in claims if not claim.systems or system in claim.systems]
    judged = tuple(claim for claim in speaking if isinstance(claim, Safety))
    return judged, tuple(claim for claim in speaking if not isinstance(claim, Safety))


class Judge:
    """Evaluates every claim on a kernel's runs; `left_open` names those that needed an unknown state."""

    def __init__(self, claims: Sequence[Safety]) -> None:
        self.claims = claims
        self.left_open: set[str] = set()
        self.judged: set[str] = set()

    def violations(self, config: Any, reported: Sequence[KernelStep], *, guess: bool = True) -> tuple[Violation, ...]:
        """Return the first violation of each claim, at steps where the claim holds on the reference.

        Without `guess`, states after a differing step are not used.
        """
        found = (self._first(claim, config, reported, guess) for claim in self.claims if claim.applies(config))
        return tuple(one for one in found if one is not None)

    def _first(self, claim: Safety, config: Any, reported: Sequence[KernelStep], guess: bool) -> Violation | None:
        """The first step at which a claim is false of the kernel and true of the reference."""
        own = reference = claim.memory(config)
        diverged = partial = False
        for number, one in enumerate(reported, start=1):
            reference, expected = _followed(claim, config, reference, one.step)
            if not one.differs and not diverged and not one.own:
                own = reference
                partial = partial or (one.partial and claim.reads == "histories")
                continue
            own, basis, false = self._asked(claim, config, own, one, known=not diverged, guess=guess)
            diverged = diverged or one.differs
            if basis is None:
                self.left_open.add(claim.name)
                if claim.reads == "histories":
                    return None  # its memory is unknown from here on
                continue
            self.judged.add(claim.name)
            if false and not expected:
                return Violation(claim, number, max(basis, Basis.BEFORE) if partial else basis)
        return None

    @staticmethod
    def _asked(
        claim: Safety, config: Any, memory: Any, one: KernelStep, *, known: bool, guess: bool
    ) -> tuple[Any, Basis | None, bool]:
        """The memory behind a step, the surest basis on which the claim can be evaluated, and whether it is false."""
        for basis, (step,) in views((one,), guess=guess, known=known):
            try:
                after, false = _followed(claim, config, memory, step)
            except StateNeeded:
                continue
            except Exception:  # a predicate may fail on an observable that no model makes
                continue
            return after, basis, false
        return memory, None, False


def _followed(claim: Safety, config: Any, memory: Any, step: AnyStep) -> tuple[Any, bool]:
    """What a claim remembers after a step, and whether it is false there."""
    after = claim.follow(memory, step)
    return after, claim.at(config, after, step) is False
