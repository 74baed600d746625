"""Shrink evidence from any engine: traces, lassos and pairs of runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from evenhand.core.grouping import grouped
from evenhand.core.system import AnySystem
from evenhand.core.trace import AnyLasso, AnyScenario, Lasso, Pair, Scenario, replay
from evenhand.core.verdict import Evidence, runs

AnyPair = Pair[Any, Any, Any]
Actions = tuple[Any, ...]

MENU = 4_096
"""Simpler actions (or initial states) that are tried at one place of a run."""

PAIRWISE = 16
"""Runs up to this length are also tried without any two of their actions."""


def shrink(
    system: AnySystem, evidence: Evidence, still_fails: Callable[[Evidence], bool], *, limit: int = 20_000
) -> Evidence:
    """Return the simplest evidence found for which `still_fails` is true.

    `still_fails` must replay in the model, as `refutes` does, so that only real runs survive.  `limit` bounds its calls
    (a count, so that the result does not depend on the machine's speed).  Raises ValueError if `evidence` itself does
    not fail.
    """
    if not still_fails(evidence):
        raise ValueError("the evidence to shrink does not fail itself; replay it with `judge`, which says why")
    return Shrinker(system, evidence, still_fails, limit).run()


class Shrinker:
    """One shrinking run: passes over evidence, repeated until every pass is idle.

    A *pass* proposes simpler evidence, boldest proposals first; the first that still fails becomes the best so far, and
    the pass restarts from there.  Passes keep no memory, so shrinking ends when all of them are idle in a row.  The
    result is then locally minimal: no single proposal of any pass improves it.

    It ends, because every proposal is smaller in one order: fewer actions; then simpler initial data (`System.smaller`,
    then earlier initial states), none visited twice; then, at the first place where two runs differ, an action that
    stands earlier on the menu of that place.

    *Refitting* makes dropping work.  Actions are named by content, so after an edit most of the later ones still make
    sense; those no longer on offer are dropped.  A joint action is refitted agent by agent: a missing choice becomes
    the simplest one, a missing agent is left out.  Hostile actions were never on offer, and dropping one may lose the
    failure; so an action or choice that the given evidence takes where it is not on offer is kept as it stands.
    Nothing else becomes hostile: honest evidence stays honest.

    * a trace: leave out what leads round in a circle, then chunks of actions, then single ones and pairs; take simpler
      initial data; lower one agent's choice; both at once.
    * a lasso is judged as one, fair and closed, every time.  Beside the edits of a trace, in stem and loop, it is cut
      at any state that it visits twice and entered at any of its states.
    * a pair: first the same edit in both runs (their common past, or the same action wherever it occurs), then each run
      alone.

    The shrinker knows no claims and draws nothing at random.
    """

    def __init__(
        self, system: AnySystem, evidence: Evidence, still_fails: Callable[[Evidence], bool], limit: int = 20_000
    ) -> None:
        self.system = system
        self.best = evidence
        self.still_fails = still_fails
        self.left = limit
        self._hostile = self._not_on_offer(evidence)
        self._tried: set[Evidence] = {evidence}
        self._starts: set[Any] = {_starts(evidence)}

    @property
    def passes(self) -> tuple[Callable[[Any], Iterator[Evidence]], ...]:
        """The passes for this kind of evidence, cheapest gain first."""
        match self.best:
            case Scenario():
                return (
                    self.skip_circles,
                    self.drop_actions,
                    self.simplify_start,
                    self.lower_choices,
                    self.drop_two,
                    self.simplify_and_lower,
                )
            case Lasso():
                return (
                    self.cut_lasso_where_states_repeat,
                    self.drop_from_lasso,
                    self.enter_loop_elsewhere,
                    self.simplify_lasso_start,
                    self.lower_lasso_choices,
                )
            case Pair():
                return (self.drop_from_pair, self.simplify_pair_start, self.lower_pair_choices)

    def run(self) -> Evidence:
        """Run the passes until all are idle, or the limit is used up; return the best evidence found."""
        idle = False
        while not idle:
            idle = True
            for proposals in self.passes:
                while self._improve(proposals(self.best)):
                    idle = False
        return self.best

    def _improve(self, proposals: Iterable[Evidence]) -> bool:
        """Take the first proposal that still fails; return whether there is one."""
        for proposal in proposals:
            if proposal in self._tried:
                continue
            if self.left <= 0:
                return False
            self.left -= 1
            self._tried.add(proposal)
            if self.still_fails(proposal):
                self.best = proposal
                self._starts.add(_starts(proposal))
                return True
        return False

    # Traces

    def drop_actions(self, best: AnyScenario) -> Iterator[Evidence]:
        """Yield `best` without a chunk of actions: large chunks first, from the end."""
        yield from self._edited(best, _without_chunks(best.actions))

    def drop_two(self, best: AnyScenario) -> Iterator[Evidence]:
        """Yield `best` without any two actions, for pairs that only make sense together."""
        yield from self._edited(best, _without_two(best.actions))

    def skip_circles(self, best: AnyScenario) -> Iterator[Evidence]:
        """Yield `best` without the actions that lead from a state back to it, longest detour first."""
        states = replay(self.system, best).states
        yield from self._edited(best, (best.actions[:i] + best.actions[j:] for i, j in _circles(states)))

    def simplify_start(self, best: AnyScenario) -> Iterator[Evidence]:
        """Yield `best` from simpler initial data."""
        for config, start in self._simpler_starts(best.config, best.start):
            yield from self._edited(Scenario(config, start), (best.actions,))

    def simplify_and_lower(self, best: AnyScenario) -> Iterator[Evidence]:
        """Yield `best` from simpler initial data with one choice lowered, if either alone loses the failure."""
        for config, start in self._simpler_starts(best.config, best.start):
            actions = self._refit(config, start, best.actions)[0]
            yield from self.lower_choices(Scenario(config, start, actions))

    def lower_choices(self, best: AnyScenario) -> Iterator[AnyScenario]:
        """Yield `best` with one action, or one agent's choice in it, replaced by an earlier one on its menu."""
        trace = replay(self.system, best)
        for index, step in enumerate(trace.steps):
            for lower in self._lower(best.config, step.before, step.action):
                yield from self._edited(best, (_replaced(best.actions, index, lower),))

    def _edited(self, best: AnyScenario, edits: Iterable[Actions]) -> Iterator[AnyScenario]:
        for actions in edits:
            yield replace(best, actions=self._refit(best.config, best.start, actions)[0])

    # Lassos

    def drop_from_lasso(self, best: AnyLasso) -> Iterator[Evidence]:
        """Yield `best` without a chunk of the stem, of the loop, or without two of the loop's actions."""
        yield from self._edited_lasso(best, ((stem, best.loop) for stem in _without_chunks(best.stem)))
        yield from self._edited_lasso(best, ((best.stem, loop) for loop in _without_chunks(best.loop) if loop))
        yield from self._edited_lasso(best, ((best.stem, loop) for loop in _without_two(best.loop) if loop))

    def cut_lasso_where_states_repeat(self, best: AnyLasso) -> Iterator[Evidence]:
        """Yield `best` without a detour in stem or loop, or with a shorter loop between two equal states."""
        actions, entry = best.unrolled.actions, len(best.stem)
        states = replay(self.system, best.unrolled).states
        for i, j in _circles(states):
            if (i, j) == (entry, len(actions)):
                continue
            yield replace(best, stem=actions[:i], loop=actions[i:j])
            if j <= entry:
                yield replace(best, stem=actions[:i] + actions[j:entry])
            elif i >= entry:
                yield replace(best, loop=actions[entry:i] + actions[j:])

    def enter_loop_elsewhere(self, best: AnyLasso) -> Iterator[Evidence]:
        """Yield `best` with the loop begun at another of its states, and a shorter stem."""
        for turn in range(1, len(best.loop)):
            loop = best.loop[turn:] + best.loop[:turn]
            for way in (best.stem + best.loop[:turn], best.stem):
                shorter = (stem for stem in (way, *_without_chunks(way)) if len(stem) < len(best.stem))
                yield from self._edited_lasso(best, ((stem, loop) for stem in shorter))

    def simplify_lasso_start(self, best: AnyLasso) -> Iterator[Evidence]:
        """Yield `best` from simpler initial data."""
        for config, start in self._simpler_starts(best.config, best.start):
            yield from self._edited_lasso(replace(best, config=config, start=start), ((best.stem, best.loop),))

    def lower_lasso_choices(self, best: AnyLasso) -> Iterator[Evidence]:
        """Yield `best` with one action replaced by one earlier on its menu, there alone or everywhere."""
        actions, entry = best.unrolled.actions, len(best.stem)
        for index, step in enumerate(replay(self.system, best.unrolled).steps):
            for lower in self._lower(best.config, step.before, step.action):
                edits = [_replaced(actions, index, lower)]
                if actions.index(step.action) == index:  # otherwise an earlier place would differ first
                    edits.append(_exchanged(actions, step.action, lower))
                yield from self._edited_lasso(best, ((changed[:entry], changed[entry:]) for changed in edits))

    def _edited_lasso(self, best: AnyLasso, edits: Iterable[tuple[Actions, Actions]]) -> Iterator[Evidence]:
        for stem, loop in edits:
            fitted, entry = self._refit(best.config, best.start, stem)
            again, _ = self._refit(best.config, entry, loop)
            if again:  # an empty loop is no lasso
                yield replace(best, stem=fitted, loop=again)

    # Pairs

    def drop_from_pair(self, best: AnyPair) -> Iterator[Evidence]:
        """Yield `best` without a chunk of the common past; then without a chunk of one run."""
        left, right = best.left, best.right
        if _same_start(best):
            common = _common(left.actions, right.actions)
            for past in _without_chunks(left.actions[:common]):
                yield from self._edited_pair(best, past + left.actions[common:], past + right.actions[common:])
        for actions in _without_chunks(left.actions):
            yield from self._edited_pair(best, actions, right.actions)
        for actions in _without_chunks(right.actions):
            yield from self._edited_pair(best, left.actions, actions)

    def simplify_pair_start(self, best: AnyPair) -> Iterator[Evidence]:
        """Yield `best` from simpler initial data: both runs, or one of them."""
        left, right = best.left, best.right
        for config, start in self._simpler_starts(left.config, left.start):
            simpler = replace(left, config=config, start=start)
            if _same_start(best):
                both = replace(best, left=simpler, right=replace(right, config=config, start=start))
                yield from self._edited_pair(both, left.actions, right.actions)
            yield from self._edited_pair(replace(best, left=simpler), left.actions, right.actions)
        for config, start in self._simpler_starts(right.config, right.start):
            simpler = replace(right, config=config, start=start)
            yield from self._edited_pair(replace(best, right=simpler), left.actions, right.actions)

    def lower_pair_choices(self, best: AnyPair) -> Iterator[Evidence]:
        """Yield `best` with an action lowered everywhere in both runs; then in one place of one run."""
        left, right = best.left, best.right
        seen: set[Any] = set()
        for step in (*replay(self.system, left).steps, *replay(self.system, right).steps):
            if step.action in seen:
                continue
            seen.add(step.action)
            for lower in self._lower(step.config, step.before, step.action):
                one, two = (_exchanged(run.actions, step.action, lower) for run in (left, right))
                yield from self._edited_pair(best, one, two)
        yield from (replace(best, left=proposal) for proposal in self.lower_choices(left))
        yield from (replace(best, right=proposal) for proposal in self.lower_choices(right))

    def _edited_pair(self, best: AnyPair, left: Actions, right: Actions) -> Iterator[Evidence]:
        one, two = best.left, best.right
        yield replace(
            best,
            left=replace(one, actions=self._refit(one.config, one.start, left)[0]),
            right=replace(two, actions=self._refit(two.config, two.start, right)[0]),
        )

    # Shared by all passes

    def _refit(self, config: Any, state: Any, actions: Sequence[Any]) -> tuple[Actions, Any]:
        """The actions that are on offer along the way, and the state they end in."""
        fitted: list[Any] = []
        for action in actions:
            fitting = self._fitting(config, state, action)
            if fitting is not None:
                fitted.append(fitting[0])
                state = self.system.take(config, state, fitting[0]).after
        return tuple(fitted), state

    def _fitting(self, config: Any, state: Any, action: Any) -> tuple[Any] | None:
        """The action, or the nearest joint one that may stand here, in a tuple; None if there is none."""
        if action in self._hostile or self.system.is_enabled(config, state, action):
            return (action,)
        joint = self.system.joint
        if joint is None:
            return None
        wished = dict(joint.split(action))
        agents = joint.agents(config, state)
        if not any(agent in wished for agent in agents):
            return None
        made: list[tuple[str, Any]] = []
        for agent in agents:
            menu = tuple(joint.choices(config, self.system.scope, state, agent))
            kept = agent in wished and (wished[agent] in menu or (agent, wished[agent]) in self._hostile)
            if not kept and not menu:
                return None
            made.append((agent, wished[agent] if kept else menu[0]))
        return (joint.join(config, state, tuple(made)),)

    def _not_on_offer(self, evidence: Evidence) -> frozenset[Any]:
        """The actions, or (agent, choice) pairs of joint ones, that the evidence takes without being on offer."""
        joint = self.system.joint
        found: list[Any] = []
        for run in runs(evidence):
            for step in replay(self.system, run).steps:
                config, state, action = step.config, step.before, step.action
                if self.system.is_enabled(config, state, action):
                    continue
                made = () if joint is None else joint.split(action)
                if joint is None or tuple(agent for agent, _ in made) != joint.agents(config, state):
                    found.append(action)
                    continue
                menus = {agent: tuple(joint.choices(config, self.system.scope, state, agent)) for agent, _ in made}
                found.extend((agent, choice) for agent, choice in made if choice not in menus[agent])
        return frozenset(found)

    def _lower(self, config: Any, state: Any, action: Any) -> Iterator[Any]:
        """Simpler actions in this place: one agent's choice lowered, or an action earlier on the menu.

        To a hostile action, which is not on the menu, everything on it is simpler.
        """
        joint = self.system.joint
        if joint is None:
            for offered in islice(self.system.enabled(config, state), MENU):
                if offered == action:
                    return
                yield offered
            return
        made, agents = joint.split(action), joint.agents(config, state)
        for place, (agent, choice) in enumerate(made):
            if agent not in agents:  # a hostile action names anybody
                continue
            for offered in islice(joint.choices(config, self.system.scope, state, agent), MENU):
                if offered == choice:
                    break
                yield joint.join(config, state, _replaced(made, place, (agent, offered)))

    def _simpler_starts(self, config: Any, start: Any) -> Iterator[tuple[Any, Any]]:
        """Initial data not visited yet: that of `System.smaller`, then earlier initial states."""
        for simpler in self.system.smaller(config, start):
            if simpler not in self._starts:
                yield simpler
        for earlier in islice(self.system.initial(config), MENU):
            if earlier == start:
                return
            if (config, earlier) not in self._starts:
                yield config, earlier


def _starts(evidence: Evidence) -> Any:
    match evidence:
        case Pair():
            return (evidence.left.config, evidence.left.start, evidence.right.config, evidence.right.start)
        case _:
            return (evidence.config, evidence.start)


def _same_start(pair: AnyPair) -> bool:
    return (pair.left.config, pair.left.start) == (pair.right.config, pair.right.start)


def _common(left: Actions, right: Actions) -> int:
    """The length of the common beginning of both runs."""
    return next(
        (i for i, (one, two) in enumerate(zip(left, right, strict=False)) if one != two), min(len(left), len(right))
    )


def _replaced(items: tuple[Any, ...], index: int, item: Any) -> tuple[Any, ...]:
    return (*items[:index], item, *items[index + 1 :])


def _exchanged(actions: Actions, old: Any, new: Any) -> Actions:
    return tuple(new if action == old else action for action in actions)


def _without_chunks(actions: Actions) -> Iterator[Actions]:
    """Without everything, then without halves, quarters … single actions, from the end."""
    size = len(actions)
    while size:
        for end in range(len(actions), size - 1, -size):
            yield actions[: end - size] + actions[end:]
        if len(actions) % size:
            yield actions[len(actions) % size :]
        size //= 2


def _without_two(actions: Actions) -> Iterator[Actions]:
    """Without two actions that are not neighbours; short runs only, because the pairs grow quadratically."""
    if len(actions) <= PAIRWISE:
        for j in range(len(actions) - 1, 1, -1):
            for i in range(j - 2, -1, -1):
                yield actions[:i] + actions[i + 1 : j] + actions[j + 1 :]


def _circles(states: Sequence[Any]) -> list[tuple[int, int]]:
    """The places i < j of equal states, furthest apart first."""
    places = grouped((state, index) for index, state in enumerate(states))
    found = [(i, j) for where in places.values() for n, i in enumerate(where) for j in where[n + 1 :]]
    return sorted(found, key=lambda pair: (pair[0] - pair[1], pair[0]))
