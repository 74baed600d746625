"""Linear temporal logic over the states and steps of a run.

A run is read as an infinite word: at each position stand a state and the step that leaves it.  A run that ends stays in
its last state for ever, where no step predicate is true.

    from evenhand.core.ltl import F, G, state, step

    G(state(asks) >> F(step(serves)))
    parse("G (asks -> F serves)", asks=state(asks), serves=step(serves))

`F`, `G`, `X`, `U`, `R`, `W` are eventually, always, next, until, release and weak until; `&`, `|`, `~`, `>>` are and,
or, not and implication.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Literal

from evenhand.core.answers import called, checked_call, short
from evenhand.core.kinds import STATE, STEP, with_config

DEPTH = 50
"""Levels up to which formulas may be nested; deeper ones are refused, for nobody reads them."""


class Formula:
    """A formula; operators combine formulas."""

    def __and__(self, other: Formula) -> Formula:
        """Return that both are true."""
        return Both(self, _formula(other))

    def __or__(self, other: Formula) -> Formula:
        """Return that one of both is true."""
        return Either(self, _formula(other))

    def __invert__(self) -> Formula:
        """Return that it is false."""
        return Negation(self)

    def __rshift__(self, other: Formula) -> Formula:
        """Return that it implies the other."""
        return Implies(self, _formula(other))

    def __bool__(self) -> bool:
        """Refuse `and`, `or` and `not`.  Raises TypeError."""
        raise TypeError("a formula has no truth value of its own; write &, | and ~ for and, or and not")

    @property
    def parts(self) -> tuple[Formula, ...]:
        """The formulas that it is made of."""
        return tuple(part for part in vars(self).values() if isinstance(part, Formula))


@dataclass(frozen=True)
class Constant(Formula):
    """True or false everywhere."""

    value: bool


@dataclass(frozen=True)
class Atom(Formula):
    """A predicate over states or over the steps that leave them.

    `test` asks the `function` about `(config, state)` or about a step, and checks its answer.
    """

    of: Literal["state", "step"]
    function: Callable[..., bool]
    test: Callable[..., bool] = field(compare=False, repr=False)


@dataclass(frozen=True)
class Negation(Formula):
    """Not."""

    one: Formula


@dataclass(frozen=True)
class Both(Formula):
    """And."""

    one: Formula
    other: Formula


@dataclass(frozen=True)
class Either(Formula):
    """Or."""

    one: Formula
    other: Formula


@dataclass(frozen=True)
class Implies(Formula):
    """If one, then the other.  A claim whose antecedents are never met shows nothing."""

    one: Formula
    other: Formula


@dataclass(frozen=True)
class Next(Formula):
    """True at the next position."""

    one: Formula


@dataclass(frozen=True)
class Until(Formula):
    """The other comes, now or later, and the one is true until then."""

    one: Formula
    other: Formula


@dataclass(frozen=True)
class Release(Formula):
    """The other is true as long as the one has not been true before."""

    one: Formula
    other: Formula


TRUE, FALSE = Constant(value=True), Constant(value=False)


def state(test: Callable[..., bool]) -> Formula:
    """Return that a predicate over (config, state) or (state) is true of the state.  Raises TypeError for no such."""
    return Atom("state", test, checked_call(with_config(test, ("config", "state")), *STATE))


def step(test: Callable[[Any], bool]) -> Formula:
    """Return that a predicate over a step is true of the step that is taken now.  Raises TypeError for no such."""
    return Atom("step", test, checked_call(test, *STEP))


def X(one: Formula) -> Formula:
    """Return that `one` is true at the next position."""
    return Next(_formula(one))


def F(one: Formula) -> Formula:
    """Return that `one` is true now or later."""
    return Until(TRUE, _formula(one))


def G(one: Formula) -> Formula:
    """Return that `one` is true from now on."""
    return Release(FALSE, _formula(one))


def U(one: Formula, other: Formula) -> Formula:
    """Return that `other` comes and `one` is true until then."""
    return Until(_formula(one), _formula(other))


def R(one: Formula, other: Formula) -> Formula:
    """Return that `other` is true up to and with the first position where `one` is, or for ever."""
    return Release(_formula(one), _formula(other))


def W(one: Formula, other: Formula) -> Formula:
    """Return that `one` is true until `other` comes, or for ever."""
    return Release(_formula(other), Either(_formula(one), _formula(other)))


def _formula(value: Any) -> Formula:
    if not isinstance(value, Formula):
        mend = "wrap a predicate in state(…) or step(…)" if callable(value) else "make one with state(…) or step(…)"
        raise TypeError(f"{called(value) if callable(value) else short(value)} is no formula; {mend}")
    return value


def parts_of(formula: Formula) -> Iterator[Formula]:
    """Yield the different formulas that this one is made of, inner ones first, itself last."""
    known: set[Formula] = set()
    todo = [(formula, False)]
    while todo:
        one, opened = todo.pop()
        if one in known:
            continue
        if opened:
            known.add(one)
            yield one
        else:
            todo += [(one, True), *((part, False) for part in one.parts)]


def atoms_of(formula: Formula) -> tuple[Atom, ...]:
    """Return the different predicates of a formula, in a fixed order."""
    return tuple(one for one in parts_of(formula) if isinstance(one, Atom))


def truths(formula: Formula, atoms: Mapping[Atom, Sequence[bool]], length: int, back: int) -> list[bool]:
    """Return where a formula is true on the word of `length` positions, after the last of which comes position `back`.

    `atoms` says where each predicate is true.  This is the meaning of a formula, and knows nothing of automata.
    """
    after = [*range(1, length), back]
    known: dict[Formula, list[bool]] = {}
    for one in parts_of(formula):
        match one:
            case Atom():
                known[one] = list(atoms[one])
            case Constant(value):
                known[one] = [value] * length
            case Negation(inner):
                known[one] = [not true for true in known[inner]]
            case Both(left, right):
                known[one] = [a and b for a, b in zip(known[left], known[right], strict=True)]
            case Either(left, right):
                known[one] = [a or b for a, b in zip(known[left], known[right], strict=True)]
            case Implies(left, right):
                known[one] = [not a or b for a, b in zip(known[left], known[right], strict=True)]
            case Next(inner):
                known[one] = [known[inner][then] for then in after]
            case Until(left, right):
                known[one] = _settled([False] * length, after, known[left], known[right], until=True)
            case Release(left, right):
                known[one] = _settled([True] * length, after, known[left], known[right], until=False)
            case _:
                raise AssertionError(f"no meaning is given for {type(one).__name__}")
    return known[formula]


def _settled(
    now: list[bool], after: Sequence[int], left: Sequence[bool], right: Sequence[bool], *, until: bool
) -> list[bool]:
    """The least (until) or greatest (release) solution of its own equation."""
    while True:
        if until:
            new = [b or (a and now[then]) for a, b, then in zip(left, right, after, strict=True)]
        else:
            new = [b and (a or now[then]) for a, b, then in zip(left, right, after, strict=True)]
        if new == now:
            return now
        now = new


def so_far(formula: Formula, atoms: Mapping[Atom, Sequence[bool | None]], length: int) -> bool | None:
    """Return what is true of a formula whatever comes after `length` positions; None where that is not known.

    `atoms` says where each predicate is true, None where that is not known yet.  The logic is that of Kleene, so that a
    formula may be left open which every word that goes on so makes true.
    """
    known: dict[Formula, list[bool | None]] = {}
    for one in parts_of(formula):
        beyond: bool | None = one.value if isinstance(one, Constant) else None
        now: list[bool | None] = [beyond] * (length + 1)
        for here in reversed(range(length)):
            match one:
                case Atom():
                    now[here] = atoms[one][here]
                case Negation(inner):
                    now[here] = _not(known[inner][here])
                case Both(left, right):
                    now[here] = _and(known[left][here], known[right][here])
                case Either(left, right):
                    now[here] = _or(known[left][here], known[right][here])
                case Implies(left, right):
                    now[here] = _or(_not(known[left][here]), known[right][here])
                case Next(inner):
                    now[here] = known[inner][here + 1]
                case Until(left, right):
                    now[here] = _or(known[right][here], _and(known[left][here], now[here + 1]))
                case Release(left, right):
                    now[here] = _and(known[right][here], _or(known[left][here], now[here + 1]))
                case _:
                    pass
        known[one] = now
    return known[formula][0]


def _not(one: bool | None) -> bool | None:
    return None if one is None else not one


def _and(one: bool | None, other: bool | None) -> bool | None:
    return False if one is False or other is False else None if None in (one, other) else True


def _or(one: bool | None, other: bool | None) -> bool | None:
    return _not(_and(_not(one), _not(other)))


_TOKEN = re.compile(r"\s*(<->|->|=>|&&?|\|\|?|/\\|\\/|[()!~]|\[\]|<>|[A-Za-z_]\w*|\S)")
_UNARY: dict[str, Callable[[Formula], Formula]] = {
    **dict.fromkeys(("G", "[]"), G),
    **dict.fromkeys(("F", "<>"), F),
    **dict.fromkeys(("!", "~", "not"), Negation),
    "X": X,
}
_BINARY: tuple[dict[str, Callable[[Formula, Formula], Formula]], ...] = (
    {"<->": lambda a, b: Both(Implies(a, b), Implies(b, a))},
    dict.fromkeys(("->", "=>"), Implies),
    dict.fromkeys(("|", "||", "\\/", "or"), Either),
    dict.fromkeys(("&", "&&", "/\\", "and"), Both),
    {"U": U, "R": R, "W": W},
)
"""The operators from the weakest to the strongest; all bind to the right."""


def parse(text: str, **predicates: Formula) -> Formula:
    """Return the formula that a text says: `G (asks -> F serves)`, with a formula for each name.

    It reads `G F X U R W ! & | -> <->`, the signs of TLA+ and of Spin for them, `true` and `false`.  Raises ValueError
    for anything else, naming the place, and for a predicate that the text does not use.
    """
    reader = _Reader(text, {name: _formula(one) for name, one in predicates.items()})
    made = reader.level(0)
    if reader.at < len(reader.tokens):
        raise reader.error("an operator")
    if unused := sorted(set(predicates) - reader.used):
        raise ValueError(f"{text!r} says nothing of {', '.join(unused)}")
    return made


class _Reader:
    def __init__(self, text: str, known: Mapping[str, Formula]) -> None:
        words = {"true", "false", *_UNARY, *(sign for level in _BINARY for sign in level)}
        if taken := sorted(words & set(known)):
            raise ValueError(f"{taken[0]!r} is a word of the logic; give the predicate another name")
        self.text, self.known = text, known
        self.tokens = [(found[1], found.start(1)) for found in _TOKEN.finditer(text)]
        self.at, self.depth = 0, 0
        self.used: set[str] = set()

    def error(self, wanted: str) -> ValueError:
        if self.at >= len(self.tokens):
            return ValueError(f"{self.text!r} ends where {wanted} should stand")
        token, place = self.tokens[self.at]
        return ValueError(f"{self.text!r}: {token!r} at character {place + 1} stands where {wanted} should")

    def taken(self, choices: Mapping[str, Any]) -> Any:
        """What the next word means if it is one of these; None if it is not."""
        if self.at < len(self.tokens) and self.tokens[self.at][0] in choices:
            self.at += 1
            return choices[self.tokens[self.at - 1][0]]
        return None

    def level(self, strength: int) -> Formula:
        """Read operators of this strength and of all stronger ones."""
        if strength == len(_BINARY):
            return self.single()
        found: list[Any] = [self.level(strength + 1)]
        while (made := self.taken(_BINARY[strength])) is not None:
            found += [made, self.level(strength + 1)]
        last: Formula = found.pop()
        while found:
            made = found.pop()
            last = made(found.pop(), last)
        return last

    def single(self) -> Formula:
        self.depth += 1
        if self.depth > DEPTH:
            raise ValueError(f"{short(self.text)} is nested deeper than {DEPTH} levels")
        made = self._single()
        self.depth -= 1
        return made

    def _single(self) -> Formula:
        if (unary := self.taken(_UNARY)) is not None:
            combined: Formula = unary(self.single())
            return combined
        if self.taken({"(": True}):
            inner = self.level(0)
            if not self.taken({")": True}):
                raise self.error("a closing parenthesis")
            return inner
        word = self.tokens[self.at][0] if self.at < len(self.tokens) else ""
        found: Formula | None = self.taken({"true": TRUE, "false": FALSE, **self.known})
        if found is None:
            names = f" (there is {', '.join(sorted(self.known))})" if self.known else ""
            raise self.error(f"a predicate, an operator or a parenthesis{names}")
        self.used.add(word)
        return found


def leads_to(one: Formula, other: Formula) -> Formula:
    """Return that whenever `one` is true, `other` is true then or later."""
    return G(_formula(one) >> F(other))


def always_eventually(one: Formula) -> Formula:
    """Return that `one` is true again and again."""
    return G(F(one))


def eventually_always(one: Formula) -> Formula:
    """Return that `one` is true from some point on."""
    return F(G(one))


def every(*formulas: Formula) -> Formula:
    """Return that all of these are true: for one formula per agent, say."""
    return reduce(Both, map(_formula, formulas)) if formulas else TRUE


def some(*formulas: Formula) -> Formula:
    """Return that one of these is true."""
    return reduce(Either, map(_formula, formulas)) if formulas else FALSE
