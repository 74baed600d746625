"""Turn divergences into defects: account for every one of them, shrink the new ones, confirm in a fresh process.

Many runs show one defect.  A divergence is explained by known defects that together show its kinds, unless the mutants
that look like it say that its cause is another; else it is shrunk while the same thing differs.  `likeness` says which
results are one defect.  A run that does not fail again is a finding of its own: the kernel is non-deterministic.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Any

from evenhand.conform.adapters.kernels import Source
from evenhand.conform.adapters.wire import Fault, text
from evenhand.conform.checking.causes import seriousness
from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.divergence import Divergence, Examiner, wavering
from evenhand.conform.checking.kinds import nested
from evenhand.conform.checking.likeness import Likeness
from evenhand.conform.checking.ordering import Defect, broad, ever_present, places, simple, telling
from evenhand.conform.checking.remembering import lasting
from evenhand.conform.checking.steps_kept import keeping_steps
from evenhand.core.trace import AnyScenario, Scenario
from evenhand.core.verdict import Evidence
from evenhand.evidence.shrink import shrink
from evenhand.processes.clock import OutOfTime

if TYPE_CHECKING:
    from evenhand.core.system import Mutant

MOSTLY = 0.5
"""The share of all runs in which a difference hides what lies behind it, and what stands beside it."""

JUDGED = 4
"""Divergences of one sort on which the claims are evaluated; later ones that are no shorter are counted."""

COMPARED = 12
"""Divergences of the same kinds, under one claim, that are compared with the mutants; the others are counted."""

SUPPORTED = 2
"""Runs of one sort that tell another cause where its kinds are known; in one a mutant may look alike by chance."""

TIED = 12
"""Divergences that differ alike, of which those are looked for that a mutant explains."""

LONGER = 2
"""By how many actions a run may be longer than one that shows the same, if it is graver, or a mutant explains it alone;
a mutant may look like a long run by chance."""

TRIES = 300
"""Runs of the kernel for shrinking one divergence."""

AHEAD = 2
"""Differences behind others, with the same new kinds, that a run is looked for in which they show first."""

AHEAD_TRIES = 60
"""Runs of the kernel for that."""

OFTEN = 3
"""Runs that must show it behind one difference, if the kernel tells its state."""

SLOW_TRIES = 3
"""Runs for shrinking, if each ends by a time limit."""

AGAIN = 5
"""How often a finding is repeated, if that costs no time limit."""

STUBBORN = 32
"""The same for a non-deterministic kernel, because a random answer may be the same five times."""

GOES_ON = 3
"""After a difference, how many steps must agree for one that does not, before that one is told apart."""

FOLLOWED = 1_000
"""Differing runs that are followed beyond their first difference."""


class _Recognised(Exception):
    """A run that is being shrunk shows a known defect."""


@dataclass
class Defects:
    """Collects the divergences of one system and reduces them to defects, which account for `explained` of them.

    `left` says how many seconds that may take; it was `hurried` if they did not suffice.
    """

    coder: Coder
    examiner: Examiner
    source: Source
    mutants: Sequence[Mutant[Any]] = ()
    left: Callable[[], float] = lambda: inf
    hurried: bool = False
    runs: int = 0
    explained: int = 0
    _seen: dict[tuple[object, ...], Defect] = field(default_factory=dict[tuple[object, ...], Defect])
    _behind: dict[tuple[frozenset[str], frozenset[str]], Defect] = field(default_factory=dict[Any, Defect])
    _followed: list[tuple[frozenset[str], int, tuple[frozenset[str], ...]]] = field(default_factory=list[Any])
    _sorts: dict[tuple[object, ...], tuple[int, int, tuple[object, ...]]] = field(default_factory=dict[Any, Any])
    _made: list[Defect] = field(default_factory=list[Defect])
    _answered: dict[AnyScenario, Any] = field(default_factory=dict[AnyScenario, Any])
    _compared: Counter[tuple[frozenset[str], str]] = field(default_factory=Counter[tuple[frozenset[str], str]])
    _supported: Counter[tuple[frozenset[str], str]] = field(default_factory=Counter[tuple[frozenset[str], str]])
    _shrunk_to: dict[tuple[object, ...], Divergence] = field(default_factory=dict[Any, Divergence])

    def __post_init__(self) -> None:
        self.coder = replace(self.coder, system=keeping_steps(self.coder.system))
        self.like = Likeness(self.coder, self.mutants, self._made, self._over)

    def counts(self, divergence: Divergence) -> bool:
        """Count a difference, not yet judged, if it was seen often enough in runs as short; return whether it was."""
        times, length, key = self._sorts.get(_sort(divergence), (0, 0, ()))
        if divergence.what != "differs" or times < JUDGED or divergence.length < length:
            return False
        self._seen[key] = replace(self._seen[key], count=self._seen[key].count + 1)
        return True

    def add(self, divergence: Divergence) -> None:
        """Add a divergence; of equal ones the shortest is kept."""
        key = (divergence.what, divergence.subject, divergence.kinds, divergence.shape)
        known = self._seen.get(key)
        claims = frozenset(one.claim.name for one in divergence.violations)
        if known is None:
            self._seen[key] = Defect(divergence, 1, claims)
        else:
            best = divergence if divergence.length < known.divergence.length else known.divergence
            self._seen[key] = Defect(best, known.count + 1, known.claims | claims)
        times, length, _ = self._sorts.get(_sort(divergence), (0, divergence.length, key))
        self._sorts[_sort(divergence)] = times + 1, min(length, divergence.length), key

    def forget(self, because: Divergence) -> None:
        """Let one divergence explain all so far."""
        counted = max(1, self.count)
        for kept in (self._seen, self._behind, self._followed, self._sorts):
            kept.clear()
        self.add(because)
        self._seen = {key: replace(one, count=counted) for key, one in self._seen.items()}

    def follow(self, first: Divergence, steps: int, later: Sequence[Divergence]) -> None:
        """Note how a run of `steps` steps goes on after its first difference, as if that were mended."""
        self._followed.append((first.kinds, steps - first.length, tuple(one.kinds for one in later)))
        for one in later:
            known = self._behind.get((first.kinds, one.kinds))
            if known is None or one.length < known.divergence.length:
                self._behind[first.kinds, one.kinds] = Defect(one, known.count + 1 if known else 1)
            else:
                self._behind[first.kinds, one.kinds] = replace(known, count=known.count + 1)

    def _hidden(self, made: list[Defect], runs: int) -> None:
        """Add what shows only behind other differences, if a run is found that shows it first.

        Else what shows `OFTEN` if the kernel tells its state, from which the model goes on, agrees as often as not, and
        shows it behind another difference too, which has nothing in common with the first; or behind a difference that
        strikes in most of `runs` runs and mostly changes no more: what shows behind a rare one is its consequence, or
        some other run would have shown it first.  Behind several differences it may be a consequence of any, as what a
        kernel does not tell of its state goes astray, unless the first shows there too.
        """
        seen = frozenset[str]().union(*(one.divergence.kinds for one in (*self._seen.values(), *made)))
        after: dict[frozenset[str], tuple[int, int, int]] = {}
        tried = Counter[frozenset[str]]()
        for first, steps, later in self._followed:
            agreed, apart, struck = after.get(first, (0, 0, 0))
            strayed = sum(1 for kinds in later if not kinds <= seen)
            after[first] = agreed + steps - strayed, apart + strayed, struck + 1
        for (first, kinds), one in sorted(self._behind.items(), key=lambda item: simple(item[1])):
            agreed, apart, struck = after[first]
            new = kinds - seen - frozenset[str]().union(*(known.divergence.kinds for known in made))
            ahead = self._ahead(one.divergence, new) if new and tried[new] < AHEAD else None
            tried[new] += 1
            often = one.divergence.tells and one.count >= OFTEN and agreed >= apart and self._elsewhere(first, new)
            mostly = agreed >= GOES_ON * apart and struck >= MOSTLY * runs
            if ahead is not None:
                self._merge(made, Defect(ahead, one.count, alike=self.like.alike(ahead)))
            elif new and (one.divergence.behind == 1 or first <= kinds) and (often or mostly):
                small = self._small(self._judged(one.divergence), new)
                self._merge(made, Defect(small, one.count, alike=self.like.alike(small)))

    def _elsewhere(self, first: frozenset[str], new: frozenset[str]) -> bool:
        """Whether some `new` kinds show behind a difference that has nothing in common with the `first`."""
        return any(
            one.divergence.behind == 1 and not first & other and bool(kinds & new)
            for (other, kinds), one in self._behind.items()
        )

    def _ahead(self, behind: Divergence, new: frozenset[str]) -> Divergence | None:
        """The smallest run found in which some `new` kinds of what lies behind a difference show first."""
        return self._shrunk(
            behind,
            lambda found: found.what == behind.what and bool(found.kinds & new) and found.kinds <= behind.kinds,
            AHEAD_TRIES,
        )

    def _shrunk(
        self,
        divergence: Divergence,
        wanted: Callable[[Divergence], bool],
        limit: int,
        *,
        at_end: bool = False,
        accepted: Callable[[Divergence], bool] = lambda _: True,
        ends: Callable[[Divergence], bool] = lambda _: False,
    ) -> Divergence | None:
        """The smallest run found whose divergence is `wanted`, and once it is judged `accepted`; None if none is.

        Shrinking `ends` with such a one.
        """
        best: Divergence | None = None

        def still(evidence: Evidence) -> bool:
            nonlocal best
            assert isinstance(evidence, Scenario)
            if evidence == divergence.scenario:
                return True
            if self._over():
                return False
            try:
                found = self.sight(evidence, divergence.origin, at_end=at_end, wanted=wanted)
            except OutOfTime:
                return False
            if found is None or not accepted(found):
                return False
            best = found
            if ends(found):
                raise _Recognised
            return True

        with suppress(_Recognised):
            shrink(self.coder.system, divergence.scenario, still, limit=limit)
        return best

    def _judged(self, behind: Divergence) -> Divergence:
        """What lies behind a difference, with the claims that it violates if there is time to run it again."""
        if self._over():
            return behind
        try:
            found = self.sight(behind.scenario, behind.origin, at_end=True)
        except OutOfTime:
            return behind
        return found if found is not None and found.kinds == behind.kinds else behind

    def usual(self, runs: float) -> frozenset[str]:
        """Return the kinds that show in at least `runs` runs: what shows beside them is no consequence of theirs."""
        return ever_present(self._seen.values(), runs)

    @property
    def violating(self) -> frozenset[str]:
        """The kinds of all differences that violate a claim."""
        found = (one.divergence for one in self._seen.values())
        return frozenset[str]().union(*(one.kinds for one in found if one.what == "differs" and one.sure))

    @property
    def count(self) -> int:
        """Number of divergences."""
        return sum(one.count for one in self._seen.values())

    def distinct(self, runs: int = 0) -> tuple[Defect, ...]:
        """Return the defects, shrunk as far as the time allows, shortest first; `runs` were made.

        Every divergence is explained by defects that together show its kinds, or is shrunk to one of its own.  If that
        was interrupted, it begins anew with what was shrunk.
        """
        for kept in (self._made, self._compared, self._supported):
            kept.clear()
        self.like.everywhere = self.usual(MOSTLY * runs)
        made = self._made
        for one in self._ordered():
            place = self._explained(one, made)
            if place is None and one.divergence.what == "differs":
                place = self.like.recognised(replace(one, alike=self.like.alike(one.divergence)))
            if place is None or self._graver(one.divergence, made[place]):
                small = self._small(one.divergence, self.like.missing(one.divergence))
                self._merge(made, self._formed(one, small))
            else:
                known = made[place]
                made[place] = replace(known, count=known.count + one.count, claims=known.claims | one.claims)
        self.explained = sum(one.count for one in made)  # what stands behind a difference is no sighting of its own
        self._hidden(made, min(FOLLOWED, runs))
        made = [replace(one, divergence=self._confirmed(one.divergence, AGAIN)) for one in made]
        if any(one.divergence.what == "non-deterministic" for one in made):
            made = [replace(one, divergence=self._confirmed(one.divergence, STUBBORN)) for one in made]
        confirmed: list[Defect] = []
        for one in made:
            self._merge(confirmed, one)
        return tuple(
            sorted(confirmed, key=lambda one: (one.divergence.length, one.divergence.subject, one.divergence.why))
        )

    def _ordered(self) -> Iterator[Defect]:
        """Yield the divergences, simple ones first; of those that differ alike, the ones that a mutant explains first.

        One that no mutant explains may show two faults at once, of which each alone shows the same.  One of each sort
        of place comes before the second of any: if the time ends, what is left differs where others do.
        """
        sorts: dict[object, list[Defect]] = {}
        for one in sorted(broad(self._seen.values()), key=simple):
            sorts.setdefault((one.divergence.what, places(self.like.telling(one.divergence))), []).append(one)
        waiting = [self._tied(some) for some in sorts.values()]
        while waiting:
            for some in list(waiting):
                following = next(some, None)
                if following is None:
                    waiting.remove(some)
                else:
                    yield following

    def _tied(self, listed: Sequence[Defect]) -> Iterator[Defect]:
        """Yield the divergences of one sort; of those that differ alike, the ones that a mutant explains first."""
        alike: dict[object, list[Defect]] = {}
        for one in listed:
            alike.setdefault((one.divergence.kinds, one.divergence.subject), []).append(one)
        for group in alike.values():
            yield from self._clear_first(group) if len(group) > 1 else group

    def _clear_first(self, group: Sequence[Defect]) -> Sequence[Defect]:
        """The divergences, those first that a mutant explains in runs not much longer than the first one's."""
        longest = group[0].divergence.length + LONGER

        def unclear(one: Defect) -> bool:
            return one.divergence.length > longest or not self.like.alike(one.divergence)

        return *sorted(group[:TIED], key=unclear), *group[TIED:]

    def _explained(self, one: Defect, made: Sequence[Defect]) -> int | None:
        """Return the place of the defect that explains a divergence, with others if need be; None if it is new.

        Where its kinds are known, mutants tell another cause, if one of them did in `SUPPORTED` runs: up to `COMPARED`
        divergences of the same kinds, under one claim, are compared.
        """
        divergence = one.divergence
        told = self.like.telling(divergence)
        near = [
            place
            for place, known in enumerate(made)
            if known.divergence.what == divergence.what and nested(self.like.telling(known.divergence), told)
        ]
        if not near or self.like.missing(divergence):
            return None
        self._compared[told, divergence.subject] += 1
        if divergence.what == "differs" and self._compared[told, divergence.subject] <= COMPARED:
            alike = self.like.alike(divergence)
            place = next((place for place in near if made[place].alike & alike), None)
            self._supported.update({(told, name): one.count for name in alike})
            if place is not None or any(self._supported[told, name] >= SUPPORTED for name in alike):
                return place
        return near[0]

    def _graver(self, found: Divergence, known: Defect) -> bool:
        """Whether a divergence shows a known defect, and shows it in a graver form."""
        grave = self._rank(found) < self._rank(known.divergence) and found.length <= known.divergence.length + LONGER
        return grave and bool(self.like.alike(found) or not known.alike) and self._plainly(found) is known

    def _rank(self, found: Divergence) -> int:
        return seriousness(self.coder.system, found)

    def _over(self) -> bool:
        """Whether the time is up; then results stay as they are."""
        over = self.left() <= 0
        self.hurried = self.hurried or over
        return over

    def _small(self, divergence: Divergence, new: frozenset[str]) -> Divergence:
        """The divergence shrunk while the same thing differs: of its `new` kinds one at least, and nothing else.

        It stays as grave, unless known defects explain a part; of the mutants that show the same one stays, lest one
        fault becomes two.  Shrinking ends as soon as the run is plainly one of a known defect.
        """
        key = _sort(divergence), divergence.scenario
        if self._over():
            return self._shrunk_to.get(key, divergence)
        alike = self.like.alike(divergence)
        hidden = new - self.like.everywhere if self.like.everywhere & divergence.kinds else frozenset[str]()
        rank = inf if new and new < self.like.telling(divergence) else self._rank(divergence)

        def wanted(found: Divergence) -> bool:
            if found.what != divergence.what or found.fault is not divergence.fault:
                return False
            if self._rank(found) > rank:
                return False
            if not found.kinds <= divergence.kinds or (new and not found.kinds & new):
                return False
            return not alike or bool(self.like.alike(found) & alike)

        def accepted(found: Divergence) -> bool:
            objecting = {one.claim.name for one in found.violations}
            return not divergence.sure or divergence.subject in objecting or bool(found.kinds & hidden)

        small = self._shrunk(
            divergence,
            wanted,
            SLOW_TRIES if divergence.slow else TRIES,
            at_end=divergence.behind > 0,
            accepted=accepted,
            ends=lambda found: self._plainly(found) is not None,
        )
        self._shrunk_to[key] = small or divergence
        return self._shrunk_to[key]

    def _formed(self, one: Defect, small: Divergence) -> Defect:
        """The defect of a shrunk divergence; a graver form of a known one shrinks on while a mutant explains both."""
        alike, known, rank = self.like.alike(small), self._plainly(small), self._rank(small)
        both = known.alike & alike if known and rank < self._rank(known.divergence) else frozenset[str]()
        if both and not small.behind:
            small = self._shrunk(
                small,
                lambda found: self._rank(found) <= rank and bool(self.like.alike(found) & both),
                TRIES,
                accepted=lambda found: found.subject == one.divergence.subject,
            ) or small  # fmt: skip
            alike = self.like.alike(small) & both or both
        return replace(one, divergence=small, alike=alike)

    def _plainly(self, found: Divergence) -> Defect | None:
        """The known defect that a divergence is plainly one of."""
        place = self.like.recognised(Defect(found, 1, alike=self.like.alike(found)))
        return None if place is None else self._made[place]

    def sight(
        self,
        scenario: AnyScenario,
        origin: str,
        *,
        at_end: bool = False,
        wanted: Callable[[Divergence], bool] | None = None,
    ) -> Divergence | None:
        """Run one scenario on the kernel and return its first divergence, if any; or the one of its last step.

        The claims are evaluated on what is `wanted` alone.
        """
        if scenario not in self._answered:
            trace = self.coder.said(self.coder.trace(scenario))
            request = self.coder.request(trace)
            self.runs += 1
            self._answered[scenario] = (trace, request, *self.source.ask([request]))
        trace, request, response = self._answered[scenario]

        def found(*, judged: bool) -> Divergence | None:
            first = self.examiner.examine(trace, request, response, origin, judged=judged)
            if not at_end or first is None or first.length == len(trace.steps):
                return first
            later = list(self.examiner.later(trace, request, response, origin, judged=judged))
            return later[-1] if later and later[-1].length == len(trace.steps) else None

        bare = found(judged=False) if wanted else None
        if wanted and (bare is None or (bare.what != "violates" and not wanted(bare))):
            return None
        made = found(judged=True)
        return None if wanted and made is not None and made.what == "violates" and not wanted(made) else made

    def _confirmed(self, divergence: Divergence, times: int) -> Divergence:
        """The divergence, or a non-deterministic one if a repetition in a fresh process differs."""
        if divergence.what in ("non-deterministic", "remembers") or self._over():
            return divergence
        try:
            return self._repeated(divergence, times)
        except OutOfTime:
            self.hurried = True
            return divergence

    def _repeated(self, divergence: Divergence, times: int) -> Divergence:
        """The same, while there is time.  Raises OutOfTime."""
        self.source.renew()
        trace = self.coder.trace(divergence.scenario)
        request = self.coder.request(trace)
        again = 1 if divergence.slow else times
        self.runs += again
        for response in self.source.ask([request] * again):
            if divergence.behind and divergence.fault is None:
                response = response.on or response
            said = self.examiner.answers(trace, request, response)
            same = text(list(said[: len(divergence.got)])) == text(list(divergence.got))
            if same and (divergence.fault is Fault.ILLEGAL or (response.fault is None) == (divergence.fault is None)):
                continue  # a time-out now and a lack of memory then are the same answer
            return lasting(self.examiner, self.source, divergence) or wavering(divergence, said)
        return divergence

    def _merge(self, made: list[Defect], one: Defect) -> None:
        """Add a defect, or count it with an equal one."""
        for place, known in enumerate(made):
            if self.like.one_defect(known, one):
                within = nested(known.divergence.kinds, one.divergence.kinds)
                longest = min(known.divergence.length, one.divergence.length) + LONGER
                near = [some for some in (known, one) if some.divergence.length <= longest]
                clear = [some for some in near if some.alike] or near
                best = min(clear, key=lambda some: (self._rank(some.divergence), *telling(some, within=within)))
                forms = known.forms | {known.divergence.kinds, one.divergence.kinds}
                count, claims = known.count + one.count, known.claims | one.claims
                made[place] = replace(best, count=count, claims=claims, forms=forms)
                return
        made.append(one)


def _sort(divergence: Divergence) -> tuple[object, ...]:
    """What a divergence is, apart from the claims that it violates."""
    return divergence.what, divergence.kinds, divergence.shape
