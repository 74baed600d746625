"""Walk through the reference at random, in more configurations than are searched exhaustively, without Hypothesis.

A walk takes what is on offer, so an honest kernel knows the answer to each step.  It costs a tenth of a drawn run.
Walks differ in their habits: each has kinds of actions that it prefers or never takes, an agent that may rest, a
tendency to do what it did before, and in joint actions a tendency of all agents to want the same.  So some walks repeat
one action beyond each limit, wait for long, or put three agents on one resource, which equal chances do not.  Half of
them rather do what few walks did before, lest time alone passes.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from evenhand.conform.checking.covering import spread
from evenhand.conform.checking.divergence import kind_of
from evenhand.conform.checking.spelling import numberless
from evenhand.core.bundle import Bundle
from evenhand.core.system import AnyStep, AnySystem
from evenhand.core.trace import AnyTrace, Scenario, Trace

CONFIGS = 64
"""Configurations of each scope, spread evenly over the first `LISTED`."""
LISTED = 256
STARTS = 16
LISTED_ACTIONS, MENU, KEPT = 20_000, 512, 32
"""Actions on offer that are listed, and those among them, drawn at random, of which one is chosen; long lists kept."""
LONGEST = 32
"""Steps of one walk."""

WEIGHTS = (0, 1, 1, 1, 4)
"""How much a walk likes one kind of action, or the choice at one place of each agent's menu."""
HABITS = (0.0, 0.25, 0.6)
"""How often a walk does what it did before, and how often all agents choose alike."""

CURIOUS, TRIED = 0.5, 2
"""The part of the walks that rather do what was seldom done, some from the start, and how many actions of each kind
they try."""

CLOSED = 0.5
"""The part of the walks after which nobody acts any more, so that what ends by itself ends."""

NONE = (0, 0)
MORE = 6
"""By how much a size is enlarged that multiplies neither configurations nor actions on offer, as one of epochs."""


def larger(bundle: Bundle, system: AnySystem) -> tuple[AnySystem, ...]:
    """Return the system at its own scope, at those that are planned for a search, and with each size larger."""
    planned = [plan.scope for plan in bundle.plans if plan.system == system.name and plan.engine == "explore"]
    made = [system, *(system.at(**dict(scope)) for scope in planned)]
    usual = _numbers(system)
    for name, size in system.scope.items():
        one, found = system.at(**{name: size + 1}), NONE
        if size and (found := _numbers(one)) != NONE:
            made.append(one)
        few = found[0] == usual[0] and found[1] < MENU and found[1] <= 2 * usual[1]
        if few and _numbers(more := system.at(**{name: size + MORE})) != NONE:
            made.append(more)
    return tuple({one.scope: one for one in made}.values())


def _numbers(system: AnySystem) -> tuple[int, int]:
    """How many configurations there are, at most `LISTED`, and actions on offer at the first start, at most `MENU`.

    Of a joint action each agent's choices are counted.  `NONE` where the model does not take the size.
    """
    try:
        configs = list(islice(system.all_configs(), LISTED))
        start = next(iter(system.initial(configs[0])))
        if system.joint is None:
            return len(configs), len(list(islice(system.enabled(configs[0], start), MENU)))
        agents, choices = system.joint.agents(configs[0], start), system.joint.choices
        listed = [islice(choices(configs[0], system.scope, start, agent), MENU) for agent in agents]
        return len(configs), min(MENU, sum(len(list(one)) for one in listed))
    except Exception:  # sizes are the model's own words, and some are no sizes
        return NONE


def wandering(systems: Sequence[AnySystem], configs: Sequence[Any], *, seed: int) -> Iterator[AnyTrace]:
    """Yield random walks without end: in turn through each system, at `configs` and through those of its scope.

    The last system walks through `configs`, which some generator drew; the others are one system at several scopes.
    Equal arguments give equal walks.
    """
    chance, done = random.Random(seed), Counter[tuple[str, bool]]()
    places = [(system, some) for system in systems if (some := spread(system.all_configs(), CONFIGS, LISTED)[0])]
    menus: dict[Any, dict[Any, list[Any]]] = {system.scope: {} for system in systems}
    if configs:
        places.insert(0, (systems[-1], tuple(configs)))
    while places:
        for system, some in places:
            trace = _Walk(system, chance.choice(some), chance, done, menus[system.scope]).trace()
            if trace is not None:
                yield trace


