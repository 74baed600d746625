"""Say whether two divergences have one cause, by what differs in them and who objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.conform.checking.comparing import FLAGS, nested, one_reason, same_words

if TYPE_CHECKING:
    from evenhand.conform.checking.divergence import Divergence

NOTHING = "null"
"""What stands in a field where nothing is to tell, as no reason; an empty text may stand beside another reason."""


def overlooked(one: Divergence, other: Divergence) -> bool:
    """Return whether two divergences show one reason, and the same claims object to both: others would tell them apart.

    Whatever claims object, what just the same reason does not prevent is one.
    """
    return one_reason(one.kinds, other.kinds, same=_objecting(one) != _objecting(other))


def one_cause(one: Divergence, other: Divergence, words: frozenset[str]) -> bool:
    """Return whether two divergences differ alike in `words` of the protocol, and a claim objects to both, or none."""
    claims = _objecting(one), _objecting(other)
    return (claims[0] == claims[1] or bool(claims[0] & claims[1])) and same_words(one.kinds, other.kinds, words)


def _objecting(one: Divergence) -> set[str]:
    return {violation.claim.name for violation in one.violations}


def other_reason(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether two sets of kinds show two reasons that a kernel overlooks: each is the fault of one rule.

    In one place nothing stands where words should, and in either case one that is not due in the other.
    """
    due, others = _unsaid(one), _unsaid(other)
    return any(not nested(due[place], others[place]) for place in due.keys() & others.keys())


def _unsaid(kinds: frozenset[str]) -> dict[str, frozenset[str]]:
    """The words that should stand in each place where nothing does."""
    found: dict[str, frozenset[str]] = {}
    for kind in kinds:
        place, _, sides = kind.partition(": ")
        expected, _, got = sides.rpartition(" / ")
        if got == NOTHING:
            found[place] = found.get(place, frozenset()).union(expected.split()) - FLAGS - {"\u00b7"}
    return found


def lacking(one: Divergence, other: Divergence) -> bool:
    """Return whether entries of one list are missing in both, and nothing else differs, whatever they would say.

    What is decided otherwise differs in other places too; these entries were lost, or hidden.
    """
    places = [{kind.partition(": ")[0] for kind in found.kinds} for found in (one, other)]
    lost = all(kind.endswith(" / nothing") for kind in one.kinds | other.kinds)
    return lost and len(places[0]) == 1 and places[0] == places[1] and all(one.endswith("[]") for one in places[0])


def too_much(one: Divergence, other: Divergence) -> bool:
    """Return whether just the same is too much in both; what is missing beside it depends on what was asked.

    A kernel that refuses whatever comes lacks now an effect, now a line of the log.  Where nothing else differs in one
    of the two, it is what leads to the rest in the other: a claim that is not over, and what is decided by it.
    """
    sides = [{kind for kind in found.kinds if not kind.startswith("facts.")} for found in (one, other)]
    more = [{kind for kind in kinds if ": nothing / " in kind} for kinds in sides]
    rests = [kinds - some for kinds, some in zip(sides, more, strict=True)]
    lacks = all(kind.endswith(" / nothing") for rest in rests for kind in rest)
    return bool(more[0]) and more[0] == more[1] and (lacks or not all(rests))
