"""The profile page in a real browser: accessible in both schemes, as narrow as a phone, and silent."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from evenhand.core.profile import Aspect
from tests.front.conftest import Command

axe: Any = import_module("axe_playwright_python.sync_playwright").Axe()  # it has no types


@pytest.fixture(name="profile")
def _profile(cli: Command, tmp_path: Path) -> Path:
    """Return the page that `evenhand profile --out` writes."""
    assert cli("profile", "latch", "--out", str(tmp_path)).code == 0
    return tmp_path / "profile.html"


@pytest.mark.slow
def test_it_shows_the_picture_and_the_table(profile: Path, window: Page) -> None:
    """The page has one request, a row for each question, and the command that shows a yes again."""
    asked: list[str] = []
    window.on("request", lambda request: asked.append(request.url))
    window.goto(profile.as_uri())
    assert asked == [profile.as_uri()]
    expect(window.get_by_role("img", name="Arbitration profile")).to_be_visible()
    expect(window.locator("tbody tr")).to_have_count(len(Aspect))
    expect(window.locator("tbody tr", has_text="can it livelock?")).to_contain_text("evenhand explore latch")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_accessible_and_fits_a_phone(profile: Path, browser: Browser, scheme: str) -> None:
    """axe-core finds nothing; at 360 pixels nothing is wider than the screen."""
    context = browser.new_context(
        color_scheme="dark" if scheme == "dark" else "light", bypass_csp=True, viewport={"width": 360, "height": 640}
    )
    try:
        window = context.new_page()
        window.goto(profile.as_uri())
        assert window.evaluate("document.documentElement.scrollWidth") <= 360
        found = axe.run(window)
        assert found.violations_count == 0, found.generate_report()
    finally:
        context.close()
