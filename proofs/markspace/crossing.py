"""The exact condition under which a read leaks (2.5, 7.4, 9.5, 10), for any number of marks and warnings.

Each mark that the reader may see has a strength, and sums of warnings against it, apart by who may see them; a hidden
mark may supersede it, warn against it, or supersede a warning against it.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import TypeAlias

from evenhand.core.system import AnySystem
from evenhand.model.markspace.exact import Amount, total
from evenhand.model.markspace.marks import (
    HALF,
    MIN_STRENGTH,
    Agent,
    Draft,
    Kind,
    Mark,
    Read,
    ScopeDef,
    Space,
    SpaceConfig,
    SpaceStep,
    Visibility,
)
from evenhand.model.markspace.mutants import marks
from evenhand.model.markspace.readings import Readings
from evenhand.proofs.markspace.stating import theorem
from evenhand.proofs.markspace.walks import written
from evenhand.properties.markspace.leaking import Parted, parted, purged, reads_leak_through_references_alone
from evenhand.properties.markspace.space_predicates import alone, covered, warnings_against
from evenhand.smt import logic as fol
from evenhand.smt.arithmetic import at_least, at_most, below, minus, number, plus
from evenhand.smt.ends import End, Ends
from evenhand.smt.preludes import define, mutation, numbers, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import structure
from evenhand.smt.theory import Axiom, Theory

_Case: TypeAlias = tuple[str, SpaceStep, SpaceStep | None]

MARK = fol.Sort("Mark")
(m,) = fol.variables(MARK, "m")
own, warned, freed, secret = numbers("own warned freed secret", MARK)
"""Its strength; sums of warnings: open ones against it, those of them that hidden marks supersede, hidden ones."""
freed_akin, secret_akin = numbers("freed_akin secret_akin", MARK)
"""The same two sums for a kernel in which only marks of one kind supersede each other."""
threshold, strict = numbers("threshold strict")
"""What a read asks for, and what a mutant asks for."""
shadowed, akin = relations("shadowed akin", MARK)
"""A hidden mark supersedes it; one of its own kind does."""


_OPEN = minus(own(m), warned(m))
_WHOLE = minus(plus(_OPEN, freed(m)), secret(m))
_AKIN = minus(plus(_OPEN, freed_akin(m)), secret_akin(m))


_seen, _seen2, _other_strength = relations("seen seen2 other_strength", MARK)


def _reads(gone: fol.Formula, left: fol.Term) -> dict[str, fol.Formula]:
    """Return the meanings where `gone` says that a hidden mark supersedes it, and `left` is what else is left of it."""
    none = at_most(_OPEN, number(0))
    changed = fol.ite(gone, ~none, fol.differ(left, _OPEN) & ~(none & at_most(left, number(0))))
    return {"seen": ~gone & at_least(left, threshold()), "other_strength": changed}


_TEXT = _reads(shadowed(m), _WHOLE)
_WORDS = (
    define("seen", (m,), _TEXT["seen"], "4.2, 8.2, 9.5, 10: a read shows what is strong enough"),
    define("seen2", (m,), at_least(_OPEN, threshold()), "4.2, 8.2, 9.5: and without the hidden marks"),
    define("other_strength", (m,), _TEXT["other_strength"], "4.2, 9.5, 10: its strength is another then"),
    define("otherwise", (m,), ~fol.iff(_seen(m), _seen2(m)) | (_seen(m) & _other_strength(m)), "8.2"),
)
READ_TWICE = Theory.of(
    "markspace_reading_twice",
    freed_akin,
    secret_akin,
    akin,
    axioms=(
        Axiom("the_threshold_is_positive", below(number(0), threshold()), "8.2"),
        Axiom("a_mutant_asks_for_more", below(threshold(), strict()), "of a mutant's"),
    ),
    definitions=_WORDS,
)
_OTHERWISE = READ_TWICE.word("otherwise", m)


def _least(of: fol.Term) -> fol.Formula:
    return at_least(of, threshold())


_lifted, _lowered = below(secret(m), freed(m)), below(freed(m), secret(m))
_GIVEN_AWAY = fol.ite(shadowed(m), _least(_OPEN), (_lifted & _least(_WHOLE)) | (_lowered & _least(_OPEN)))
"""A hidden mark supersedes what would be shown; or hidden marks take more warnings away than they add, and it is shown;
or they add more than they take away, and it would be shown."""


def view(case: _Case) -> Structure | None:
    """Return both reads; None under other readings, and where a strength is irrational or refused."""
    reader, step, other = case
    act, before = step.action, step.before
    if other is None or not isinstance(act, Read) or step.shown.seen is None or other.shown.seen is None:
        return None
    here = covered(step.config, purged(reader, step.config, before), act.scope)
    if step.config.readings != Readings() or not here:
        return None
    names = {mark.id: f"mark:{mark.id}" for mark in here}
    parts = {mark.id: parted(reader, step.config, before, mark) for mark in here}
    shown = [{one.mark.id: one.strength for one in found} for found in (step.shown.seen, other.shown.seen)]
    sums = {mark.id: _sums(reader, step.config, before, mark, parts[mark.id]) for mark in here}
    if any(amount.rational is None for found in sums.values() for amount in found.values()):
        return None
    told = {
        "shadowed": [names[one] for one, part in parts.items() if part.shadowed],
        "akin": [names[mark.id] for mark in here if _superseded_in_kind(before, mark)],
        "seen": [names[one] for one in shown[0] if one in names],
        "otherwise": [names[one] for one in names if shown[0].get(one, "not shown") != shown[1].get(one, "not shown")],
        "seen2": [names[one] for one in shown[1] if one in names],
        "threshold": MIN_STRENGTH,
        "strict": _STRICT,
    }
    tables = {
        name: {names[one]: found[name].rational for one, found in sums.items()} for name in next(iter(sums.values()))
    }
    return structure({"Mark": names.values()}, {**told, **tables})


def _superseded_in_kind(before: Space, mark: Mark) -> bool:
    later = before.marks[before.marks.index(mark) + 1 :]
    return any(one.draft.supersedes == mark.id and one.draft.kind is mark.draft.kind for one in later)


def _sums(reader: str, config: SpaceConfig, before: Space, mark: Mark, part: Parted) -> dict[str, Amount]:
    against = [(one, _superseded_in_kind(before, one)) for one in warnings_against(config, before, mark)]
    known = purged(reader, config, before)
    return {
        "own": part.own,
        "warned": part.warned,
        "freed": part.freed,
        "secret": part.secret,
        "freed_akin": total(alone(config, known, one) for one, gone in against if gone and one in known.marks),
        "secret_akin": total(
            alone(config, Space((one,)), one) for one, gone in against if not gone and one not in known.marks
        ),
    }


_STRICT = Fraction(3, 5)
"""The threshold of `weak_marks_vanish`."""
_OPENLY, _SECRETLY = ScopeDef("a"), ScopeDef("c", Visibility.CLASSIFIED)
_WRITER = Agent("alice", frozenset((scope, kind) for scope in "ac" for kind in Kind), frozenset({"c"}))
_CONFIG = SpaceConfig((_WRITER, Agent("bob", frozenset(), frozenset())), (_OPENLY, _SECRETLY), Readings(), capacity=6)


@Ends
def samples(system: AnySystem) -> Iterator[End]:
    """Yield reads of a mark with an open and a hidden warning, either superseded or not, of several strengths."""
    amounts = (None, Fraction(1, 4), HALF, Fraction(1))
    for first, second, strong in product(amounts, amounts, (MIN_STRENGTH / 2, HALF, Fraction(1))):
        for kind, target in ((None, 0), *product((Kind.OBSERVATION, Kind.WARNING), (1, 2))):
            drafts = [Draft(Kind.OBSERVATION, "a", strength=strong)]
            for scope, amount in (("a", first), ("c", second)):
                if amount is not None:
                    drafts.append(Draft(Kind.WARNING, scope, strength=amount, invalidates=1))
            if kind is not None:
                drafts.append(Draft(kind, "c", strength=Fraction(1, 4), supersedes=target))
            marks = [Mark(number_, "alice", draft) for number_, draft in enumerate(drafts, start=1)]
            yield written(system, _CONFIG, marks, Read("bob", "a"))


_STRICTLY = {"seen": ~shadowed(m) & at_least(_WHOLE, strict()), "seen2": at_least(_OPEN, strict())}

CROSSED = theorem(
    claim=reads_leak_through_references_alone,
    sentence="A mark that a reader may see is shown otherwise for hidden marks exactly where one supersedes it and it "
    "would be shown; or they warn against it by more than they supersede of the open warnings against it, and it would "
    "be shown; or by less, and it is shown.",
    system="space",
    scope="any number of marks and warnings",
    theory=READ_TWICE,
    view=view,
    samples=samples,
    goal=fol.iff(fol.exists([m], _OTHERWISE), fol.exists([m], _GIVEN_AWAY)),
    needs=("the_threshold_is_positive",),
    witness=fol.exists([m], _lifted & _OTHERWISE & ~_least(_OPEN)),
    mutants=(
        mutation(READ_TWICE, marks.superseding_keeps_the_kind, _reads(akin(m), _AKIN)),
        mutation(READ_TWICE, marks.weak_marks_vanish, _STRICTLY),
        mutation(READ_TWICE, marks.nothing_too_weak_to_read, {"seen": fol.TRUE, "seen2": fol.TRUE}),
    ),
)
"""The theorem about reads."""
