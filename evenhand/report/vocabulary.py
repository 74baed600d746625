"""Describe what a protocol's kernels are asked and show, from the types of its model: a page, and example steps."""

from __future__ import annotations

import random
import typing
from collections import Counter
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from enum import Enum
from inspect import cleandoc, getdoc, signature
from itertools import islice
from typing import Any, TypeAlias

from evenhand.conform.checking.wandering import larger, wandering
from evenhand.core.bundle import Bundle
from evenhand.core.canonical import canonical_text
from evenhand.core.codec import encode
from evenhand.core.freedom import freedom_of
from evenhand.core.grouping import grouped
from evenhand.core.spoken import spoken
from evenhand.core.system import AnyStep, AnySystem
from evenhand.report.named import named, sentence_of

CONFIGS, WALKS, STEPS = 3, 8, 24
"""Configurations of a system from which examples are taken, walks from each start, and their steps."""

ACTIONS = 5_000
"""Actions from which a walk chooses."""

WANDERED = 120
"""Random walks of each system that show what an answer holds."""

EXAMPLE = 1_000
"""Characters of the longest example."""

EACH = 4
"""Words of the protocol's own in a field from which on each of them has an example of its record."""

Own: TypeAlias = dict[tuple[str, str], dict[str, Any]]
"""By record and field, the words of the protocol's own that were met, with the shortest record of each, encoded."""


@dataclass
class Words:
    """The classes that one system uses, and the shortest example of each: actions by class, what is shown, states."""

    system: AnySystem
    configs: dict[type, Any] = field(default_factory=dict[type, Any])
    actions: dict[type, Any] = field(default_factory=dict[type, Any])
    shown: dict[type, Any] = field(default_factory=dict[type, Any])
    states: dict[type, Any] = field(default_factory=dict[type, Any])
    own: Own = field(default_factory=dict[tuple[str, str], dict[str, Any]])

    @property
    def kinds(self) -> list[type]:
        """The classes of actions that the system's step takes; those that were met come first."""
        hints = typing.get_type_hints(self.system.step)
        taken = [hints[name] for name in list(signature(self.system.step).parameters)[3:] if name in hints]
        named = [kind for hint in taken for kind in (typing.get_args(hint) or (hint,)) if isinstance(kind, type)]
        return list(dict.fromkeys([*self.actions, *named]))

    def see(self, step: AnyStep) -> None:
        """Keep the values of a step that are shorter than those known."""
        for found, value in (
            (self.configs, step.config),
            (self.actions, step.action),
            (self.shown, step.shown),
            (self.states, step.after),
        ):
            kind: type = value.__class__
            known = found.get(kind)
            if known is None or (value != known and _size(value) < _size(known)):
                found[kind] = value
        for one in spoken(step):
            _shorter(self.own, (one.record, one.field), one.text, one.whole)


def example_steps(system: AnySystem) -> Iterator[AnyStep]:
    """Yield the steps of some walks; a walk takes the kind of action that was taken least."""
    chance, taken = random.Random(0), Counter[type]()
    for config in islice(system.all_configs(), CONFIGS):
        for start in islice(system.initial(config), 2):
            for _ in range(WALKS):
                state: Any = start
                for _ in range(STEPS):
                    offered = list(islice(system.enabled(config, state), ACTIONS))
                    if not offered:
                        break
                    least = min(taken[type(action)] for action in offered)
                    rare = [action for action in offered if taken[type(action)] == least]
                    step = system.take(config, state, chance.choice(rare))
                    taken[type(step.action)] += 1
                    yield step
                    state = step.after


def _shorter(own: Own, place: tuple[str, str], said: str, whole: Any) -> None:
    known = own.setdefault(place, {})
    if said not in known or len(canonical_text(whole)) < len(canonical_text(known[said])):
        known[said] = whole


def words_of(system: AnySystem) -> Words:
    """Return the classes and examples of a system."""
    made = Words(system)
    for step in example_steps(system):
        made.see(step)
    return made


