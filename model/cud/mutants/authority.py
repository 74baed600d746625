"""Faults of capability and veto: acting without authority, or against a DENY (FQ27, FQ28, FQ33)."""

from __future__ import annotations

from dataclasses import replace

from evenhand.core.system import Mutant, Scope
from evenhand.model.cud.kernel import REFERENCE, Bound, Moment, Rules
from evenhand.model.cud.mutants.declare import ALONE, ALONE_TWICE, ONE, PAIR, RELAXED_FROM, TWICE, declare
from evenhand.model.cud.vocabulary import ALLOW, DENY, WRITE, Authority, Config, Request

__all__ = ["AUTHORITY"]


def _adopt_agent_id(agent: str, action: str, request: Request) -> Bound:
    return Bound(request.agent_id or agent, action, request)


def _never(_authorities: tuple[Authority, ...], _bound: Bound) -> bool:
    return False


def _always_covered(_authorities: tuple[Authority, ...], _bound: Bound) -> bool:
    return True


def _honest_covers(authorities: tuple[Authority, ...], bound: Bound, *, cited: tuple[str, ...]) -> bool:
    """The honest coverage check on other citations."""
    return REFERENCE.covers(authorities, replace(bound, request=replace(bound.request, authorities_cited=cited)))


def _covered_uncited(authorities: tuple[Authority, ...], bound: Bound) -> bool:
    """Holding an ALLOW is enough, it need not be cited."""
    return _honest_covers(authorities, bound, cited=tuple(one.authority_id for one in authorities))


def _covered_by_anyone(authorities: tuple[Authority, ...], bound: Bound) -> bool:
    """A cited ALLOW counts whatever its holder."""
    return REFERENCE.covers(tuple(replace(one, holder_agent_id=bound.agent) for one in authorities), bound)


def _covered_by_any_key(authorities: tuple[Authority, ...], bound: Bound) -> bool:
    return any(
        REFERENCE.covers(authorities, replace(bound, request=replace(bound.request, declared_scope=(key,))))
        for key in bound.request.declared_scope
    )


def _any_held_allow_covers(authorities: tuple[Authority, ...], bound: Bound) -> bool:
    return any(
        one.commitment == ALLOW
        and one.holder_agent_id == bound.agent
        and one.authority_id in bound.request.authorities_cited
        for one in authorities
    )


def _deny_of_read_ignored(authorities: tuple[Authority, ...], bound: Bound) -> bool:
    return bound.request.action_type == WRITE and REFERENCE.vetoed(authorities, bound)


def _deny_binds_its_holder(authorities: tuple[Authority, ...], bound: Bound) -> bool:
    return REFERENCE.vetoed(tuple(one for one in authorities if one.holder_agent_id == bound.agent), bound)


def _unchecked(config: Config, _now: Moment) -> tuple[Authority, ...]:
    """Authorities count whenever they were made."""
    return config.authorities


def _gone(config: Config, now: Moment, one: Authority) -> bool:
    return one.holder_agent_id in config.agents and one.holder_agent_id not in now.active


def _lapse_on_exit(config: Config, now: Moment) -> tuple[Authority, ...]:
    return tuple(one for one in REFERENCE.in_force(config, now) if not _gone(config, now, one))


def _lapse_allows_on_exit(config: Config, now: Moment) -> tuple[Authority, ...]:
    """An agent's ALLOWs lapse when it exits; no other agent could have cited them."""
    return tuple(
        one for one in REFERENCE.in_force(config, now) if one.commitment == DENY or not _gone(config, now, one)
    )


def _lapse_vetoes_later(config: Config, now: Moment) -> tuple[Authority, ...]:
    """From epoch `RELAXED_FROM` on, no DENY is in force."""
    late = (now.epoch or 0) >= RELAXED_FROM
    return tuple(one for one in REFERENCE.in_force(config, now) if not (late and one.commitment == DENY))


def _heirs(config: Config, now: Moment) -> tuple[Authority, ...]:
    """The authorities of an agent that exits pass to the first agent left."""
    found = REFERENCE.in_force(config, now)
    if not now.active:
        return found
    return tuple(replace(one, holder_agent_id=now.active[0]) if _gone(config, now, one) else one for one in found)


