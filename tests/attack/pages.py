"""Pages in a real browser, with hostile names in every field: reports, profiles and the explorer."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from random import Random
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from tests.attack.kinds import kinds
from tests.attack.mutation import places
from tests.attack.running import Arena, faults_of
from tests.attack.sockets import serving
from tests.attack.table import Attack, Row
from tests.front.browser.conftest import FLAGS

HOSTILE = (
    "<script>window.hit=1</script>",
    '"><img src=x onerror="window.hit=1">',
    "'-window.hit=1-'",
    "</script><script>window.hit=1//",
    "javascript:window.hit=1",
    "{{7*7}}${7*7}",
    "<svg onload=window.hit=1>",
    "&lt;script&gt;",
    "</style><script>window.hit=1</script>",
    '" onmouseover="window.hit=1" x="',
    "\u202eevil\u2066",
    "<!--",
    "]]>",
    "\u2028window.hit=1\u2029",
    "<a href=//x.invalid>x",
    "<meta http-equiv=refresh content='0;url=//x.invalid'>",
    "x" * 3_000,
    "<iframe src=//x.invalid>",
    "\\u003cscript\\u003e",
)
"""Text that would run, load or lead away if it were taken for markup."""


def attacks(arena: Arena) -> Iterator[Attack]:
    """Yield an attack on each page."""
    del arena
    yield Attack("pages", "report, hostile text in every field", 60, 1, reports, lacks)
    yield Attack("pages", "report, one hostile field", 120, 0, fields, lacks)
    yield Attack("pages", "profile of a system with hostile names", 10, 0, profiles, lacks)
    yield Attack("pages", "explorer, hostile requests and addresses", 40, 0, explorer, lacks)


ACTIVE = """() => document.querySelectorAll('script, iframe, object, embed, base, meta[http-equiv], img, link').length
  + [...document.querySelectorAll('*')].filter(n => [...n.attributes].some(a => a.name.startsWith('on'))).length"""


def lacks() -> str:
    """Return why there is no browser here; empty if there is one."""
    return "" if _browser_path() else "Chromium is not installed"


def _browser_path() -> str | None:
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@contextmanager
def window(browser: Browser) -> Generator[tuple[Page, list[str]]]:
    """Yield a page of its own, and what goes wrong in it: errors, requests that leave, dialogs, scripts that ran."""
    context = browser.new_context()
    page, wrong = context.new_page(), list[str]()
    page.on("pageerror", lambda error: wrong.append(f"an error in the page: {error}"))
    page.on("dialog", lambda _dialog: wrong.append("a dialog"))
    page.on("request", lambda asked: wrong.append(f"it asks for {asked.url:.80}") if _is_away(asked.url) else None)
    yield page, wrong
    if page.evaluate("window.hit"):
        wrong.append("a script in a name has run")
    context.close()


def _is_away(url: str) -> bool:
    return not url.startswith(("file://", "http://127.0.0.1:", "data:", "about:", "blob:"))


@contextmanager
def browser() -> Generator[Browser]:
    """Run Chromium without a window."""
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=_browser_path(), args=[*FLAGS])
        yield made
        made.close()


def _report(arena: Arena) -> Any:
    return next(kind for kind in kinds(arena) if kind.name == "report").originals[0]


def _active(arena: Arena, made: Browser, report: Any) -> int:
    """Return the number of active elements in the page of a report that nobody changed."""
    place = arena.new()
    (place / "file.json").write_text(json.dumps(report), "utf-8")
    arena.run(["report", "file.json", "--out", "out"], folder=place)
    with window(made) as (page, _):
        page.goto((place / "out" / "report.html").as_uri())
        return int(page.evaluate(ACTIVE))


def _texts(whole: Any) -> Iterator[tuple[tuple[Any, ...], str]]:
    for path in places(whole):
        inner = whole
        for step in path:
            inner = inner[step]
        if isinstance(inner, str):
            yield path, inner


def _put(whole: Any, path: Sequence[Any], value: str) -> None:
    for step in path[:-1]:
        whole = whole[step]
    whole[path[-1]] = value


def reports(arena: Arena, row: Row, random: Random, trials: int) -> None:
    """Put hostile text into every text of a report that it takes, as many at a time as it takes."""
    original = _report(arena)
    with browser() as made:
        own = _active(arena, made, original)
        for _ in range(trials):
            whole = copy.deepcopy(original)
            for path, _text in [*_texts(whole)]:
                if _is_free(path):
                    _put(whole, path, random.choice(HOSTILE))
            row.count("a report with hostile text everywhere", _opened(arena, made, whole, own, must=True))


def fields(arena: Arena, row: Row, random: Random, trials: int) -> None:
    """Put hostile text into one place, whichever it is: a report that is refused is no page."""
    original = _report(arena)
    every = [path for path, _ in _texts(original)]
    with browser() as made:
        own = _active(arena, made, original)
        for _ in range(trials):
            whole, path, text = copy.deepcopy(original), random.choice(every), random.choice(HOSTILE)
            _put(whole, path, text)
            row.count(f"{path} := {text:.60}", _opened(arena, made, whole, own, must=False))


def _is_free(path: Sequence[Any]) -> bool:
    """Whether a report takes any text in this place."""
    return path[-1] in ("sentence", "because", "command") or "trace" in path or "coverage" in path


def _opened(arena: Arena, made: Browser, report: Any, own: int, *, must: bool) -> Iterator[str]:
    place = arena.new()
    (place / "file.json").write_text(json.dumps(report), "utf-8")
    ran = arena.run(["report", "file.json", "--out", "out"], folder=place)
    yield from (*ran.faults(arena.base), *faults_of(ran.last, (0, 1, 2, 3), one_line=False))
    page = place / "out" / "report.html"
    if not page.exists():
        yield from ["no page was written"] if must else []
        return
    yield from _looked_at(made, page.as_uri(), own)


def _looked_at(made: Browser, address: str, own: int) -> Iterator[str]:
    with window(made) as (page, wrong):
        page.goto(address)
        for one in page.query_selector_all("details:not([open]) > summary")[:20]:
            one.evaluate("node => node.click()")
        active = page.evaluate(ACTIVE)
    yield from wrong
    if active != own:
        yield f"{active} active elements and attributes in the place of {own}"


OWN = """
import evenhand
NAME = {name!r}
@evenhand.always(NAME or "x")
def claim(state):
    return state != 2
