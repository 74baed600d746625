"""Faults of a decision: time, integrity, budget, selection, warrant."""

from __future__ import annotations

from typing import TypeAlias

from evenhand.core.records import replace
from evenhand.core.system import Scope
from evenhand.model.sovereign.artifacts import bundle_hash, covered
from evenhand.model.sovereign.kernel import Observations
from evenhand.model.sovereign.mutants.declare import BUDGETS, LISTS, SINGLE, fault
from evenhand.model.sovereign.state import Config
from evenhand.model.sovereign.step import REFERENCE
from evenhand.model.sovereign.vocabulary import (
    BUDGET,
    NOTIFY,
    REFLECTION,
    TIMESTAMP,
    WRITE_LOCAL,
    Candidate,
    Request,
    Warrant,
    field,
)

Admitted: TypeAlias = tuple[tuple[str, Candidate], ...]


@fault("cycle_time", "X.E1", SINGLE)
def first_of_several_times(_config: Config, observations: Observations) -> str | None:
    """Of several TIMESTAMPs the first counts."""
    times = [field(one.payload, "iso8601_utc") for one in observations if one.kind == TIMESTAMP]
    return times[0] if times and isinstance(times[0], str) and times[0] else None


@fault("cycle_time", "X.E1", SINGLE)
def time_by_default(config: Config, observations: Observations) -> str | None:
    """Without a TIMESTAMP a default stands in."""
    return REFERENCE.cycle_time(config, observations) or "2026-02-12T00:00:00Z"


@fault("stamp", "X.E1", SINGLE)
def clock_read(_config: Config, _time: str) -> str:
    """What the kernel makes is stamped by a clock of its own."""
    return "2026-02-12T23:59:59Z"  # a wall clock, here one that stands still


@fault("integrity", "6", SINGLE)
def integrity_ignored(_config: Config, _observations: Observations) -> str:
    """Integrity failures are not looked at."""
    return ""


@fault("integrity", "8.B", ("candidates", Scope(contexts=7)))
def integrity_by_anybody(_config: Config, observations: Observations) -> str:
    """A user's input can hold an integrity event."""
    # An event counts in every kind of observation.
    events = [field(one.payload, "event") for one in observations]
    return min((e for e in events if isinstance(e, str) and e.endswith("_fail")), default="")


@fault("integrity", "6", SINGLE)
def integrity_of_the_first(config: Config, observations: Observations) -> str:
    """Only the first observation is looked at."""
    return REFERENCE.integrity(config, observations[:1])


@fault("overspent", "7 A49", SINGLE)
def budget_ignored(_config: Config, _observations: Observations) -> bool:
    """No budget is ever exhausted."""
    return False


@fault("overspent", "7 A49", SINGLE)
def budget_at_the_limit(config: Config, observations: Observations) -> bool:
    """At the limit is beyond it."""
    counts = [field(one.payload, "llm_output_token_count") for one in observations if one.kind == BUDGET]
    limit = config.constitution.limits.max_total_tokens_per_cycle
    return REFERENCE.overspent(config, observations) or any(isinstance(n, int) and n >= limit for n in counts)


@fault("overspent", "7 A49", BUDGETS)
def budget_inverted(config: Config, observations: Observations) -> bool:
    """Too little is refused, and too much passes."""
    counts = [field(one.payload, "llm_output_token_count") for one in observations if one.kind == BUDGET]
    limit = config.constitution.limits.max_total_tokens_per_cycle
    if len(counts) == 1 and isinstance(counts[0], int) and counts[0] >= 0:
        return counts[0] < limit
    return REFERENCE.overspent(config, observations)


