"""Mutants of the compiler proved equivalent in the theory of a compile, and their encoding there.

Under `av_rp_overlap=error` a preference that is both authorised and to be preserved is an error of its own, so no
artefact with an overlap compiles.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from evenhand.core.system import Step, System
from evenhand.model.apcm.compiler import REFERENCE
from evenhand.model.apcm.mutants import rules
from evenhand.model.apcm.readings import Readings
from evenhand.model.apcm.step import ApcmStep
from evenhand.proofs.apcm.compiling import FAULTS, TEXT, read
from evenhand.proofs.apcm.encoding import view_text
from evenhand.proofs.apcm.samples import WORLDS
from evenhand.proofs.apcm.theorems import EXACTLY, MASK
from evenhand.smt.equality import Equality
from evenhand.smt.structure import Structure

_APART_BY = read(REFERENCE, Readings(av_rp_overlap="error"))["overlapping"]
OVERLAP_IS_AN_ERROR = replace(
    TEXT.redefined([TEXT.means("overlapping", _APART_BY, "3.1, reading av_rp_overlap=error")]), name="apcm_pairs_apart"
)
"""The theory of a compile under `av_rp_overlap=error`."""


def view_overlap(step: ApcmStep) -> Structure | None:
    """Return a step under that reading as a structure of OVERLAP_IS_AN_ERROR; None outside."""
    readings = step.config.readings
    if readings.av_rp_overlap != "error":
        return None
    usual = replace(step.config, readings=replace(readings, av_rp_overlap=Readings().av_rp_overlap))
    return view_text(Step(usual, step.before, step.action, step.shown, step.after))


def _samples(system: System[Any, Any, Any, Any, Any]) -> Iterator[ApcmStep]:
    """Yield the samples of other theorems, under the system's own readings."""
    for _, (config, state, action) in WORLDS.situations(system):
        yield system.take(replace(config, readings=system.readings), state, action)


_APART = replace(
    MASK,
    name="mask_forbids_exactly_rule_1_where_overlap_is_an_error",
    theory=OVERLAP_IS_AN_ERROR,
    view=view_overlap,
    samples=_samples,
    readings={"av_rp_overlap": "error"},
    mutants=FAULTS.refuted(rules.violations_need_no_authority),
)

EQUALITIES = (
    Equality(
        mutant=rules.rule_1_as_equality,
        theorem=EXACTLY,
        definitions=FAULTS[rules.rule_1_as_equality],
    ),
    Equality(
        mutant=rules.preservations_redundant_without_overlap,
        theorem=_APART,
        definitions=FAULTS[rules.preservations_redundant_without_overlap],
    ),
)
"""The equality theorems about mutants registered as equivalent."""
