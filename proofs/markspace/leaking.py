"""Writing keeps two spaces apart that differ in marks which a reader may not see (7.4, 8.1), for any number of marks.

The second space is the first without the hidden marks.  What is stored is known by its id; whether a write is lawful
does not depend on the space.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TypeAlias

from evenhand.core.system import AnySystem
from evenhand.model.markspace.marks import (
    Agent,
    Draft,
    Kind,
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
from evenhand.properties.markspace.leaking import purged, writes_do_not_leak
from evenhand.properties.markspace.space_predicates import hidden_from
from evenhand.smt import logic as fol
from evenhand.smt.ends import End, Ends, ends_along
from evenhand.smt.preludes import Twice, define, mutation, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import structure
from evenhand.smt.theory import Axiom, Theory

_Case: TypeAlias = tuple[str, SpaceStep, SpaceStep | None]

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
    """Return a write in both spaces; None where what the reader may see differs in more than ids."""
    reader, step, other = case
    act, config = step.action, step.config
    if not isinstance(act, Write) or other is None or config.readings != Readings():
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


_OPEN, _SECRET = ScopeDef("a"), ScopeDef("c", Visibility.CLASSIFIED)
_WRITER = Agent("alice", frozenset({("a", Kind.OBSERVATION), ("c", Kind.OBSERVATION)}), frozenset({"c"}))
_CONFIG = SpaceConfig(
    (_WRITER, Agent("bob", frozenset(), frozenset())), (_OPEN, _SECRET), Readings(), hooks=(), capacity=3
)


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
