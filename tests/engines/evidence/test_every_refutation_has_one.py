"""Each registered refutation of the reference has a counterexample on file; the findings of `replay` judge them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from evenhand.core.bundle import Bundle
from evenhand.core.plan import Expectation
from evenhand.core.property import Reachable
from evenhand.core.registry import find, protocols
from evenhand.core.verdict import Status
from evenhand.evidence.record import Record, ReferenceVariant
from evenhand.evidence.replay import encoded_readings
from evenhand.jobs.fixtures import fixtures_of


def _refuted(bundle: Bundle) -> Iterator[Expectation]:
    """The registered refutations that a run can show; that a goal is never reached, none can."""
    goals = {claim.name for claim in bundle.claims if isinstance(claim, Reachable)}
    yield from (one for one in bundle.expected if one.expected is Status.REFUTED and one.claim not in goals)


def _shows(bundle: Bundle, record: Record, one: Expectation) -> bool:
    """Whether the file shows this refutation: of the reference, under these readings alone."""
    if (
        not isinstance(record.variant, ReferenceVariant)
        or record.outcome != "REFUTED"
        or record.claim.name != one.claim
    ):
        return False
    usual = bundle.model.systems[record.system]
    asked = encoded_readings(usual.under(**dict(one.readings or {})))
    return asked == {**encoded_readings(usual), **record.readings}


def _missing(bundle: Bundle, records: Iterable[Record]) -> list[tuple[str, dict[str, object]]]:
    """The claims, with the readings, of which no file shows the refutation."""
    known = list(records)
    asked = [one for one in _refuted(bundle) if not any(_shows(bundle, record, one) for record in known)]
    return [(one.claim, dict(one.readings or {})) for one in asked]


@pytest.mark.parametrize("bundle", protocols(), ids=lambda bundle: bundle.name)
def test_registered_refutations_are_on_file(bundle: Bundle) -> None:
    """For each claim under each combination of readings under which it is expected to be false."""
    assert _missing(bundle, (record for _, record in fixtures_of(bundle.name))) == []


def test_a_file_for_other_readings_does_not_count() -> None:
    """Nor one of a mutant, nor of another claim: without the files of `order_independence` both its readings miss."""
    cud = find("cud")
    records = [record for _, record in fixtures_of("cud")]
    others = [record for record in records if record.claim.name != "order_independence"]
    assert _missing(cud, others) == [
        ("order_independence", {"scope_check": value}) for value in ("after_rollback", "after_keep", "joint_diff")
    ]
    kept = [record for record in records if record.readings.get("scope_check") != "after_keep"]
    assert ("order_independence", {"scope_check": "after_keep"}) in _missing(cud, kept)
    assert ("order_independence", {"scope_check": "after_rollback"}) not in _missing(cud, kept)