@fault("offer", "6", LISTS)
def several_candidates_are_none(config: Config, candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """A second candidate stops the first."""
    found = REFERENCE.offer(config, candidates)
    return found if len(found) < 2 else ()


@fault("overspent", "7 A49", SINGLE)
def negative_budget_passes(config: Config, observations: Observations) -> bool:
    """A negative count passes."""
    # It is below the limit, whatever the reading.
    lax = replace(config, readings=replace(config.readings, negative_budget="accept"))
    return REFERENCE.overspent(lax, observations)


@fault("overspent", "7 A49", BUDGETS)
def split_budget_passes(config: Config, observations: Observations) -> bool:
    """Each of several budgets counts for itself."""
    budgets = [one for one in observations if one.kind == BUDGET]
    if len(budgets) < 2:
        return REFERENCE.overspent(config, observations)
    return any(REFERENCE.overspent(config, (one,)) for one in budgets)


@fault("overspent", "7 A49", BUDGETS)
def first_budget_counts(config: Config, observations: Observations) -> bool:
    """Of several budgets the first counts."""
    budgets = [one for one in observations if one.kind == BUDGET]
    return REFERENCE.overspent(config, tuple(budgets[:1]))


@fault("overspent", "7 A49", SINGLE)
def budget_as_text_passes(config: Config, observations: Observations) -> bool:
    """A count that is text is ignored."""
    read = [
        one for one in observations if one.kind != BUDGET or isinstance(one.payload[0][1] if one.payload else "", int)
    ]
    return REFERENCE.overspent(config, tuple(read))


@fault("overspent", "7 A49", SINGLE)
def absent_budget_refuses(config: Config, observations: Observations) -> bool:
    """Without a budget nothing passes."""
    strict = replace(config, readings=replace(config.readings, budget_absent="refuse"))
    return REFERENCE.overspent(strict, observations)


@fault("select", "7 A4", LISTS)
def first_candidate_wins(_config: Config, admitted: Admitted) -> Candidate:
    """The selector goes by position."""
    return admitted[0][1]


@fault("select", "7 A4", LISTS)
def last_candidate_wins(_config: Config, admitted: Admitted) -> Candidate:
    """The selector goes by position, from behind."""
    return admitted[-1][1]


@fault("select", "7 A4", LISTS)
def greatest_hash_wins(_config: Config, admitted: Admitted) -> Candidate:
    """The selector takes the greatest hash."""
    return max(admitted, key=lambda entry: entry[0])[1]


@fault("select", "7 A4", LISTS)
def author_decides(_config: Config, admitted: Admitted) -> Candidate:
    """The selector prefers an author."""
    # A user goes before reflection.
    return min(admitted, key=lambda entry: (entry[1].request.author == REFLECTION, entry[0]))[1]


@fault("select", "9", LISTS)
def justification_decides(_config: Config, admitted: Admitted) -> Candidate:
    """The selector prefers a long justification."""

    def length(candidate: Candidate) -> int:
        return len(candidate.justification.text) if candidate.justification is not None else 0

    return min(admitted, key=lambda entry: (-length(entry[1]), entry[0]))[1]


@fault("select", "9", LISTS)
def harmless_wins(_config: Config, admitted: Admitted) -> Candidate:
    """The selector ranks by what an action does."""
    # A notification goes before a write: semantic ranking, which section 9 forbids.
    return min(admitted, key=lambda entry: (entry[1].request.action_type != NOTIFY, entry[0]))[1]


@fault("hashed", "7 A4", LISTS)
def hash_of_the_request_alone(_config: Config, candidate: Candidate) -> str:
    """The bundle hash covers the request only."""
    return bundle_hash(Candidate(covered(candidate, "content").request), "content")


@fault("hashed", "7 A4", LISTS)
def hash_covers_the_author(_config: Config, candidate: Candidate) -> str:
    """The bundle hash covers author and time."""
    return bundle_hash(candidate, "content_and_author_and_time")


@fault("hashed", "7 A5", LISTS)
def hash_truncated(config: Config, candidate: Candidate) -> str:
    """Four bits of the hash are compared."""
    return REFERENCE.hashed(config, candidate)[:1]  # so there are ties, which position settles


@fault("issue", "4 INV-1", LISTS)
def warrant_for_another_type(config: Config, candidate: Candidate, bundle: str, time: str) -> Warrant | None:
    """The warrant's action type is swapped."""
    # An admitted notification is warranted as a write.
    request = covered(candidate, config.readings.bundle_hash_covers).request
    if request.action_type == NOTIFY:
        text = field(request.fields, "message") or ""
        request = replace(request, action_type=WRITE_LOCAL, fields=(("content", text), ("path", "workspace/x")))
    return Warrant(request, bundle, time)


@fault("issue", "3.2", SINGLE)
def action_without_warrant(_config: Config, _candidate: Candidate, _bundle: str, _time: str) -> Warrant | None:
    """ACTION is decided and nothing warranted."""
    return None


@fault("issue", "4 INV-1", SINGLE)
def warrant_without_a_cycle(config: Config, candidate: Candidate, bundle: str, time: str) -> Warrant | None:
    """A warrant is as good as stale when issued."""
    found = REFERENCE.issue(config, candidate, bundle, time)
    return None if found is None else replace(found, age=1)


@fault("on_exit", "6, 7 A29", SINGLE)
def exit_with_a_warrant(_config: Config, candidates: tuple[Candidate, ...], time: str) -> Warrant | None:
    """EXIT carries a warrant."""
    # The first proposal is warranted, or an Exit where there is none.
    return Warrant(candidates[0].request, "0" * 64, time) if candidates else Warrant(Request("Exit"), "0" * 64, time)
