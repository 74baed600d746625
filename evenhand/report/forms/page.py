"""A report as one self-contained HTML file: no network, no script but its own, readable without any.

The content security policy allows the file's own style and script by their digests and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from evenhand.evidence.finding import sizes_of
from evenhand.report.digest import steps_of
from evenhand.report.drawing import Picture
from evenhand.report.forms.views import View
from evenhand.report.glance import WORDS, answer_text
from evenhand.report.phrases import counted, plural, word
from evenhand.report.report import Report
from evenhand.report.templates import environment, shown

FEW = 8
"""So many guarantees of a group are listed at once; more are folded."""


DRAWN = 5
"""So many limits of a protocol are drawn at once; the pictures of the others are folded."""


def page(report: Report, matrices: Sequence[Mapping[str, Any]] = ()) -> bytes:
    """Return the report as HTML, UTF-8; `matrices` are kill matrices as `evenhand mutants P --json` prints them."""
    style, script = part("page.css"), part("page.js")
    made = (
        environment()
        .from_string(part("page.html.j2"))
        .render(
            view=View(report, tuple(matrices)),
            word=word,
            counted=counted,
            sizes_of=sizes_of,
            words=WORDS,
            stuck={
                "deadlock": "deadlock",
                "livelock": "go on for ever without progress",
                "exclusion": "lose exclusion",
            },
            few=FEW,
            drawn_first=DRAWN,
            plural=plural,
            drawn=_drawn,
            answer_text=answer_text,
            steps_of=steps_of,
            style=style,
            script=script,
            policy=f"default-src 'none'; style-src {allowed(style)}; script-src {allowed(script)}; base-uri 'none'",
        )
    )
    return made.encode()


def _drawn(picture: Picture) -> str:
    """A picture as a part of the page, which needs no namespace; its texts are escaped already."""
    return shown("picture", picture).replace(' xmlns="http://www.w3.org/2000/svg"', "", 1)


def part(name: str) -> str:
    """Return a file of this folder."""
    return (resources.files(__name__.rpartition(".")[0]) / name).read_text("utf-8")


def allowed(text: str) -> str:
    """Return the source of a content security policy that allows this style or script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
