"""Pipelines, manifests and patterns, for any number of agents, outputs, inputs and permissions (P53 to P55, §13)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise

from evenhand.core.system import AnySystem
from evenhand.model.markspace.composing import initial
from evenhand.model.markspace.composing_vocabulary import (
    ComposingConfig,
    ComposingStep,
    Manifest,
    Pattern,
    Pipeline,
    Publish,
)
from evenhand.model.markspace.marks import Kind
from evenhand.model.markspace.mutants import layers
from evenhand.model.markspace.readings import Readings
from evenhand.proofs.markspace.stating import theorem
from evenhand.properties.markspace import composing
from evenhand.properties.markspace.composing_predicates import under
from evenhand.smt.ends import End, Ends, ends_along
from evenhand.smt.logic import Formula, Relation, Sort, exists, forall, iff, variables
from evenhand.smt.preludes import Twice, define, mutation
from evenhand.smt.structure import Structure
from evenhand.smt.tables import beside, structure
from evenhand.smt.theory import Axiom, Theory

STAGE, OUTPUT, INPUT, GRANT = Sort("Stage"), Sort("Output"), Sort("Input"), Sort("Grant")
s, r = variables(STAGE, "s r")
o, i, g = OUTPUT("o"), INPUT("i"), GRANT("g")

follows = Relation("follows", (STAGE, STAGE))
gives, wants, holds = (
    Relation("gives", (STAGE, OUTPUT)),
    Relation("wants", (STAGE, INPUT)),
    Relation("holds", (STAGE, GRANT)),
)
takes, covers, begins = (
    Relation("takes", (INPUT, OUTPUT)),
    Relation("covers", (GRANT, OUTPUT)),
    Relation("begins", (GRANT, OUTPUT)),
)
written = Relation("written", ())
"""The space holds a mark: no manifest says so, and a mutant depends on it."""


def _linked(how: Formula) -> Formula:
    return forall([s, r], follows(r, s) >> how)


_feeds = exists([o, i], gives(s, o) & wants(r, i) & takes(i, o))
_permitted = exists([g], holds(s, g) & covers(g, o))
PIPELINE = Theory.of(
    "markspace_pipeline",
    written,
    axioms=(Axiom("what_covers_begins_alike", forall([g, o], covers(g, o) >> begins(g, o)), "a mutant's"),),
    definitions=(
        define("connected", (), _linked(_feeds), "13.5"),
        define("overpromises", (s,), exists([o], gives(s, o) & ~_permitted), "13.5, P54"),
    ),
)
TWICE = Twice.apart(PIPELINE, written.name)

# Conformance: pipelines.


def _said(scope: str, kind: str) -> str:
    return f"{scope} {kind}"


def view(taken: ComposingStep) -> Structure | None:
    """Return the validation of a pipeline, each agent in it once, as a structure."""
    act, config = taken.action, taken.config
    if not isinstance(act, Pipeline) or len(set(act.agents)) < len(act.agents):
        return None
    known = dict(config.agents)
    manifests = {name: known.get(name) or Manifest() for name in act.agents}
    outputs = {one for each in manifests.values() for one in each.outputs}
    grants = {one for each in manifests.values() for one in each.permitted}
    inputs = {one for each in manifests.values() for one in each.inputs}
    spoken = {one: _said(one[0], one[1].value) for one in outputs | grants}
    heard = {one: _said(one.scope, one.kind or "any") for one in inputs}

    told = {
        "follows": [(two, one) for one, two in pairwise(act.agents)],
        "gives": [(name, spoken[one]) for name, each in manifests.items() for one in each.outputs],
        "wants": [(name, heard[one]) for name, each in manifests.items() for one in each.inputs],
        "holds": [(name, spoken[one]) for name, each in manifests.items() for one in each.permitted],
        "takes": [
            (heard[one], spoken[out])
            for one in inputs
            for out in outputs
            if under(one.scope, out[0]) and one.kind in ("", out[1].value)
        ],
        "covers": [
            (spoken[one], spoken[out])
            for one in grants
            for out in outputs
            if one[1] is out[1] and under(one[0], out[0])
        ],
        "begins": [(spoken[one], spoken[out]) for one in grants for out in outputs if out[0].startswith(one[0])],
        "written": bool(taken.before.marks),
        "connected": bool(taken.shown.connected),
        "overpromises": taken.shown.overpromised,
    }
    universe = {
        "Stage": act.agents,
        "Output": sorted(spoken[one] for one in outputs),
        "Input": sorted(heard.values()),
        "Grant": sorted(spoken[one] for one in grants),
    }
    return structure(universe, told)


view_twice = beside(view, "written", "connected", "overpromises")
"""One pipeline, validated in two spaces."""


_SOURCE = Manifest((), (("a/b", Kind.OBSERVATION),), (("a", Kind.OBSERVATION),))
_SINK = Manifest((Pattern("a", Kind.OBSERVATION.value),), (("c", Kind.NEED),), (("c", Kind.WARNING),))
_DEAF = Manifest((Pattern("ab"), Pattern("a", Kind.WARNING.value)), (("a", Kind.NEED), ("ab", Kind.NEED)), ())
_MANY = Manifest((Pattern("c"), Pattern("x")), (("c", Kind.WARNING), ("x/y", Kind.NEED)), (("x", Kind.NEED),))


def _config() -> ComposingConfig:
    named = {"source": _SOURCE, "sink": _SINK, "deaf": _DEAF, "many": _MANY, "silent": None}
    return ComposingConfig(tuple(named.items()), Readings(), capacity=3)


@Ends
def samples(system: AnySystem) -> Iterator[End]:
    """Yield pipelines of one, two and three agents, before and after a mark was written, by any variant."""
    config = _config()
    two = [(one, other) for one in config.names for other in config.names if one != other]
    for names in (*((one,) for one in config.names), *two, ("source", "sink", "many"), ("many", "sink", "source")):
        for before in ((), (Publish("source", "a"),)):
            yield ends_along(system, config, initial(config)[0], *before, Pipeline(names))[-1]


_theorem = partial(
    theorem,
    system="composing",
    scope="any number of agents, outputs, inputs, grants and patterns",
)

_UNWRITTEN: dict[str, Formula] = {"connected": _linked(written() & _feeds)}
_ANYHOW: dict[str, Formula] = {"connected": _linked(exists([o], gives(s, o)) & exists([i], wants(r, i)))}
_BY_SCOPE: dict[str, Formula] = {"overpromises": exists([o], gives(s, o) & ~exists([g], holds(s, g) & begins(g, o)))}

STRUCTURAL = _theorem(
    claim=composing.pipeline_structural_validation_p53,
    theory=TWICE.theory,
    view=view_twice,
    samples=samples,
    goal=TWICE.alike("connected"),
    witness=written() & ~TWICE.second("written") & exists([s, r], follows(r, s)),
    mutants=TWICE.mutants(
        mutation(PIPELINE, layers.pipelines_need_marks, _UNWRITTEN),
        mutation(PIPELINE, layers.pipelines_connect_anyhow, _ANYHOW, "wrong, but of the manifests alone"),
    ),
)

HONEST = _theorem(
    claim=composing.manifest_permission_consistency_p54,
    sentence="Exactly those are reported that promise an output which no permission of theirs covers.",
    source="P54, 13.5",
    theory=PIPELINE,
    view=view,
    samples=samples,
    variables=(s,),
    goal=iff(forall([o], gives(s, o) >> _permitted), ~PIPELINE.word("overpromises", s)),
    witness=exists([s, g], holds(s, g) & PIPELINE.word("overpromises", s)),
    mutants=(
        mutation(PIPELINE, layers.kinds_not_compared, _BY_SCOPE),
        mutation(PIPELINE, layers.pipelines_connect_anyhow, _ANYHOW, "permissions are looked at as they should be"),
    ),
)
