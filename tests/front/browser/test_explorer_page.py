"""The explorer page in a real browser: a livelock of every protocol, edit, save, replay; by keyboard and on a phone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from evenhand.core.canonical import canonical_text
from evenhand.core.codec import encode
from evenhand.core.registry import find
from evenhand.core.trace import replay
from evenhand.web.files import Library
from evenhand.web.position import Position, opened
from evenhand.web.state_table import label
from evenhand.web.walk import ViewRequest, walk
from evenhand.web.witness import led
from tests.front.conftest import Command
from tests.front.serving import Served, served, shipped

axe: Any = import_module("axe_playwright_python.sync_playwright").Axe()  # it has no types
PATIENT = 60_000
"""Milliseconds that a page may take: tests run side by side on small machines."""


@dataclass(frozen=True)
class Livelock:
    """The place of a livelock in a protocol, and the reading if it is not the default."""

    protocol: str
    system: str
    claim: str
    readings: str = ""


LIVELOCKS = (
    Livelock("apcm", "run", "revising_for_ever_brings_news"),
    Livelock("conviction", "issue", "no_phase_goes_on_for_ever", "clock=gated_by_9_1"),
    Livelock("cud", "free", "livelock_free"),
    Livelock("markspace", "first_writer", "asking_is_answered"),
    Livelock("sovereign", "constitutions", "refusals_end_by_themselves"),
)


@pytest.fixture(name="library")
def _library(tmp_path: Path) -> Library:
    return Library(tmp_path / "kept")


@pytest.fixture(name="window")
def _window(browser: Browser) -> Iterator[Page]:
    """Return a page that fails the test on any console complaint other than a refused request with a reason."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    made = context.new_page()
    made.set_default_timeout(PATIENT)
    complaints: list[str] = []
    made.on("pageerror", lambda error: complaints.append(str(error)))
    made.on(
        "console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None
    )
    yield made
    context.close()
    assert not [words for words in complaints if "status of 422" not in words and "status of 404" not in words]


@pytest.fixture(name="server")
def _server(library: Library) -> Iterator[Served]:
    """Return a server that begins at a protocol outside the repository."""
    with served(opened(find("latch")), library.folder) as running:
        yield running


def settled(window: Page) -> None:
    """Wait until the picture shows the current run; a page that is being left may show no run at all."""
    window.wait_for_function(
        "() => { const v = document.getElementById('view'); return v && v.dataset.drawn === v.dataset.graph; }",
        timeout=PATIENT,
    )


def choose_system(window: Page, one: Livelock) -> None:
    """Choose the system, then the reading, then press the button."""
    window.get_by_label("system").select_option(f"{one.protocol}/{one.system}")
    window.get_by_label("readings that differ").fill(one.readings)
    window.get_by_role("button", name="open", exact=True).click()
    window.wait_for_function(f"() => document.title.startsWith('{one.protocol} {one.system}')", timeout=PATIENT)
    settled(window)


def edited(place: Position, claim: str) -> tuple[int, str, list[str]]:
    """Replace the request of some step such that the run still decides a claim: `claim`, if there is one."""
    trace = replay(place.system, place.scenario)
    found: tuple[int, str, list[str]] | None = None
    for number, step in enumerate(trace.steps, 1):
        for action in islice(place.system.enabled(place.scenario.config, step.before), 40):
            if action == step.action:
                continue
            actions = (*place.scenario.actions[: number - 1], action, *place.scenario.actions[number:])
            view = walk(place.walked(actions), place.steps)
            if view.saveable and (found is None or claim in view.saveable):
                found = number, canonical_text(encode(action)), view.saveable
                if claim in view.saveable:
                    return found
    assert found is not None, "no edit leaves anything to save"
    return found


