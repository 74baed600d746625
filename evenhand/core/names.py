"""Decide what is a name where a name becomes part of a path: of a folder, a fixture, a vector, a form.

Protocols, claims and fixtures are named in files and requests of strangers.  `within` is the only way from such a name
to a path, and `as_name` the only way from any text to a name.
"""

from __future__ import annotations

import re
from pathlib import Path

LONGEST = 200
"""Characters of a name; every file system takes so many, with what is put beside them."""

_NAME = re.compile(r"[A-Za-z0-9_-](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?", re.ASCII)
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.ASCII | re.IGNORECASE)
"""Names of devices in every folder of Windows, with any ending."""


class NoName(ValueError):
    """Text that is no plain name, or a name whose path leads out of its folder."""


def is_name(text: str) -> bool:
    """Return whether `text` names one file or folder, and nothing else, on every system.

    >>> is_name("no_winner--1.json"), is_name("../x"), is_name(".x"), is_name("x."), is_name("nul.json"), is_name("")
    (True, False, False, False, False, False)
    """
    return len(text) <= LONGEST and _NAME.fullmatch(text) is not None and _DEVICE.fullmatch(text) is None


def as_name(text: str, most: int = 60) -> str:
    """Return a name of at most `most` characters without dots, which looks like `text`.

    >>> as_name("no winner"), as_name("../../etc"), as_name(""), as_name("nul")
    ('no_winner', '______etc', '_', 'nul_')
    """
    made = re.sub(r"[^A-Za-z0-9_-]", "_", text)[:most] or "_"
    return made if is_name(made) else f"{made}_"


def within(folder: Path, *names: str, links: bool = False) -> Path:
    """Return the path of these names below `folder`, whether it exists or not.

    Raises NoName unless each is a name, and for a link on the way (the folder itself may be one).  `links` lets links
    pass: for the folders of evenhand's own installation, which some installers build of links.
    """
    path = folder
    for name in names:
        if not is_name(name):
            raise NoName(f"{name!r:.80} is no plain file name")
        path = path / name
        if not links and path.is_symlink():
            raise NoName(f"{name!r:.80} is a link, which possibly leads out of the folder")
    return path
