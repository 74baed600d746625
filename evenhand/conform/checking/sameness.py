"""Say whether two findings, of one system or two, are forms of one fault."""

from __future__ import annotations

from evenhand.conform.checking.comparing import EMPTY, FLAGS, nested
from evenhand.conform.checking.duties import SENTENCES
from evenhand.conform.checking.ordering import NOTHING, Defect

WAVERS = ("non-deterministic", "remembers")


def one_cause(
    known: Defect, new: Defect, claims: tuple[str, str], words: frozenset[str], usual: frozenset[str] = frozenset()
) -> bool:
    """Return whether two defects are forms of one fault; `claims` head them.

    So it is if the same differs, or lies behind other differences in one place; if the same mutants look like both; if
    the kernel overlooks the same `words` of the protocol, as the reason of a refusal, and no other one beside them; or
    if it overlooks none, and shows the same and more in actions of one kind, but where each has a claim and mutants of
    its own.  Where one claim heads both, it is if they meet in one place, in all places if each has mutants of its own,
    and do not add other words each; or if one overlooks all that the other does.  What is `usual`, as it shows in
    most runs, joins nothing that shows more.  A kernel that remembers earlier runs also wavers, as other runs come
    before.
    """
    one, other = known.divergence, new.divergence
    if one.what in WAVERS and other.what in WAVERS:
        return True
    if one.what != other.what:
        return False
    if one.what == "mutates":
        return True
    if one.kinds == other.kinds:
        return bool(one.kinds)
    if known.alike and new.alike and nested(known.alike, new.alike):
        return True
    if one.behind and other.behind and _places(one.kinds) & _places(other.kinds):
        return True
    claimed = claims[0] == claims[1] and claims[0] not in SENTENCES
    kinds = [some.kinds - usual or some.kinds for some in (one, other)]
    added = nested(*(_added(some, words) for some in kinds))
    missed = [overlooked(some, words) for some in kinds]
    shown = [_shown(some) for some in kinds]
    apart = bool(known.alike and new.alike) and known.alike.isdisjoint(new.alike)
    everywhere = not apart or (_places(shown[0]) == _places(shown[1]) and bool(shown[0] & shown[1]))
    if claimed and added and everywhere and _meet(*kinds) and not other_reason(*kinds):
        return True
    if missed[0] == missed[1]:
        if missed[0]:
            return not other_reason(*shown, instead=True)
        if not all(shown) or one.taken != other.taken:
            return False
        both = {held.claim.name for held in one.sure} & {held.claim.name for held in other.sure}
        apart = apart and not {*claims} & {*SENTENCES, *both}
        return shown[0] == shown[1] or (nested(*shown) and not apart)
    return claimed and all(missed) and nested(*missed)


def overlooked(kinds: frozenset[str], words: frozenset[str]) -> frozenset[str]:
    """Return the `words` of the protocol that the model shows and the kernel does not, whatever it shows instead."""
    both = [kind.partition(": ")[2].partition(" / ") for kind in _shown(kinds)]
    expected, got = (frozenset(word for some in both for word in some[side].split()) for side in (0, 2))
    return (expected & words) - got


def _added(kinds: frozenset[str], words: frozenset[str]) -> frozenset[str]:
    """The `words` of the protocol in entries that are too much in the kernel's lists, as a code for no error."""
    return frozenset(word for kind in kinds if "[]: nothing / " in kind for word in kind.split()) & words


def _shown(kinds: frozenset[str]) -> frozenset[str]:
    """The kinds but for what is told of the state, which differs by what was done before."""
    return frozenset(kind for kind in kinds if not kind.startswith("facts."))


def other_reason(one: frozenset[str], other: frozenset[str], *, instead: bool = False) -> bool:
    """Return whether two sets of kinds show two reasons that a kernel overlooks: each is the fault of one rule.

    In one place nothing stands where words should (with `instead` the same stands there), and in either case one that
    is not due in the other.
    """
    due, others = _unsaid(one), _unsaid(other)
    return any(not nested(due[at], others[at]) for at in due.keys() & others.keys() if instead or at[1] == NOTHING)


def _unsaid(kinds: frozenset[str]) -> dict[tuple[str, str], frozenset[str]]:
    """The words that should stand in each place, by what does; beside an empty text or a lost entry may stand more."""
    found: dict[tuple[str, str], frozenset[str]] = {}
    for kind in kinds:
        place, _, sides = kind.partition(": ")
        expected, _, got = sides.rpartition(" / ")
        if got not in ("nothing", EMPTY):
            found[place, got] = found.get((place, got), frozenset()).union(expected.split()) - FLAGS - {"\u00b7"}
    return found


def _places(kinds: frozenset[str]) -> set[str]:
    return {kind.partition(": ")[0] for kind in kinds}


def _meet(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two differences lie in one place at least, and are not opposite there; some are told without places."""
    pairs = (
        (first.replace("[#]", "[]").partition(": "), second.replace("[#]", "[]").partition(": "))
        for first in one
        for second in other
    )
    both = ((first[2], second[2]) for first, second in pairs if first[0] == second[0])
    return not one or not other or any(not _opposite(*some) for some in both)


def _opposite(one: str, other: str) -> bool:
    """Whether what is shown in one case is what should be in the other: accepting is no cause of refusing."""
    (expected, slash, got), (expects, _, gets) = one.partition(" / "), other.partition(" / ")
    return bool(slash) and (expected == gets or got == expects)
