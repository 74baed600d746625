"""Some artefact permits an action unless the situation is blocked, for any number of actions and preferences.

The artefact that helps authorises what an action with fewest violations violates, requires everything else, and
declares a pair that every feasible action meets, if anything is authorised.  It permits at once, so all states have
one rank.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from evenhand.core.system import System
from evenhand.core.trace import Scenario
from evenhand.model.apcm.generators import artifact_of
from evenhand.model.apcm.menus import action_names, every_situation, preference_names
from evenhand.model.apcm.mutants import rules
from evenhand.model.apcm.step import ApcmStep
from evenhand.model.apcm.systems import RUN
from evenhand.model.apcm.vocabulary import Act, Config, Fields, Situation, State, Submit
from evenhand.proofs.apcm.compiling import (
    ACT,
    FAULTS,
    PAIR,
    PREF,
    TEXT,
    av,
    declared,
    feasible,
    first,
    linked,
    maintain,
    rp,
    second,
    violates,
    word,
)
from evenhand.proofs.apcm.encoding import pair, scene, view_text
from evenhand.proofs.apcm.samples import PAST, SITUATIONS
from evenhand.properties.apcm.deadlock import some_artifact_permits_unless_blocked
from evenhand.properties.apcm.predicates import covering, violations
from evenhand.smt.logic import Function, conjunction, differ, exists, forall, iff, same, variables
from evenhand.smt.preludes import relations
from evenhand.smt.ranking import Ranking
from evenhand.smt.structure import Structure
from evenhand.smt.tables import structure
from evenhand.smt.theorem import Lemma, Theorem
from evenhand.smt.theory import Axiom

# The artefact that helps.


def _least(situation: Situation) -> str:
    """Return a feasible action with fewest violations."""
    found = violations(situation)
    return min(found, key=lambda action: (len(found[action]), action))


def _cover(config: Config, situation: Situation) -> tuple[str, ...]:
    """Return a pair that meets what every feasible action violates, if there is one."""
    found = covering(config, violations(situation))
    return tuple(sorted(found[0])) if found else config.preferences[:2]


def _helps(config: Config, state: State) -> Submit:
    situation = config.published(state)
    bad = violations(situation)[_least(situation)]
    kept = tuple(p for p in config.preferences if p not in bad)
    fields = Fields(tuple(sorted(bad)), kept, (_cover(config, situation),) if bad else ())
    return Submit(artifact_of(fields, state.previous))


# The theory.

a, b = variables(ACT, "a b")
p, q = variables(PREF, "p q")
g = PAIR("g")
chosen, cover = Function("chosen", (), ACT), Function("cover", (), PAIR)
helps, arrives = relations("helps arrives")
"""The submission is the artefact that helps; the one that helps before, and after, is on offer."""

_meets_all = forall([b], feasible(b) >> (violates(b, p) | violates(b, q)))
_some_cover = exists([p, q], differ(p, q) & _meets_all)
JUSTIFYING = replace(
    TEXT,
    name="apcm_justifying",
    functions=(*TEXT.functions, chosen, cover),
    relations=(*TEXT.relations, helps, arrives),
    axioms=(
        *TEXT.axioms,
        Axiom("an_action_violates_least", exists([b], feasible(b)) >> word("minimal", chosen()), "of finitely many"),
        Axiom(
            "the_cover_covers",
            _some_cover >> forall([b], feasible(b) >> (violates(b, first(cover())) | violates(b, second(cover())))),
            "6.2: of the pairs one that is true",
        ),
        Axiom(
            "the_artefact_that_helps",
            helps()
            >> conjunction(
                [
                    linked(),
                    ~maintain(),
                    forall([p], iff(av(p), violates(chosen(), p)) & iff(rp(p), ~violates(chosen(), p))),
                    forall([g], iff(declared(g), same(g, cover()) & exists([q], av(q)))),
                ]
            ),
            "3, 6: as the agent should write it",
        ),
        Axiom("any_artefact_may_arrive", arrives(), "3: artefacts come from outside"),
    ),
)


def view(step: ApcmStep) -> Structure | None:
    """Return a submission with the artefact that would help; None outside the theory of a compile."""
    found, config, before = view_text(step), step.config, step.before
    if found is None:
        return None
    situation = config.published(before)
    wanted = _wants(config, before)
    told = _cover(config, situation) if situation.feasible else config.preferences[:2]
    more = structure(
        {"Pair": dict.fromkeys((*found.universe["Pair"], pair(told)))},
        {
            "member": found.relations["member"] | {(pair(told), one) for one in told},
            "helps": wanted and step.action == _helps(config, before),
            "arrives": _on_offer(config, before) and _on_offer(config, step.after),
            **{name: {**found.functions[name], pair(told): told[n]} for n, name in enumerate(("first", "second"))},
            "chosen": _least(situation) if situation.feasible else config.actions[0],
            "cover": pair(told),
        },
    )
    return Structure(
        {**found.universe, **more.universe},
        {**found.relations, **more.relations},
        {**found.functions, **more.functions},
    )


def _wants(config: Config, state: State) -> bool:
    return some_artifact_permits_unless_blocked.wants(config, state)


def _on_offer(config: Config, state: State) -> bool:
    """Return whether what helps is on offer where something is wanted."""
    return not _wants(config, state) or _helps(config, state) in RUN.enabled(config, state)


def stuck(case: Structure) -> Scenario[Config, State, Act] | None:
    """Return a run to the state before the submission; a previous artefact is one that would permit nothing there."""
    found = scene(case)
    if found is None:
        return None
    earlier = found.actions[:-1]
    if earlier:
        config = found.config
        registry = config.preferences
        aimless = Fields(registry[:1], (), (registry[:2],)) if _spotless(config) else Fields((), registry, ())
        earlier = (Submit(artifact_of(aimless, None)),)
    return replace(found, actions=earlier)


def _spotless(config: Config) -> bool:
    """Return whether some action of the last situation violates nothing."""
    return not all(violations(config.situations[-1]).values())


@cache
def _starts() -> tuple[tuple[Config, State, Act], ...]:
    two, three = preference_names(2), preference_names(3)
    every = tuple((two, one) for one in every_situation(action_names(2), two))
    wide = ((three, one) for one in every_situation(action_names(2), three))
    found: list[tuple[Config, State, Act]] = []
    for preferences, published in (*SITUATIONS, *every, *tuple(wide)[::5]):
        config = Config(action_names(3), preferences, (published,), steps=2)
        for state in (State(), State(1, PAST[0])):
            help_ = _helps(config, state)
            found.append((config, state, help_))
        found.append((config, State(), Submit(artifact_of(Fields(preferences[:1], (), ()), None))))
    return tuple(found)


def samples(system: System[Any, Any, Any, Any, Any]) -> Iterator[ApcmStep]:
    """Yield what helps in small situations, with and without a previous artefact, and what does not."""
    yield from (system.take(*one) for one in _starts())


_clean = exists([b], word("clean", b))
_unblocked = exists([b], feasible(b)) & (_clean | _some_cover)
PERMITTED = Theorem(
    claim=some_artifact_permits_unless_blocked,
    protocol="apcm",
    system="universe",
    theory=JUSTIFYING,
    ranking=Ranking(rank=lambda _config, _state: 0, helps=_helps),
    assumes=_unblocked,
    goal=arrives() & (helps() >> exists([a], word("permitted", a))),
    needs=(
        "an_action_violates_least",
        "the_cover_covers",
        "the_artefact_that_helps",
        "any_artefact_may_arrive",
        "collisions_are_pairs",
    ),
    lemmas=(
        Lemma("what_it_authorises_is_needed", helps() >> forall([p], ~word("gratuitous", p))),
        Lemma("what_is_clean_needs_no_authority", (helps() & _clean) >> forall([q], ~av(q))),
        Lemma(
            "what_it_declares_is_true",
            (_unblocked & helps()) >> forall([g], ~word("false_pair", g)),
            uses=("what_is_clean_needs_no_authority",),
            opaque=("clean", "minimal"),
        ),
        Lemma(
            "it_compiles",
            (_unblocked & helps()) >> word("compiles"),
            uses=("what_it_authorises_is_needed", "what_it_declares_is_true"),
            opaque=("gratuitous", "false_pair", "minimal", "clean"),
        ),
        Lemma("the_chosen_is_feasible", exists([b], feasible(b)) >> feasible(chosen())),
        Lemma(
            "the_chosen_is_permitted",
            (_unblocked & helps()) >> word("permitted", chosen()),
            uses=("the_chosen_is_feasible", "it_compiles"),
            opaque=("compiles", "minimal", "clean"),
        ),
    ),
    opaque=("permitted", "compiles", "minimal", "clean"),
    witness=helps() & exists([q], av(q)),
    view=view,
    realise=stuck,
    samples=samples,
    scope="any number of actions and of two or more preferences",
    mutants=(
        *FAULTS.refuted(rules.rule_2_asks_for_both, rules.necessity_ignores_preservations),
        *FAULTS.refuted(rules.rule_1_inverted, rules.revise_is_bound),
        FAULTS.unseen(rules.rule_2_dropped, "what is declared is true"),
    ),
)
"""The theorem about the artefact that helps."""