@pytest.mark.parametrize(
    "one",
    [
        # these two spend their time on the search for another request; the page itself is not slow with them
        pytest.param(one, marks=[pytest.mark.deep] * (one.protocol in ("conviction", "sovereign")), id=one.protocol)
        for one in LIVELOCKS
    ],
)
def test_walk_into_a_livelock_edit_a_request_and_save(
    one: Livelock, server: Served, library: Library, window: Page, cli: Command
) -> None:
    """Open, let a claim choose, see the loop, step back, take an action, edit, replay, save; the file replays."""
    expect.set_options(timeout=PATIENT)
    asked: list[str] = []
    window.on("request", lambda request: asked.append(request.url))
    window.goto(server.address)
    settled(window)
    choose_system(window, one)

    # The claim chooses a lasso: it is marked as refuted, and the loop is marked in the picture.
    window.evaluate("document.querySelectorAll('.claims').forEach((one) => { one.open = true; })")
    window.locator(".claims li", has_text=re.compile(f"^{one.claim}")).get_by_role("button").click()
    expect(window.locator("#note")).to_contain_text("refutes it")
    settled(window)
    expect(window.locator("#d-false")).to_contain_text(one.claim)
    expect(window.locator("#graph-note")).to_contain_text("in a livelock")
    expect(window.locator("#p-run")).to_contain_text("for ever")
    start = opened(find(one.protocol), one.system, readings=one.readings.split())
    lasso, _ = led(start, next(claim for claim in start.bundle.claims if claim.name == one.claim))
    assert lasso is not None and lasso.loop
    steps = lasso.steps
    expect(window.locator(".steppers output")).to_have_text(f"step {steps} of {steps}")

    # Back by keyboard: the claim is not refuted at that step yet; then forward again.
    window.keyboard.press("ArrowLeft")
    expect(window.locator(".steppers output")).to_have_text(f"step {steps - 1} of {steps}")
    expect(window.locator("#d-false")).not_to_contain_text(one.claim)
    window.keyboard.press("End")
    expect(window.locator(".steppers output")).to_have_text(f"step {steps} of {steps}")

    # An action on offer: the first of the loop once more.
    again = lasso.scenario.actions[steps - lasso.loop]
    if window.get_by_label("only actions that contain").count():
        window.get_by_label("only actions that contain").fill(label(again)[:190].rpartition(" ")[0])
        window.get_by_role("button", name="filter").click()
        expect(window.locator("#p-middle")).to_contain_text("1 to ")
    option = window.locator(".option").filter(has=window.locator(".what").get_by_text(label(again), exact=True))
    option.first.click()
    expect(window.locator(".steppers output")).to_have_text(f"step {steps + 1} of {steps + 1}")
    walked = lasso.walked((*lasso.scenario.actions, again))

    # Another request in place of one of them.
    number, text, saveable = edited(walked, one.claim)
    window.get_by_role("link", name=f"edit request {number}", exact=True).click()
    box = window.get_by_label("The request as fixtures write it")
    expect(box).to_have_value(str(walk(walked, 0, ViewRequest(edit=number)).edited))
    box.fill("{")
    window.get_by_role("button", name="replay with this").click()
    expect(window.locator("#note.error")).to_contain_text("this is no request")
    box.fill(text)
    window.get_by_role("button", name="replay with this").click()
    expect(window.locator("#note")).to_contain_text("was replaced")
    expect(window.locator(".steppers output")).to_have_text(f"step {number} of {steps + 1}")
    window.keyboard.press("End")
    expect(window.locator(".steppers output")).to_have_text(f"step {steps + 1} of {steps + 1}")

    # Save, and replay on the command line.
    about = one.claim if one.claim in saveable else saveable[0]
    window.get_by_label("save this run").select_option(about)
    window.get_by_role("button", name="save").click()
    expect(window.locator("#note")).to_contain_text("saved:")
    assert library.folder is not None
    (file,) = (library.folder / one.protocol).iterdir()
    answer = cli("replay", str(file))
    assert answer.code == 0, answer.out
    assert not [url for url in asked if not url.startswith((f"http://127.0.0.1:{server.port}/", "data:"))]


def test_a_bookmark_keeps_the_run_and_the_browser_s_own_back_works(server: Served, window: Page) -> None:
    """The address holds the whole view, so a reload shows the same."""
    expect.set_options(timeout=PATIENT)
    window.goto(server.address)
    settled(window)
    window.locator(".option").first.click()
    expect(window.locator(".steppers output")).to_have_text("step 1 of 1")
    window.locator(".option").first.click()
    expect(window.locator(".steppers output")).to_have_text("step 2 of 2")
    window.reload()
    expect(window.locator(".steppers output")).to_have_text("step 2 of 2")
    window.go_back()
    expect(window.locator(".steppers output")).to_have_text("step 1 of 1")
    assert "token" not in window.url
    window.goto(f"http://127.0.0.1:{server.port}/run/{'0' * 16}/0")
    expect(window.get_by_role("alert")).to_contain_text("not known here")
    window.get_by_role("link", name="Begin again").click()
    settled(window)


