"""Say whether two divergences have one cause, by what differs in them and who objects."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evenhand.conform.checking.comparing import nested, one_reason, same_words

if TYPE_CHECKING:
    from evenhand.conform.checking.divergence import Divergence

_RECORD = re.compile(r"facts\.(\w+)\.[^:]*: (?:more|less|(?:nothing|·|entries) / (?:nothing|·|entries))")
"""A kind that tells of a field of a record of the told state, and says no word."""

_NOTHING = re.compile(r"(?<=: )(nothing|·|entries|a record)(?= / )|(?<= / )(nothing|·|entries|a record)$")


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


def nameless(one: Divergence, other: Divergence) -> bool:
    """Return whether texts without words, such as hashes, are all that differs, in one where they do in the other."""
    return nested(one.kinds, other.kinds) and all(kind.endswith(": · / ·") for kind in one.kinds | other.kinds)


def one_record(one: Divergence, other: Divergence) -> bool:
    """Return whether one record of the told state is all that differs in both, in fields that say no word.

    A record that is kept too long or too short is wrong now in one field, now in another.
    """
    kept = [{_RECORD.fullmatch(kind) for kind in found.kinds} for found in (one, other)]
    names = [{match.group(1) if match else "" for match in some} for some in kept]
    return len(names[0]) == 1 and names[0] == names[1] and "" not in names[0]


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


def lacking(one: Divergence, other: Divergence) -> bool:
    """Return whether entries of one list are missing in both, and nothing else differs, whatever they would say.

    What is decided otherwise differs in other places too; these entries were lost, or hidden.
    """
    places = [{kind.partition(": ")[0] for kind in found.kinds} for found in (one, other)]
    lost = all(kind.endswith(" / nothing") for kind in one.kinds | other.kinds)
    return lost and len(places[0]) == 1 and places[0] == places[1] and all(one.endswith("[]") for one in places[0])


def astray(one: Divergence, other: Divergence) -> bool:
    """Return whether the same places differ in both, and only behind other differences.

    There the words follow from what went astray before.
    """
    places = [{kind.partition(": ")[0] for kind in found.kinds} for found in (one, other)]
    return bool(one.behind and other.behind) and places[0] == places[1]


def wordless(one: Divergence, other: Divergence) -> bool:
    """Return whether just the same words are wrong, in place of something or of nothing, in actions of one kind."""
    sides = [set(map(_worded, found.kinds)) for found in (one, other)]
    return one.taken == other.taken and one.subject == other.subject and sides[0] == sides[1]


def _worded(kind: str) -> str:
    """A kind with the words of one side alone, if the other has none."""
    bare = _NOTHING.sub("", kind.replace("[#]", "[]"))
    return kind if bare.endswith(":  / ") else bare
