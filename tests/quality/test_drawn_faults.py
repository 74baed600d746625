"""The faults drawn from the source texts: each fits its model, and the page says what became of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.drawn.trying import Drawn, code_of, faulty, listed, tried
from evenhand.core.bundle import Bundle
from evenhand.core.registry import find, protocols
from evenhand.core.verdict import Status
from evenhand.search import explore
from evenhand.variants.automatic import sources

PAGE = Path(__file__).parents[2] / "docs/reference/faults-by-rule.md"
KILLED = re.compile(r"^\| `(\w+)` \| `(\w+)` \| [^|]+ \| [^|]+ \| `(\w+)`", re.MULTILINE)


def _on_the_page() -> dict[tuple[str, str], str]:
    """The claim that the page names, by protocol and fault."""
    part = PAGE.read_text("utf-8").partition("## Sixty faults drawn")[2].partition("\n## ")[0]
    return {(protocol, name): claim for protocol, name, claim in KILLED.findall(part)}


@pytest.mark.parametrize("bundle", protocols(), ids=lambda bundle: bundle.name)
def test_twelve_faults_a_protocol_fit_their_models(bundle: Bundle) -> None:
    """Each exchanges a text that stands exactly once in its function, and the page has its row."""
    faults = listed(bundle.name)
    assert len(faults) == len({one.name for one in faults}) == 12
    known = {name: one for system in bundle.model.systems.values() for name, one in sources(system).functions.items()}
    page = PAGE.read_text("utf-8")
    for one in faults:
        assert code_of(one, known[one.function]) != known[one.function].function.__code__
        assert f"| `{one.protocol}` | `{one.name}` | {one.paragraph} | {one.fault} | " in page
    stale = Drawn(bundle.name, "stale", "", "", faults[0].function, "no such text", "")
    with pytest.raises(ValueError, match="0 times the text 'no such text'"):
        code_of(stale, known[stale.function])


def test_the_page_counts_what_it_lists() -> None:
    """As many as its table says; each by a claim that there is."""
    found = _on_the_page()
    page = PAGE.read_text("utf-8")
    for bundle in protocols():
        claims = [claim for (protocol, _), claim in found.items() if protocol == bundle.name]
        assert set(claims) <= {claim.name for claim in bundle.claims}
        assert re.search(rf"^\| `{bundle.name}` \| 12 \| \d+ \| {len(claims)} \|$", page, re.MULTILINE)


def test_a_burn_under_another_reason_is_seen() -> None:
    """The one drawn fault that differed in a step that was walked, and that no claim saw."""
    bundle = find("conviction")
    (claim,) = (one for one in bundle.claims if one.name == "burns_are_recorded_in_full")
    (drawn,) = (one for one in listed("conviction") if one.name == "penalty_under_another_reason")
    system = bundle.model.systems["issue"].at(agents=1, texts=0, rounds=1, budget=3, stake=1)
    assert explore(system, [claim]).verdicts[0].status is Status.HOLDS
    assert explore(faulty(system, drawn), [claim]).verdicts[0].status is Status.REFUTED


@pytest.mark.deep
@pytest.mark.parametrize("bundle", protocols(), ids=lambda bundle: bundle.name)
def test_the_page_says_what_kills_each(bundle: Bundle) -> None:
    """Every fault that the page calls killed is killed again, by some claim."""
    found = _on_the_page()
    faults = [one for one in listed(bundle.name) if (one.protocol, one.name) in found]
    assert [one.name for one, made in tried(bundle, faults) if made.status != "killed"] == []