def _reclaim(config: Config, now: Moment) -> tuple[Authority, ...]:
    """An ALLOW over a pair that no agent left holds belongs to every agent."""
    found = REFERENCE.in_force(config, now)
    kept = [one for one in found if one.commitment == ALLOW and not _gone(config, now, one)]
    extra = [
        replace(one, holder_agent_id=agent)
        for one in found
        if one.commitment == ALLOW
        and _gone(config, now, one)
        and not any(atom in other.scope for atom in one.scope for other in kept)
        for agent in now.active
    ]
    return (*found, *extra)


AUTHORITY: tuple[Mutant[Rules], ...] = (
    declare(
        "pass_one_skipped",
        "Neither capability nor veto is looked at.",
        "FQ4",
        "universe",
        ONE,
        covers=_always_covered,
        vetoed=_never,
    ),
    declare("veto_ignored", "No DENY stops anybody.", "FQ27", "universe", ONE, vetoed=_never),
    declare(
        "deny_of_read_ignored",
        "A DENY stops WRITEs only.",
        "FQ10",
        "universe",
        ONE,
        vetoed=_deny_of_read_ignored,
    ),
    declare(
        "deny_binds_its_holder",
        "A DENY stops nobody but its holder.",
        "FQ34",
        "universe",
        ONE,
        vetoed=_deny_binds_its_holder,
    ),
    declare(
        "veto_lapses_after_k",
        f"From epoch {RELAXED_FROM} on no DENY is in force.",
        "F17, FQ26",
        "run",
        ALONE_TWICE,
        in_force=_lapse_vetoes_later,
    ),
    declare("open_world_allow", "No ALLOW is needed.", "FQ27", "universe", ONE, covers=_always_covered),
    declare(
        "uncited_allow_suffices",
        "An ALLOW that is held need not be cited.",
        "FQ33",
        "universe",
        ONE,
        covers=_covered_uncited,
    ),
    declare(
        "any_key_suffices",
        "An ALLOW for one of the declared keys suffices.",
        "FQ27",
        "universe",
        Scope(agents=1, keys=2),
        covers=_covered_by_any_key,
    ),
    declare(
        "any_held_allow_suffices",
        "A cited and held ALLOW covers every key and operation.",
        "FQ33",
        "run",
        ALONE,
        covers=_any_held_allow_covers,
    ),
    declare(
        "foreign_citation_accepted",
        "A cited ALLOW counts whoever holds it.",
        "FQ33, FQ34",
        "run",
        PAIR,
        foreign=_never,
        covers=_covered_by_anyone,
    ),
    declare(
        "foreign_citation_no_fault",
        "Citing what one does not hold is no fault of its own.",
        "FQ33",
        "run",
        ALONE,
        foreign=_never,
    ),
    declare(
        "exit_frees_authority",
        "Every artefact of an agent, vetoes included, lapses when it exits.",
        "FQ26, FQ28",
        "run",
        TWICE,
        in_force=_lapse_on_exit,
    ),
    declare(
        "exit_transfers_authority",
        "What an agent held passes to the first agent left when it exits.",
        "FQ28",
        "run",
        TWICE,
        in_force=_heirs,
    ),
    declare(
        "orphan_reclaimed",
        "An ALLOW over a pair that nobody left holds is everybody's.",
        "FQ28",
        "run",
        TWICE,
        in_force=_reclaim,
    ),
    declare(
        "late_authority_honoured",
        "Authorities made after epoch 0 count.",
        "FQ26",
        "run",
        ALONE,
        in_force=_unchecked,
    ),
    declare(
        "agent_id_from_request",
        "The submitter is whoever the request says.",
        "FQ33, C8",
        "run",
        ALONE,
        bind=_adopt_agent_id,
    ),
    declare(
        "exit_lapses_allows",
        "An agent's ALLOWs lapse when it exits, its vetoes stay.",
        "FQ28",
        "run",
        TWICE,
        expected="equivalent",
        reason="only their holder could cite them, and an exited agent submits nothing: citing them is foreign anyway",
        in_force=_lapse_allows_on_exit,
    ),
)
"""Faults of capability and veto: acting without authority, or against a DENY (FQ27, FQ28, FQ33)."""
