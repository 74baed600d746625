"""A protocol that uses a missing name is refused, whichever part uses it."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.machinery import ModuleSpec
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from evenhand.core import registry
from evenhand.core.bundle import Bundle, Claims, ProtocolBroken
from evenhand.core.generator import Generator
from evenhand.core.lookup import UnknownName
from evenhand.core.observer import Observer
from evenhand.core.plan import Expectation, Plan
from evenhand.core.profile import Aspect, ProfileQuestion
from evenhand.core.property import Property
from evenhand.core.system import Mutant, Protocol, Scope, System, reading
from evenhand.core.vector_plan import Orbits, VectorPlan, VectorScope
from evenhand.core.verdict import Status
from tests.models.lock import CARELESS, MUTUAL_EXCLUSION, SOMEBODY_ENTERS, lock


@dataclass(frozen=True)
class Readings:
    """A reading with listed values and a reading of any number."""

    again: str = reading("refused", "granted", sentence="may who is inside enter?")
    most: int = reading(3, sentence="how many may wait?")


MAIN: System[Any, Any, Any, Any, Any] = replace(lock(), readings=Readings())
SIDE = replace(MAIN, name="side", readings=None)
ONLY_MAIN = replace(MUTUAL_EXCLUSION, systems=("lock",))
MODEL = Protocol(
    "toy",
    "Toy",
    "test",
    {"lock": MAIN, "side": SIDE},
    Readings(),
    (Mutant("careless", "Anybody enters.", "test", CARELESS, "lock"),),
)


def _observer(name: str, *systems: str) -> Observer:
    return Observer(
        name=name,
        sentence=name,
        start=lambda _config: 0,
        update=lambda value, _step: value,
        read=lambda _config, value: value,
        systems=systems,
    )


def _generator(system: str) -> Generator:
    raise_if_drawn: Any = None
    return Generator(system, raise_if_drawn, ())


def _says(claim: str, **more: Any) -> Expectation:
    return Expectation(claim, Status.REFUTED, because="so", **more)


SOUND: dict[str, Any] = {
    "claims": (ONLY_MAIN, SOMEBODY_ENTERS),
    "generators": (_generator("lock"), _generator("side")),
    "expected": (
        _says("mutual_exclusion"),
        _says("mutual_exclusion", engine="fuzz", readings={"again": "granted"}),
        _says("somebody_enters", system="side", engine="plan"),
        _says("somebody_enters", readings={"most": 5}),
    ),
    "plans": (
        Plan("lock", "explore", scope={"processes": 3}, readings={"again": "granted"}, claims=("mutual_exclusion",)),
        Plan("side", "explore", ("quick",)),
        Plan("side", "explore", ("standard",)),
    ),
    "observers": (_observer("who", "lock"),),
    "vectors": VectorPlan(places=(VectorScope("side", {"processes": 1}),), readings={"most": (1, 2)}),
    "profile": (ProfileQuestion(Aspect.NAME, "mutual_exclusion", "lock"),),
}


def _mutant(**more: Any) -> Protocol:
    return replace(MODEL, mutants=(*MODEL.mutants, replace(MODEL.mutants[0], **{"name": "other", **more})))


def _plan(**more: Any) -> dict[str, Any]:
    return {"plans": (replace(Plan("lock", "explore"), **more),)}


def _expected(claim: str = "mutual_exclusion", **more: Any) -> dict[str, Any]:
    return {"expected": (_says(claim, **more),)}


def _claims(*claims: Property) -> dict[str, Any]:
    return {"claims": claims, "expected": (), "plans": (), "profile": ()}


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "claim, system": (
        _claims(replace(SOMEBODY_ENTERS, systems=("loc",))),
        "claim somebody_enters: unknown system 'loc' (did you mean lock?); there is: lock, side",
    ),
    "claim, one system of two": (
        _claims(replace(SOMEBODY_ENTERS, systems=("lock", "sides"))),
        "claim somebody_enters: unknown system 'sides' (did you mean side?); there is: lock, side",
    ),
    "two claims": (_claims(ONLY_MAIN, ONLY_MAIN), "two claims are called 'mutual_exclusion'"),
    "plan, system": (
        _plan(system="loc"),
        "plan explore loc: unknown system 'loc' (did you mean lock?); there is: lock, side",
    ),
    "plan, engine": (
        _plan(engine="explorer"),
        "unknown engine 'explorer' (did you mean explore?); there is: explore, fuzz",
    ),
    "plan, claim": (
        _plan(claims=("mutual_exclusio",)),
        "unknown claim 'mutual_exclusio' (did you mean mutual_exclusion?)",
    ),
    "plan, claim of another system": (
        _plan(system="side", claims=("mutual_exclusion",)),
        "plan explore side: claim 'mutual_exclusion' does not speak of system 'side', but of: lock",
    ),
    "plan, claim twice": (_plan(claims=("mutual_exclusion",) * 2), "two claims of the plan are called 'mutual_exclus"),
    "plan, size": (
        _plan(scope={"process": 2}),
        "plan explore lock process=2: unknown scope field 'process' (did you mean processes?)",
    ),
    "plan, no size": (_plan(scope={"processes": -1}), "must be an integer >= 0, not -1"),
    "plan, reading": (
        _plan(readings={"agian": "granted"}),
        "unknown reading 'agian' (did you mean again?); there is: again, most",
    ),
    "plan, value": (
        _plan(readings={"again": "grantd"}),
        "unknown value of reading again: 'grantd' (did you mean granted?)",
    ),
    "plan, type": (_plan(readings={"most": "5"}), "reading 'most' is a int, not '5'"),
    "plan, reading of another system": (
        _plan(system="side", readings={"most": 5}),
        "unknown reading 'most'; there is:",
    ),
    "plan, quotient": (_plan(quotient="renaming"), "unknown quotient 'renaming'; there is: none"),
    "plan, twice": (
        {"plans": (Plan("side", "fuzz"), Plan("side", "fuzz", ("deep",)))},
        "plan fuzz side is there twice under budget deep",
    ),
    "expectation, claim": (
        _expected("somebody_enter"),
        "expectation of somebody_enter: unknown claim 'somebody_enter'",
    ),
    "expectation, system": (_expected(system="loc"), "unknown system 'loc' (did you mean lock?); there is: lock, side"),
    "expectation, other system": (_expected(system="side"), "'mutual_exclusion' does not speak of system 'side'"),
    "expectation, engine": (
        _expected(engine="fuz"),
        "unknown engine 'fuz' (did you mean fuzz?); there is: explore, fuzz, plan, prove",
    ),
    "expectation, reading": (_expected(readings={"x": 1}), "unknown reading 'x'; there is: again, most"),
    "expectation, value": (_expected(readings={"again": "x"}), "unknown value of reading again: 'x'; there is: grant"),
    "expectation, default": (_expected(readings={"again": "refused"}), "reading again=refused is the default"),
    "expectation, default number": (_expected(readings={"most": 3}), "reading most=3 is the default"),
    "expectation, twice": (
        {"expected": (_says("mutual_exclusion"), Expectation("mutual_exclusion", Status.HOLDS))},
        "two expectations are about 'mutual_exclusion",
    ),
    "generator": (
        {"generators": (_generator("loc"),)},
        "generator: unknown system 'loc' (did you mean lock?); there is: lock, side",
    ),
    "two generators": ({"generators": (_generator("lock"),) * 2}, "two generators are for system 'lock'"),
    "observer": ({"observers": (_observer("who", "loc"),)}, "observer who: unknown system 'loc' (did you mean lock?)"),
    "two observers": ({"observers": (_observer("who"), _observer("who"))}, "two observers are called 'who'"),
    "mutant, system": ({"model": _mutant(system="loc")}, "mutant other: unknown system 'loc' (did you mean lock?)"),
    "mutant, size": ({"model": _mutant(scope=Scope(process=1))}, "mutant other: unknown scope field 'process' (did"),
    "mutant, reading": ({"model": _mutant(readings=(("x", 1),))}, "mutant other: unknown reading 'x'; there is: again"),
    "mutant, value": ({"model": _mutant(readings=(("again", "x"),))}, "mutant other: unknown value of reading again:"),
    "two mutants": ({"model": _mutant(name="careless")}, "two mutants are called 'careless'"),
    "mutant, reference": ({"model": _mutant(name="reference")}, "two mutants are called 'reference'"),
    "two systems": (
        {"model": replace(MODEL, systems={"lock": MAIN, "side": replace(SIDE, name="lock")})},
        "system 'lock' stands under 'side'; write it under its own name",
    ),
    "profile, claim": (
        {"profile": (ProfileQuestion(Aspect.NAME, "x"),)},
        "profile, name: unknown claim 'x'; there is: mutual_",
    ),
    "profile, system": (
        {"profile": (ProfileQuestion(Aspect.NAME, "mutual_exclusion", "x"),)},
        "profile, name: unknown system 'x'",
    ),
    "profile, other system": (
        {"profile": (ProfileQuestion(Aspect.NAME, "mutual_exclusion", "side"),)},
        "claim 'mutual_exclusion' does not speak of system 'side'",
    ),
    "vectors, place": (
        {"vectors": VectorPlan(places=(VectorScope("x"),))},
        "vectors of x: unknown system 'x'; there is: lock",
    ),
    "vectors, size": (
        {"vectors": VectorPlan(places=(VectorScope("side", {"x": 1}),))},
        "vectors of side: unknown scope field",
    ),
    "vectors, orbits": ({"vectors": VectorPlan(orbits=Orbits("x", "All."))}, "vectors of x: unknown system 'x'"),
    "vectors, reading": (
        {"vectors": VectorPlan(readings={"x": (1,)})},
        "unknown reading of its vectors: 'x'; there is",
    ),
}


def _bundle(**wrong: Any) -> Bundle:
    parts: dict[str, Any] = {"model": MODEL, **SOUND, **wrong}
    return Bundle(**parts)


def test_a_protocol_that_names_what_there_is_is_made() -> None:
    """Every part uses names, and each exists."""
    assert _bundle().name == "toy"


@pytest.mark.parametrize(("wrong", "said"), WRONG.values(), ids=WRONG)
def test_a_name_that_is_not_there_is_refused(wrong: dict[str, Any], said: str) -> None:
    """The line has protocol, part and culprit."""
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        _bundle(**wrong)
    message = str(caught.value)
    assert message.startswith("protocol toy: ") and "\n" not in message


def test_a_plan_without_a_budget_is_refused() -> None:
    """Such a plan would never run."""
    with pytest.raises(ValueError, match="a plan of explore for lock has no budget; there is: quick, standard, deep"):
        Plan("lock", "explore", budgets=())
    with pytest.raises(
        ValueError, match=r"unknown budget 'dep' \(did you mean deep\?\); there is: deep, quick, standard"
    ):
        Plan("lock", "explore", budgets=("dep",))


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    """Forget the registry's findings after each test."""
    yield
    for one in (registry._all, registry._of):  # pyright: ignore[reportPrivateUsage]
        one.cache_clear()


