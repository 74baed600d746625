"""Say whether two findings, of one system or two, are forms of one fault."""

from __future__ import annotations

from evenhand.conform.checking.comparing import nested, shown_side
from evenhand.conform.checking.duties import SENTENCES
from evenhand.conform.checking.ordering import Defect, places

WAVERS = ("non-deterministic", "remembers")


def one_cause(
    known: Defect, new: Defect, claims: tuple[str, str], words: frozenset[str], usual: frozenset[str] = frozenset()
) -> bool:
    """Return whether two defects are forms of one fault; `claims` head them.

    They are if the same differs, or if both lie behind other differences, in one place at least.  Then mutants say it:
    they are if those that look like one look like the other, and are not if none looks like both.  Else they are

    - if the kernel overlooks the same `words` of the protocol, as the reason of a refusal, and no other one;
    - if one claim heads both, and they have a difference in common;
    - if the kernel shows the same, whatever it should show;
    - or if it shows the same and more, and overlooks nothing.

    What is `usual`, as it shows in most runs, counts only where nothing else differs: it stands beside other faults.
    A kernel that remembers earlier runs also wavers, as other runs come before.
    """
    one, other = known.divergence, new.divergence
    if one.what in WAVERS and other.what in WAVERS:
        return True
    if one.what != other.what:
        return False
    if one.what == "mutates":
        return True
    if not one.kinds or not other.kinds:
        return False
    if one.kinds == other.kinds or (one.behind and other.behind and places(one.kinds) & places(other.kinds)):
        return True
    if known.alike and new.alike:
        if nested(known.alike, new.alike):
            return True
        if known.alike.isdisjoint(new.alike):
            return False
    kinds = [some.kinds - usual or some.kinds for some in (one, other)]
    missed = [overlooked(some, words) for some in kinds]
    if missed[0] and missed[0] == missed[1]:
        return True
    if claims[0] == claims[1] and claims[0] not in SENTENCES and kinds[0] & kinds[1]:
        return True
    shown = [frozenset(map(shown_side, some)) for some in kinds]
    return shown[0] == shown[1] or (not any(missed) and nested(*shown))


def overlooked(kinds: frozenset[str], words: frozenset[str]) -> frozenset[str]:
    """Return the `words` of the protocol that the model shows and the kernel does not, whatever it shows instead."""
    both = [kind.partition(": ")[2].partition(" / ") for kind in kinds]
    expected, got = (frozenset(word for some in both for word in some[side].split()) for side in (0, 2))
    return (expected & words) - got
