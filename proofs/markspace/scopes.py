"""Write authorisation, isolation and visibility in a hierarchy of scopes of any size (P19 to P26 but P24).

A scope is a point below others: the scopes above one scope form a chain.  An agent's grants and the definitions of a
deployment are sets of scopes, of any number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import product
from typing import Any

from evenhand.core.system import AnySystem
from evenhand.model.markspace.guard_vocabulary import Policy
from evenhand.model.markspace.marks import (
    Agent,
    Draft,
    Kind,
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
from evenhand.properties.markspace import seeing, space
from evenhand.smt import logic as fol
from evenhand.smt.ends import End, Ends, ends_along
from evenhand.smt.preludes import Faults, define, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import structure
from evenhand.smt.theory import Axiom, Theory

PLACE = fol.Sort("Scope")
d, e, p, q, s = fol.variables(PLACE, "d e p q s")

above = fol.Relation("above", (PLACE, PLACE))
"""The first is the second scope itself, or a scope above it."""
asked = fol.Function("asked", (), PLACE)

TREE = (
    Axiom("a_scope_is_above_itself", fol.forall([s], above(s, s)), "7.5"),
    Axiom("above_goes_on", fol.forall([p, q, s], (above(p, q) & above(q, s)) >> above(p, s)), "7.5"),
    Axiom("above_is_no_circle", fol.forall([p, q], (above(p, q) & above(q, p)) >> fol.same(p, q)), "7.5"),
    Axiom(
        "levels_lie_in_line", fol.forall([p, q, s], (above(p, s) & above(q, s)) >> (above(p, q) | above(q, p))), "7.5"
    ),
)

# Writing (P23).

granted, granted_another = relations("granted granted_another", PLACE)
(begins,) = relations("begins", PLACE, PLACE)


def _covered(what: fol.Formula) -> fol.Formula:
    return fol.exists([p], what & above(p, asked()))


WRITING = Theory.of(
    "markspace_write_authorisation",
    granted_another,
    axioms=(*TREE, Axiom("names_below_begin_alike", fol.forall([p, s], above(p, s) >> begins(p, s)), "a mutant's")),
    definitions=(
        define("accepted", (), _covered(granted(p)), "7.3, 7.5"),
        define("stored", (), relations("accepted")[0](), "8.1: a write is stored or refused"),
    ),
)
_WRITES = Faults.of(
    WRITING,
    {
        marks.scopes_compared_as_text: {"accepted": fol.exists([p], granted(p) & begins(p, asked()))},
        marks.no_inheritance: {"accepted": granted(asked())},
        marks.everybody_writes: {"accepted": fol.TRUE},
        marks.any_kind_will_do: {"accepted": _covered(granted(p) | granted_another(p))},
    },
)

# Reading (P26).

defined, is_open, classified, cleared = relations("defined is_open classified cleared", PLACE)


def _governs(one: Any, other: Any) -> fol.Formula:
    nearer = (defined(e) & above(e, other)) >> above(e, one)
    return defined(one) & above(one, other) & fol.forall([e], nearer)


def _governed(what: fol.Relation, by: Any) -> fol.Formula:
    return fol.exists([d], _governs(d, by) & what(d))


def clear(at: Any) -> fol.Formula:
    """Return that the reader is cleared for a scope."""
    return fol.exists([p], cleared(p) & above(p, at))


def _views(cleared_: fol.Formula, is_shown: fol.Formula, is_hidden: fol.Formula) -> dict[str, fol.Formula]:
    """Return the definitions, given the cleared readers and where every reader sees everything, or nothing."""
    return {
        "sees_all": cleared_ | is_shown,
        "sees_none": ~cleared_ & ~is_shown & is_hidden,
        "sees_projections": ~cleared_ & ~is_shown & ~is_hidden,
    }


_open, _classified = _governed(is_open, asked()), _governed(classified, asked())
READING = Theory.of(
    "markspace_visibility",
    axioms=(
        *TREE,
        Axiom("finitely_many", fol.exists([d], _governs(d, asked())), "8.1: some definition, and one is the nearest"),
        Axiom("of_one_visibility", fol.forall([d], ~(is_open(d) & classified(d))), "7.4"),
    ),
    definitions=(
        *(define(name, (), body, "7.4, 7.5") for name, body in _views(clear(asked()), _open, _classified).items()),
        define("redacted", (), relations("sees_projections")[0](), "7.4: a projection has no content"),
    ),
)
_root = fol.forall([e], above(e, asked()) >> above(d, e))


def _at_the_root(what: fol.Relation) -> fol.Formula:
    return fol.exists([d], above(d, asked()) & _root & defined(d) & what(d))


_READS = Faults.of(
    READING,
    {
        marks.undefined_scopes_are_open: _views(clear(asked()), _open | ~defined(asked()), _classified),
        marks.root_governs: _views(clear(asked()), _at_the_root(is_open), _at_the_root(classified)),
        marks.clearance_not_inherited: _views(cleared(asked()), _open, _classified),
        marks.classified_falls_back: _views(clear(asked()), _open, fol.FALSE),
        marks.protected_is_open: _views(clear(asked()), ~_classified, _classified),
        marks.open_is_protected: _views(clear(asked()), fol.FALSE, _classified),
        marks.nothing_redacted: {"redacted": fol.FALSE},
    },
)

# Conformance.

NAMES = ("a", "a/b", "a/b/c", "ab", "c")


def _levels(name: str) -> list[str]:
    parts = name.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


def _tree(names: Iterable[str]) -> tuple[tuple[str, ...], frozenset[tuple[str, ...]]]:
    """Return the scopes with all their levels, and the pairs of which the first is, or lies above, the second."""
    known = tuple(sorted({level for name in names for level in _levels(name)}))
    return known, frozenset((one, other) for one in known for other in known if one in _levels(other))


def view_writing(step: SpaceStep) -> Structure | None:
    """Return a lawful draft for a defined scope, by an agent of the deployment, as a structure."""
    act, config = step.action, step.config
    if not isinstance(act, Write) or config.readings != Readings() or step.shown.refused not in ("", "not authorised"):
        return None
    if not set(_levels(act.draft.scope)) & {scope.name for scope in config.scopes}:
        return None
    agent = next((one for one in config.agents if one.name == act.agent), None)
    if agent is None:
        return None
    known, order = _tree((act.draft.scope, *(scope for scope, _ in agent.writes)))
    told = {
        "above": order,
        "granted": {scope for scope, kind in agent.writes if kind is act.draft.kind},
        "granted_another": {scope for scope, kind in agent.writes if kind is not act.draft.kind},
        "begins": [(one, other) for one in known for other in known if other.startswith(one)],
        "accepted": not step.shown.refused,
        "stored": step.after != step.before,
        "asked": act.draft.scope,
    }
    return structure({"Scope": known}, told)


def _organised(agents: tuple[Agent, ...], *scopes: ScopeDef) -> SpaceConfig:
    return SpaceConfig(agents, scopes, Readings(), hooks=(), capacity=1)


@Ends
def samples_of_writing(system: AnySystem) -> Iterator[End]:
    """Yield agents with one grant or two, asking for every scope, by any variant."""
    single = [(scope, kind) for scope in ("a", "a/b", "c") for kind in (Kind.OBSERVATION, Kind.WARNING)]
    holdings = [(), *((one,) for one in single), (("a", Kind.WARNING), ("c", Kind.OBSERVATION))]
    for grants in holdings:
        agents = (Agent("alice", frozenset(grants), frozenset()),)
        config = _organised(agents, *map(ScopeDef, ("a", "ab", "c")))
        for name in NAMES:
            yield from ends_along(system, config, Space(), Write("alice", Draft(Kind.OBSERVATION, name), 1))


def view_reading(step: SpaceStep) -> Structure | None:
    """Return a read by an agent of a scope that holds a mark, as a structure."""
    act, config = step.action, step.config
    if not isinstance(act, Read) or act.reader is None or step.shown.seen is None or config.readings != Readings():
        return None
    there = {mark.id for mark in step.before.marks if mark.draft.scope == act.scope}
    agent = next((one for one in config.agents if one.name == act.reader), None)
    shown = {seen.mark.id: seen.projected for seen in step.shown.seen}
    if not there or agent is None or (shown and set(shown) != there) or len(set(shown.values())) > 1:
        return None
    known, order = _tree((act.scope, *agent.reads, *(scope.name for scope in config.scopes)))
    told = {
        "above": order,
        "defined": [scope.name for scope in config.scopes],
        "is_open": [one.name for one in config.scopes if one.visibility is Visibility.OPEN],
        "classified": [one.name for one in config.scopes if one.visibility is Visibility.CLASSIFIED],
        "cleared": agent.reads,
        "sees_all": set(shown.values()) == {False},
        "sees_none": not shown,
        "sees_projections": set(shown.values()) == {True},
        "redacted": bool(shown) and not any(seen.mark.draft.content for seen in step.shown.seen),
        "asked": act.scope,
    }
    return structure({"Scope": known}, told)


def _deployment(top: Visibility, middle: Visibility | None, clearance: frozenset[str]) -> SpaceConfig:
    """Return a deployment: `a` as visible as `top`, `a/b` as `middle` or undefined; bob has `clearance`."""
    writer = Agent("alice", frozenset({("a", Kind.OBSERVATION)}), frozenset())
    scopes = [ScopeDef("a", top, policy=Policy.FIRST_WRITER)]
    if middle is not None:
        scopes.append(ScopeDef("a/b", middle))
    return _organised((writer, Agent("bob", frozenset(), clearance)), *scopes)


@Ends
def samples_of_reading(system: AnySystem) -> Iterator[End]:
    """Yield reads of a mark at every level, for every visibility and every level of clearance."""
    views = tuple(Visibility)
    for top, middle in product(views, (None, *views)):
        for clearance in (frozenset[str](), frozenset({"a"}), frozenset({"a/b/c"}), frozenset({"c"})):
            config = _deployment(top, middle, clearance)
            for scope in ("a/b", "a/b/c"):
                wrote = Write("alice", Draft(Kind.OBSERVATION, scope), 1)
                yield ends_along(system, config, Space(), wrote, Read("bob", scope))[-1]


_write = partial(
    theorem,
    system="space",
    theory=WRITING,
    view=view_writing,
    samples=samples_of_writing,
    scope="any number of scopes and grants",
)
_read = partial(
    theorem,
    system="space",
    theory=READING,
    view=view_reading,
    samples=samples_of_reading,
    scope="any number of scopes, clearances and definitions",
)

_accepted = WRITING.word("accepted")

INHERITED = _write(
    claim=space.hierarchy_p23,
    goal=fol.forall([p, q], (granted(p) & above(p, q) & above(q, asked())) >> _accepted)
    & (_accepted >> _covered(granted(p))),
    needs=("above_goes_on",),
    witness=fol.exists(
        [p, q], granted(p) & above(p, q) & above(q, asked()) & fol.differ(p, q) & fol.differ(q, asked())
    ),
    mutants=_WRITES.refuted(
        marks.scopes_compared_as_text, marks.no_inheritance, marks.everybody_writes, marks.any_kind_will_do
    ),
)

_below = above(q, asked()) & fol.differ(q, asked())
_nearest = fol.forall([e], (above(e, asked()) & fol.differ(e, asked())) >> above(e, q))
_parent = _views(clear(asked()), _governed(is_open, q), _governed(classified, q))

VISIBLE = _read(
    claim=space.visibility_inheritance_p26,
    variables=(q,),
    assumes=~defined(asked()) & _below & _nearest,
    goal=fol.conjunction(fol.iff(READING.word(name), seen) for name, seen in _parent.items())
    & (clear(q) >> READING.word("sees_all")),
    needs=("above_goes_on",),
    mutants=_READS.refuted(
        marks.undefined_scopes_are_open,
        marks.root_governs,
        marks.clearance_not_inherited,
        marks.classified_falls_back,
        marks.protected_is_open,
        marks.open_is_protected,
    ),
)


ISOLATED = _write(
    claim=space.scope_isolation_p19,
    assumes=~_covered(granted(p)),
    goal=~_accepted & ~WRITING.word("stored"),
    witness=fol.exists([p], granted(p)),
    mutants=(
        *_WRITES.refuted(marks.scopes_compared_as_text, marks.everybody_writes, marks.any_kind_will_do),
        _WRITES.unseen(marks.no_inheritance, "it refuses more than it should"),
    ),
)
"""P19."""

_protected = ~_open & ~_classified
_cleared = clear(asked())
_all, _none, _projections = (READING.word(name) for name in ("sees_all", "sees_none", "sees_projections"))
VISIBLE_TO_ALL = _read(
    claim=seeing.structural_visibility_p20,
    sentence="Where an open definition governs, every agent sees the marks in full; where a protected one does, every "
    "agent sees every mark.",
    goal=(_open >> _all) & (_protected >> ~_none),
    witness=_protected & ~_cleared,
    mutants=(
        *_READS.refuted(marks.open_is_protected, marks.root_governs),
        _READS.unseen(marks.protected_is_open, "it shows more than it should"),
    ),
)
"""P20, for agents; infrastructure has no clearance to be asked for."""

CONTENT = _read(
    claim=seeing.content_access_p21,
    sentence="Where a protected definition governs, no cleared agent gets projections, and others see none but those, "
    "without content.",
    assumes=_protected,
    goal=(_cleared >> ~_projections) & (~_cleared >> (~_all & (_projections >> READING.word("redacted")))),
    witness=_cleared,
    mutants=(
        *_READS.refuted(
            marks.nothing_redacted,
            marks.protected_is_open,
            marks.clearance_not_inherited,
            marks.undefined_scopes_are_open,
        ),
        _READS.unseen(marks.classified_falls_back, "nothing here is classified"),
    ),
)
"""P21."""

OPAQUE = _read(
    claim=seeing.classified_opacity_p22,
    assumes=_classified & ~_cleared,
    goal=_none,
    needs=("of_one_visibility", "above_is_no_circle"),
    mutants=(
        *_READS.refuted(marks.classified_falls_back, marks.undefined_scopes_are_open, marks.root_governs),
        _READS.unseen(marks.protected_is_open, "nothing here is protected"),
    ),
)
"""P22."""

UNPROJECTED = _read(
    claim=seeing.classified_no_fallback_p25,
    assumes=_classified,
    goal=~_projections,
    witness=_cleared,
    mutants=(
        *_READS.refuted(marks.classified_falls_back, marks.root_governs),
        _READS.unseen(marks.undefined_scopes_are_open, "what is open is no projection"),
    ),
)
"""P25."""
