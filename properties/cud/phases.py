"""The phases of one epoch, as the text has them: requests, pass 1, pass 2, outcome.

Where the step shows a log, the phases say what this kernel did, faulty or not.  The free-agent graph keeps no log; its
passes are computed from the text, and the headings say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from evenhand.model.cud.vocabulary import Shown
from evenhand.properties.cud.predicates import PASS_ONE, PASS_TWO, EpochStep, facts


def phases(step: EpochStep) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield heading and lines of each phase of the epoch `step`."""
    seen = facts(step)
    yield "requests", [f"{ask.agent}: {ask.request}" for ask in seen.asks] or ["nobody asks for anything"]
    shown = step.shown
    if isinstance(shown, Shown):
        refused = [entry for entry in shown.log if entry.verdict == PASS_ONE]
        collided = [entry.agent_id for entry in shown.log if entry.verdict == PASS_TWO]
        yield "pass 1", _pass([f"refuses {e.agent_id}{f': {e.fault}' if e.fault else ''}" for e in refused])
        yield "pass 2", _pass([f"refuses {agent}" for agent in collided])
    else:
        yield (
            "pass 1, by the text",
            _pass([f"refuses {ask.agent}" for ask in seen.asks if not ask.standing.passes]),
        )
        yield "pass 2, by the text", _pass([f"refuses {agent}" for agent in seen.contested])
    yield "outcome", [f"{agent}: {token}" for agent, token in seen.tokens.items()]


def _pass(lines: list[str]) -> list[str]:
    return lines or ["refuses nobody"]