def _own(monkeypatch: pytest.MonkeyPatch, side: Mapping[str, Any], *installed: Bundle) -> None:
    """Install a package with `toy` and this property module as its only protocol; `installed` has entry points."""
    modules = {"evenhand.model.toy": ModuleType("toy"), "evenhand.properties.toy": ModuleType("toy")}
    modules["evenhand.model.toy"].__dict__["PROTOCOL"] = MODEL
    modules["evenhand.properties.toy"].__dict__.update(side)
    bundles = {f"toy:{number}": bundle for number, bundle in enumerate(installed)}

    def listed(_path: object) -> list[ModuleSpec]:
        return [ModuleSpec("toy", None)]

    def found(name: str) -> ModuleSpec:
        made = ModuleSpec(name, None, is_package=True)
        made.submodule_search_locations = ["a folder"]
        return made

    def points(group: str) -> list[EntryPoint]:
        return [EntryPoint("toy", value, group) for value in bundles]

    def load(point: EntryPoint) -> Bundle:
        return bundles[point.value]

    monkeypatch.setattr(pkgutil, "iter_modules", listed)
    monkeypatch.setattr(importlib, "import_module", modules.__getitem__)
    monkeypatch.setattr(importlib.util, "find_spec", found)
    monkeypatch.setattr(registry, "entry_points", points)
    monkeypatch.setattr(EntryPoint, "load", load)
    for one in (registry._all, registry._of):  # pyright: ignore[reportPrivateUsage]
        one.cache_clear()


