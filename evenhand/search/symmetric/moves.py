"""Find the effect of an exchange of names on states, field by field.

It moves the fields of a state around.  Its images of a few states give the way of each field, which is compared with
its images of random states.  An element that does more than that, such as to rename values, is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from evenhand.core.system import Quotient
from evenhand.search.csr import Ints
from evenhand.search.rows.shape import OutsideDomain, Shape

DRAWN = 32
"""Random states on which the effect found is compared with the element itself."""

AnyQuotient = Quotient[Any, Any, Any, Any]


class Unmoved(Exception):
    """An element does not just move fields; says how it fails."""


@dataclass(frozen=True)
class Move:
    """Field `i` of an image is field `source[i]`; `by` is the element."""

    by: Any
    source: tuple[int, ...]

    def images(self, numbers: Ints) -> Ints:
        """Return the images of states, given and returned as the numbers of their fields' values, one state a row."""
        return numbers[:, self.source]


def move_of(quotient: AnyQuotient, config: Any, shape: Shape, w: Any) -> Move:
    """Return the effect on states of element `w` of `quotient`, which fixes `config`.  Raises Unmoved."""
    size = len(shape.domains)
    base = [0] * size
    image = _image(quotient, config, shape, w, base)
    source: dict[int, int] = {}
    for place, domain in enumerate(shape.domains):
        for number in range(1, len(domain)):
            other = _image(quotient, config, shape, w, [*base[:place], number, *base[place + 1 :]])
            changed = [there for there in range(size) if other[there] != image[there]]
            if len(changed) != 1 or source.setdefault(changed[0], place) != place:
                raise Unmoved(f"field {shape.fields[place].path} has no one field as its image")
            if shape.domains[changed[0]] != domain or (image[changed[0]], other[changed[0]]) != (0, number):
                raise Unmoved(f"the values of field {shape.fields[place].path} name them")
    # Fields of a single value are taken to stay: if they trade places, no state shows it.
    for place in range(size):
        if len(shape.domains[place]) == 1:
            source.setdefault(place, place)
    if sorted(source.values()) != list(range(size)):
        raise Unmoved("it does not take fields to fields one to one")
    found = Move(w, tuple(source[place] for place in range(size)))
    random = Random(size)
    for _ in range(DRAWN):
        drawn = [random.randrange(len(domain)) for domain in shape.domains]
        if found.images(np.asarray([drawn], dtype=np.int64))[0].tolist() != _image(quotient, config, shape, w, drawn):
            raise Unmoved("what it does to a field depends on other fields")
    return found


def _image(quotient: AnyQuotient, config: Any, shape: Shape, w: Any, numbers: Sequence[int]) -> list[int]:
    state = shape.build([domain[number] for domain, number in zip(shape.domains, numbers, strict=True)])
    try:
        return shape.numbers(quotient.state(w, config, state))
    except OutsideDomain as error:
        raise Unmoved(f"it takes {state!r} out of the declared domains: {error}") from error
    except Exception as error:
        raise Unmoved(f"its image of {state!r} raised {type(error).__name__}: {error}") from error
