"""Write proof files (records, query texts for the shell, solvers' own proofs), and check record files.

A record file is canonical JSON.  A check reads from it only which theorems to prove again; the new records must equal
the file byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from evenhand.core.canonical import canonical_bytes, object_in, parse
from evenhand.core.names import as_name
from evenhand.core.text import inert
from evenhand.evidence.store import write_atomically
from evenhand.smt.portfolio import Answered, SolverAnswer
from evenhand.smt.proved import Proved

FORMAT = "evenhand/proofs"
VERSION = 1
MOST_TOLD = 10
"""Differences of a record file that are listed one by one."""


class BadRecord(ValueError):
    """A file that is no record file; the message gives the reason."""


@dataclass(frozen=True)
class Named:
    """A theorem of a protocol named in a record file, and whether the solvers' proofs were kept."""

    protocol: str
    theorem: str
    kept: bool


def records(results: Sequence[Proved]) -> bytes:
    """Return the records of some proofs as one file."""
    return canonical_bytes({"format": FORMAT, "version": VERSION, "proofs": [dict(r.record) for r in results]})


def named_in(data: bytes) -> tuple[Named, ...]:
    """Return the theorems that a record file names.  Raises BadRecord for what is no record file."""
    try:
        made = parse(data)
    except ValueError as error:
        raise BadRecord(f"not canonical JSON: {error}") from error
    held = object_in(made)
    if held.get("format") != FORMAT:
        raise BadRecord(f"not a file of format {FORMAT!r}, as `evenhand prove --record` writes")
    if held.get("version") != VERSION:
        raise BadRecord(f"version {held.get('version')!r}, and this program knows {VERSION}; prove it again")
    listed = held.get("proofs")
    if not isinstance(listed, list) or not listed:
        raise BadRecord("it holds no proof")
    return tuple(_named(number, object_in(one)) for number, one in enumerate(cast("list[Any]", listed)))


def _named(number: int, record: Mapping[str, Any]) -> Named:
    theorem = object_in(record.get("theorem"))
    names = theorem.get("protocol"), theorem.get("name")
    if not all(isinstance(name, str) for name in names):
        raise BadRecord(f"proof {number} names no theorem of a protocol")
    return Named(str(names[0]), str(names[1]), record.get("proofs") is not None)


def differences(data: bytes, again: Callable[[Named], Proved]) -> tuple[str, ...]:
    """Return the differences of a record file from new records of its theorems, proved by `again`; empty if equal.

    Raises BadRecord as `named_in` does.
    """
    made = records([again(named) for named in named_in(data)])
    if made == data:
        return ()
    apart = list(_apart("", parse(data), parse(made)))
    more = [f"and {len(apart) - MOST_TOLD} more"] if len(apart) > MOST_TOLD else []
    return (*apart[:MOST_TOLD], *more) or ("it has the same content in other bytes: it is not canonical",)


def _apart(path: str, file: Any, proof: Any) -> Iterator[str]:
    if isinstance(file, dict) and isinstance(proof, dict):
        one, other = object_in(file), object_in(proof)
        for key in sorted({*one, *other}):
            where = f"{path}.{key}" if path else key
            if key not in other:
                yield f"{inert(where)}: only the file has it"
            elif key not in one:
                yield f"{inert(where)}: the file lacks it"
            else:
                yield from _apart(where, one[key], other[key])
        return
    if isinstance(file, list) and isinstance(proof, list):
        left, right = cast("list[Any]", file), cast("list[Any]", proof)
        if len(left) == len(right):
            for number, pair in enumerate(zip(left, right, strict=True)):
                yield from _apart(f"{path}[{number}]", *pair)
            return
    if type(cast("object", file)) is not type(cast("object", proof)) or file != proof:
        yield f"{inert(path)}: the file says {_short(file)}, proving it again {_short(proof)}"


def _short(value: Any) -> str:
    text = inert(str(value))
    return text if len(text) <= 60 else text[:57] + "…"


def write_queries(folder: Path, results: Sequence[Proved]) -> None:
    """Write every query as SMT-LIB 2, below comments with each solver's answer and shell command.

    It uses the theory's names; the folder `asked` holds the text that the solvers got, under numbered names.
    """
    for result in results:
        for name, answered in result.queries:
            file = _file(result, name, "smt2")
            lines = [f"; {line}" for line in _header(result, name, answered, file)]
            write_atomically(folder / file, ("\n".join([*lines, ""]) + answered.text).encode())
            write_atomically(folder / "asked" / file, answered.asked.encode())


def _header(result: Proved, name: str, answered: Answered, file: str) -> Iterator[str]:
    stated = result.theorem
    yield f"{stated.protocol} {stated.name}: {name}"
    yield f"status: {answered.status}"
    for answer in answered.answers:
        why = inert(" ".join(answer.because.split()))
        yield f"{_command(answer)} {file}: {answer.status}" + (f" ({why})" if why else "")
    yield f"the solvers were asked asked/{file}, which says the same under numbered names"
    yield f"its digest {answered.digest} stands in the proof record"


def _command(answer: SolverAnswer) -> str:
    """The shell command that asks the solver the same."""
    if answer.module == "cvc5":
        return " ".join(["cvc5", *(f"--{name}" for name, value in answer.options.items() if str(value) == "true")])
    return answer.module or answer.solver


def write_proofs(folder: Path, results: Sequence[Proved]) -> None:
    """Write the solvers' own proofs of unsatisfiable queries, in cvc5's format; evenhand does not check them."""
    for result in results:
        for name, proof in result.proofs.items():
            if proof.text:
                write_atomically(folder / _file(result, name, "cpc"), proof.text.encode())


def _file(result: Proved, query: str, ending: str) -> str:
    parts = (result.theorem.name, *query.split("."), ending)
    return ".".join(map(as_name, parts))
