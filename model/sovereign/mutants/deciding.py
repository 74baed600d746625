"""Faults of a decision: time, integrity, budget, selection, warrant."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evenhand.core.system import Mutant, Scope
from evenhand.model.sovereign.artifacts import bundle_hash, covered
from evenhand.model.sovereign.kernel import Observations, Rules
from evenhand.model.sovereign.mutants.declare import LISTS, SINGLE, declare
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

__all__ = ["DECISION_MUTANTS", "warrants_another"]

Admitted = tuple[tuple[str, Candidate], ...]


def _first_time(_config: Config, observations: Observations) -> str | None:
    times = [field(one.payload, "iso8601_utc") for one in observations if one.kind == TIMESTAMP]
    return times[0] if times and isinstance(times[0], str) and times[0] else None


def _default_time(config: Config, observations: Observations) -> str | None:
    """Without an observed time, another clock is read."""
    return REFERENCE.cycle_time(config, observations) or "2026-02-12T00:00:00Z"


def _clock(_config: Config, _time: str) -> str:
    """The wall clock, here one that stands still."""
    return "2026-02-12T23:59:59Z"


def _no_integrity(_config: Config, _observations: Observations) -> str:
    return ""


def _integrity_from_anybody(_config: Config, observations: Observations) -> str:
    """An event counts in every kind of observation: a user can say it."""
    events = [field(one.payload, "event") for one in observations]
    return min((e for e in events if isinstance(e, str) and e.endswith("_fail")), default="")


def _integrity_only_first(config: Config, observations: Observations) -> str:
    return REFERENCE.integrity(config, observations[:1])


def _never_overspent(_config: Config, _observations: Observations) -> bool:
    return False


def _at_the_limit(config: Config, observations: Observations) -> bool:
    counts = [field(one.payload, "llm_output_token_count") for one in observations if one.kind == BUDGET]
    limit = config.constitution.limits.max_total_tokens_per_cycle
    return REFERENCE.overspent(config, observations) or any(isinstance(n, int) and n >= limit for n in counts)


def _inverted(config: Config, observations: Observations) -> bool:
    counts = [field(one.payload, "llm_output_token_count") for one in observations if one.kind == BUDGET]
    limit = config.constitution.limits.max_total_tokens_per_cycle
    if len(counts) == 1 and isinstance(counts[0], int) and counts[0] >= 0:
        return counts[0] < limit
    return REFERENCE.overspent(config, observations)


def _lonely(config: Config, candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """Several candidates at once count as none."""
    found = REFERENCE.offer(config, candidates)
    return found if len(found) < 2 else ()


def _negative_passes(config: Config, observations: Observations) -> bool:
    """A count below zero is below the limit, whatever the reading."""
    lax = replace(config, readings=replace(config.readings, negative_budget="accept"))
    return REFERENCE.overspent(lax, observations)


def _split_passes(config: Config, observations: Observations) -> bool:
    """Each of several budgets is compared by itself."""
    budgets = [one for one in observations if one.kind == BUDGET]
    if len(budgets) < 2:
        return REFERENCE.overspent(config, observations)
    return any(REFERENCE.overspent(config, (one,)) for one in budgets)


def _first_budget(config: Config, observations: Observations) -> bool:
    budgets = [one for one in observations if one.kind == BUDGET]
    return REFERENCE.overspent(config, tuple(budgets[:1]))


def _text_passes(config: Config, observations: Observations) -> bool:
    """A count that is no number is ignored."""
    read = [
        one for one in observations if one.kind != BUDGET or isinstance(one.payload[0][1] if one.payload else "", int)
    ]
    return REFERENCE.overspent(config, tuple(read))


def _absent_refuses(config: Config, observations: Observations) -> bool:
    strict = replace(config, readings=replace(config.readings, budget_absent="refuse"))
    return REFERENCE.overspent(strict, observations)


def _first_wins(_config: Config, admitted: Admitted) -> Candidate:
    return admitted[0][1]


def _last_wins(_config: Config, admitted: Admitted) -> Candidate:
    return admitted[-1][1]


def _greatest_wins(_config: Config, admitted: Admitted) -> Candidate:
    return max(admitted, key=lambda entry: entry[0])[1]


def _author_wins(_config: Config, admitted: Admitted) -> Candidate:
    """A user goes before reflection."""
    return min(admitted, key=lambda entry: (entry[1].request.author == REFLECTION, entry[0]))[1]


def _justification_wins(_config: Config, admitted: Admitted) -> Candidate:
    """The longest justification wins, then the least hash."""

    def length(candidate: Candidate) -> int:
        return len(candidate.justification.text) if candidate.justification is not None else 0

    return min(admitted, key=lambda entry: (-length(entry[1]), entry[0]))[1]


def _harmless_wins(_config: Config, admitted: Admitted) -> Candidate:
    """A notification goes before a write: semantic ranking, which section 9 forbids."""
    return min(admitted, key=lambda entry: (entry[1].request.action_type != NOTIFY, entry[0]))[1]


def _hash_of_request(_config: Config, candidate: Candidate) -> str:
    """Only the request is hashed, not its support."""
    return bundle_hash(Candidate(covered(candidate, "content").request), "content")


def _hash_with_author(_config: Config, candidate: Candidate) -> str:
    return bundle_hash(candidate, "content_and_author_and_time")


def _truncated(config: Config, candidate: Candidate) -> str:
    """Four bits of the hash: ties, which position settles."""
    return REFERENCE.hashed(config, candidate)[:1]


def warrants_another(config: Config, candidate: Candidate, bundle: str, time: str) -> Warrant | None:
    """The type is exchanged: an admitted notification is warranted as a write."""
    request = covered(candidate, config.readings.bundle_hash_covers).request
    if request.action_type == NOTIFY:
        text = field(request.fields, "message") or ""
        request = replace(request, action_type=WRITE_LOCAL, fields=(("content", text), ("path", "workspace/x")))
    return Warrant(request, bundle, time)


def _no_warrant(_config: Config, _candidate: Candidate, _bundle: str, _time: str) -> Warrant | None:
    return None


def _stale_warrant(config: Config, candidate: Candidate, bundle: str, time: str) -> Warrant | None:
    found = REFERENCE.issue(config, candidate, bundle, time)
    return None if found is None else replace(found, age=1)


def _exit_with_warrant(_config: Config, candidates: tuple[Candidate, ...], time: str) -> Warrant | None:
    """At EXIT the first proposal is warranted."""
    return Warrant(candidates[0].request, "0" * 64, time) if candidates else Warrant(Request("Exit"), "0" * 64, time)


def _single(name: str, sentence: str, source: str, **functions: Any) -> Mutant[Rules]:
    return declare(name, sentence, source, "lists", SINGLE, **functions)


def _several(name: str, sentence: str, source: str, **functions: Any) -> Mutant[Rules]:
    return declare(name, sentence, source, "lists", LISTS, **functions)


def _budgets(name: str, sentence: str, source: str, **functions: Any) -> Mutant[Rules]:
    return declare(name, sentence, source, "lists", Scope(observations=3, candidates=1), **functions)


DECISION_MUTANTS: tuple[Mutant[Rules], ...] = (
    _single("first_of_several_times", "Of several TIMESTAMPs the first counts.", "X.E1", cycle_time=_first_time),
    _single("time_by_default", "Without a TIMESTAMP a default stands in.", "X.E1", cycle_time=_default_time),
    _single("clock_read", "What the kernel makes is stamped by a clock of its own.", "X.E1", stamp=_clock),
    _single("integrity_ignored", "Integrity failures are not looked at.", "6", integrity=_no_integrity),
    declare(
        "integrity_by_anybody",
        "A user's input can hold an integrity event.",
        "8.B",
        "candidates",
        Scope(contexts=7),
        integrity=_integrity_from_anybody,
    ),
    _single("integrity_of_the_first", "Only the first observation is looked at.", "6", integrity=_integrity_only_first),
    _single("budget_ignored", "No budget is ever exhausted.", "7 A49", overspent=_never_overspent),
    _single("budget_at_the_limit", "At the limit is beyond it.", "7 A49", overspent=_at_the_limit),
    _budgets("budget_inverted", "Too little is refused, and too much passes.", "7 A49", overspent=_inverted),
    _several("several_candidates_are_none", "A second candidate stops the first.", "6", offer=_lonely),
    _single("negative_budget_passes", "A negative count passes.", "7 A49", overspent=_negative_passes),
    _budgets("split_budget_passes", "Each of several budgets counts for itself.", "7 A49", overspent=_split_passes),
    _budgets("first_budget_counts", "Of several budgets the first counts.", "7 A49", overspent=_first_budget),
    _single("budget_as_text_passes", "A count that is text is ignored.", "7 A49", overspent=_text_passes),
    _single("absent_budget_refuses", "Without a budget nothing passes.", "7 A49", overspent=_absent_refuses),
    _several("first_candidate_wins", "The selector goes by position.", "7 A4", select=_first_wins),
    _several("last_candidate_wins", "The selector goes by position, from behind.", "7 A4", select=_last_wins),
    _several("greatest_hash_wins", "The selector takes the greatest hash.", "7 A4", select=_greatest_wins),
    _several("author_decides", "The selector prefers an author.", "7 A4", select=_author_wins),
    declare(
        "justification_decides",
        "The selector prefers a long justification.",
        "9",
        "lists",
        LISTS,
        select=_justification_wins,
    ),
    _several("harmless_wins", "The selector ranks by what an action does.", "9", select=_harmless_wins),
    _several("hash_of_the_request_alone", "The bundle hash covers the request only.", "7 A4", hashed=_hash_of_request),
    _several("hash_covers_the_author", "The bundle hash covers author and time.", "7 A4", hashed=_hash_with_author),
    _several("hash_truncated", "Four bits of the hash are compared.", "7 A5", hashed=_truncated),
    _several("warrant_for_another_type", "The warrant's action type is swapped.", "4 INV-1", issue=warrants_another),
    _single("action_without_warrant", "ACTION is decided and nothing warranted.", "3.2", issue=_no_warrant),
    _single("warrant_without_a_cycle", "A warrant is as good as stale when issued.", "4 INV-1", issue=_stale_warrant),
    _single("exit_with_a_warrant", "EXIT carries a warrant.", "6, 7 A29", on_exit=_exit_with_warrant),
)
"""Faults of a decision."""
