"""The words of the two passes are read from the kernel: what is read is what the functions say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evenhand.model.cud.kernel import REFERENCE, Bound, Finding, Moment, Rules
from evenhand.model.cud.mutants import mutant
from evenhand.model.cud.mutants.arbitration import Collide
from evenhand.model.cud.readings import Readings
from evenhand.model.cud.vocabulary import ALLOW, DENY, DONE, FAILURE, READ, Authority, Config, Request
from evenhand.proofs.cud.definitions import BY_HAND, FAULTS, OUTSIDE
from evenhand.proofs.cud.epoch import EPOCH, FAILURE_FIRST, KERNEL
from evenhand.proofs.cud.rules import read, told
from evenhand.proofs.cud.samples import WORLDS
from evenhand.smt.smtlib import show
from evenhand.source.refusal import Unreadable
from evenhand.source.validation import Mistranslated
from tests.deep import rest_slow
from tests.proofs.cud.comparing import Compared, compare

SITUATIONS = WORLDS.every(Readings()), WORLDS.drawn(Readings())
DRAWN = SITUATIONS[1]


def _compared(rules: Rules) -> Compared:
    """The reference's functions beside words read from other rules."""
    theory = EPOCH.redefined([EPOCH.means(name, body, "planted") for name, body in read(rules).items()])
    return compare(REFERENCE, theory, DRAWN)


def test_the_kernel_says_what_its_words_say() -> None:
    """Under both orders of faults; on the drawn situations every word is true and false."""
    small = compare(REFERENCE, EPOCH, SITUATIONS[0])
    assert small.situations >= 1_000 and small.seen.keys() | {"interferes"} == KERNEL.keys()
    for theory, readings in ((EPOCH, Readings()), (FAILURE_FIRST, Readings(fault_precedence="failure_first"))):
        found = compare(REFERENCE, theory, WORLDS.drawn(readings))
        assert found.values > 5_000 and found.seen == {name: {True, False} for name in KERNEL}
    with pytest.raises(Mistranslated, match="struck of"):
        compare(REFERENCE, FAILURE_FIRST, DRAWN)


@pytest.mark.slow
def test_most_mutants_are_read_from_their_own_functions() -> None:
    """Each agrees with the executable mutant; so does each that is written by hand."""
    assert len(FAULTS) - len(BY_HAND) >= 40 and not set(BY_HAND) & set(OUTSIDE)
    for one, definitions in FAULTS.items():
        assert compare(one.rules, EPOCH.redefined(definitions), DRAWN[::3]).situations >= 100


def _other_holder(authorities: tuple[Authority, ...], bound: Bound) -> bool:
    return any(one.holder_agent_id != bound.agent for one in authorities if one.commitment == DENY)


def _uncited(authorities: tuple[Authority, ...], bound: Bound) -> bool:
    request = bound.request
    return all(
        any(
            one.commitment == ALLOW and one.holder_agent_id == bound.agent and one.governs(key, request.action_type)
            for one in authorities
        )
        for key in request.declared_scope
    )


def _some_key(authorities: tuple[Authority, ...], bound: Bound) -> bool:
    return any(
        one.commitment == ALLOW and one.holder_agent_id == bound.agent and one.governs(key, bound.request.action_type)
        for one in authorities
        for key in bound.request.declared_scope
    )


def _no_type(config: Config, bound: Bound) -> str:
    return "" if any(key in config.keys for key in bound.request.declared_scope) else "no key"


def _nothing(_authorities: tuple[Authority, ...], _bound: Bound) -> bool:
    return False


def _anything(one: Request, _other: Request) -> bool:
    return bool(one.declared_scope)


def _everybody(_config: Config, _now: Moment, contenders: tuple[Bound, ...], _collide: Collide) -> tuple[str, ...]:
    return tuple(one.agent for one in contenders)


def _nobody(_config: Config, _now: Moment, _contenders: tuple[Bound, ...], _collide: Collide) -> tuple[str, ...]:
    return ()


def _somebody(config: Config, _now: Moment, _contenders: tuple[Bound, ...], _collide: Collide) -> tuple[str, ...]:
    return config.agents


WRONG = {
    "a veto of whatever key": replace(REFERENCE, vetoed=_other_holder),
    "an ALLOW that is not cited": replace(REFERENCE, covers=_uncited),
    "an ALLOW for some key": replace(REFERENCE, covers=_some_key),
    "only one key is looked at": replace(REFERENCE, malformed=_no_type),
    "nothing is foreign": replace(REFERENCE, foreign=_nothing),
    "readers interfere": replace(REFERENCE, interfere=_anything),
    "all are refused": replace(REFERENCE, refuse=_everybody),
    "none is refused": replace(REFERENCE, refuse=_nobody),
    "whoever submits contends": mutant("pass_two_over_all").rules,
    "whenever made": mutant("late_authority_honoured").rules,
}


@pytest.mark.parametrize("name", rest_slow(WRONG, 3))
def test_words_of_other_rules_are_caught(name: str) -> None:
    """Planted: what is read of one kernel, compared with another."""
    with pytest.raises(Mistranslated, match="the function says"):
        _compared(WRONG[name])


def test_rules_that_look_at_the_unknown_are_refused() -> None:
    """A text that no rule names stands for all such texts, so it equals none of them."""

    def deletes(_authorities: tuple[Authority, ...], bound: Bound) -> bool:
        return bound.request.action_type == "DELETE"

    with pytest.raises(Unreadable, match=r"test_rules.py.*unknown value is 'DELETE'"):
        read(replace(REFERENCE, vetoed=deletes))
    with pytest.raises(Unreadable, match=r"validity.py.*now.history"):
        read(mutant("exit_keeps_a_lock").rules)
    with pytest.raises(Unreadable, match="refused is somebody else"):
        read(replace(REFERENCE, refuse=_somebody))


def test_tokens_are_tried_on_every_fate() -> None:
    """And must depend on the fate alone."""
    usual = {name: show(one) for name, one in told(REFERENCE).items()}
    assert usual["gets_failure"] == "(or (collides r) (and (refused r) (not (collides r))))"
    assert usual["gets_more"] == "false"
    assert show(told(mutant("token_tells_the_pass").rules)["gets_more"]) == "(collides r)"

    def by_code(finding: Finding | None) -> str:
        return DONE if finding is not None and finding.fault == "MALFORMED_REQUEST" else FAILURE

    with pytest.raises(Unreadable, match="two requests of one fate"):
        told(replace(REFERENCE, token=by_code))

    def by_request(finding: Finding | None) -> str:
        return DONE if finding is not None and finding.bound.request.action_type == READ else FAILURE

    with pytest.raises(Unreadable, match=r"test_rules.py.*Finding has no field bound"):
        told(replace(REFERENCE, token=by_request))


def test_words_are_short_and_the_same_in_every_process() -> None:
    """The names of bound variables count nothing that ran before."""
    assert read(REFERENCE) == KERNEL
    assert show(KERNEL["interferes"]) == (
        "(and (not (and (reads r) (reads s))) (exists ((key1 Key)) (and (scope r key1) (scope s key1))))"
    )
    assert show(KERNEL["collides"]) == (
        "(and (contends r) (exists ((act1 Act)) (and (contends act1) (not (= r act1)) (interferes r act1))))"
    )
