"""Read a condition's file strictly: its allowed fields, and the configuration it describes.

`schema.json` says the same to other tools; the tests compare the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from evenhand.core.atoms import Atom, atom
from evenhand.core.canonical import Json
from evenhand.core.records import dataclass
from evenhand.core.registered import VectorBroken
from evenhand.core.system import reading_values
from evenhand.model.cud.readings import Readings
from evenhand.model.cud.vocabulary import (
    ALLOW,
    DENY,
    OPERATIONS,
    Authority,
    Config,
    Partition,
    Plan,
    Request,
    Script,
    World,
)

T = TypeVar("T")


@dataclass(frozen=True)
class Raw:
    """A condition as read: the configuration under default readings, and the cases as checked JSON."""

    name: str
    title: str
    source: tuple[str, ...]
    config: Config
    kernel: str
    cases: list[Json]


_CONDITION = [
    *("agents", "authorities", "cases", "communication", "epochs", "format", "kernel", "name", "source"),
    *("strategies", "title", "version", "world"),
]
_AUTHORITY = ["authority_id", "commitment", "epoch", "holder_agent_id", "issuer_agent_id", "scope"]
_REQUEST = ["action_type", "authorities_cited", "declared_scope", "proposed_delta"]
_EXPECTED = ["deadlocked", "epochs", "final_state", "kernel", "since", "terminal"]
_EPOCH = ["dropped", "exits", "faults", "messages", "outcomes"]


def read_condition(value: Json, where: str) -> Raw:
    """Return the condition that `value` describes.  Raises VectorBroken with the place of the error."""
    raw = _fields(value, _CONDITION, where)
    if raw["format"] != "evenhand/condition" or raw["version"] != 1:
        raise VectorBroken(f"{where}: not evenhand/condition version 1")
    agents = _texts(raw["agents"], f"{where}: agents")
    world = _world(raw["world"], f"{where}: world")
    strategies = _fields(raw["strategies"], sorted(agents), f"{where}: strategies")
    config = Config(
        agents=tuple(sorted(agents)),
        world=world,
        authorities=tuple(
            _authority(one, f"{where}: authorities[{i}]")
            for i, one in enumerate(_of(list[Json], raw["authorities"], f"{where}: authorities"))
        ),
        strategies=tuple(_strategy(strategies[name], f"{where}: strategies.{name}") for name in sorted(agents)),
        communication=_of(bool, raw["communication"], f"{where}: communication"),
        epochs=_whole(raw["epochs"], f"{where}: epochs"),
    )
    cases = _of(list[Json], raw["cases"], f"{where}: cases")
    for i, case in enumerate(cases):
        _case(case, f"{where}: cases[{i}]")
    title, name, kernel = (_of(str, raw[field], f"{where}: {field}") for field in ("title", "name", "kernel"))
    return Raw(name, title, _texts(raw["source"], f"{where}: source"), config, kernel, cases)


def _of(kind: type[T], value: Json, where: str) -> T:
    """Return `value` if it is of `kind` (True is no integer)."""
    plain: type[Any] = getattr(kind, "__origin__", kind)
    if not isinstance(value, plain) or (isinstance(value, bool) and plain is not bool):
        raise VectorBroken(f"{where} must be a {plain.__name__}, not {value!r}")
    return cast(T, value)


def _fields(value: Json, names: list[str], where: str) -> Mapping[str, Json]:
    found = _of(dict[str, Json], value, where)
    if sorted(found) != names:
        raise VectorBroken(f"{where} must have exactly {', '.join(names) or 'no fields'}, not {', '.join(found)}")
    return found


def _whole(value: Json, where: str) -> int:
    number = _of(int, value, where)
    if number < 0:
        raise VectorBroken(f"{where} must not be negative")
    return number


def _texts(value: Json, where: str) -> tuple[str, ...]:
    found = tuple(_of(str, one, where) for one in _of(list[Json], value, where))
    if len(set(found)) < len(found):
        raise VectorBroken(f"{where} lists something twice")
    return found


def _among(value: Json, legal: tuple[str, ...], where: str) -> str:
    if value not in legal:
        raise VectorBroken(f"{where} must be one of {', '.join(legal)}, not {value!r}")
    return str(value)


def _world(value: Json, where: str) -> World:
    return tuple(
        (key, _primitive(one, f"{where}.{key}")) for key, one in sorted(_of(dict[str, Json], value, where).items())
    )


def _primitive(value: Json, where: str) -> Atom:
    found = atom(value)
    if not isinstance(found, Atom):
        raise VectorBroken(f"{where} must be a JSON primitive")
    return found


def _authority(value: Json, where: str) -> Authority:
    raw = _fields(value, _AUTHORITY, where)
    atoms = [
        _fields(one, ["operation", "target"], f"{where}.scope")
        for one in _of(list[Json], raw["scope"], f"{where}.scope")
    ]
    return Authority(
        _of(str, raw["authority_id"], f"{where}.authority_id"),
        _among(raw["commitment"], (ALLOW, DENY), f"{where}.commitment"),
        _of(str, raw["holder_agent_id"], f"{where}.holder_agent_id"),
        tuple((_of(str, one["target"], where), _among(one["operation"], OPERATIONS, where)) for one in atoms),
        _of(str, raw["issuer_agent_id"], f"{where}.issuer_agent_id"),
        _whole(raw["epoch"], f"{where}.epoch"),
    )


def _strategy(value: Json, where: str) -> Script | Partition:
    found = _of(dict[str, Json], value, where)
    if list(found) == ["partition"]:
        return Partition(_texts(found["partition"], f"{where}.partition"))
    plans = _of(list[Json], _fields(value, ["script"], where)["script"], f"{where}.script")
    if not plans:
        raise VectorBroken(f"{where}.script needs a line")
    return Script(tuple(_plan(one, f"{where}.script[{i}]") for i, one in enumerate(plans)))


def _plan(value: Json, where: str) -> Plan:
    do = _of(dict[str, Json], value, where).get("do")
    if do in ("NONE", "EXIT"):
        return Plan(_fields(value, ["do"], where)["do"])
    if do in OPERATIONS:
        return Plan(cast(Any, do), _of(str, _fields(value, ["do", "key"], where)["key"], f"{where}.key"))
    if do != "SUBMIT":
        raise VectorBroken(f"{where}.do must be one of NONE, EXIT, READ, WRITE, SUBMIT, not {do!r}")
    raw = _fields(_fields(value, ["do", "request"], where)["request"], _REQUEST, f"{where}.request")
    delta = _of(dict[str, Json], raw["proposed_delta"], f"{where}.proposed_delta")
    request = Request(
        _of(str, raw["action_type"], f"{where}.action_type"),
        tuple(_of(list[str], raw["declared_scope"], f"{where}.declared_scope")),
        tuple((key, atom(one)) for key, one in sorted(delta.items())),
        tuple(_of(list[str], raw["authorities_cited"], f"{where}.authorities_cited")),
    )
    return Plan("SUBMIT", request=request)


def _case(value: Json, where: str) -> None:
    """Check one case; its expectation stays as it is."""
    raw = _fields(value, ["expected", "readings"], where)
    known = reading_values(Readings())
    for name, chosen in _of(dict[str, Json], raw["readings"], f"{where}.readings").items():
        if name not in known:
            raise VectorBroken(f"{where}.readings: there is no reading {name!r}")
        if known[name]:
            _among(chosen, known[name], f"{where}.readings.{name}")
        else:
            _whole(chosen, f"{where}.readings.{name}")
    expected = _fields(raw["expected"], _EXPECTED, f"{where}.expected")
    epochs = _of(list[Json], expected["epochs"], f"{where}.expected.epochs")
    for i, epoch in enumerate(epochs):
        place = f"{where}.expected.epochs[{i}]"
        fields = _fields(epoch, _EPOCH, place)
        _texts(fields["exits"], f"{place}.exits")
        for name in ("dropped", "faults", "messages", "outcomes"):
            for agent, what in _of(dict[str, Json], fields[name], f"{place}.{name}").items():
                _of(str, what, f"{place}.{name}.{agent}")
    _world(expected["final_state"], f"{where}.expected.final_state")
    for name in ("kernel", "terminal"):
        _of(str, expected[name], f"{where}.expected.{name}")
    flags = _of(list[Json], expected["deadlocked"], f"{where}.expected.deadlocked")
    if len([_of(bool, flag, f"{where}.expected.deadlocked") for flag in flags]) != len(epochs):
        raise VectorBroken(f"{where}.expected.deadlocked needs one flag per epoch")
    if expected["since"] is not None:
        _whole(expected["since"], f"{where}.expected.since")
