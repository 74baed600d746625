"""The HTML report in a real browser: filter, step, copy a command and run it; by keyboard, on a phone, in the dark."""

from __future__ import annotations

import json
import shlex
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from evenhand.core.registry import find
from evenhand.jobs.engines import run as run_job
from evenhand.jobs.plan import Job
from evenhand.report.forms import forms_of
from evenhand.report.report import Report
from tests.front.conftest import Command
from tests.front.test_forms import hostile

axe: Any = import_module("axe_playwright_python.sync_playwright").Axe()  # it has no types


@pytest.fixture(name="report")
def _report(cli: Command, tmp_path: Path) -> Path:
    """Return the page that `evenhand verify --out` writes about a protocol with an expected refutation."""
    assert cli("verify", "latch", "--out", str(tmp_path)).code == 0
    return tmp_path / "report.html"


def test_filter_step_to_a_refutation_copy_its_command_and_run_it(report: Path, window: Page, cli: Command) -> None:
    window.goto(report.as_uri())
    rows = window.locator(".verdicts tbody tr:visible")
    every = rows.count()
    window.get_by_label("status", exact=True).select_option("REFUTED")
    assert 0 < rows.count() < every
    expect(window.locator("#filter output")).to_have_text(f"{rows.count()} of {every} verdicts")
    window.get_by_label("words").fill("nothing has this name")
    expect(rows).to_have_count(0)
    window.get_by_role("button", name="show all").click()
    expect(rows).to_have_count(every)
    window.get_by_label("status", exact=True).select_option("REFUTED")
    rows.first.get_by_role("link", name="see it happen").click()
    run = window.locator("article.run:has(details[open])")
    expect(run).to_have_count(1)
    steps = run.locator(".stepper").first.locator("li")
    if steps.count() > 1:
        run.locator(".forth").first.click()
        expect(steps.nth(0)).to_be_visible()
        expect(steps.nth(1)).to_be_hidden()
    command = run.locator(".command code").first.inner_text()
    run.get_by_role("button", name="copy").first.click()
    expect(run.locator(".copy").first).to_contain_text("copied")
    words = shlex.split(command)
    assert words[0] == "evenhand"
    assert cli(*words[1:]).code == 0, "it is refuted as registered"


def test_steps_by_keyboard_alone(tmp_path: Path, window: Page) -> None:
    """Open a lasso of three steps, move with the arrow keys, then show everything again."""
    page = tmp_path / "lasso.html"
    job = Job("cud", "explore", "free", claims=("livelock_free",))
    page.write_bytes(forms_of(Report(run_job(find("cud"), job)))["report.html"])
    window.goto(page.as_uri())
    run = window.locator("article.run")
    run.locator("summary").first.focus()
    window.keyboard.press("Enter")
    stepper = run.locator(".stepper").first
    visible = stepper.locator("li:visible")
    every = visible.count()
    assert every == 3
    stepper.locator(".forth").focus()
    window.keyboard.press("ArrowRight")
    expect(visible).to_have_count(1)
    expect(stepper.locator("output")).to_have_text(f"step 1 of {every}")
    window.keyboard.press("ArrowRight")
    expect(stepper.locator("output")).to_have_text(f"step 2 of {every}")
    stepper.locator(".whole").press("Enter")
    expect(visible).to_have_count(every)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_accessibility_check_finds_nothing(report: Path, browser: Browser, scheme: str) -> None:
    """axe-core finds nothing with everything unfolded; colours have enough contrast in both schemes."""
    context = browser.new_context(color_scheme="dark" if scheme == "dark" else "light", bypass_csp=True)
    try:
        window = context.new_page()
        window.goto(report.as_uri())
        window.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        found = axe.run(window)
        assert found.violations_count == 0, found.generate_report()
    finally:
        context.close()


