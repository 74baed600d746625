"""The claims' own predicates: independent of the kernel, and in agreement with it on all small cases."""

from __future__ import annotations

import ast
import inspect
import itertools
from collections import Counter
from dataclasses import replace
from typing import Any

import evenhand.properties.cud as package
from evenhand.core.property import EachStep
from evenhand.core.registry import find
from evenhand.core.system import Step
from evenhand.model.cud.kernel import ADMITTED, MALFORMED_REQUEST, REFERENCE, Bound, action_id, examine
from evenhand.model.cud.protocol import CUD
from evenhand.model.cud.run_system import every_request, malformed_requests
from evenhand.model.cud.step import ended, initial, moment, orphaned
from evenhand.model.cud.vocabulary import DONE, FAILURE, FAULT, IDLE, WRITE, Choice, Epoch, Request
from evenhand.properties.cud import arbitration, blindness, history, liveness, predicates, reach, safety
from evenhand.properties.cud.predicates import facts, interfering, is_over, orphans, standing
from evenhand.properties.cud.scenes import cited


def test_claims_never_import_the_kernel() -> None:
    """A mutant must not be judged by its own rules: no rules, no step, no mutants; the classifier in one place."""
    forbidden = ("kernel", "step", "mutants", "free", "play", "strategies", "classify")
    assert package.CLAIMS.claims
    for module in (predicates, safety, arbitration, blindness, history, liveness, reach):
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("evenhand.model.cud."):
                assert node.module.rsplit(".", 1)[1] not in forbidden, (module.__name__, node.module)


def test_standing_agrees_with_the_reference() -> None:
    """Every request of every layout of one agent and one key, and some of the larger universe: both answers occur."""
    seen: Counter[str] = Counter()
    for scope, every in (({"agents": 1, "keys": 1}, 1), ({"agents": 2, "keys": 2}, 97)):
        for config in itertools.islice(CUD.systems["universe"].at(**scope).all_configs(), 0, None, every):
            now = moment(REFERENCE, config, initial(config)[0])
            agent = config.agents[0]
            for request in (*every_request(config, agent), *malformed_requests(config, agent).values()):
                found = examine(
                    REFERENCE, config, config.authorities, Bound(agent, action_id(agent, now.epoch), request)
                )
                mine = standing(config, now.epoch, agent, request)
                assert mine.passes == (found.verdict == ADMITTED)
                assert mine.malformed == (found.fault == MALFORMED_REQUEST)
                seen[f"{found.verdict} {found.fault}"] += 1
    assert len(seen) == 4 and min(seen.values()) > 20


def test_interference_and_orphans_agree_with_the_reference() -> None:
    """On every pair of requests, and on every state of the small runs."""
    config = next(iter(CUD.systems["run"].all_configs()))
    requests = list(every_request(config, config.agents[0]))
    answers = Counter(interfering(a, b) for a, b in itertools.product(requests, repeat=2))
    assert all(interfering(a, b) == REFERENCE.interfere(a, b) for a, b in itertools.product(requests, repeat=2))
    assert min(answers.values()) > 20
    system = CUD.systems["run"].at(epochs=1, keys=1)
    for rule in ("no", "only_if_nothing_left", "at_once"):
        lost = 0
        for config in system.under(orphan_ends_run=rule).all_configs():
            start = initial(config)[0]
            for action in system.enabled(config, start):
                after = system.take(config, start, action).after
                assert orphans(config, after) == orphaned(config, after)
                assert is_over(config, after) == ended(config, after)
                lost += bool(orphans(config, after))
        assert lost


def _steps(**scope: int) -> Any:
    system = CUD.systems["universe"].at(**scope)
    for config in system.all_configs():
        start = initial(config)[0]
        for action in system.enabled(config, start):
            yield system.take(config, start, action)


def test_the_memory_of_facts_is_never_stale() -> None:
    """The same facts in any order of queries, and for equal steps made of other objects."""
    system = CUD.systems["universe"].at(agents=2, keys=1)
    configs = list(system.all_configs())[10::20]
    steps = [
        system.take(config, initial(config)[0], action)
        for config in configs
        for action in itertools.islice(system.enabled(config, initial(config)[0]), 0, None, 7)
    ]
    forth = [facts(step) for step in steps]
    back = [facts(step) for step in reversed(steps)]
    assert forth == back[::-1]
    assert len({known.done for known in forth}) > 1


def test_the_claims_determine_the_tokens() -> None:
    """Of all assignments of tokens the claims together allow exactly the reference's: they determine the kernel.

    Checked on every epoch of one agent, and of two on one key, with the log's verdict and fault free to vary too.
    """
    names = (
        "executed_has_capability",
        "no_veto_overridden",
        "no_winner",
        "no_over_refusal",
        "no_outcome_unasked",
        "malformed_is_a_fault",
        "foreign_citation_is_a_fault",
        "log_names_the_true_pass",
        "bare_tokens",
    )
    claims = [claim for claim in find("cud").claims if claim.name in names and isinstance(claim, EachStep)]
    assert len(claims) == len(names)
    looked = 0
    for step in itertools.islice(_steps(agents=2, keys=1), 0, None, 101):
        asked = [agent for agent, _ in step.shown.tokens]
        kept = 0
        for tokens in itertools.product((DONE, FAILURE, FAULT, IDLE), repeat=len(asked)):
            told = dict(zip(asked, tokens, strict=True))
            log = tuple(replace(entry, outcome=told[entry.agent_id]) for entry in step.shown.log)
            shown = replace(step.shown, tokens=tuple(told.items()), log=log)
            other = Step(step.config, step.before, step.action, shown, step.after)
            if all(not claim.when(other) or claim.check(other) for claim in claims):
                kept += 1
                assert shown == step.shown
        assert kept == 1
        looked += 1
    assert looked > 100


def test_contested_needs_two_that_pass() -> None:
    """A request that fails pass 1 contests nothing."""
    system = CUD.systems["run"].at(keys=1, epochs=1)
    config = list(system.all_configs())[1]
    key = config.keys[0]
    honest = {name: Choice(Request(WRITE, (key,), (), cited(config, name, (key,), WRITE))) for name in config.agents}
    bare = Choice(Request(WRITE, (key,), (), ()))
    start = initial(config)[0]
    both = system.take(config, start, Epoch(tuple(honest.items())))
    assert facts(both).contested == config.agents
    one = system.take(config, start, Epoch((("agent_1", honest["agent_1"]), ("agent_2", bare))))
    assert facts(one).contested == ()
    assert [ask.agent for ask in facts(one).done] == ["agent_1"]
