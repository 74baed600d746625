"""The output of a notebook: well-formed pictures, correct tables, names that stay text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from evenhand.core.registry import find
from evenhand.core.trace import Lasso, Pair, Scenario, Trace, replay
from evenhand.core.verdict import Status, Verdict
from evenhand.evidence.finding import Finding
from evenhand.evidence.story import RunLines, StepLines, Story
from evenhand.jobs.engines import run
from evenhand.jobs.plan import Job
from evenhand.notebook import html_of, load_ipython_extension
from evenhand.report.display import finding_html, matrix_html, report_html, story_html, story_svg
from evenhand.report.report import Report
from evenhand.search import explore
from evenhand.studies.mutants import KillMatrix, kill_matrix
from evenhand.studies.profiling import Profile
from evenhand.studies.sensitivity import SensitivityTable
from tests.front.test_forms import HOSTILE, UNEXPECTED, Tags, hostile

STEP = StepLines(("take",), (), ("held",))


def shapes(story: Story) -> tuple[int, int, int]:
    """Return how many states, arrows and curved arrows a picture has."""
    picture = ET.fromstring(story_svg(story))
    paths = [element.attrib["d"] for element in picture.iter() if element.tag.endswith("path")]
    circles = sum(element.tag.endswith("circle") for element in picture.iter())
    return circles, len(paths), sum("C" in path for path in paths)


def test_a_run_and_a_lasso_are_drawn() -> None:
    """Three steps lead through four states; a lasso of three has three, and one arrow leads back."""
    assert shapes(Story((RunLines((), ("free",), (STEP,) * 3),))) == (4, 3, 0)
    assert shapes(Story((RunLines((), ("free",), (STEP,) * 3, loop=2),))) == (3, 3, 1)
    assert shapes(Story((RunLines((), ("free",), (STEP,), loop=1),))) == (1, 1, 1)
    assert shapes(Story((RunLines((), ("free",), ()),) * 2, "renaming")) == (2, 0, 0)
    assert shapes(Story((RunLines((), ("free",), (STEP,) * 40),)))[0] == 15, "of a long run the end"
    whole = Story((RunLines((), ("free",), (STEP,) * 40, loop=20),))
    assert shapes(whole) == (14, 14, 1) and "for ever; the loop begins earlier:" in words_of(whole)


def words_of(story: Story) -> list[str]:
    """Return the lines of text of a picture, the numbers of states left out."""
    picture = ET.fromstring(story_svg(story))
    texts = [element.text or "" for element in picture.iter() if element.tag.endswith("text")]
    return [text for text in texts if not text.isdecimal()]


def test_a_picture_says_what_was_done_shown_and_changed() -> None:
    """From top to bottom; two runs side by side; long lines are broken and many are cut, which is said."""
    seen = StepLines(("ann: asks; bob: asks",), (("outcome", ("nobody",)),), ("turn: 0 → 1",))
    run = RunLines((), ("free",), (seen,))
    assert words_of(Story((run,))) == ["start: free", "ann: asks", "bob: asks", "→ outcome: nobody", "turn: 0 → 1"]
    assert words_of(Story((run, run), "renaming"))[:2] == ["first run", "second run"]
    lasso = Story((RunLines((), ("free",), (seen,), loop=1),))
    assert "from here on, for ever:" in words_of(lasso)
    long = StepLines(("word " * 200,), (), ("a: 1 → 2",))
    shown = words_of(Story((RunLines((), ("free",), (long,)),)))
    assert sum("word" in line for line in shown) == 4 and any(line.endswith("…") for line in shown)
    assert max(map(len, shown)) <= 55


def test_the_lasso_that_an_engine_found_is_told_and_drawn() -> None:
    """The search's own evidence of a livelock."""
    (found,) = run(find("latch"), Job("latch", "explore", claims=("somebody_enters",)))
    told = finding_html(found)
    assert "from here on, for ever:" in told and "REFUTED" in told
    assert found.story is not None
    assert shapes(found.story)[2] == 1
    assert html_of(found.story) == story_html(found.story)
    assert html_of(found) == told


def test_values_of_the_engines_show_themselves_once_the_extension_is_loaded() -> None:
    """Each registered type has a picture or a table."""
    shown: dict[type, Any] = {}

    class Formatter:
        """IPython's formatter, as far as it is used."""

        def for_type(self, kind: type, how: Any) -> None:
            """Keep the function."""
            shown[kind] = how

    class Shell:
        """IPython's shell, as far as it is used."""

        class display_formatter:
            """Return one formatter."""

            formatters = {"text/html": Formatter(), "image/svg+xml": Formatter()}  # noqa: RUF012

    load_ipython_extension(Shell())
    system = find("latch").model.systems["latch"]
    config = next(iter(system.configs(system.scope, system.readings)))
    start = next(iter(system.initial(config)))
    action = next(iter(system.actions(config, system.scope, start)))  # type: ignore[misc]
    scenario = Scenario(config, start, (action,))
    verdict = explore(system, find("latch").claims).verdicts[-1]
    values: dict[type, Any] = {
        Scenario: scenario,
        Trace: replay(system, scenario),
        Lasso: Lasso(config, start, (action,), (action,)),
        Pair: Pair(scenario, scenario, "renaming"),
        Verdict: verdict,
    }
    assert set(shown) == {*values, Story, Finding, Report, KillMatrix, SensitivityTable, Profile}  # tested one by one
    for kind, value in values.items():
        assert "<svg" in shown[kind](value), kind
    assert "inside: () → (0,)" in html_of(values[Trace])
    with pytest.raises(TypeError, match="a int is nothing that evenhand shows"):
        html_of(7)


@pytest.mark.slow
def test_reports_and_matrices_are_tables() -> None:
    """A row for each verdict, a column for each claim that kills."""
    tags = Tags(report_html(UNEXPECTED)).tags
    assert sum(tag == "tr" for tag, _ in tags) == len(UNEXPECTED.findings) + 1
    assert html_of(UNEXPECTED) == report_html(UNEXPECTED)
    found = kill_matrix(find("latch"), mutants=("always_free", "sticky"))
    texts = Tags(matrix_html(found)).texts
    assert {"always_free", "sticky", "killed", "open gap", "one_inside"} <= set(texts)
    assert html_of(found) == matrix_html(found)
    many = Report(tuple(replace(UNEXPECTED.findings[0], claim=f"c{n}") for n in range(205)))
    assert "and 5 more" in report_html(many)


def test_hostile_names_are_text() -> None:
    """No tag or attribute comes from a name or value, nothing is loaded."""
    story = Story(
        (RunLines((HOSTILE,), (HOSTILE,), (StepLines((HOSTILE,), ((HOSTILE, (HOSTILE,)),), (HOSTILE,)),), 1),), HOSTILE
    )
    verdict = Verdict(HOSTILE, Status.REFUTED, HOSTILE, HOSTILE, because=HOSTILE)
    for made in (story_html(story), report_html(hostile()), html_of(verdict)):
        page = Tags(made)
        assert "img" not in {tag for tag, _ in page.tags}
        assert not [attrs for _, attrs in page.tags if any(name.startswith("on") or name == "src" for name in attrs)]
        assert not set(made) & set("\x1b\u202e\x00")
        assert any("onerror=alert" in text for text in page.texts)
    ET.fromstring(story_svg(story))
