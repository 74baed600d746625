"""Marks hidden by supersession, for any number of marks that supersede each other in any way (P29, P47, §8.3, §10)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

from evenhand.core.system import AnySystem
from evenhand.model.markspace.guard_vocabulary import Policy
from evenhand.model.markspace.marks import Draft, Kind, Mark, Read, Resolve, SpaceStep
from evenhand.model.markspace.mutants import marks as faulty
from evenhand.model.markspace.readings import Readings
from evenhand.proofs.markspace.resolving import config_of
from evenhand.proofs.markspace.stating import theorem
from evenhand.proofs.markspace.walks import written
from evenhand.properties.markspace import space
from evenhand.smt.ends import End, Ends
from evenhand.smt.logic import Formula, Function, Sort, differ, exists, forall, same, variables
from evenhand.smt.preludes import define, mutation, ordered, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import line, structure
from evenhand.smt.theory import Axiom, Theory

MARK = Sort("Mark")
m, n, o = variables(MARK, "m n o")

supersedes, written_before, alike = relations("supersedes written_before alike", MARK, MARK)
(eligible,) = relations("eligible", MARK)


def _over(one: Any, other: Any) -> Formula:
    """Return that `one` supersedes `other`, which was there before."""
    return written_before(other, one) & supersedes(one, other)


def _seen(gone: Formula) -> dict[str, Formula]:
    return {"seen": eligible(m) & ~gone}


SUPERSESSION = Theory.of(
    "markspace_supersession",
    axioms=(
        Axiom("writes_are_ordered", ordered(written_before, m, n, o), "P32"),
        Axiom("one_is_named", forall([m, n, o], (supersedes(m, n) & supersedes(m, o)) >> same(n, o)), "2.1, 10"),
        Axiom("alike_itself", forall([m], alike(m, m)), "2"),
        Axiom("alike_both_ways", forall([m, n], alike(m, n) >> alike(n, m)), "2"),
        Axiom("alike_all_along", forall([m, n, o], (alike(m, n) & alike(n, o)) >> alike(m, o)), "2"),
    ),
    definitions=(define("seen", (m,), _seen(exists([n], _over(n, m)))["seen"], "8.2, 10"),),
)
_RESURFACES = _seen(exists([n], _over(n, m) & ~exists([o], _over(o, n))))
_OF_ONE_KIND = _seen(exists([n], _over(n, m) & alike(n, m)))

# Conformance.

KINDS = (Kind.OBSERVATION, Kind.NEED, Kind.WARNING)


def view_supersession(step: SpaceStep) -> Structure | None:
    """Return a read by infrastructure of fresh marks without warnings, as a structure."""
    act, marks = step.action, step.before.marks
    if not isinstance(act, Read) or act.reader is not None or step.shown.seen is None or not marks:
        return None
    if step.config.readings != Readings() or any(mark.age or mark.draft.invalidates for mark in marks):
        return None
    if any(mark.draft.strength != 1 or mark.draft.scope != act.scope or mark.resolved_by for mark in marks):
        return None
    names = {mark.id: f"mark:{mark.id}" for mark in marks}

    def rows(told: Callable[[Mark, Mark], bool]) -> list[tuple[str, str]]:
        return [(names[x.id], names[y.id]) for x in marks for y in marks if told(x, y)]

    told = {
        "supersedes": rows(lambda x, y: x.draft.supersedes == y.id),
        "written_before": line(list(names.values())),
        "alike": rows(lambda x, y: x.draft.kind is y.draft.kind),
        "eligible": names.values(),
        "seen": [names[seen.mark.id] for seen in step.shown.seen],
    }
    return structure({"Mark": names.values()}, told)


@Ends
def samples_of_supersession(system: AnySystem) -> Iterator[End]:
    """Yield ways in which three marks of one, two and three kinds can supersede each other, by any variant."""
    config = config_of(("x",), Policy.FIRST_WRITER)
    for kinds in ((KINDS[0],) * 3, KINDS, (KINDS[0], KINDS[1], KINDS[0])):
        for targets in product((None, 2), (None, 1, 3), (None, 1, 2)):
            drafts = [Draft(kind, "a", supersedes=target) for kind, target in zip(kinds, targets, strict=True)]
            marks = tuple(Mark(number, "x", draft) for number, draft in enumerate(drafts, start=1))
            yield written(system, config, marks, Read(None, "a"))


HIDDEN = theorem(
    system="space",
    claim=space.supersession_transitivity_p47,
    sentence="No superseded mark is seen, whatever becomes of the one that supersedes it: of a chain the last at most.",
    source="P47, 10",
    scope="any number of marks",
    theory=SUPERSESSION,
    view=view_supersession,
    samples=samples_of_supersession,
    variables=(m, n, o),
    assumes=_over(n, m),
    goal=~SUPERSESSION.word("seen", m) & (_over(o, n) >> ~SUPERSESSION.word("seen", n)),
    witness=exists([m, n, o], _over(n, m) & _over(o, n) & SUPERSESSION.word("seen", o)),
    mutants=(
        mutation(SUPERSESSION, faulty.chains_resurface, _RESURFACES),
        mutation(SUPERSESSION, faulty.superseding_keeps_the_kind, _OF_ONE_KIND),
    ),
)

# A need is resolved.

need, copy = Function("need", (), MARK), Function("copy", (), MARK)
(named,) = relations("named", MARK, MARK)
"""The first mark supersedes the second, of the marks that were there before."""
(names,) = relations("names", MARK, MARK)
_settles = same(m, copy()) & same(n, need())


def _spent(gone: Formula) -> dict[str, Formula]:
    return {"spent": same(m, copy()) | gone}


RESOLUTION = Theory.of(
    "markspace_resolved_need",
    axioms=(
        *SUPERSESSION.axioms[:1],
        *SUPERSESSION.axioms[2:],
        Axiom("the_copy_is_last", forall([m], ~written_before(copy(), m)), "8.3"),
        Axiom("the_copy_is_another", differ(copy(), need()), "8.3"),
        Axiom("the_copy_is_a_need", alike(copy(), need()), "8.3"),
    ),
    definitions=(
        define("names", (m, n), named(m, n) | _settles, "8.3: the copy supersedes the need"),
        define(
            "spent",
            (m,),
            _spent(exists([n], written_before(m, n) & names(n, m)))["spent"],
            "8.3, 10: what is superseded or resolved has no strength",
        ),
    ),
)
_LEFT_ALONE: dict[str, Formula] = {"names": named(m, n) | (same(m, copy()) & named(need(), n))}
_CHAINED = _spent(exists([n], written_before(m, n) & names(n, m) & ~exists([o], written_before(n, o) & names(o, n))))
_ALIKE = _spent(exists([n], written_before(m, n) & names(n, m) & alike(n, m)))


def view_resolution(step: SpaceStep) -> Structure | None:
    """Return a resolution by the principal among needs and actions, which do not fade, as a structure."""
    act, marks = step.action, step.after.marks
    if not isinstance(act, Resolve) or step.shown.refused or step.config.readings != Readings():
        return None
    if any(one.draft.kind not in (Kind.NEED, Kind.ACTION) for one in marks) or any(
        one.resolved_by for one in step.before.marks
    ):
        return None
    called = {mark.id: f"mark:{mark.id}" for mark in marks}
    pairs = [(called[one.id], called[one.draft.supersedes]) for one in marks if one.draft.supersedes in called]
    last = called[marks[-1].id]
    told = {
        "written_before": line(list(called.values())),
        "named": [pair for pair in pairs if pair[0] != last],
        "alike": [(called[x.id], called[y.id]) for x in marks for y in marks if x.draft.kind is y.draft.kind],
        "names": pairs,
        "need": called[act.need],
        "copy": last,
    }
    return structure({"Mark": called.values()}, told)


@Ends
def samples_of_resolution(system: AnySystem) -> Iterator[End]:
    """Yield resolutions of either of two needs by an action, whichever supersede each other, by any variant."""
    config = config_of(("x",), Policy.FIRST_WRITER)
    for targets, wanted in product(product((None, 2), (None, 1), (None, 1, 2)), (1, 2)):
        drafts = [
            Draft(kind, "a", verb="booked", supersedes=target)
            for kind, target in zip((Kind.NEED, Kind.NEED, Kind.ACTION), targets, strict=True)
        ]
        marks = tuple(Mark(number, "x", draft) for number, draft in enumerate(drafts, start=1))
        yield written(system, config, marks, Resolve(wanted, 3, 4))


SETTLED = theorem(
    system="space",
    claim=space.resolution_immediacy_p29,
    scope="any number of marks",
    theory=RESOLUTION,
    view=view_resolution,
    samples=samples_of_resolution,
    goal=RESOLUTION.word("names", copy(), need()) & RESOLUTION.word("spent", need()) & RESOLUTION.word("spent", copy()),
    needs=("writes_are_ordered", "the_copy_is_last"),
    witness=exists([m], named(m, need()) & ~RESOLUTION.word("spent", m)),
    mutants=(
        mutation(RESOLUTION, faulty.resolution_supersedes_nothing, _LEFT_ALONE),
        mutation(RESOLUTION, faulty.chains_resurface, _CHAINED, "the copy is the last, so nothing supersedes it"),
        mutation(RESOLUTION, faulty.superseding_keeps_the_kind, _ALIKE, "the copy is of the need's kind"),
    ),
)
