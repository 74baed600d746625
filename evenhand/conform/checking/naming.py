"""Have runs come again under other names, all at once: names that some language or format takes for something else.

Where no sentence gives the names of a run a meaning, the model shows the same under others, and so must a kernel.  The
names of one family stand together, as what goes wrong often needs two of them: one that is the beginning of another, or
that matches another as a pattern.  So a few runs ask what one name after another would take hundreds for.

First the run is sent under plain names.  Where the kernel does not show the same of these, only some of the names are
exchanged: it may know no others.  A kernel is accused only of telling odd names from plain ones.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count, islice, product
from typing import Any

from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.comparing import bare, words_of
from evenhand.conform.checking.spelling import renamed_all, rewritten, texts_of
from evenhand.core.codec import encode
from evenhand.core.trace import AnyScenario, AnyTrace

PLAIN = re.compile(r"[A-Za-z0-9_'-]{1,40}")
"""Names that no address, path or line takes apart, so that every kernel must bear them; O'Brien is one."""

INHERITED = (
    "constructor", "toString", "__proto__", "valueOf", "hasOwnProperty", "__class__", "__init__", "keys", "items",
    "get", "length", "self",
)  # fmt: skip
QUOTED = ("O'Brien", "'", "''", "it's", "D'Arcy", "x'", "'x", "--", "x'--", "O''Brien")
VALUES = ("null", "true", "0", "1", "None", "NaN", "-1", "01", "1e0", "false", "undefined", "1e999", "nil", "00", "10")
ALIKE = ("k_1", "k-1", "K_1", "kx1", "k_2", "K-1", "k-2", "KX1", "k__", "K_2")

FAMILIES = (ALIKE, INHERITED, QUOTED, ("x",), VALUES)
"""Names that stand together; behind those of a family come others that begin with its first one."""

PLAINEST = tuple(f"name{one}{other}" for one, other in product("abcdefgh", repeat=2))
"""What no language takes for something else, and none of which another begins with."""

FIRST, EACH = 8, 2
"""Runs that are sent under plain names in one round, and under names of each family, for each sort of run."""

TRIED = 12
"""Runs of the model to find out which names of one run mean nothing."""

OFTEN = 3
"""How often a name must mean something, and never nothing, until it is left alone."""


@dataclass(frozen=True)
class _Plain:
    """A run under plain names, each with the name for which it stands, and what its steps are about."""

    trace: AnyTrace
    names: tuple[tuple[str, str], ...]
    sort: frozenset[Any]


