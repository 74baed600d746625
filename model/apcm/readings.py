"""The named readings of sentences that RSA-PoC v1.0 leaves unclear; the first value is the default."""

from __future__ import annotations

from evenhand.core.records import dataclass
from evenhand.core.system import reading


@dataclass(frozen=True, slots=True)
class Readings:
    """One legitimate interpretation of the text."""

    pair_arity: str = reading(
        "two_distinct",
        "may_repeat",
        sentence="3.1: conflict_attribution holds pairs; silent on whether a preference may collide with itself",
    )
    av_in_collision: str = reading(
        "not_required",
        "required",
        sentence="6.4 step 1 asks for some declared pair; silent on whether it must name what is authorised",
    )
    av_rp_overlap: str = reading(
        "allowed",
        "error",
        sentence="3.1: authorising what one requires to be preserved is not ruled out",
    )
    first_step_mode: str = reading(
        "revise_only",
        "maintain_means_empty",
        sentence="6.3: MAINTAIN compares with the previous artefact; silent on the first step, which has none",
    )
    feasible_empty: str = reading(
        "gridlock",
        "halt",
        sentence="1, 7: gridlock is every feasible action forbidden; silent on no action being feasible",
    )
    after_halt: str = reading(
        "goes_on",
        "ends",
        sentence="1: gridlock and halt are distinct and logged; silent on whether the run goes on after a halt",
    )
    pair_order: str = reading(
        "unordered",
        "ordered",
        sentence="3.1 writes (P1, P2), 6.2 writes {P1, P2}: whether order counts in Rule 3 and in the digest",
    )
    digest: str = reading(
        "of_the_parts",
        "of_the_whole",
        sentence="3.1, 3.2: the digest of the previous artefact; silent on whether it covers AV, RP and pairs, as Rule "
        "3 compares them, or mode, link and reference too, so that links chain",
    )
    satisfies: str = reading(
        "free",
        "disjoint_from_violates",
        "complement",
        sentence="2.1: `satisfies` is published beside `violates`; silent on how the two relate",
    )
    list_inputs: str = reading(
        "coerced",
        "rejected",
        sentence="2.2: a list is coerced to a set, but coercion must not silently pass",
    )
    validated: str = reading(
        "when_compiled",
        "on_arrival",
        sentence="3, 12.2: a malformed artefact fails to compile, or is sent back before a compile (bounded retry)",
    )
    previous: str = reading(
        "last_compiled",
        "last_submitted",
        sentence="4, 5: whether an artefact that did not compile becomes the previous one",
    )
