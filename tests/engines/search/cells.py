"""Random small systems; steps read few fields, many or none, and fields that span words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from evenhand.core.system import Joint, Scope, Separated, System


@dataclass(frozen=True)
class Cells:
    """Named cells, a tuple of small numbers, and a flag that may be None."""

    cells: tuple[tuple[str, str], ...]
    numbers: tuple[int, ...]
    flag: bool | None = None


@dataclass(frozen=True)
class Rule:
    """Where cell `looks` is `sees`, put `writes` into cell `into`; then perhaps count, copy or raise the flag."""

    looks: int
    sees: str
    into: int
    writes: str
    counts: int
    extra: str


Table = tuple[Rule, ...]


def drawn(random: Random, cells: int, numbers: int, rules: int) -> Table:
    """Return random rules over so many cells."""
    return tuple(
        Rule(
            random.randrange(cells),
            random.choice("abc"),
            random.randrange(cells),
            random.choice("abc"),
            random.randrange(numbers),
            random.choice(("none", "count", "copy", "flag", "compare", "clear")),
        )
        for _ in range(rules)
    )


def applied(rule: Rule, state: Cells) -> tuple[Cells, str]:
    """Return the rule's effect, which says `no` where the rule does not apply."""
    here = state.cells[rule.looks][1]
    if here != rule.sees:
        return state, "no"
    cells = tuple((name, rule.writes if i == rule.into else value) for i, (name, value) in enumerate(state.cells))
    after, numbers = replace(state, cells=cells), state.numbers
    match rule.extra:
        case "count":
            more = tuple((n + 1) % 3 if i == rule.counts else n for i, n in enumerate(numbers))
            return replace(after, numbers=more), "counted"
        case "copy":
            # A value moves from one field to another without being read.
            more = tuple(numbers[-1 - i] if i == rule.counts else n for i, n in enumerate(numbers))
            return replace(after, numbers=more), "copied"
        case "flag":
            return replace(after, flag=not state.flag), "flagged"
        case "compare":
            same = numbers[0] == numbers[-1]
            return replace(after, flag=None if same else True), "same" if same else "other"
        case "clear" if state.flag:
            return replace(after, numbers=tuple(0 for _ in numbers)), "cleared"
        case _:
            return after, "yes"


def plain_cells(seed: int, *, cells: int = 3, numbers: int = 2) -> System[Table, Cells, int, str, None]:
    """Return a system of one rule at a time: of those that are applicable, which `allows` says as well."""
    random = Random(f"cells {seed}")
    tables = tuple(drawn(random, cells, numbers, 5) for _ in range(1 + seed % 2))
    starts = tuple(
        Cells(tuple((f"c{i}", random.choice("abc")) for i in range(cells)), (0,) * numbers, random.choice((None, True)))
        for _ in range(1 + seed % 3)
    )

    def step(_rules: None, config: Table, state: Cells, action: int) -> tuple[Cells, str]:
        return applied(config[action], state)

    def allows(config: Table, state: Cells, action: int) -> bool:
        return action % 2 == 0 or state.cells[config[action].looks][1] == config[action].sees

    def actions(config: Table, _scope: Scope, state: Cells) -> Iterator[int]:
        return (number for number in range(len(config)) if allows(config, state, number))

    return System(
        name=f"cells_{seed}",
        rules=None,
        configs=lambda _scope, _readings: tables,
        initial=lambda _config: starts,
        step=step,
        actions=actions,
        allows=allows,
    )


def wide_cells(seed: int) -> System[Table, Cells, int, str, None]:
    """Return a system with states of more than 62 bits: 40 numbers of two bits each, of which few ever change."""
    return plain_cells(seed, cells=3, numbers=40)


def joint_cells(seed: int, *, separated: bool) -> System[Table, Cells, Any, Any, None]:
    """Return a system in which two agents pick rules; the second is gone while the flag is False."""
    random = Random(f"joint {seed}")
    table = drawn(random, 2, 2, 3)
    start = Cells((("c0", random.choice("abc")), ("c1", random.choice("abc"))), (0, 0), True)

    def agents(_config: Table, state: Cells) -> tuple[str, ...]:
        return ("x", "y") if state.flag in (None, True) else ("x",)

    def judge(_rules: None, config: Table, _key: object, _agent: str, choice: int) -> Rule | None:
        return config[choice] if choice < len(config) else None

    def merge(
        _rules: None, _config: Table, key: object, made: tuple[tuple[str, Rule | None], ...]
    ) -> tuple[tuple[Rule, ...], bool]:
        found = tuple(rule for _, rule in made if rule is not None)
        clash = len(found) == 2 and found[0].into == found[1].into
        return (() if clash else found), clash and key is not None

    def apply(
        _rules: None, _config: Table, state: Cells, found: tuple[tuple[Rule, ...], bool]
    ) -> tuple[Cells, tuple[str, ...]]:
        shown: tuple[str, ...] = ("clash",) if found[1] else ()
        for rule in found[0]:
            state, said = applied(rule, state)
            shown = (*shown, said)
        return state, shown

    def step(_rules: None, config: Table, state: Cells, action: Any) -> tuple[Cells, tuple[str, ...]]:
        key = agents(config, state)
        return apply(
            None, config, state, merge(None, config, key, tuple((a, judge(None, config, key, a, x)) for a, x in action))
        )

    return System(
        name=f"joint_cells_{seed}",
        rules=None,
        configs=lambda _scope, _readings: (table,),
        initial=lambda _config: (start,),
        step=step,
        joint=Joint(agents, lambda config, _s, _st, _a: range(len(config) + 1), lambda _c, _s, p: p, lambda a: a),
        separated=Separated(lambda _r, c, s: agents(c, s), judge, merge, apply) if separated else None,
    )