class Naming:
    """Renames runs on which kernel and model agree; equal seed and runs give equal names."""

    def __init__(self, coder: Coder, bases: Sequence[AnyTrace], seed: int = 0) -> None:
        self.coder, self.system, self.random = coder, coder.system, random.Random(seed)
        self.words = words_of(self.system.types)
        self.meant = Counter[str]()
        self.borne = set[str]()
        self.plain: dict[AnyScenario, _Plain] = {}
        self.sent = Counter[tuple[int, frozenset[Any]]]()
        self.waiting = self._telling([base for base in bases if base.steps])

    def _telling(self, bases: Sequence[AnyTrace]) -> list[tuple[AnyTrace, frozenset[Any]]]:
        """The runs with what they show, the shortest last, and behind them those that show what no shorter one does.

        They are taken from the end.
        """
        shuffled, seen = self.random.sample(bases, len(bases)), set[Any]()
        shuffled.sort(key=lambda base: len(base.steps))
        rest, telling = list[tuple[AnyTrace, frozenset[Any]]](), list[tuple[AnyTrace, frozenset[Any]]]()
        for base in shuffled:
            shown = (self.words.intersection(texts_of(encode(step.shown))) for step in base.steps)
            sort = frozenset((type(step.action).__name__, said) for step, said in zip(base.steps, shown, strict=True))
            (rest if sort <= seen else telling).append((base, sort))
            seen |= sort
        return [*rest[::-1], *telling[::-1]]

    def plainly(self) -> Iterator[AnyTrace]:
        """Yield some runs under plain names: the first under such for all, others for those borne and some more."""
        first = not self.plain
        for base, sort in [self.waiting.pop() for _ in range(min(FIRST, len(self.waiting)))]:
            known = [text for text in self._texts(base) if text not in self.words and self.meant[text] < OFTEN]
            new = [text for text in known if text not in self.borne]
            some = set(known if first else self.random.sample(new, (len(new) + 1) // 2))
            found = self._without_meaning(base, [text for text in known if text in self.borne or text in some])
            if found is not None:
                trace, names = found
                self.plain[trace.scenario] = _Plain(trace, names, sort)
                yield trace

    def odd(self, agreed: Iterable[AnyScenario]) -> Iterator[AnyTrace]:
        """Yield the runs that `agreed` under names of each family."""
        kept = [self.plain[one] for one in agreed]
        self.borne.update(old for one in kept for old, _ in one.names)
        for number, family in enumerate(FAMILIES):
            for one in kept:
                if self.sent[number, one.sort] < EACH:
                    self.sent[number, one.sort] += 1
                    new = _free(family, len(one.names), _all_texts(one.trace))
                    old = [name for _, name in one.names]
                    self.random.shuffle(new)
                    trace = self._under(one.trace, dict(zip(old, new, strict=True)))
                    trace = trace or self._under(one.trace, dict(zip(sorted(old), sorted(new), strict=True)))
                    if trace is not None:
                        yield trace

    @staticmethod
    def _texts(base: AnyTrace) -> list[str]:
        """The names in the actions of a run."""
        texts = texts_of([*map(encode, base.scenario.actions)])
        return [one for one in dict.fromkeys(texts) if PLAIN.fullmatch(one)]

    def _without_meaning(
        self, base: AnyTrace, known: Sequence[str]
    ) -> tuple[AnyTrace, tuple[tuple[str, str], ...]] | None:
        """A run with plain names in place of those that mean nothing, found by halving; None if all mean something."""
        pairs = list(zip(sorted(known), _free(PLAINEST, len(known), _all_texts(base)), strict=True))
        made, kept, waiting = None, list[tuple[str, str]](), [pairs]
        for _ in range(TRIED):
            some = waiting.pop() if waiting else []
            if not some:
                break
            trace = self._under(base, dict([*kept, *some]))
            if trace is not None:
                made, kept = trace, [*kept, *some]
                self.meant.subtract(dict.fromkeys((old for old, _ in some), OFTEN))
            elif len(some) > 1:
                waiting += [some[len(some) // 2 :], some[: len(some) // 2]]
            else:
                self.meant[some[0][0]] += 1
        return None if made is None else (made, tuple(kept))

    def _under(self, base: AnyTrace, names: Mapping[str, str]) -> AnyTrace | None:
        """The run under other names; None if some class or the model refuses it, or the model shows something else."""
        scenario = rewritten(self.system, base.scenario, lambda one: renamed_all(one, names))
        if scenario is None:
            return None
        try:
            made = self.coder.trace(scenario)
        except Exception:  # the model has no step for this, so nothing is to be expected of a kernel
            return None
        same = all(
            bare(json.dumps(renamed_all(encode(step.shown), names))) == bare(json.dumps(encode(other.shown)))
            for step, other in zip(base.steps, made.steps, strict=True)
        )
        return made if same else None


def _all_texts(base: AnyTrace) -> list[str]:
    return texts_of([encode(base.scenario.config), *map(encode, base.scenario.actions)])


def _free(family: Sequence[str], many: int, taken: Sequence[str]) -> list[str]:
    """So many names of a family, and others made of its first one, that are not taken."""
    more = (f"{family[0]}{family[0][-1] * number}" for number in count(1))
    return list(islice((one for one in chain(family, more) if one not in taken), many))
