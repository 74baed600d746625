"""A program in any language as a kernel: requests and answers are JSON, one object on a line, as in `evenhand check`.

A request has `do` (the name of a method), `id` and the method's arguments; the answer has the same `id` and either
`shown` (what the method returns) or `error`.  `start` forgets everything that was before, so that one process serves
all plays.  To `start` the program shows `offers`: the methods that it has beyond `choices` and `act`, and `agents` if
it serves whatever agents the request lists; else it lists its own under `agents`.
"""

from __future__ import annotations

import json
import shlex
import weakref
from collections.abc import Mapping
from typing import Any, cast

from evenhand.arbiters.kernels import POPULATION, Factory, NotExaminable
from evenhand.conform.adapters.limits import CORE_SECONDS, KernelLimits
from evenhand.conform.adapters.wire import Misanswer, read_answer
from evenhand.processes.lines import LineProcess, NoLine

ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "rename": ("names",),
    "reset": ("seed",),
    "observe": (),
    "holds": ("agent",),
    "progress": (),
    "order": (),
    "worth": ("outcome",),
    "more": ("choice", "than"),
    "may": ("agent", "choices", "outcome"),
    "snapshot": (),
    "restore": ("snapshot",),
}
"""Methods that a program may offer, with the names of their arguments on the line."""

CHANGING = ("rename", "restore")
"""Methods that change the present play, beside `reset`."""

PURE = ("worth", "more")
"""Methods that ask nothing about the present play."""


class ProgramFailed(Exception):
    """The program answered with an error, with no answer, or with none that can be read."""


class _Channel:
    """One process at a time, and the kernel that its last `start` made."""

    def __init__(self, command: str, limits: KernelLimits) -> None:
        self.words, self.limits = shlex.split(command), limits
        self.current: object = None
        self._child: LineProcess | None = None
        self._end: Any = None
        self._number = 0

    def ask(self, do: str, **more: Any) -> Any:
        """Send one request and return what is shown.  Raises ProgramFailed."""
        self._number += 1
        try:
            child = self._running()
            request = {"do": do, "id": self._number, **more}
            child.send([json.dumps(request, ensure_ascii=False, allow_nan=False).encode("utf-8") + b"\n"])
            line = child.line(self.limits.seconds if child.answered else self.limits.startup)
            answer = read_answer(line, self._number)
        except (NoLine, Misanswer, OSError) as error:
            self.stop()
            raise ProgramFailed(str(error)) from error
        except BaseException:  # an answer that is still to come must not be taken for the next one's
            self.stop()
            raise
        if answer.error or answer.unsupported:
            raise ProgramFailed(answer.error or answer.unsupported)
        return answer.shown

    def stop(self) -> None:
        """End the process; the next request starts a new one."""
        self.current = None
        child, self._child = self._child, None  # first, so that nobody asks a child whose stop was interrupted
        if child is not None:
            self._end.detach()
            child.stop()

    def _running(self) -> LineProcess:
        if self._child is None:
            limits = self.limits
            self._child = LineProcess(
                self.words, memory=limits.mebibytes << 20, cpu=CORE_SECONDS, longest=limits.answer
            )
            self._end = weakref.finalize(self, self._child.stop)
        return self._child


class _Kernel:
    """What every program offers; a subclass adds the methods that this one offers."""

    channel: _Channel

    def __init__(self, agents: list[str]) -> None:
        self.agents, self._done = agents, list[tuple[str, dict[str, Any]]]()
        self._do("start", {"agents": agents})

    def choices(self, agent: str) -> Any:
        """Return what an agent may choose now."""
        return self._look("choices", {"agent": agent})

    def act(self, profile: Mapping[str, Any]) -> Any:
        """Hand over a round's choices in their order."""
        outcomes = self._do("act", {"choices": [[agent, choice] for agent, choice in profile.items()]})
        if isinstance(outcomes, list):  # pairs of agent and outcome
            pairs = cast("list[Any]", outcomes)
            return [tuple(cast("list[Any]", one)) if isinstance(one, list) else one for one in pairs]
        return outcomes

    def _do(self, do: str, more: dict[str, Any]) -> Any:
        """Ask what changes the kernel."""
        if do != "start":
            self._resume()
        self._done = [*self._done[: 1 if do == "restore" else None], (do, more)]
        shown = self.channel.ask(do, **more)
        self.channel.current = self
        return shown

    def _look(self, do: str, more: dict[str, Any]) -> Any:
        if do not in PURE:
            self._resume()
        return self.channel.ask(do, **more)

    def _resume(self) -> None:
        """Repeat what was done with this kernel if the process serves another one by now."""
        if self.channel.current is not self:
            for do, more in self._done:
                self.channel.ask(do, **more)
            self.channel.current = self


def _method(name: str) -> Any:
    def reset(self: Any, seed: int) -> Any:  # the name of its argument says that the kernel takes a seed
        return self._do("reset", {"seed": seed})

    def method(self: Any, *given: Any) -> Any:
        ask = self._do if name in CHANGING else self._look
        return ask(name, dict(zip(ARGUMENTS[name], given, strict=True)))

    return reset if name == "reset" else method


def program(command: str, limits: KernelLimits | None = None) -> Factory:
    """Return a factory of kernels for a command.  Raises NotExaminable for one that does not start or answer."""
    try:
        channel = _Channel(command, limits or KernelLimits())
        if not channel.words:
            raise NotExaminable("the command is empty; give the command that starts the kernel")
        shown = channel.ask("start", agents=list(POPULATION[:3]))
    except (ProgramFailed, ValueError) as error:
        raise NotExaminable(f"{command}: {error}; it must answer a `start` with what it offers") from error
    made = cast("dict[str, Any]", shown) if isinstance(shown, dict) else {}
    offers = made.get("offers")
    known = [*ARGUMENTS, "agents"]
    if not isinstance(offers, list) or not all(one in known for one in cast("list[Any]", offers)):
        channel.stop()
        raise NotExaminable(f"{command}: to `start` it must show `offers`, a list of some of {', '.join(known)}")
    own = made.get("agents")
    if "agents" not in offers and (not isinstance(own, list) or not own):
        channel.stop()
        raise NotExaminable(f"{command}: to `start` it must show its `agents`, or offer `agents`: to serve any")
    methods = {name: _method(name) for name in cast("list[str]", offers) if name != "agents"}
    space = {"channel": channel, "labels": tuple(made.get("labels", ())), "__command__": command, **methods}
    kernel = type(command, (_Kernel,), {**space, "__module__": "__main__"})
    if "agents" in offers:
        return kernel

    class Fixed(kernel):  # type: ignore[misc, valid-type]
        def __init__(self) -> None:
            super().__init__(cast("list[str]", own))

    Fixed.__name__ = command
    return Fixed
