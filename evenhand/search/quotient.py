"""Explore one configuration of each orbit, under a licence.

If a group renames agents and keys and the step commutes with it, configurations that are images of one another have the
same graph up to names.  A licence for exactly this system, variant and quotient must show that the step commutes, else
the request is refused.  Counts are multiplied by the size of the orbit, so they are those of the full space.  Samples
also check equivariance and the invariance of the claims.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import islice, pairwise
from typing import Any

from evenhand.core.answers import ModelError
from evenhand.core.kinds import DeadlockFree, Liveness, Property, Reachable, Safety, StateTest, StepTest
from evenhand.core.ltl import atoms_of
from evenhand.core.system import AnyStep, AnySystem, Quotient
from evenhand.core.temporal import Temporal
from evenhand.search.steps import number_of

SAMPLES = 24
"""Steps that are compared with their images, in each of a few configurations."""


def orbits(
    system: AnySystem, quotient: Quotient[Any, Any, Any, Any], configs: Sequence[Any]
) -> tuple[tuple[int, int], ...]:
    """Return one representative of each orbit, the one enumerated first, and the orbit's size.

    Raises ModelError if the images do not partition the configurations (the elements are no group, or leave the scope).
    """
    numbers: dict[Hashable, int] = {config: number for number, config in enumerate(configs)}
    sizes: dict[int, int] = {}
    for number, config in enumerate(configs):
        images = {numbers.get(image) for image in _images(quotient, config)}
        if quotient.swap is not None:
            images.discard(None)  # exchanged names may give a configuration that this scope leaves out
        if None in images or number not in images:
            raise ModelError(
                f"{system.label}: quotient {quotient.name!r} takes configuration {config!r} out of the scope, or "
                "lacks the identity; explore without it"
            )
        least = min(image for image in images if image is not None)
        if least == number:
            sizes[number] = len(images)
        elif sizes.get(least) != len(images):
            raise ModelError(f"{system.label}: the elements of quotient {quotient.name!r} are no group on {config!r}")
    if sum(sizes.values()) != len(configs):
        raise ModelError(f"{system.label}: the orbits of quotient {quotient.name!r} do not partition the scope")
    return tuple(sizes.items())


def _tried(quotient: Quotient[Any, Any, Any, Any], config: Any) -> Iterator[Any]:
    """The elements that samples use: all, or exchanges of neighbours, which generate all."""
    if quotient.swap is None:
        yield from quotient.elements(config)
        return
    for family in quotient.families(config):
        for one, other in pairwise(family):
            yield quotient.swap(config, one, other)


def _images(quotient: Quotient[Any, Any, Any, Any], config: Any) -> set[Any]:
    """The images of a configuration under the whole group."""
    if quotient.swap is None:
        return {quotient.config(w, config) for w in quotient.elements(config)}
    found = [config]
    seen: set[Any] = {config}
    for one in found:
        for w in _tried(quotient, one):
            image = quotient.config(w, one)
            if image not in seen:
                seen.add(image)
                found.append(image)
    return seen


def doubts_under(
    system: AnySystem,
    quotient: Quotient[Any, Any, Any, Any],
    configs: Sequence[Any],
    kept: Sequence[tuple[int, int]],
    claims: Sequence[Property],
) -> tuple[str, ...]:
    """Return for each claim why it may not carry over to the whole orbit, else an empty text.

    Compares the first steps of a few representatives with their images under elements that generate the group.  Raises
    ModelError where a step and its image differ, because the licence is then wrong, or where the image is not on offer,
    because the representative then does not stand for its orbit.
    """
    across = "it compares steps of different configurations, and only one of each orbit was explored"
    doubts = [across if claim.across_configurations else "" for claim in claims]
    for number, _size in [entry for place, entry in enumerate(kept) if place & (place - 1) == 0]:
        config = configs[number]
        for w in _tried(quotient, config):
            image = quotient.config(w, config)
            for place, claim in enumerate(claims):
                if claim.applies(config) != claim.applies(image):
                    doubts[place] = doubts[place] or not_fixed(quotient, claim)
            for step in islice(_steps(system, config), SAMPLES):
                other = image_of(system, quotient, w, image, step)
                for place, claim in enumerate(claims):
                    if claim.applies(config) and said(claim, step) != said(claim, other):
                        doubts[place] = doubts[place] or not_fixed(quotient, claim)
    return tuple(doubts)


def not_fixed(quotient: Quotient[Any, Any, Any, Any], claim: Property) -> str:
    """Return the doubt about a claim that tells a step from its image."""
    return f"quotient {quotient.name!r} does not leave {claim.name} fixed: a step and its image are told apart"


def _steps(system: AnySystem, config: Any) -> Any:
    """Steps from the initial states and their successors."""
    for start in system.initial(config):
        for action in islice(system.enabled(config, start), SAMPLES // 2):
            step = system.take(config, start, action)
            yield step
            for second in islice(system.enabled(config, step.after), 1):
                yield system.take(config, step.after, second)


def image_of(system: AnySystem, quotient: Quotient[Any, Any, Any, Any], w: Any, image: Any, step: AnyStep) -> AnyStep:
    """Return the image of a step under an element, taken by the model itself.

    `image` is the image of the configuration.  Raises ModelError if the step's image is not on offer, or leads
    elsewhere.
    """
    before, action = quotient.state(w, step.config, step.before), quotient.action(w, step.config, step.action)
    try:
        number_of(system, image, before, action)
    except ModelError as error:
        raise ModelError(
            f"{system.label}: the scope is not closed under quotient {quotient.name!r}: action {step.action!r} is on "
            f"offer, its image {action!r} is not. Offer it too, or explore without the quotient"
        ) from error
    other = system.take(image, before, action)
    if other.after != quotient.state(w, step.config, step.after):
        raise ModelError(
            f"{system.label}: the step of action {step.action!r} does not commute with quotient {quotient.name!r}: "
            f"its image leads to {other.after!r}. The licence is wrong; explore without it"
        )
    return other


def said(claim: Property, step: AnyStep) -> tuple[bool, ...]:
    """Return the values of a claim's predicates on one step, and in the states before and after it."""
    of_states, of_steps = predicates(claim, step.config)
    states = (test(step.config, state) for state in (step.before, step.after) for test in of_states)
    return (*map(bool, states), *(bool(test(step)) for test in of_steps))


def predicates(claim: Property, config: Any) -> tuple[Sequence[StateTest], Sequence[StepTest]]:
    """Return a claim's predicates of states and those of steps; a check is asked only where its antecedent is met."""
    match claim:
        case Safety(reads="states" | "steps"):
            when, check = claim.tests
            both = (when, lambda *at: when(*at) and check(*at))
            return (both, ()) if claim.reads == "states" else ((), both)
        case Reachable():
            return (), (claim.goal,)
        case Liveness():
            return (), claim.tests
        case DeadlockFree():
            return (claim.wants,), (claim.completes,)
        case Temporal():
            atoms = atoms_of(claim.says(config))
            of_states, of_steps = ([atom.test for atom in atoms if atom.of == of] for of in ("state", "step"))
            return of_states, of_steps
        case _:
            return (), ()
