"""The numbers of states of deployments with an envelope or a probe, and of subscriptions; without the model.

Small machines of plain tuples, written from §9.7 to §9.12, §10 and §13 alone.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from fractions import Fraction
from typing import Any

from tests.oracles.markspace_counts import reached

Book = tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...], tuple[tuple[int, int], ...], bool]
"""Of one agent: attempts of this window and of the last (scope, kind), counts of those before, whether restricted."""


def probed(capacity: int) -> int:
    """One agent with a barrier and a probe (§9.9): marks, half a window, locked or not, a canary, whether it tried."""

    def after(state: tuple[tuple[str, ...], int, bool, bool, bool]) -> Iterator[Hashable]:
        stored, half, locked, pending, tried = state
        yield stored, 1 - half, locked, pending, tried
        yield stored, half, False, pending, tried  # the principal lifts everything
        yield stored, half, locked, True, False  # a canary
        yield stored, half, locked, False, False  # acknowledged
        yield stored, half, locked, pending, True  # a wrong answer
        yield stored, half, locked or (pending and tried), False, False  # the round ends
        if pending:
            yield stored, half, locked, pending, True  # another operation was tried
        if len(stored) < capacity:
            yield (*stored, "canary"), half, locked, pending, tried
            if not pending:
                yield (*stored, "need"), half, locked, pending, tried
                for kind in () if locked else ("observation", "action"):
                    yield (*stored, kind), half, locked, pending, tried

    return reached(((), 0, False, False, False), after)


def _anomalous(now: dict[str, int], last: dict[str, int], past: list[dict[str, int]], baseline: int | None) -> bool:
    """A spike of one kind against mean and deviation (§9.7, k = 3.5), of this window or of this and the last, or a
    shift of type by more than a half."""
    for kind in ("observation", "need"):
        seen = [Fraction(window[kind]) for window in past]
        if baseline is not None and kind == "observation":  # mean as declared, deviation half of it
            seen += [baseline * Fraction(1, 2), baseline * Fraction(3, 2)]
        if not seen:
            continue
        mean = sum(seen) / len(seen)
        spread = sum((one - mean) ** 2 for one in seen) / len(seen)
        for count in (Fraction(now[kind]), Fraction(now[kind] + last[kind], 2)):
            if count > mean and (count - mean) ** 2 > Fraction(49, 4) * spread:
                return True
    before, current = sum(sum(one.values()) for one in past), sum(now.values())
    if not before or not current:
        return False
    share = Fraction(sum(one["observation"] for one in past), before)
    return abs(Fraction(now["observation"], current) - share) > Fraction(1, 2)


def _counts(attempts: Iterable[tuple[str, str]]) -> dict[str, int]:
    kinds = [kind for _, kind in attempts]
    return {kind: kinds.count(kind) for kind in ("observation", "need")}


def watched(
    capacity: int,
    *,
    agents: int = 1,
    scopes: tuple[str, ...] = ("a",),
    barrier: bool = True,
    baseline: int | None = None,
    ready: int = 1,
    remembered: int = 1,
    per_window: int | None = None,
    threshold: int = 2,
) -> int:
    """Agents under an envelope (§9.7): attempts of this window and the last, the windows before, restricted or not.

    With a barrier also the revoked permissions, whether needs come first, and the flags up to the threshold;
    `per_window` is a rate limit for each agent.  A write is judged by the counts before it.
    """
    top = max(threshold, 1)

    def bad(one: Book) -> bool:
        now, last, past, _ = one
        if baseline is None and len(past) < ready:
            return False
        windows = [{"observation": first, "need": second} for first, second in past]
        return _anomalous(_counts(now), _counts(last), windows, baseline)

    def ended(one: Book) -> Hashable:
        now, _, past, restricted = one
        counts = _counts(now)
        kept = (*past, (counts["observation"], counts["need"]))[-remembered:] if remembered else ()
        return (), now, kept, restricted

    def put(whole: tuple[Hashable, ...], place: int, part: Hashable) -> tuple[Hashable, ...]:
        return (*whole[:place], part, *whole[place + 1 :])

    def after(state: Any) -> Iterator[Hashable]:
        stored, half, books, revoked, needed, flags, early, late = state
        rest = (revoked, needed, flags)
        if half:
            yield stored, 0, tuple(map(ended, books)), *rest, (), ()
        else:
            yield stored, 1, books, *rest, late, ()
        for who, book in enumerate(books):
            now, last, past, restricted = book
            if bad(book):
                yield stored, half, put(books, who, (now, last, past, True)), *rest, early, late
            yield stored, half, put(books, who, ((), (), past, False)), *rest, early, late
            if barrier:
                mine = frozenset(one for one in revoked if one[0] != who)
                yield stored, half, books, mine, needed - {who}, flags, early, late
            if len(stored) == capacity or len(now) >= capacity:
                continue
            asked = any(author == who and kind == "need" for author, _, kind in stored)
            if barrier and (who not in needed or asked):
                yield (*stored, (who, scopes[0], "action")), half, books, *rest, early, late
            for scope in scopes:
                for kind in ("observation", "need"):
                    if (who, scope, kind) in revoked:
                        continue
                    counted = put(books, who, (tuple(sorted((*now, (scope, kind)))), last, past, restricted))
                    if per_window is not None and (early + late).count((who, scope)) >= per_window:
                        yield stored, half, counted, *rest, early, late
                    elif restricted or bad(book):
                        held = put(books, who, (now, last, past, True))
                        if not barrier:
                            yield stored, half, held, *rest, early, late
                            continue
                        more = min(flags[who] + 1, top)
                        first = needed | {who} if more >= threshold else needed
                        narrowed = revoked | {(who, scope, kind)}
                        yield stored, half, held, narrowed, first, put(flags, who, more), early, late
                    else:
                        wrote = tuple(sorted((*late, (who, scope)))) if per_window is not None else late
                        yield (*stored, (who, scope, kind)), half, counted, *rest, early, wrote

    fresh = ((), (), (), False)
    start: Any = ((), 0, (fresh,) * agents, frozenset(), frozenset(), (0,) * agents, (), ())
    return reached(start, after)


def subscribed(capacity: int) -> int:
    """Two agents publish, subscribe and poll (§13.3, §13.4), in three deployments that differ in manifests alone.

    A mark is its author, scope, kind, topic and the number of the one that it supersedes (§10), 0 for none.
    """
    everything, below, warned, topical = ("a", "", ""), ("a/b", "", ""), ("a", "warning", ""), ("a", "", "y")
    lists = ((everything,), (below,), (warned,), (topical, ("c", "", "")))
    writes = (
        ("alice", "a", "observation", "x"),
        ("alice", "a/b", "observation", "x"),
        ("bob", "a", "observation", "x"),
        ("bob", "a/b", "observation", "x"),
        ("alice", "a", "warning", "x"),
        ("alice", "ab", "observation", "y"),
        ("alice", "c", "observation", "y"),
    )
    names = ("alice", "bob")

    def fits(pattern: tuple[str, str, str], mark: tuple[str, str, str, str]) -> bool:
        scope, kind, topic = pattern
        levels, wanted = mark[1].split("/"), scope.split("/")
        return levels[: len(wanted)] == wanted and kind in ("", mark[2]) and topic in ("", mark[3])

    def after(state: Any) -> Iterator[Hashable]:
        marks, interests, queues = state
        for who in range(2):
            yield marks, interests, (*queues[:who], (), *queues[who + 1 :])  # polled and emptied
            gone = (*interests[:who], None, *interests[who + 1 :])
            yield marks, gone, (*queues[:who], (), *queues[who + 1 :])
        for chosen in lists:
            yield marks, (interests[0], chosen), queues
        yield marks, (lists[0], interests[1]), queues
        if len(marks) == capacity:
            return
        again = [
            (author, scope, "observation", "x") for author, scope in (("alice", "a"), ("alice", "c"), ("bob", "a/b"))
        ]
        offers = [(one, 0) for one in writes] + [(one, old) for old in range(1, len(marks) + 1) for one in again]
        for mark, old in offers:
            told = tuple(
                (*queue, len(marks) + 1)
                if names[who] != mark[0] and any(fits(one, mark) for one in interests[who] or ())
                else queue
                for who, queue in enumerate(queues)
            )
            yield (*marks, (*mark, old)), interests, told

    return 3 * reached(((), (None, None), ((), ())), after)
