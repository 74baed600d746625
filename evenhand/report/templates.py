"""Our HTML and SVG come from Jinja2 templates: output is escaped and inert, and an undefined name is an error.

Every text goes through `inert` and then through Jinja2's escaping, so that a name or value can neither close a tag nor
reverse the direction of the text.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from evenhand.core.text import inert
from evenhand.report.phrases import counted, where, word
from evenhand.report.table import summary_line

if TYPE_CHECKING:
    from jinja2 import Environment


def environment() -> Environment:
    """Return the renderer of our templates; `breakable` lets a browser break a name after each underscore."""
    from jinja2 import Environment, StrictUndefined  # whoever wants no page needs no Jinja2

    made = Environment(
        autoescape=True, finalize=_harmless, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    safe: Any = made.filters["safe"]

    def breakable(text: str) -> Any:
        return safe("_<wbr>").join(inert(text).split("_"))

    made.filters["breakable"] = breakable
    return made


def shown(name: str, *values: Any) -> str:
    """Return what the macro `name` of `shown.html.j2` makes of these values."""
    return str(getattr(_macros(), name)(*values))


@cache
def _macros() -> Any:
    """Return the macros, without the line breaks of the template: between tags they say nothing."""
    source = (resources.files("evenhand.report") / "shown.html.j2").read_text("utf-8")
    joined = re.sub(r"(?<=[>}])\n\s*(?=[<{])", "", source).replace("\n", " ")
    names = {"where": where, "word": word, "counted": counted, "summary_line": summary_line}
    return environment().from_string(joined, names).module


def _harmless(value: Any) -> Any:
    """Return a template's value with the characters spelled out that a browser or an editor would obey."""
    return inert(value) if isinstance(value, str) and not hasattr(value, "__html__") else value
