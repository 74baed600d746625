"""Write an adapter to begin from: it answers from the reference and prints what it is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from evenhand.core.canonical import canonical_text
from evenhand.core.codec import encode
from evenhand.core.spoken import kinds
from evenhand.core.system import AnyStep

EXAMPLES = 10
"""Example steps of each system."""

_HEAD = '''\
"""An adapter of a kernel of {protocol}, to begin from.  It answers from the reference and prints what it is asked.

    evenhand check {protocol} --adapter {module}:make    finds nothing as long as the reference answers
    python {module}.py    takes the example steps of {steps}

The page docs/reference/protocols/{protocol}.md and {schema} describe every value.
"""

from __future__ import annotations

import json
import sys
import traceback
from pathlib import Path
from typing import Any

from evenhand.conform.adapters import Initial, Unsupported
from evenhand.conform.adapters.model import reference
from evenhand.conform.checking.words import Dictionary, Reader
from evenhand.core.registry import find

SYSTEMS = (
{systems})
"""The systems that the kernel takes; leave out those that it does not."""


class Kernel:
    """One run.  Replace `self.reference` by your kernel, and each answer by what yours shows.

    What your kernel does not show may be left out.  With a method `facts` it may tell fields of its state too, and
    with a method `pass_on`, through which its messages go, get values of any type (docs/how-to/check-your-kernel.md).
    """

    def __init__(self, initial: Initial) -> None:
        if initial["system"] not in SYSTEMS:
            raise Unsupported(f"no system {{initial['system']}}")
        # `config` is fixed during the run.  `start` is where it begins, which may be the middle of a run: build your
        # kernel in this state, or raise Unsupported where `start` is not as your kernel begins.
        self.reference = reference(initial)
        print("start:", initial["system"], file=sys.stderr)

    def step(self, action: Any) -> Any:
        """Take one action and return what the kernel shows of it."""
        print("asked:", json.dumps(action), file=sys.stderr)
        match action["$"]:
'''

_KIND = """\
            case "{kind}":  # {fields}
                return self.reference.step(action)
"""

_TAIL = '''\
        raise Unsupported(f"no {{action['$']}}")


def make(initial: Initial) -> Kernel:
    """Return the kernel of one run."""
    return Kernel(initial)


def main() -> None:
    """Take the example steps; a step is as expected, not taken, fails, or differs for `check` too: both are printed."""
    kernel: Any = None
    reader: Any = None
    known: Any = None
    for line in Path(__file__).with_name("{steps}").read_text("utf-8").splitlines():
        asked = json.loads(line)
        if asked["do"] == "start":
            kernel, known = None, Dictionary()
            reader = Reader(find(asked["protocol"]).model.systems[asked["system"]].types)
        try:
            if asked["do"] == "start":
                kernel = make(asked)
            shown = kernel.step(asked["action"]) if kernel and asked["do"] == "step" else None
        except Unsupported as reason:
            shown = None
            print("not taken:  ", reason)
        except Exception:  # a finding of `check`
            traceback.print_exc()
            kernel = shown = None
        if shown is None:
            continue
        if reader.reading(shown, asked["shown"], known).agrees:
            print("as expected:", json.dumps(asked["action"]))
        else:
            print("differs:    ", json.dumps(asked["action"]))
            print("    expected", json.dumps(asked["shown"]))
            print("    shown   ", json.dumps(shown))


if __name__ == "__main__":
    main()
'''


def skeleton(
    protocol: str, module: str, systems: Mapping[str, str], actions: Iterable[type], steps: str, schema: str
) -> str:
    """Return the source of the adapter `module`, with a case for each class of actions.

    `systems` have a sentence each; `steps` and `schema` are the names of the files beside it.
    """
    kinds = sorted(actions, key=lambda kind: kind.__name__)
    cases = "".join(
        _KIND.format(kind=kind.__name__, fields=", ".join(getattr(kind, "__match_args__", ())) or "no fields")
        for kind in kinds
    )
    listed = "".join(f'    "{name}",{f"  # {said}" if said else ""}\n' for name, said in systems.items())
    head = _HEAD.format(protocol=protocol, module=module, systems=listed, steps=steps, schema=schema)
    return head + cases + _TAIL.format(steps=steps)


def example_lines(protocol: str, system: str, steps: Iterable[AnyStep]) -> Iterator[str]:
    """Yield example steps as lines of the wire, each step with the answer of the reference.

    There are `EXAMPLES` of them, from whole beginnings of the runs whose answers differ most.
    """
    waiting, seen, left = _runs(steps), set[tuple[str, ...]](), EXAMPLES

    def met(run: list[AnyStep]) -> set[tuple[str, ...]]:
        return set[tuple[str, ...]]().union(*map(kinds, run[:left]))

    while waiting and left:
        best = max(waiting, key=lambda run: (len(met(run) - seen), len(run)))
        waiting.remove(best)
        seen |= met(best)
        yield from _lines(protocol, system, best[:left])
        left -= len(best[:left])


def _runs(steps: Iterable[AnyStep]) -> list[list[AnyStep]]:
    """Return the runs that the steps make up."""
    made: list[list[AnyStep]] = []
    for step in steps:
        if not made or step.before is not made[-1][-1].after or step.config is not made[-1][-1].config:
            made.append([])
        made[-1].append(step)
    return made


def _lines(protocol: str, system: str, run: Sequence[AnyStep]) -> Iterator[str]:
    start = {"do": "start", "protocol": protocol, "system": system}
    yield canonical_text({**start, "config": encode(run[0].config), "start": encode(run[0].before)})
    for step in run:
        yield canonical_text({"do": "step", "action": encode(step.action), "shown": encode(step.shown)})
