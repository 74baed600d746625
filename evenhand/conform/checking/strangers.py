"""Put odd words where nobody is known: a kernel that refuses a plain stranger must refuse one of an odd name as well.

In an action one text is exchanged for a plain word that nothing names.  Where the kernel then shows what the model
shows, it is asked the same with odd words, and with other spellings of the text that stood there, so far as the model
makes no difference between them and the plain word.  What it shows of the plain word is no finding: which answer a
stranger gets, some sentence would have to say.  A kernel is accused only of telling two strangers apart.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from evenhand.conform.checking.altering import are_asked
from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.comparing import bare
from evenhand.conform.checking.spelling import (
    ODD,
    Place,
    Words,
    limited,
    places,
    renamed_all,
    spellings,
    texts_of,
)
from evenhand.core.codec import decode, encode
from evenhand.core.system import AnyStep
from evenhand.core.trace import AnyScenario, AnyTrace

STRANGER = "nobody"
"""The plain word; if something is called so, an `x` is added."""

LETTERS = (STRANGER, STRANGER, "nob\u00f6dy\u20ac", "no\nbody")
"""Plain words of each sort of letters: a header or an address of the kernel's may bear some alone."""

SHORT, ROUND = "\u00f6", 2
"""The plain word in one round: what exceeds a limit is refused, however it is counted."""

GROUPS = 3
"""Runs with odd strangers for each plain one, where it still agrees."""

STACKED = 12
"""Odd strangers in one run, where the model stays as it was after each."""

SINGLE = 2
"""Runs with one odd stranger each, where it does not."""

LIMIT = -1
"""Stands for the longest word, in place of a word's number."""

TRIED = 12
"""Places of one sort among which one is looked for that decides what the model shows."""

_TAIL = re.compile(r"[^#@/:]*$")


@dataclass(frozen=True)
class _Met:
    """A run in whose step `at` a plain stranger stands; `place`, of one `sort`, is where, behind the text `head`."""

    sort: str
    trace: AnyTrace
    at: int
    place: Place
    head: str
    word: str


