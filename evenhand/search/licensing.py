"""The quotient that a search divides by: the one requested, if a licence covers it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from evenhand.core.licence import Licence
from evenhand.core.lookup import UnknownName
from evenhand.core.property import Property
from evenhand.core.system import AnySystem, Quotient
from evenhand.search.abstraction import Mapped
from evenhand.search.classes import Classes
from evenhand.search.views import Viewed, view_of
from evenhand.search.witness import LicenceMissing

Group: TypeAlias = Quotient[Any, Any, Any, Any]


def licensed(
    system: AnySystem, wanted: str | None, licences: Sequence[Licence], claims: tuple[Property, ...]
) -> Group | Classes | None:
    """Return the quotient requested, else the one that the licences name; None without either.

    It is a group, a view, or maps applied in turn (`a+b`: first a, then b), each under its licence.  Raises
    LicenceMissing for one without a licence that covers it, UnknownName for one that the system lacks, ValueError for a
    map that is named twice or together with another kind of quotient.
    """
    names = wanted.split("+") if wanted else [one.quotient for one in licences]
    name = wanted or next(iter(names), None)
    maps = {one.name: one for one in system.abstractions}
    groups = {one.name: one for one in system.quotients}
    if any(one in maps for one in names):
        if len(set(names)) < len(names) or any(one not in maps for one in names):
            raise ValueError(
                f"quotient {'+'.join(names)!r} of {system.label}: abstractions are taken one after the other, each "
                f"once, and beside no other quotient; there is: {', '.join(sorted(maps))}"
            )
        for one in names:
            _covering(system, one, licences, "prove first that state and image do alike, or leave it out")
        return Mapped(system, "+".join(names), claims, tuple(maps[one] for one in names))
    if name is None:
        return None
    if name in system.views and (wanted or len(licences) == 1):
        view_of(system, name)
        mend = f"`evenhand.licence_by_search(system, {name!r}, claims)` gives one where it is sound"
        by_search = [one for one in licences if one.searched is not None]
        return Viewed(system, name, claims, _covering(system, name, by_search, mend))
    if name not in groups:
        raise UnknownName(f"quotient of {system.label}:", name, (*groups, *maps))
    _covering(system, name, licences, "prove that the step commutes with it first, or leave it out")
    return groups[name]


def _covering(system: AnySystem, name: str, licences: Sequence[Licence], mend: str) -> Licence:
    """Return the licence for a quotient.

    Raises LicenceMissing, with what to do, if there is none, or it is for another system, variant or readings.
    """
    licence = next((one for one in licences if one.quotient == name), None)
    if licence is None:
        raise LicenceMissing(f"quotient {name!r} of {system.label} needs a licence: {mend}")
    for what, has, needs in (
        ("system", licence.system, system.name),
        ("variant", licence.variant, system.variant),
        ("readings", licence.readings, system.readings),
    ):
        if has != needs:
            raise LicenceMissing(
                f"quotient {name!r} of {system.label}: the licence from {licence.theorem!r} speaks of {what} {has!r}, "
                f"not of {needs!r}"
            )
    return licence