class _Walk:
    """One walk with its habits; behind `curious` steps it does what was seldom done.  `menus` keeps long ones."""

    def __init__(
        self,
        system: AnySystem,
        config: Any,
        chance: random.Random,
        done: Counter[tuple[str, bool]],
        menus: dict[Any, list[Any]],
    ) -> None:
        self.system, self.config, self.chance, self.done, self.menus = system, config, chance, done, menus
        self.steady, self.alike = chance.choice(HABITS), chance.choice(HABITS)
        self.curious = chance.choice((0, 0, chance.randrange(LONGEST))) if chance.random() < CURIOUS else 2 * LONGEST
        self.length = chance.randint(2, LONGEST) + self.curious % (2 * LONGEST)
        self.rests = chance.randrange(4)
        self.liked: dict[Any, int] = {}
        self.taken: list[Any] = []

    def trace(self) -> AnyTrace | None:
        """Return the walk; None if nothing is on offer at the start."""
        start = self.chance.choice(list(islice(self.system.initial(self.config), STARTS)))
        state, steps = start, list[AnyStep]()
        choose = self._single if self.system.joint is None else self._joint
        while len(steps) < self.length:
            action = choose(state)
            if action is None:
                break
            steps.append(self.system.take(self.config, state, action))
            self.taken.append(action)
            state = steps[-1].after
        if steps and self.chance.random() < CLOSED:
            steps += self._closing(state)
        actions = tuple(step.action for step in steps)
        return Trace(Scenario(self.config, start, actions), tuple(steps)) if steps else None

    def _closing(self, state: Any) -> Iterator[AnyStep]:
        """Yield steps that no agent causes, such as ticks, until there is none or nothing changes."""
        actor = self.system.actor
        for _ in range(LONGEST if actor is not None else 0):
            offered = islice(self.system.enabled(self.config, state), MENU)
            nobodys = next((one for one in offered if actor is not None and not actor(one)), None)
            step = None if nobodys is None else self.system.take(self.config, state, nobodys)
            if step is None or step.after == state:
                return
            yield step
            state = step.after

    def _likes(self, kind: Any) -> int:
        if kind not in self.liked:
            self.liked[kind] = self.chance.choice(WEIGHTS)
        return self.liked[kind]

    def _weighed(self, items: Sequence[Any], kind: Callable[[Any], Any]) -> Any:
        """One of the items; first its kind is chosen, so that a kind with many members is no likelier."""
        kinds: dict[Any, list[Any]] = {}
        for item in items:
            kinds.setdefault(kind(item), []).append(item)
        names = list(kinds)
        weights = [self._likes(name) for name in names]
        name = self.chance.choices(names, weights if any(weights) else None)[0]
        return self.chance.choice(kinds[name])

    def _single(self, state: Any) -> Any:
        """One action on offer, perhaps one that was taken before, but for whole numbers such as ids."""
        offered = self._offered(state)
        if not offered:
            return None
        if len(self.taken) >= self.curious:
            return self._seldom(state, offered)
        if self.taken and self.chance.random() < self.steady:
            before = self.chance.choice(self.taken[-4:])
            if before in offered:
                return before
            like = numberless(before)
            again = [one for one in offered if type(one) is type(before) and numberless(one) == like]
            if again:
                return self.chance.choice(again)
        return self._weighed(offered, kind_of)

    def _offered(self, state: Any) -> list[Any]:
        """Actions on offer: of a long menu some at random, as the first ones have much in common."""
        menu = self.menus.get((self.config, state))
        if menu is None:
            menu = list(islice(self.system.enabled(self.config, state), LISTED_ACTIONS))
            if len(menu) > MENU and len(self.menus) < KEPT:
                self.menus[self.config, state] = menu
        return menu if len(menu) <= MENU else self.chance.sample(menu, MENU)

    def _seldom(self, state: Any, offered: Sequence[Any]) -> Any:
        """One of some actions of each kind, rather what was seldom done: ticks alone would soon end most runs.

        What changes nothing, as a refusal, is told from what does.
        """
        kinds: dict[str, list[Any]] = {}
        for item in offered:
            kinds.setdefault(kind_of(item), []).append(item)
        some = [(kind, self.chance.choice(items)) for kind, items in kinds.items() for _ in range(TRIED)]
        keys = [(kind, self.system.take(self.config, state, one).after == state) for kind, one in some]
        (at,) = self.chance.choices(range(len(some)), [1 / (1 + self.done[key]) for key in keys])
        self.done[keys[at]] += 1
        return some[at][1]

    def _joint(self, state: Any) -> Any:
        """A joint action, perhaps one that was taken before, or one in which agents choose alike or one rests."""
        joint = self.system.joint
        assert joint is not None
        agents = joint.agents(self.config, state)
        if not agents:
            return None
        scope = self.system.scope
        menus = {one: list(islice(joint.choices(self.config, scope, state, one), MENU)) for one in agents}
        if not all(menus.values()):
            return None
        if self.taken and self.chance.random() < self.steady:
            again = self.chance.choice(self.taken[-4:])
            picked = joint.split(again)
            if tuple(one for one, _ in picked) == agents and all(choice in menus[one] for one, choice in picked):
                return again
        same = -1
        chosen: list[tuple[str, Any]] = []
        for number, agent in enumerate(agents):
            menu = menus[agent]
            if same < 0 or self.chance.random() >= self.alike:
                same = self._weighed(range(len(menu)), lambda at: at)
            rests = number == self.rests and self.chance.random() < self.steady
            chosen.append((agent, menu[0 if rests else same % len(menu)]))
        return joint.join(self.config, state, tuple(chosen))