def page(bundle: Bundle) -> str:
    """Return the page of a protocol as Markdown."""
    lines = [
        f"# What kernels of {bundle.name} are asked and show",
        "",
        "Made from the types of the model by `make docs`. Each system has the classes that a kernel meets in it, with",
        "a short example each; [check your kernel](../../how-to/check-your-kernel.md) says how they are used. Beside a",
        "field stands which words of the protocol's own were *met* there on short random walks.",
        "",
        'Every value is JSON: `{"$": "Name", …}` is a record, `{"$enum": …, "name": …}` a member of an enumeration,'
        ' an array a tuple, `{"$set": […]}` a set, `{"$fraction": "1/3"}` a number.',
        "",
    ]
    system: AnySystem
    own: Own = {}
    for system in bundle.model.systems.values():
        words = words_of(system)
        lines += _system(words)
        for place, met in words.own.items():
            for said, whole in met.items():
                _shorter(own, place, said, whole)
    lines += _beyond(bundle)
    lines += _readings(bundle)
    types = dict.fromkeys(
        kind for system in bundle.model.systems.values() for kind in (*system.types, *_concluded(system))
    )
    lines += named(types)
    lines += ["## Records", ""]
    filled = _filled(bundle)
    for kind in sorted((kind for kind in types if is_dataclass(kind)), key=lambda one: one.__name__):
        lines += _record(kind, own, filled.get(kind, {}))
    enums: list[type[Enum]] = sorted((kind for kind in types if issubclass(kind, Enum)), key=lambda one: one.__name__)
    if enums:
        lines += ["## Enumerations", ""]
    for enum in enums:
        members = ", ".join(_member(one) for one in enum)
        lines += [f"**{enum.__name__}**: {_said(enum)} {members}", ""]
    return "\n".join(lines).rstrip() + "\n"


def _system(words: Words) -> Iterator[str]:
    yield from (f"## System `{words.system.name}`", "")
    said = sentence_of_system(words.system)
    if said:
        yield from (said, "")
    for title, found in (
        ("Configuration", words.configs),
        ("Actions", words.actions),
        ("Shown", words.shown),
        ("State", words.states),
    ):
        listed = ", ".join(f"`{kind.__name__}`" for kind in found)
        rare = [f"`{kind.__name__}`" for kind in words.kinds if title == "Actions" and kind not in found]
        yield from (f"{title}: {listed}" + (f"; in longer runs or other systems {', '.join(rare)}" if rare else ""), "")
        for value in found.values():
            said = _without_readings(value)
            if len(said) <= EXAMPLE or title == "Configuration":
                yield from ("```json", said, "```", "")
    for kind in _concluded(words.system):
        yield from (f"Facts may tell the fields of the state, and `conclusion`, which is a `{kind.__name__}`.", "")


def sentence_of_system(system: AnySystem) -> str:
    """Return the sentence beneath a system in its model; empty where there is none."""
    return sentence_of(system, system.step.__module__.rpartition(".")[0])


def _concluded(system: AnySystem) -> tuple[type, ...]:
    """The class of what a run amounts to, in a tuple; nothing where the protocol concludes nothing."""
    return () if system.conclusion is None else (typing.get_type_hints(system.conclusion)["return"],)


def _filled(bundle: Bundle) -> dict[type, dict[str, set[str]]]:
    """By class of observation, what it holds after each action beside what it always holds, on random walks."""
    found: dict[type, dict[tuple[str, str], set[str]]] = {}
    for system in bundle.model.systems.values():
        for trace in islice(wandering(larger(bundle, system), (), seed=0), WANDERED):
            for step in trace.steps:
                kind: type = step.shown.__class__
                held = found.setdefault(kind, {}).setdefault(_operation(step.action), set())
                held.update(_held(step.shown))
    return {shown: _apart(by_op) for shown, by_op in found.items()}


def _apart(by_op: dict[tuple[str, str], set[str]]) -> dict[str, set[str]]:
    """Operations of one class by name only where their answers hold other fields; without what all of them hold."""
    always, listed = set[str].intersection(*by_op.values()), dict[str, set[str]]()
    for kind, op in by_op:
        of_kind = [held for (other, _), held in by_op.items() if other == kind]
        listed[kind if all(held == of_kind[0] for held in of_kind) else op] = by_op[kind, op] - always
    return listed


