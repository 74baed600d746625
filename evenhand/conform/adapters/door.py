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

    If the kernel refuses what was changed (Unsupported), the message follows as it was.  `failed` is what the kernel
    raised otherwise.
    """

    def __init__(self, pass_on: Callable[..., Any], raw: Any) -> None:
        self._pass_on = pass_on
        self._raw: dict[str, Any] = raw or {}
        self.messages: list[Any] = []
        self.taken = self.refused = False
        self.failed: BaseException | None = None

    def __call__(self, message: Any, *rest: Any, **named: Any) -> Any:
        """Hand a message over and return the kernel's answer; `rest` and `named` are the adapter's own."""
        number, kept = len(self.messages), copied(message)
        self.messages.append(kept)
        try:
            if kept is not None and number == self._raw.get("message"):
                try:
                    answer = self._pass_on(changed(kept, self._raw["at"], self._raw.get("text")), *rest, **named)
                except Unsupported:
                    self.refused = True
                else:
                    self.taken = True
                    return answer
            return self._pass_on(message, *rest, **named)
        except Unsupported:
            raise
        except BaseException as error:
            self.failed = error
            raise


def copied(message: Any) -> Any:
    """Return a copy of a message; None for one that is no JSON."""
    try:
        return json.loads(json.dumps(message, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return None


def changed(message: Any, at: Sequence[str | int], text: str | None) -> Any:
    """Return a copy of a message with a JSON text's value in one place, or without what is there."""
    whole: Any = [copied(message)]
    *way, last = 0, *at
    holder = whole
    for key in way:
        holder = holder[key]
    if text is None:
        del holder[last]
    else:
        holder[last] = json.loads(text)
    return whole[0]