def test_a_phone_scrolls_one_way_only(report: Path, browser: Browser) -> None:
    """At 360 pixels nothing is wider than the screen."""
    context = browser.new_context(viewport={"width": 360, "height": 640})
    try:
        window = context.new_page()
        window.goto(report.as_uri())
        window.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert window.evaluate("document.documentElement.scrollWidth") <= 360
    finally:
        context.close()


def test_its_print_is_the_results_alone(report: Path, window: Page) -> None:
    """Guarantees are unfolded, limits are drawn; the long tables and the controls stay out, in black on white."""
    window.goto(report.as_uri())
    window.emulate_media(media="print", color_scheme="dark")
    for part in ("#verdicts", "#runs", "#base", "nav"):
        expect(window.locator(part)).to_be_hidden()
    expect(window.locator(".limit svg")).to_be_visible()
    for item in window.locator(".guarantees li").all():
        expect(item).to_be_visible()
    assert window.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


@pytest.mark.slow
def test_the_kill_matrices_of_several_protocols_stand_on_one_page(
    report: Path, browser: Browser, cli: Command, tmp_path: Path
) -> None:
    """A matrix of a real run and one with a survivor; numbers are shortest runs, and names stay beside their line."""
    real = cli("mutants", "latch", "--json").json
    rows: list[dict[str, Any]] = [
        {"mutant": "noisy", "status": "killed", "kills": [{"claim": "quiet", "engine": "explore", "length": 3}]},
        {"mutant": "unseen", "status": "survivor", "kills": []},
    ]
    other: dict[str, Any] = {"format": "evenhand/mutants", "protocol": "bell", "idle_claims": ["loud"], "matrix": rows}
    files = [report.with_name("report.json")]
    for made in (real, other):
        files.append(tmp_path / f"{made['protocol']}.json")
        files[-1].write_text(json.dumps(made), "utf-8")
    assert cli("report", *map(str, files), "--out", str(tmp_path / "all")).code == 0
    context = browser.new_context(bypass_csp=True)
    try:
        window = context.new_page()
        window.goto((tmp_path / "all" / "report.html").as_uri())
        expect(window.locator("#mutants h3")).to_have_text(["latch", "bell"])
        (killed,) = [row for row in real["matrix"] if row["mutant"] == "always_free"]
        shortest = min(kill["length"] for kill in killed["kills"] if kill["claim"] == "one_inside")
        assert shortest == 2, "one takes it, then the other"
        matrix = window.get_by_role("region", name="Kill matrix of latch")
        columns = matrix.locator("thead th").all_inner_texts()
        line = matrix.locator("tbody tr", has_text="always_free").locator("th, td")
        expect(line.nth(columns.index("one_inside"))).to_have_text("2")
        expect(window.get_by_role("region", name="Kill matrix of bell")).to_contain_text("unseen survivor")
        found = axe.run(window)
        assert found.violations_count == 0, found.generate_report()
    finally:
        context.close()


def test_it_is_readable_without_script(report: Path, browser: Browser) -> None:
    """Every row and every run is present; only controls that need the script are hidden."""
    context = browser.new_context(java_script_enabled=False)
    try:
        window = context.new_page()
        window.goto(report.as_uri())
        expect(window.locator("#filter")).to_be_hidden()
        expect(window.locator(".verdicts tbody tr").first).to_be_visible()
    finally:
        context.close()


def test_hostile_names_do_nothing(tmp_path: Path, window: Page) -> None:
    """No dialog opens, no request is made, no foreign element appears; the names are on the page."""
    page = tmp_path / "hostile.html"
    page.write_bytes(forms_of(hostile())["report.html"])
    asked: list[str] = []
    window.on("dialog", lambda dialog: asked.append(dialog.message))
    window.on("request", lambda request: asked.append(request.url))
    window.goto(page.as_uri())
    window.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert asked == [page.as_uri()]
    assert window.locator("img").count() == 0
    expect(window.locator(".verdicts tbody tr").first).to_contain_text("onerror=alert(1)")
