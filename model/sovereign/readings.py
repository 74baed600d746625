"""The named readings of sentences that the report on RSA-0 leaves unclear; the first value is the default."""

from __future__ import annotations

from evenhand.core.records import dataclass
from evenhand.core.system import reading


@dataclass(frozen=True, slots=True)
class Readings:
    """One legitimate interpretation of the text."""

    duplicate_bundle: str = reading(
        "one", "error", sentence="7 A4: the least bundle hash wins; silent on two candidates with equal hashes"
    )
    budget_count: str = reading(
        "exactly_one", "last", "sum", sentence="7 A49: a token count is compared; silent on several budget observations"
    )
    exit_precedence: str = reading(
        "timestamp_first",
        "integrity_first",
        sentence="3.2 checks the TIMESTAMP before integrity; 6 lets integrity risk trigger EXIT whatever else is wrong",
    )
    exit_candidate: str = reading(
        "host_never_offers",
        "admitted_by_gates",
        sentence="6: Exit is a declared action type that gates would pass, and that no host constructs",
    )
    type_iii: str = reading(
        "no_lawful_candidate",
        "all_rejected",
        sentence="13.8 calls every rejection of all candidates Type III; 14.8 only one in which none could be lawful",
    )
    budget_absent: str = reading("pass", "refuse", sentence="7 A49: silent on a cycle in which no budget was observed")
    spent_memory: str = reading(
        "durable",
        "per_executor",
        sentence="4 INV-1: a warrant is single-use; silent on a second executor and on a restart",
    )
    bundle_hash_covers: str = reading(
        "content",
        "content_and_author_and_time",
        sentence="7 A4: the hash of the bundle; silent on whether author and created_at are part of what is hashed",
    )
    reported_gate: str = reading(
        "first_candidate", "furthest", sentence="6: `failed_gate` is single; silent on several rejected candidates"
    )
    path_rule: str = reading(
        "resolved",
        "normal_form",
        "prefix_string",
        sentence="6: paths `under` the allowed ones; silent on `..` and links, and on odd spellings (empty segments, "
        "backslashes, look-alikes), which are refused, stand for what a disk takes them for, or are compared as texts",
    )
    unknown_author: str = reading(
        "refuse", "treat_as_reflection", sentence="8.A: authors are a closed set; silent on one outside it"
    )
    negative_budget: str = reading("refuse", "accept", sentence="7 A49: `>` compares; silent on a count below zero")
    session_budget: str = reading(
        "exceeded",
        "reached",
        sentence="13.7, 13.10: B2 exhaustion ends a session; 7 A49 calls B1 exhausted where it is exceeded; silent on "
        "a session at exactly its cap",
    )
