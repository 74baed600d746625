"""What a reader learns of marks that it may not see (2.5, 7.4, 8.1, 9.5, 10), for any number of marks and warnings.

Writing keeps two spaces apart that differ in such marks: the second space is the first without them, what is stored is
known by its id, and whether a write is lawful does not depend on the space.  Reading does not, and the exact condition
under which a read leaks is a theorem.  Each mark that the reader may see has a strength, and sums of warnings against
it, apart by who may see them; a hidden mark may supersede it, warn against it, or supersede a warning against it.
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
    Write,
)
from evenhand.model.markspace.mutants import marks
from evenhand.model.markspace.readings import Readings
from evenhand.proofs.markspace.stating import theorem
from evenhand.proofs.markspace.walks import written
from evenhand.properties.markspace.leaking import (
    Parted,
    parted,
    purged,
    reads_leak_through_references_alone,
    writes_do_not_leak,
)
from evenhand.properties.markspace.space_predicates import alone, covered, hidden_from, warnings_against
from evenhand.smt import logic as fol
from evenhand.smt.arithmetic import at_least, at_most, below, minus, number, plus
from evenhand.smt.ends import End, Ends, ends_along
from evenhand.smt.preludes import Twice, define, mutation, numbers, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import structure
from evenhand.smt.theory import Axiom, Theory

_Case: TypeAlias = tuple[str, SpaceStep, SpaceStep | None]

_WRITER = Agent("alice", frozenset((scope, kind) for scope in "ac" for kind in Kind), frozenset({"c"}))
_CONFIG = SpaceConfig(
    (_WRITER, Agent("bob", frozenset(), frozenset())),
    (ScopeDef("a"), ScopeDef("c", Visibility.CLASSIFIED)),
    Readings(),
    hooks=(),
    capacity=6,
)

# Writing.

ID = fol.Sort("Id")
(i,) = fol.variables(ID, "i")
taken, hidden = relations("taken hidden", ID)
"""The ids of the marks of a space; those of the marks that the reader may not see."""
lawful, into_hidden = relations("lawful into_hidden")
"""The writer is authorised and the draft is legal; the scope written to is hidden from the reader."""
offered, another, counted = (fol.Function(name, (), ID) for name in ("offered", "another", "counted"))
"""The id that the environment offers; the space's own choice where it is taken; what a mutant takes."""
_free = fol.ite(taken(offered()), fol.same(i, another()), fol.same(i, offered()))
_accepted, _stored = relations("accepted")[0], relations("stored", ID)[0]
WRITING = Theory.of(
    "markspace_writing",
    counted,
    axioms=(Axiom("offered_ids_are_fresh", ~taken(offered()), "P31: the environment offers no id twice"),),
    definitions=(
        define("accepted", (), lawful(), "7.3, 2"),
        define("stored", (i,), _accepted() & _free, "8.1, P31: under the id offered if no mark has it"),
        define("shown", (i,), (taken(i) & ~hidden(i)) | (_stored(i) & ~into_hidden()), "what the reader may see then"),
    ),
)
_TWICE = Twice(WRITING, ("hidden", "lawful", "into_hidden", "offered"))
WRITING_TWICE = _TWICE.extended(
    "markspace_writing_twice",
    Axiom(
        "purged",
        fol.forall([i], fol.iff(_TWICE.second("taken", i), taken(i) & ~hidden(i))),
        "7.4: without the hidden marks",
    ),
    Axiom(
        "equal_spaces_count_alike",
        fol.forall([i], ~(taken(i) & hidden(i))) >> fol.same(counted(), _TWICE.function(counted)()),
        "of a mutant's",
    ),
)


def view(case: _Case) -> Structure | None:
    """Return a write in both spaces; None for an id offered twice, or if what is seen differs in more than ids."""
    reader, step, other = case
    act, config = step.action, step.config
    if not isinstance(act, Write) or other is None or config.readings != Readings():
        return None
    if any(mark.id == act.id for mark in step.before.marks):
        return None
    ends = [purged(reader, config, space) for space in (step.after, other.after)]
    shown = [frozenset(mark.id for mark in end.marks) for end in ends]
    if shown[0] == shown[1] and ends[0] != ends[1]:
        return None
    sets = {
        "taken": {mark.id for mark in step.before.marks},
        "taken2": {mark.id for mark in other.before.marks},
        "hidden": {m.id for m in step.before.marks if hidden_from(config, reader, m.draft.scope)},
        "stored": _ids(step),
        "stored2": _ids(other),
        "shown": {*shown[0]},
        "shown2": {*shown[1]},
    }
    named = {"offered": act.id}
    for ending, space in (("", step.before), ("2", other.before)):
        named[f"another{ending}"] = max((mark.id for mark in space.marks), default=0) + 1
        named[f"counted{ending}"] = len(space.marks) + 1
    called = {one: f"id:{one}" for one in sorted({*named.values()}.union(*sets.values()))}
    told = {
        "lawful": not step.shown.refused or not other.shown.refused,
        "into_hidden": hidden_from(config, reader, act.draft.scope),
        "accepted": not step.shown.refused,
        "accepted2": not other.shown.refused,
        **{name: [called[one] for one in found] for name, found in sets.items()},
        **{name: called[one] for name, one in named.items()},
    }
    return structure({"Id": called.values()}, told)


def _ids(step: SpaceStep) -> set[int]:
    return set() if step.shown.stored is None else {step.shown.stored}


def _write(scope: str, new: int, writer: str = "alice", kind: Kind = Kind.OBSERVATION) -> Write:
    return Write(writer, Draft(kind, scope), new)


@Ends
def samples(system: AnySystem) -> Iterator[End]:
    """Yield writes after up to two others, lawful and not, open and hidden, with a fresh id or a taken one."""
    for past in ((), ("a",), ("c",), ("a", "c"), ("c", "a"), ("c", "c")):
        acts = [_write(scope, number) for number, scope in enumerate(past, start=1)]
        for scope, writer, new in product(("a", "c"), ("alice", "bob"), (len(past) + 1, 7, 1)):
            yield ends_along(system, _CONFIG, Space(), *acts, _write(scope, new, writer))[-1]


APART = theorem(
    claim=writes_do_not_leak,
    sentence="Two spaces that differ in marks which a reader may not see stay so when the same is written in both: "
    "both refuse or neither, the same id is stored where the reader can look, and what it can see is the same.",
    system="space",
    scope="any number of marks",
    theory=WRITING_TWICE,
    view=view,
    samples=samples,
    variables=(i,),
    goal=fol.conjunction(
        [
            _TWICE.alike("accepted"),
            ~into_hidden() >> _TWICE.alike("stored", i),
            _TWICE.alike("shown", i),
        ]
    ),
    needs=("purged", "offered_ids_are_fresh"),
    witness=fol.exists([i], taken(i) & hidden(i)) & WRITING.word("accepted") & ~into_hidden(),
    mutants=_TWICE.mutants(mutation(WRITING, marks.ids_are_counted, {"stored": _accepted() & fol.same(i, counted())})),
)
"""The theorem about writes."""

# Reading.

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


def view_reads(case: _Case) -> Structure | None:
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


@Ends
def samples_of_reads(system: AnySystem) -> Iterator[End]:
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
    view=view_reads,
    samples=samples_of_reads,
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
