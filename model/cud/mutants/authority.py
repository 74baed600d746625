"""Faults of capability and veto: acting without authority, or against a DENY (FQ27, FQ28, FQ33)."""

from __future__ import annotations

from evenhand.core.records import replace
from evenhand.core.system import Scope
from evenhand.model.cud.kernel import REFERENCE, Bound, Moment
from evenhand.model.cud.mutants.declare import ALONE, ALONE_TWICE, ONE, PAIR, RELAXED_FROM, TWICE, declare, fault
from evenhand.model.cud.vocabulary import ALLOW, DENY, WRITE, Authority, Config, Request


def _never(_authorities: tuple[Authority, ...], _bound: Bound) -> bool:
    return False


def _always_covered(_authorities: tuple[Authority, ...], _bound: Bound) -> bool:
    return True


pass_one_skipped = declare(
    "pass_one_skipped",
    "Neither capability nor veto is looked at.",
    "FQ4",
    "universe",
    ONE,
    covers=_always_covered,
    vetoed=_never,
)

veto_ignored = declare("veto_ignored", "No DENY stops anybody.", "FQ27", "universe", ONE, vetoed=_never)


@fault("vetoed", "FQ10", "universe", ONE)
def deny_of_read_ignored(authorities: tuple[Authority, ...], bound: Bound) -> bool:
    """A DENY stops WRITEs only."""
    return bound.request.action_type == WRITE and REFERENCE.vetoed(authorities, bound)


@fault("vetoed", "FQ34", "universe", ONE)
def deny_binds_its_holder(authorities: tuple[Authority, ...], bound: Bound) -> bool:
    """A DENY stops nobody but its holder."""
    return REFERENCE.vetoed(tuple(one for one in authorities if one.holder_agent_id == bound.agent), bound)


def _lapse_vetoes_later(config: Config, now: Moment) -> tuple[Authority, ...]:
    """From epoch `RELAXED_FROM` on, no DENY is in force."""
    late = (now.epoch or 0) >= RELAXED_FROM
    return tuple(one for one in REFERENCE.in_force(config, now) if not (late and one.commitment == DENY))


veto_lapses_after_k = declare(
    "veto_lapses_after_k",
    f"From epoch {RELAXED_FROM} on no DENY is in force.",
    "F17, FQ26",
    "run",
    ALONE_TWICE,
    in_force=_lapse_vetoes_later,
)

open_world_allow = declare("open_world_allow", "No ALLOW is needed.", "FQ27", "universe", ONE, covers=_always_covered)


def _honest_covers(authorities: tuple[Authority, ...], bound: Bound, *, cited: tuple[str, ...]) -> bool:
    """The honest coverage check on other citations."""
    return REFERENCE.covers(authorities, replace(bound, request=replace(bound.request, authorities_cited=cited)))


@fault("covers", "FQ33", "universe", ONE)
def uncited_allow_suffices(authorities: tuple[Authority, ...], bound: Bound) -> bool:
    """An ALLOW that is held need not be cited."""
    return _honest_covers(authorities, bound, cited=tuple(one.authority_id for one in authorities))


@fault("covers", "FQ27", "universe", Scope(agents=1, keys=2))
def any_key_suffices(authorities: tuple[Authority, ...], bound: Bound) -> bool:
    """An ALLOW for one of the declared keys suffices."""
    return any(
        REFERENCE.covers(authorities, replace(bound, request=replace(bound.request, declared_scope=(key,))))
        for key in bound.request.declared_scope
    )


@fault("covers", "FQ33", "run", ALONE)
def any_held_allow_suffices(authorities: tuple[Authority, ...], bound: Bound) -> bool:
    """A cited and held ALLOW covers every key and operation."""
    return any(
        one.commitment == ALLOW
        and one.holder_agent_id == bound.agent
        and one.authority_id in bound.request.authorities_cited
        for one in authorities
    )


def _covered_by_anyone(authorities: tuple[Authority, ...], bound: Bound) -> bool:
    """A cited ALLOW counts whatever its holder."""
    return REFERENCE.covers(tuple(replace(one, holder_agent_id=bound.agent) for one in authorities), bound)


foreign_citation_accepted = declare(
    "foreign_citation_accepted",
    "A cited ALLOW counts whoever holds it.",
    "FQ33, FQ34",
    "run",
    PAIR,
    foreign=_never,
    covers=_covered_by_anyone,
)

foreign_citation_no_fault = declare(
    "foreign_citation_no_fault",
    "Citing what one does not hold is no fault of its own.",
    "FQ33",
    "run",
    ALONE,
    foreign=_never,
)


def _gone(config: Config, now: Moment, one: Authority) -> bool:
    return one.holder_agent_id in config.agents and one.holder_agent_id not in now.active


@fault("in_force", "FQ26, FQ28", "run", TWICE)
def exit_frees_authority(config: Config, now: Moment) -> tuple[Authority, ...]:
    """Every artefact of an agent, vetoes included, lapses when it exits."""
    return tuple(one for one in REFERENCE.in_force(config, now) if not _gone(config, now, one))


@fault("in_force", "FQ28", "run", TWICE)
def exit_transfers_authority(config: Config, now: Moment) -> tuple[Authority, ...]:
    """What an agent held passes to the first agent left when it exits."""
    found = REFERENCE.in_force(config, now)
    if not now.active:
        return found
    return tuple(replace(one, holder_agent_id=now.active[0]) if _gone(config, now, one) else one for one in found)


@fault("in_force", "FQ28", "run", TWICE)
def orphan_reclaimed(config: Config, now: Moment) -> tuple[Authority, ...]:
    """An ALLOW over a pair that nobody left holds is everybody's."""
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


@fault("in_force", "FQ26", "run", ALONE)
def late_authority_honoured(config: Config, _now: Moment) -> tuple[Authority, ...]:
    """Authorities made after epoch 0 count."""
    return config.authorities


@fault("bind", "FQ33, C8", "run", ALONE)
def agent_id_from_request(agent: str, action: str, request: Request) -> Bound:
    """The submitter is whoever the request says."""
    return Bound(request.agent_id or agent, action, request)


@fault(
    "in_force",
    "FQ28",
    "run",
    TWICE,
    expected="equivalent",
    reason="only their holder could cite them, and an exited agent submits nothing: citing them is foreign anyway",
)
def exit_lapses_allows(config: Config, now: Moment) -> tuple[Authority, ...]:
    """An agent's ALLOWs lapse when it exits, its vetoes stay."""
    return tuple(
        one for one in REFERENCE.in_force(config, now) if one.commitment == DENY or not _gone(config, now, one)
    )