made = evenhand.system("names", initial=[0], actions=lambda state: [NAME, ("x", NAME)] if state == 0 else [],
    step=lambda state, action: 2 if action == NAME else 1)
"""


def profiles(arena: Arena, row: Row, random: Random, trials: int) -> None:
    """Explore and report a system of one's own whose names and actions are hostile."""
    with browser() as made:
        own = _active(arena, made, _report(arena))
        for _ in range(trials):
            place, name = arena.new(), random.choice(HOSTILE)
            (place / "own.py").write_text(OWN.format(name=name), "utf-8")
            ran = arena.run(["verify", "own.py:made", "--jobs", "1", "--out", "out"], folder=place)
            faults = [*ran.faults(arena.base), *faults_of(ran.last, (1,), one_line=False)]
            page = place / "out" / "report.html"
            row.count(
                f"a system with {name:.60}", [*faults, *(_looked_at(made, page.as_uri(), own) if page.exists() else ())]
            )


def explorer(arena: Arena, row: Row, random: Random, trials: int) -> None:
    """Open the explorer at hostile addresses and with edited requests whose text is hostile."""
    with serving(arena, row) as server, browser() as made:
        for _ in range(trials):
            _, _, address, at = server.start.split("/")
            text = json.dumps({"$": "Act", "agent": 1, "verb": random.choice(HOSTILE)})
            got = server.do("edit", address=address, at=int(at), step=1, text=text)
            to = got.json.get("to", server.start) if got.status == 200 else server.start
            query = random.choice(("", "edit=1", "beside=", "pair=", "words="))
            with window(made) as (page, wrong):
                page.goto(server.address)
                more = f"?{query}{random.choice(HOSTILE)}" if query.endswith("=") else f"?{query}"
                page.goto(f"http://127.0.0.1:{server.port}{to}{more}")
            row.count(f"{text:.100} {more:.60}", wrong)
