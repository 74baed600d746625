"""The door between an adapter and its kernel: its method `pass_on`, watched, and one message of a step changed.

Only the host of Python adapters uses it.  A program that speaks JSON Lines does the same by itself (`RawValue` in
`schema/wire.json`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from evenhand.core.kernel import Unsupported


class Door:
    """Stands for `pass_on` in one step, changes the message that `raw` names, and keeps all messages that are JSON.

    If the kernel refuses what was changed (Unsupported), the message follows as it was.  `taken` says whether it did
    not, None if there was no such place to change; `failed` is what the kernel raised otherwise.
    """

    def __init__(self, pass_on: Callable[..., Any], raw: Any) -> None:
        self._pass_on = pass_on
        self._raw: dict[str, Any] = raw or {}
        self.messages: list[Any] = []
        self.taken: bool | None = None
        self.failed: BaseException | None = None

    def __call__(self, message: Any, *rest: Any, **named: Any) -> Any:
        """Hand a message over and return the kernel's answer; `rest` and `named` are the adapter's own."""
        number, kept, instead = len(self.messages), copied(message), list[Any]()
        self.messages.append(kept)
        if kept is not None and number == self._raw.get("message"):
            instead = changed(kept, self._raw["at"], self._raw.get("text"))
        try:
            for one in instead:
                self.taken = True
                try:
                    return self._pass_on(one, *rest, **named)
                except Unsupported:
                    self.taken = False
            return self._pass_on(message, *rest, **named)
        except Unsupported:
            raise
        except BaseException as error:
            self.failed = error
            raise


def copied(message: Any) -> Any:
    """Return a copy of a message; None for one that is no JSON, such as one with tuples."""
    try:
        made = json.loads(json.dumps(message, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return None
    return made if made == message else None


def changed(message: Any, at: Sequence[str | int], text: str | None) -> list[Any]:
    """Return a copy of a message with a JSON text's value in one place, or without what is there.

    There is none if the message has no such place.
    """
    whole: list[Any] = [copied(message)]
    *way, last = 0, *at
    holder: Any = whole
    try:
        for key in way:
            holder = holder[key]
        if text is None:
            del holder[last]
        else:
            holder[last] = json.loads(text)
    except (LookupError, TypeError):
        return []
    return whole
