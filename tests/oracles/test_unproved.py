"""What no theorem says: the page has the counts of today, and what it calls refuted is."""

from __future__ import annotations

from benchmarks.unproved import BEGIN, END, PAGE, REFUTED, kind, refuted, table
from evenhand.core.registry import find, protocols
from evenhand.smt.registry import stated


def test_the_page_has_the_table_of_today() -> None:
    """Between its marks; `python -m benchmarks.unproved --write` renews it."""
    assert PAGE.read_text("utf-8").partition(BEGIN)[2].partition(END)[0] == table()


def test_every_claim_about_whole_runs_has_an_answer_of_any_size() -> None:
    """A theorem, or a kept run of the reference; without the theorems by rankings seven would have none."""
    open_, ranked = list[str](), list[str]()
    for bundle in protocols():
        answered = refuted(bundle) | {one.claim.name for one in stated(bundle.name)}
        asked = [claim.name for claim in bundle.claims if kind(claim).startswith("deadlock")]
        open_ += [name for name in asked if name not in answered]
        ranked += [name for name in asked if name not in refuted(bundle)]
    assert (open_, len(ranked)) == ([], 7)


def test_a_run_under_another_reading_refutes_nothing_here() -> None:
    """`conviction` keeps runs of other readings for other claims; a claim that holds is not called refuted."""
    assert "every_issue_is_finalized" not in refuted(find("conviction"))
    assert {"deadlock_free", "livelock_free"} <= refuted(find("cud"))
    assert REFUTED in table()
