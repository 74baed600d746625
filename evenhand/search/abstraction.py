"""Explore one representative of each class of states: quotients by shift in time and by saturation of ages.

An `Abstraction` maps a state to a representative.  The search takes the model's own step and then the map, so a graph
whose states count up for ever can close.  A licence for exactly this system, variant, readings and map must show that
the map is a functional bisimulation (same actions on offer, same observations, images of successors alike).  Several
maps are applied in turn, each under its own licence.

Only classes are counted: any number of states may share an image.  Samples along runs of the model compare each state
with its image, and the claims on both; states that an abstraction declares alike, beyond the reach of these runs, are
compared as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice
from random import Random
from typing import Any

from evenhand.core.answers import ModelError, naming
from evenhand.core.fairness import assumed, is_known
from evenhand.core.kinds import Property, Safety
from evenhand.core.relations import Relational
from evenhand.core.system import Abstraction, AnyStep
from evenhand.core.temporal import fairness_of
from evenhand.core.trace import AnyScenario
from evenhand.core.verdict import Evidence
from evenhand.evidence.judge import Judgement
from evenhand.search.classes import Classes, key_of
from evenhand.search.evidence import walked
from evenhand.search.quotient import said
from evenhand.search.witness import Witness

STATES, WIDE = 100, 512
"""States of the model, nearest first, whose actions are all compared; and the most actions listed of each."""

RUNS, LENGTH = 12, 40
"""Random runs of each configuration compared, and the actions of each."""


@dataclass
class Mapped(Classes):
    """The classes of states with one image under maps that are applied in turn; the image stands for its class."""

    maps: tuple[Abstraction[Any, Any], ...]
    ahead = 2_000  # the model may have infinitely many states

    def __post_init__(self) -> None:
        self.trusted = "that state and image do alike and claims do not tell them apart, compared on samples"
        self.why = (
            f"; quotient {self.name!r} is licensed: one state of each class, whose size is not known, and samples were "
            "compared with their images in the model"
        )
        self.refused = {
            claim.name: f"a claim of kind {claim.kind} compares runs, and a class of states has many of them"
            for claim in self.claims
            if isinstance(claim, Relational)
        }

    def first(self, config: Any, state: Any) -> Any:
        """Return the image of a state."""
        for one in self.maps:
            state = key_of(self.system, one.name, one.state, config, state)
        return state

    def runs(self, claim: Property, config: Any, start: int, numbers: Sequence[int]) -> Iterator[AnyScenario]:
        """Yield the run of the model by the same actions.  Raises IndexError where one is not on offer."""
        yield walked(self.system, config, start, numbers)[0]

    def doubts(self, configs: Sequence[Any]) -> tuple[str, ...]:
        """Run the model, every action near the start and random runs, and compare states with their images.

        Raises ModelError where a state and its image behave differently, or an image is not its own: the licence is
        then wrong.
        """
        doubts = {claim.name: self.refused.get(claim.name, "") for claim in self.claims}
        for number, config in enumerate(configs):
            if number & (number - 1) == 0:  # configurations 0, 1, 2, 4, 8 …
                _Comparison(self, config, doubts).run(number)
        return tuple(doubts[claim.name] for claim in self.claims)

    def carried(
        self, configs: Sequence[Any], claim: Property, finding: Witness, states: int, doubt: str
    ) -> tuple[Evidence | None, Judgement]:
        """Return the run of the model, and the judge's answer.  Raises ModelError if it contradicts the classes.

        Unless the claim was already in doubt.
        """
        try:
            evidence, judgement = super().carried(configs, claim, finding, states, doubt)
        except IndexError as error:
            evidence, judgement = None, Judgement(False, str(error))
        if judgement or not judgement.decided:
            return evidence, judgement
        if doubt:
            return None, Judgement(False, doubt, decided=False)
        raise ModelError(
            f"{self.system.label}: {claim.name} fails among classes of states, and the model that takes the same "
            f"actions says: {judgement.reason}. The licence is wrong, or the claim tells a state from its image where "
            "no sample did; explore without the quotient"
        )


class _Comparison:
    """A comparison of runs of one configuration with those of the images."""

    def __init__(self, classes: Mapped, config: Any, doubts: dict[str, str]) -> None:
        self.system, self.maps, self.config, self.doubts = classes.system, classes.maps, config, doubts
        self.called = f"quotient {classes.name!r}"
        self.claims = [claim for claim in classes.claims if claim.applies(config)]
        self.image = partial(classes.first, config)
        known = self.system.fair(config)
        self.taken = {
            claim.name: [one.taken for one in assumed(known, names).values()]
            for claim in self.claims
            if is_known(known, names := fairness_of(claim))
        }
        self.of_image = cache(self._of_image)  # there are few images

    def run(self, seed: int) -> None:
        self.near()
        random = Random(seed)
        for _ in range(RUNS):
            self.drawn(random)

    def near(self) -> None:
        """Compare every action of the states nearest to the start."""
        near = list(dict.fromkeys(self.system.initial(self.config)))
        known = set(near)
        for state in near:
            alike = list(self.alike(state))
            for action in self.offered(state):
                step, _ = self.pair(state, action)
                for other in alike:
                    self.pair(other, action)
                if len(known) < STATES and step.after not in known:
                    known.add(step.after)
                    near.append(step.after)

    def drawn(self, random: Random) -> None:
        """Compare one random run; actions are often repeated, so that time passes and ages grow."""
        config, last = self.config, None
        state = random.choice(list(self.system.initial(config)))
        monitors = [one for one in self.claims if isinstance(one, Safety) and one.reads == "histories"]
        values = {claim.name: claim.memory(config) for claim in monitors}
        for _ in range(LENGTH):
            offered = self.offered(state)
            if not offered:
                break
            last = last if last in offered and random.random() < 0.6 else random.choice(offered)
            step, mapped = self.pair(state, last)
            others = [mapped, *(self.step(other, last) for other in self.alike(state) if monitors)]
            for claim in monitors:
                value = values[claim.name]
                values[claim.name] = claim.follow(value, step)
                if any(claim.follow(value, other) != values[claim.name] for other in others):
                    self.apart(claim)
            state = step.after

    def alike(self, state: Any) -> Iterator[Any]:
        """Yield the states that the maps declare alike, each checked to offer the same."""
        for one in self.maps:
            for other in one.alike(self.config, state):
                if one.state(self.config, other) != one.state(self.config, state):
                    raise ModelError(
                        f"{self.system.label}: quotient {one.name!r} declares {other!r} to be like {state!r}, and "
                        "takes them to different representatives; correct its `alike`"
                    )
                self.offered(other)
                yield other

    def offered(self, state: Any) -> list[Any]:
        """Return the actions that a state offers, which its image must offer, too."""
        image = self.image(state)
        if self.image(image) != image:
            raise self.lies(
                f"takes the image {image!r} of a state to {self.image(image)!r}, so it is no representative"
            )
        one, other = (list(islice(self.system.enabled(self.config, each), WIDE)) for each in (state, image))
        if one != other:
            raise self.lies(f"maps {state!r}, which offers {_few(one)}, to {image!r}, which offers {_few(other)}")
        return one

    def pair(self, state: Any, action: Any) -> tuple[AnyStep, AnyStep]:
        """Return a step, and the one that the search takes for it."""
        image, step = self.image(state), self.step(state, action)
        mapped, told = self.of_image(image, action)
        if step.shown != mapped.shown:
            raise self.lies(
                f"maps {state!r} to {image!r}, where {action!r} shows {mapped.shown!r} and not {step.shown!r}"
            )
        if self.image(step.after) != mapped.after:
            raise self.lies(
                f"maps {state!r} to {image!r}, but {action!r} leads from there to what {mapped.after!r} stands for, "
                f"and not {self.image(step.after)!r}"
            )
        for claim in self.claims:
            if not self.doubts[claim.name]:
                if claim.name not in told:
                    told[claim.name] = self.tells(claim, mapped)
                if self.tells(claim, step) != told[claim.name]:
                    self.apart(claim)
        return step, mapped

    def _of_image(self, image: Any, action: Any) -> tuple[AnyStep, dict[str, tuple[bool, ...]]]:
        """The step that the search takes from an image, and what claims were found to say of it."""
        step = self.step(image, action)
        return replace(step, after=self.image(step.after)), {}

    def step(self, state: Any, action: Any) -> AnyStep:
        return self.system.take(self.config, state, action)

    def tells(self, claim: Property, step: AnyStep) -> tuple[bool, ...]:
        """Return the values of a claim's predicates, and of the fairness it assumes, on one step."""
        with naming(self.system.label, claim.name):
            serves = [bool(taken(step.before, step.action)) for taken in self.taken.get(claim.name, ())]
            return (*said(claim, step), *serves)

    def apart(self, claim: Property) -> None:
        self.doubts[claim.name] = self.doubts[claim.name] or (
            f"{self.called} does not leave {claim.name} fixed: it tells a state from the one that stands for it"
        )

    def lies(self, how: str) -> ModelError:
        return ModelError(f"{self.system.label}: {self.called} {how}. The licence is wrong; explore without it")


def _few(actions: list[Any]) -> str:
    return f"{actions[:3]!r}{' …' if len(actions) > 3 else ''}"