def _beyond(bundle: Bundle) -> Iterator[str]:
    """What no section tells, which no kernel is asked."""
    silent = (system for system in bundle.model.systems.values() if system.unsaid is not None)
    systems = grouped((_said(system.unsaid), f"`{system.name}`") for system in silent)
    if systems:
        yield from ("## What is not asked", "", "The report counts it as left out.", "")
        for said, names in systems.items():
            yield from (f"{', '.join(names)}: {said}", "")


def _readings(bundle: Bundle) -> Iterator[str]:
    """Where the text can be read in several ways, the default is this project's choice."""
    found: dict[str, tuple[Any, Any, str]] = {}
    for system in bundle.model.systems.values():
        if is_dataclass(system.readings):
            for one in fields(system.readings):
                found[one.name] = (one.default, one.metadata.get("values", ()), one.metadata.get("sentence", ""))
    if not found:
        return
    yield from ("## Readings", "", "Where the source can be read in several ways, the default (first) is a choice of")
    yield from ("this project. `--reading NAME=VALUE` compares with another one.", "")
    yield from ("| reading | values | about |", "|---|---|---|")
    for name, (default, values, sentence) in found.items():
        said = ", ".join(f"`{one}`" for one in (default, *(one for one in values if one != default)))
        yield f"| `{name}` | {said} | {sentence} |"
    yield ""


def _without_readings(value: Any) -> str:
    """The value as JSON, its readings left out: they have a table of their own."""
    said, readings = canonical_text(encode(value)), getattr(value, "readings", None)
    return said if readings is None else said.replace(canonical_text(encode(readings)), '{"$":"Readings",…}')


def _record(kind: Any, own: Own, filled: dict[str, set[str]]) -> Iterator[str]:
    yield from (f"### {kind.__name__}", "", _said(kind), "")
    told = [f"`{op}` {', '.join(f'`{name}`' for name in sorted(held))}" for op, held in filled.items() if held]
    if told:
        yield from (f"On random walks answers hold, beside what all hold: {'; '.join(told)}.", "")
    free = freedom_of(kind)
    entries = [one for one in fields(kind) if one.init]
    if entries:
        yield from ("| field | type | |", "|---|---|---|")
    for one in entries:
        notes: list[str] = []
        if one.name in free:
            named = ", ".join(f"`{name}`" for name in sorted(free[one.name].named))
            where = f" where `{free[one.name].beside}` is" if free[one.name].beside else ""
            note = f"ours{where}, not the source's; compared with `--compare {free[one.name].free}`"
            notes.append(note + (f", except for {named}" if named else ""))
        met = own.get((kind.__name__, one.name), {})
        if met:
            notes.append("met: " + ", ".join(f"`{text}`" for text in sorted(met)))
        hint = (one.type if isinstance(one.type, str) else one.type.__name__).replace("|", "\\|")
        yield f"| `{one.name}` | `{hint}` | {'; '.join(notes)} |"
    if entries:
        yield ""
    for name in islice((one.name for one in entries if len(own.get((kind.__name__, one.name), {})) >= EACH), 1):
        examples = [canonical_text(whole) for _, whole in sorted(own[kind.__name__, name].items())]
        if max(map(len, examples)) <= EXAMPLE:
            yield from (f"An example for each `{name}`:", "", "```json", *examples, "```", "")


def _member(member: Enum) -> str:
    """The name of a member, and its value where that says more."""
    value = str(member.value)
    told = isinstance(member.value, str) and value.lower() != member.name.lower()
    return f"`{member.name}` ({value})" if told else f"`{member.name}`"


def _operation(action: Any) -> tuple[str, str]:
    """The class of an action, and the first member of an enumeration in it, which names the operation."""
    held = [getattr(action, one.name) for one in fields(action)] if is_dataclass(action) else []
    return type(action).__name__, next((one.name for one in held if isinstance(one, Enum)), "")


def _held(shown: Any) -> Iterator[str]:
    """The fields of an observation that tell something: another value than the default, or than nothing."""
    for one in fields(shown) if is_dataclass(shown) else ():
        usual = one.default if one.default_factory is MISSING else one.default_factory()
        value = getattr(shown, one.name)
        if value != usual if usual is not MISSING else value:
            yield one.name


def _said(kind: object) -> str:
    return cleandoc(getdoc(kind) or "").replace("\n\n", "\0").replace("\n", " ").replace("\0", "\n\n")


def _size(value: Any) -> int:
    return len(canonical_text(encode(value)))