def test_a_protocol_of_the_package_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts as broken, with the message for a protocol made in code."""
    _own(monkeypatch, {"CLAIMS": Claims(**{name: SOUND[name] for name in SOUND if name != "expected"})})
    assert [bundle.name for bundle in registry.protocols()] == ["toy"]
    _own(monkeypatch, {"CLAIMS": Claims((replace(SOMEBODY_ENTERS, systems=("loc",)),))})
    with pytest.raises(ProtocolBroken, match=r"^protocol toy: claim somebody_enters: unknown system 'loc'"):
        registry.protocols()


@pytest.mark.parametrize("side", [{}, {"CLAIMS": (SOMEBODY_ENTERS,)}], ids=["none", "a tuple"])
def test_a_module_of_claims_without_claims_is_broken(monkeypatch: pytest.MonkeyPatch, side: Any) -> None:
    """A misspelt CLAIMS, or a tuple in place of a record, once gave a protocol without claims."""
    _own(monkeypatch, side)
    with pytest.raises(ProtocolBroken, match=r"evenhand\.properties\.toy has no CLAIMS that are"):
        registry.protocols()


def test_two_protocols_of_one_name_are_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command would use the first and ignore the second without notice."""
    _own(monkeypatch, {"CLAIMS": Claims(())}, _bundle())
    with pytest.raises(ProtocolBroken, match="two protocols are called 'toy'"):
        registry.protocols()


def test_a_file_without_its_suffix_is_recognised(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`verify my_lock`, where `my_lock.py` is: it is no protocol, but what is meant is clear."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnknownName, match=r"^unknown protocol 'my_lock'; there is: apcm"):
        registry.find("my_lock")
    (tmp_path / "my_lock.py").touch()
    with pytest.raises(UnknownName, match=r"did you mean my_lock\.py\?"):
        registry.find("my_lock")
