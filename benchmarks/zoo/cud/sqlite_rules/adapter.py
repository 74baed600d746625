r"""The adapter of `sqlite_rules`; all runs of one process use one file after the other, as the README allows.

evenhand check cud --adapter benchmarks.zoo.cud.sqlite_rules.adapter:make \
    [--reading deadlock_space=all_well_formed_actions]

Most endings of a run are compared only under that reading, which is the kernel's.
"""

from __future__ import annotations

import atexit
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.zoo.cud import encoding as enc
from benchmarks.zoo.cud.sqlite_rules.kernel import Kernel
from evenhand.conform.adapters import Initial, Unsupported

Json = Any
SYSTEMS = ("run", "universe", "conditions", "free")
FILE = Path(tempfile.gettempdir()) / f"sqlite_rules-{os.getpid()}.db"
atexit.register(FILE.unlink, missing_ok=True)


class Adapter:
    """One run; what is new in the history is shown."""

    last: Kernel | None = None

    def __init__(self, initial: Initial) -> None:
        config = enc.supported(initial, SYSTEMS)
        self.free = initial["system"] == "free"
        self.config, self.space = config, "all_well_formed_actions"
        self.left = False
        self.letters = enc.Letters()
        self.codes: dict[str, str] = {}
        if Adapter.last is not None:
            Adapter.last.db.close()
        try:
            self.kernel = Adapter.last = Kernel(enc.setup(config), str(FILE), enc.defects())
        except ValueError as error:
            raise Unsupported(str(error)) from error

    def move(self, agent: str, choice: Json, epoch: int, known: Json) -> Json:
        """A choice as the kernel takes it."""
        made: dict[str, Any] = {"exit": choice["exits"]}
        if choice["draft"] is not None:
            made["message"] = self.letters.content(choice["draft"])
        if choice["request"] is not None:
            made["request"] = enc.request(choice["request"], agent, epoch, known)
        return made

    def step(self, action: Json) -> Json:
        """One epoch."""
        chosen = enc.choices(action)
        epoch, before = self.kernel.epoch, self.kernel.state
        moves = {agent: self.move(agent, choice, epoch, before) for agent, choice in chosen.items()}
        seen = [[agent, self.seen(agent)] for agent in self.kernel.active()]
        try:
            tokens = self.pass_on(moves)
        except ValueError as error:
            if str(error) != "the run is over":
                raise
            return enc.closed(action, self.free)
        rows = [
            (step, None if agent is None else json.loads(agent), what, outcome, code)
            for when, step, agent, what, outcome, code in self.kernel.history()
            if when == epoch
        ]
        exits = [agent for step, agent, *_ in rows if step == 1]
        self.left = bool(exits)
        requests = [row for row in rows if row[0] == 3 and row[3] != "NO_ACTION"]
        self.codes = {agent: code for _, agent, _, _, code in requests}
        changes = enc.effects(before, self.kernel.state)
        if self.free:
            return enc.free_shown(enc.free_tokens(tokens, exits), changes, bool(requests), self.codes.values())
        letters = [row for row in rows if row[0] == 2]
        return enc.shown(
            seen=seen,
            tokens=[list(pair) for pair in tokens.items()],
            log={
                "$bag": [
                    enc.entry(
                        agent,
                        epoch,
                        code,
                        outcome,
                        enc.logged(json.loads(body or "null"), chosen[agent]["request"], agent, epoch),
                    )
                    for _, agent, body, outcome, code in requests
                ]
            },
            effects=changes,
            exits={"$bag": exits},
            sent=self.letters.messages(
                {"sender": agent, "epoch": epoch, "content": json.loads(content)}
                for _, agent, content, dropped, _ in letters
                if dropped is None
            ),
            dropped={"$bag": [[agent, enc.UNKNOWN] for _, agent, _, dropped, _ in letters if dropped is not None]},
            rejected=enc.UNKNOWN,
        )

    def pass_on(self, moves: Any) -> Any:
        """Play one epoch; the agents may hand in anything."""
        enc.objects(moves)
        enc.objects(*moves.values())
        return self.kernel.play(moves)

    def seen(self, agent: str) -> Json:
        """What the agent sees; of a malformed request the kernel does not tell the scope again."""
        found = self.kernel.observation(agent)
        scope = found["own_last_declared_scope"]
        if self.codes.get(agent) == "MALFORMED_REQUEST":
            scope = enc.UNKNOWN
        return enc.observation(found, scope, self.letters)

    def facts(self) -> Json:
        """The cells, who is left, and how the run ended."""
        kernel = self.kernel
        if self.free:
            return {"world": enc.world(kernel.state)}
        told = {"epoch": kernel.epoch, "world": enc.world(kernel.state)}
        admitted = not enc.ADMITTED.isdisjoint(self.codes.values())
        told["conclusion"] = enc.conclusion(self.config, self.space, kernel.verdict(), admitted, left=self.left)
        return told


def make(initial: Initial) -> Adapter:
    """A fresh run."""
    return Adapter(initial)