def test_the_picture_leads_to_the_next_state(server: Served, window: Page) -> None:
    """Choose a state in the picture, read it in words, and take its action."""
    expect.set_options(timeout=PATIENT)
    window.goto(server.address)
    settled(window)
    window.locator("#graph").scroll_into_view_if_needed()
    box = window.locator("#graph").bounding_box()
    at: Any = window.evaluate("async () => (await import('/static/graph.js')).place('1')")
    assert box is not None
    window.mouse.click(box["x"] + at["x"], box["y"] + at["y"])
    expect(window.locator("#node")).to_contain_text("State 1")
    window.locator("#node").get_by_role("button", name="take").click()
    expect(window.locator(".steppers output")).to_have_text("step 1 of 1")
    window.get_by_role("link", name="parts").click()
    expect(window.locator("#graph-note")).to_contain_text("part")


def test_a_mutant_beside_the_reference(server: Served, window: Page) -> None:
    """At first nothing differs; the page then finds the smallest differing run and shows the difference."""
    expect.set_options(timeout=PATIENT)
    window.goto(server.address)
    settled(window)
    window.get_by_label("the same actions in").select_option("mutant:always_free")
    window.get_by_role("button", name="compare").click()
    expect(window.locator("#p-across")).to_contain_text("the same in every step")
    window.get_by_role("button", name="find the smallest run that differs").click()
    expect(window.locator("#p-across .difference").first).to_contain_text("'refused' → 'taken'")
    expect(window.locator("#p-across")).to_contain_text("in step 2")


def test_two_runs_of_a_pair(window: Page) -> None:
    """A fixture of a two-run claim shows both runs and the step at which they differ."""
    expect.set_options(timeout=PATIENT)
    place = Library().load("cud", f"shipped/{shipped('cud', 'order_independence--reference')}")
    with served(place) as running:
        window.goto(running.address)
        settled(window)
        expect(window.locator("#p-across")).to_contain_text("Two runs")
        expect(window.locator("#p-across .difference").first).to_be_visible()
        expect(window.locator("#p-files")).to_contain_text("--out DIR")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 1400), ("dark", 360)])
def test_it_is_accessible_and_fits_a_phone(browser: Browser, scheme: str, width: int) -> None:
    """axe-core finds nothing with everything unfolded, and nothing is wider than the screen."""
    place = Library().load("cud", f"shipped/{shipped('cud', 'livelock_free--reference')}")
    context = browser.new_context(
        color_scheme="dark" if scheme == "dark" else "light", bypass_csp=True, viewport={"width": width, "height": 800}
    )
    try:
        with served(place) as running:
            window = context.new_page()
            window.goto(running.address)
            settled(window)
            path = window.url.partition(f":{running.port}")[2]
            window.goto(f"http://127.0.0.1:{running.port}{path}?edit=2&beside=reading:x&pair=livelock_free")
            settled(window)
            window.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            assert window.evaluate("document.documentElement.scrollWidth") <= width
            found = axe.run(window)
            assert found.violations_count == 0, found.generate_report()
    finally:
        context.close()


def test_the_page_does_not_jump(server: Served, window: Page) -> None:
    """A step leaves the buttons in place, and the focus on the button that was pressed."""
    expect.set_options(timeout=PATIENT)
    window.goto(server.address)
    settled(window)
    for step in (1, 2, 3):  # awaited one by one, because a click may otherwise reach the previous page
        window.locator(".option").first.click()
        expect(window.locator(".steppers output")).to_have_text(f"step {step} of {step}")
    window.locator("#g-back").focus()
    before = window.locator("#g-back").bounding_box()
    window.keyboard.press("Enter")
    expect(window.locator(".steppers output")).to_have_text("step 2 of 3")
    assert window.locator("#g-back").bounding_box() == before
    assert window.evaluate("document.activeElement.id") == "g-back"
    ring = window.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert ring == "solid", "the focus is seen"
