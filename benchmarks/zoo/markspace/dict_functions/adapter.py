"""Adapter of the functions on one dictionary."""

from __future__ import annotations

from typing import Any

from benchmarks.zoo.markspace import words
from benchmarks.zoo.markspace.adapting import Adapter
from benchmarks.zoo.markspace.dict_functions import kernel
from benchmarks.zoo.markspace.words import ROOM


class Functions(Adapter):
    """Calls the functions."""

    def make(self, scopes: list[Any], agents: list[Any], principal: str) -> None:
        config = {"scopes": scopes, "agents": agents, "principal": principal}
        self.k = kernel.new_space(config, words.defects())

    def said(self, answer: Any) -> tuple[str | None, str]:
        return (answer["id"], "") if answer["ok"] else (None, answer["why"])

    def write(self, agent: str, mark: dict[str, Any]) -> tuple[str | None, str]:
        return self.said(self.pass_on(mark, agent))

    def pass_on(self, mark: Any, agent: str) -> Any:
        """The answer to a mark, which may be anything."""
        return kernel.write(self.k, agent, mark)

    def pre(self, agent: str, resource: str, confidence: float) -> dict[str, Any]:
        return kernel.pre_action(self.k, agent, ROOM, resource, "book", confidence)

    def post(self, agent: str, resource: str, intent: str, *, failed: bool) -> tuple[str | None, str]:
        return self.said(kernel.post_action(self.k, agent, ROOM, resource, "booked", {"text": ""}, intent, failed))

    def boundary(self, resource: str) -> dict[str, dict[str, Any]]:
        return kernel.resolve_deferred(self.k, ROOM, resource)

    def pass_time(self, seconds: int) -> None:
        kernel.tick(self.k, seconds)

    def read(self, scope: str, reader: str | None, least: float = 0.01) -> list[dict[str, Any]]:
        return kernel.read(self.k, scope, reader, least)

    def needs(self) -> list[dict[str, Any]]:
        return kernel.aggregate_needs(self.k)

    def resolve(self, need: str, action: str) -> tuple[str | None, str]:
        return self.said(kernel.resolve(self.k, need, action))

    def together(self, strengths: list[float]) -> float:
        return kernel.reinforce(strengths)


def make(initial: Any) -> Functions:
    """Return the kernel of one scenario."""
    return Functions(initial)