class Strangers:
    """Puts strangers into runs on which kernel and model agree; equal seed and runs give equal strangers."""

    def __init__(self, coder: Coder, bases: Sequence[AnyTrace], seed: int = 0) -> None:
        self.coder, self.random = coder, random.Random(seed)
        self.sorts: dict[str, list[tuple[AnyTrace, int, Place]]] = {}
        for base in bases:
            for at, action in enumerate(base.scenario.actions):
                for place in places(action, type(action), lambda new: new):
                    if isinstance(place.value, str):
                        sort = f"{type(action).__name__}{place.path}"
                        self.sorts.setdefault(sort, []).append((base, at, place))
        self.decisive: dict[str, tuple[AnyTrace, int, Place]] = {}
        self.met: dict[AnyScenario, _Met] = {}
        self.tried = Counter[tuple[str, int]]()
        self.rounds = 0

    def plain(self) -> Iterator[AnyTrace]:
        """Yield for each sort of place, in turn, a run with a plain stranger there, and one behind the text before."""
        self.rounds += 1
        for sort in sorted(self.sorts):
            base, at, place = self._decisive(sort)
            short = self._short(base, at)
            for head in _heads(place.value):
                known = texts_of([encode(base.scenario.config), *map(encode, base.scenario.actions)])
                word = self.random.choice(LETTERS)
                word = SHORT if self.rounds == ROUND else word
                while any(word in one for one in known):
                    word += "x"
                trace = self._with(*short, place, [head + word])
                if trace is not None and trace.scenario not in self.met:
                    self.met[trace.scenario] = _Met(sort, trace, short[1], place, head, word)
                    yield trace

    def _decisive(self, sort: str) -> tuple[AnyTrace, int, Place]:
        """A place of this sort at random, one where a stranger changes what the model shows if one was ever met.

        Where another text in the same action decides already, a kernel may overlook this one, as it may all texts of an
        action that changes nothing.
        """
        some = self.random.choices(self.sorts[sort], k=TRIED)
        found = next((one for one in some if self._decides(*one)), None) or self.decisive.get(sort)
        if found is None:
            return next((one for one in some if one[0].steps[one[1]].after != one[0].steps[one[1]].before), some[0])
        self.decisive[sort] = found
        return found

    def _short(self, base: AnyTrace, at: int) -> tuple[AnyTrace, int]:
        """The run and the place of its step `at` without what comes after, and before it what left the start as it was.

        What a step shows later is not lost where the stranger may change something: then the rest is kept.
        """
        scenario, step = base.scenario, base.steps[at]
        first = at if step.before == scenario.start else 0
        last = at + 1 if step.after == step.before else len(base.steps)
        cut = replace(scenario, actions=scenario.actions[first:last])
        return (self.coder.trace(cut), at - first) if len(cut.actions) < len(base.steps) else (base, at)

    def _decides(self, base: AnyTrace, at: int, place: Place) -> bool:
        step = base.steps[at]
        told = bare(self._named(step.shown, place.value, STRANGER))
        for head in _heads(place.value):
            try:
                shown = self.coder.system.take(step.config, step.before, place.put(head + STRANGER)).shown
            except Exception:  # its class or the model refuses the text
                continue
            if bare(self._named(shown, head + STRANGER, STRANGER)) != told:
                return True
        return False

    def odd(self, agreed: Collection[AnyScenario]) -> Iterator[AnyTrace]:
        """Yield runs with odd strangers in place of the plain ones in the runs that `agreed`."""
        for met in (self.met[one] for one in self.met if one in agreed):
            words = self._words(met)
            step = met.trace.steps[met.at]
            size, most = (STACKED, 1) if step.after == step.before else (1, SINGLE)
            alike = list(islice(self._untried(met, words), size * most))
            for start in range(0, len(alike), size):
                trace = self._with(met.trace, met.at, met.place, alike[start : start + size])
                if trace is not None:
                    yield trace

    def _untried(self, met: _Met, words: Sequence[tuple[int, str]]) -> Iterator[str]:
        """Yield each word of which the model shows what it shows of the plain one, first those seldom sent there.

        The very first is the longest: it is beyond a limit that is counted in bytes, or counts some letters twice.
        """
        shown = [(self._named(one.shown, met.head + met.word, met.word), one) for one in met.trace.steps[met.at :]]
        chosen = sorted(words, key=lambda one: (self.tried[met.sort, one[0]], self.random.random()))
        longest = (f"{met.sort} {_letters(met.word)}", LIMIT)
        if not self.tried[longest]:
            longest_first = sorted(words, key=lambda one: -len(one[1]))
            at_limit = next((one for one in longest_first if self._alike(met, one[1], shown)), None)
            chosen.sort(key=lambda one: one != at_limit)
        self.tried[longest] += 1
        for number, word in chosen:
            self.tried[met.sort, number] += 1
            if self._alike(met, word, shown):
                yield word

    def _with(self, base: AnyTrace, at: int, place: Place, texts: Sequence[str]) -> AnyTrace | None:
        """The run with one action for each text in place of that at `at`; None if it is none of this model."""
        actions = base.scenario.actions
        try:
            made = tuple(place.put(text) for text in texts)
            if any(decode(encode(one), *self.coder.system.types) != one for one in made):
                return None
            trace = self.coder.trace(replace(base.scenario, actions=(*actions[:at], *made, *actions[at + 1 :])))
            return trace if all(are_asked(self.coder.system, step) for step in trace.steps) else None
        except Exception:  # its class or the model refuses the text
            return None

    def _words(self, met: _Met) -> list[tuple[int, str]]:
        """Return odd texts of letters as the plain one has, numbered: none that is there, below one, or blank."""
        scenario = met.trace.scenario
        words = Words(scenario.config, self.coder.system.readings)
        known = {*texts_of([encode(scenario.config), *map(encode, scenario.actions)]), met.place.value}
        near = (met.place.value, self.random.choice(self.sorts[met.sort])[2].value)
        odd = (*(other for one in near for other in spellings(one)), *(met.head + one for one in ODD), *limited(words))
        letters, found = _letters(met.word), dict[str, int]()
        for number, one in enumerate(odd):
            top, below, _ = one.partition("/")  # where "a" is known, "a/b" is no stranger to a kernel that inherits
            if one not in known and one.strip() and _letters(one) == letters and not (below and top in known):
                found.setdefault(one, number)
        return [(number, one) for one, number in found.items()]

    def _alike(self, met: _Met, word: str, shown: Sequence[tuple[str, AnyStep]]) -> bool:
        """Whether the model shows the same of a stranger of this name, and afterwards, as of the plain one.

        But for hashes and numbers, and whether it changes anything: a name has a length, which a log may count.
        """
        trace = self._with(met.trace, met.at, met.place, [word])
        old, new = (json.dumps(one)[1:-1] for one in (met.word, word))
        return trace is not None and all(
            (step.after == step.before) == (plain.after == plain.before)
            and bare(told.replace(old, new)) == bare(json.dumps(encode(step.shown)))
            for (told, plain), step in zip(shown, trace.steps[met.at :], strict=True)
        )

    @staticmethod
    def _named(shown: Any, old: str, new: str) -> str:
        """What is shown, under another name."""
        return json.dumps(renamed_all(encode(shown), {old: new}) if old else encode(shown))


def _heads(text: str) -> tuple[str, ...]:
    """What may stand before a stranger in place of a text: nothing, and the text up to its last name."""
    return tuple(dict.fromkeys(("", _TAIL.sub("", text))))


def _letters(word: str) -> tuple[bool, bool]:
    """The sort of a text's letters: whether all are ASCII, and whether none is a control or a blank of another kind."""
    return word.isascii(), word.isprintable()
