"""Ask several solvers the same query, and combine their answers.

Each solver runs in a process of its own, which may die, hang or be missing without harm: every answer but a plain
`sat` or `unsat` is `unknown` with its reason.  Solvers that contradict each other give the status `disagreement`, not
a majority vote.

`solvers` defines the order of asking.  Answers are cached by solver, text and limits.
"""

from __future__ import annotations

import atexit
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Literal

from evenhand.core.lookup import Refused
from evenhand.smt.arithmetic import NUMBER
from evenhand.smt.fragment import fragment
from evenhand.smt.logic import Relation
from evenhand.smt.smtlib import Query, text
from evenhand.smt.solvers import (
    CVC5,
    CVC5_ENUMERATE,
    CVC5_FINITE,
    CVC5_MODELS,
    Z3,
    Z3_GROUND,
    Expected,
    Solver,
    SolverLimits,
    turns,
    units,
)
from evenhand.smt.structure import BadStructure, Structure
from evenhand.smt.worker import Worker

CERTIFICATE = "certificate"
"""The name in an answer that rests on a certificate and on no solver; see `certificates.recall`."""

CHECKER = "the checker of certificates"
"""What such an answer trusts."""

Status = Literal["sat", "unsat", "unknown", "disagreement"]


class NoSolver(Refused, RuntimeError):
    """No solver is installed, so nothing can be proved or refuted."""

    def __init__(self, reasons: Sequence[str]) -> None:
        super().__init__("no SMT solver answers: " + "; ".join(reasons) + ". Install one: pip install z3-solver cvc5")


@dataclass(frozen=True)
class SolverAnswer:
    """One solver's answer: its status, the reason of an unknown, the names in its core, its model, units used.

    `cut` says that its units were used up.  `seconds` are CPU seconds of its process for this query, 0 for a cached
    answer; they do not count for equality.
    """

    solver: str
    options: Mapping[str, Any]
    version: str
    status: Literal["sat", "unsat", "unknown"]
    because: str = ""
    core: tuple[str, ...] | None = None
    model: Structure | None = None
    used: int = 0
    missing: bool = False
    module: str = ""
    cut: bool = False
    seconds: float = field(default=0.0, compare=False)


@dataclass(frozen=True)
class Answered:
    """The answers of all solvers to one query, with their joint `status`.

    `asked` is the text under numbered names; `text` is the same in the theory's vocabulary.
    """

    status: Status
    answers: tuple[SolverAnswer, ...]
    asked: str
    query: Query

    @property
    def text(self) -> str:
        """The query in the theory's vocabulary."""
        return text(self.query)

    @property
    def digest(self) -> str:
        """The SHA-256 of the text that was asked; it does not depend on symbol names."""
        return "sha256:" + hashlib.sha256(self.asked.encode()).hexdigest()

    @property
    def model(self) -> Structure | None:
        """The smallest model that a solver gave, the first of equals."""
        models = [answer.model for answer in self.answers if answer.model is not None]
        return min(models, key=lambda model: sum(map(len, model.universe.values())), default=None)

    @property
    def because(self) -> str:
        """Each solver's answer, in one line."""
        return "; ".join(f"{a.solver}: {a.status}{f' ({a.because})' if a.because else ''}" for a in self.answers)


@dataclass(frozen=True)
class ProofText:
    """A solver's own proof of one query, as it printed it, or `because` there is none.

    Evenhand does not check it; that needs an independent checker.
    """

    solver: str
    text: str = ""
    because: str = ""


class Portfolio:
    """Solvers that are asked together.  A context manager: leaving it ends the solver processes."""

    def __init__(self, solvers: Sequence[Solver] | None = None) -> None:
        """`solvers`: always ask these; None: z3 and cvc5, with options that fit the expected answer."""
        self._fixed = tuple(solvers) if solvers is not None else None
        self._workers: dict[tuple[str, ...], Worker] = {}
        self._answers: dict[str, Mapping[str, Any]] = {}

    def only(self, *solvers: Solver) -> Portfolio:
        """Return a portfolio that asks these solvers alone, with the processes and the answers of this one."""
        other = Portfolio(solvers)
        other._workers, other._answers = self._workers, self._answers
        return other

    def __enter__(self) -> Portfolio:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End every solver process; asking again starts them anew."""
        for worker in self._workers.values():
            worker.stop()

    def pids(self) -> tuple[int, ...]:
        """Return the ids of the running solver processes."""
        return tuple(worker.pid for worker in self._workers.values() if worker.pid is not None)

    def ask(self, query: Query, *, expected: Expected, limits: SolverLimits | None = None) -> Answered:
        """Ask the solvers in their turns; then, where only one of two answered, other configurations of the other.

        The expectation determines options and order, never the status.  Raises NoSolver when none is installed.
        """
        limits = limits or SolverLimits()
        question = _question(query, limits)
        latest: dict[str, SolverAnswer] = {}
        for turn in turns(expected, self._fixed):
            waiting = {repr(one): one for one in turn.solvers if repr(one) not in latest or latest[repr(one)].cut}
            found = self._side_by_side(tuple(waiting.values()), question, query, limits, turn.divisor)
            latest.update(zip(waiting, found, strict=True))
            if any(answer.status != "unknown" for answer in latest.values()):
                break
        answers = list(latest.values())
        if self._fixed is None:
            for helper in _helpers(query, expected, answers):
                # Without an expectation, confirming a proof gets half of the units.
                answers += self._side_by_side((helper,), question, query, limits, 2 if expected == "either" else 1)
                if answers[-1].status != "unknown":
                    break
        if all(answer.missing for answer in answers):
            raise NoSolver([answer.because for answer in answers])
        return Answered(_together(answers), tuple(answers), question["text"], query)

    def foresee(self, queries: Iterable[Query], *, limits: SolverLimits) -> None:
        """Ask many queries, which should have a model, of one process; the first turn of `ask` knows what it says.

        A process for each would cost as much as a small query.  What is not answered is asked anew, by itself.
        """
        turn = turns("sat", self._fixed)[0]
        solver = turn.solvers[0]
        puts = [self._put(solver, _question(query, limits), limits, turn.divisor) for query in queries]
        new = {place: put for place, put in puts if place not in self._answers}
        worker = self._workers.setdefault((*solver.start, "0"), Worker(solver.start))
        worker.ask({"many": list(new.values()), "seconds": limits.seconds})
        replies: Sequence[Any] = worker.take(limits.patience).get("replies", ())
        self._answers.update((place, said) for place, said in zip(new, replies, strict=False) if "used" in said)

    def model(self, query: Query, *, limits: SolverLimits | None = None, both: bool = False) -> Answered:
        """Ask the first installed solver, or `both`, for a model of a query without quantifiers.

        The caller validates the model.  Raises NoSolver when none is installed.
        """
        limits = limits or SolverLimits()
        question = _question(query, limits)
        solvers = tuple(self._fixed or (Z3_GROUND, CVC5))
        answers: list[SolverAnswer] = []
        for turn in [solvers] if both else [(one,) for one in solvers]:
            answers += self._side_by_side(turn, question, query, limits)
            if not answers[-1].missing:
                break
        if all(answer.missing for answer in answers):
            raise NoSolver([answer.because for answer in answers])
        return Answered(_together(answers), tuple(answers), question["text"], query)

    def proof(self, answered: Answered, *, limits: SolverLimits | None = None) -> ProofText:
        """Return cvc5's own proof of an `unsat` answer, asked for anew: printing proofs may change its search."""
        limits = limits or SolverLimits()
        for answer in answered.answers:
            if answer.module == "cvc5" and answer.status == "unsat":
                solver = Solver(answer.solver, "cvc5", answer.options)
                break
        else:
            return ProofText("cvc5", because="cvc5 did not prove it")
        worker = self._workers.setdefault((*solver.start, "0"), Worker(solver.start))
        question: dict[str, Any] = {
            "text": answered.asked,
            "sorts": [],
            "functions": [],
            "relations": [],
            "rlimit": limits.rlimit,
            "seconds": limits.seconds,
        }
        worker.ask({**question, "options": dict(solver.options), "proof": True})
        said = worker.take(limits.patience)
        if said.get("status") != "unsat" or not said.get("proof"):
            why = said.get("because") or "no proof"
            return ProofText(solver.name, because=f"asked for a proof it said {said.get('status')}: {why}")
        return ProofText(solver.name, str(said["proof"]))

    def each(
        self, query: Query, goals: Sequence[Relation], *, limits: SolverLimits
    ) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Ask z3 whether the query allows each of the goals (propositions of it) in turn: status, and core if `unsat`.

        The limits are those of one goal.  For a search alone: a proof asks both solvers.
        """
        number = query.numbers
        worker = self._workers.setdefault((*Z3.start, "0"), Worker(Z3.start))
        put: dict[str, Any] = {
            **_question(query, limits),
            "goals": [number[goal.name] for goal in goals],
            "options": {},
        }
        worker.ask({**put, "seconds": limits.seconds * 4})
        said = worker.take(limits.patience * 4)
        if said.get("status") == "missing":
            raise NoSolver([str(said.get("because"))])
        found: Sequence[Any] = said.get("results", ())
        answers = [(str(one[0]), _core([n for n in one[1] if n.startswith("a")], query)) for one in found]
        return tuple([*answers, *([("unknown", ())] * (len(goals) - len(answers)))])

    def _put(
        self, solver: Solver, question: Mapping[str, Any], limits: SolverLimits, divisor: int = 1
    ) -> tuple[str, dict[str, Any]]:
        """The question as a solver is asked it, and the name of its answer."""
        put = {**question, "rlimit": units(solver, limits, divisor), "options": dict(solver.options)}
        return hashlib.sha256(json.dumps([solver.start, put]).encode()).hexdigest(), put

    def _side_by_side(
        self,
        solvers: Sequence[Solver],
        question: Mapping[str, Any],
        query: Query,
        limits: SolverLimits,
        divisor: int = 1,
    ) -> list[SolverAnswer]:
        asked: list[tuple[str, Worker | None]] = []
        known: set[str] = set()
        for index, solver in enumerate(solvers):
            place, put = self._put(solver, question, limits, divisor)
            worker: Worker | None = None
            if place in self._answers:
                known.add(place)
            else:
                # Two configurations of one solver in one turn need a process each.
                key = (*solver.start, str(sum(s.start == solver.start for s in solvers[:index])))
                worker = self._workers.setdefault(key, Worker(solver.start))
                worker.ask(put)
            asked.append((place, worker))
        for place, worker in asked:
            if worker is not None:
                self._answers[place] = worker.take(limits.patience)
        # Cached answers take no time.
        replies = [{**self._answers[place], **({"seconds": 0.0} if place in known else {})} for place, _ in asked]
        for (place, _), said in zip(asked, replies, strict=True):
            if "used" not in said:  # a crash or a time-out may not happen again
                self._answers.pop(place, None)
        return [_answer(solver, said, query) for solver, said in zip(solvers, replies, strict=True)]


def _question(query: Query, limits: SolverLimits) -> dict[str, Any]:
    """The query in the format of `child`."""
    number = query.numbers
    return {
        "text": query.asked,
        "sorts": [number[sort.name] for sort in query.sorts],
        "functions": [
            [number[f.name], [number[s.name] for s in f.domain], number.get(f.codomain.name, "Real")]
            for f in query.functions
        ],
        "relations": [[number[r.name], [number[s.name] for s in r.domain]] for r in query.relations],
        "rlimit": limits.rlimit,
        "seconds": limits.seconds,
    }


def _helpers(query: Query, expected: Expected, answers: Sequence[SolverAnswer]) -> Iterator[Solver]:
    """Configurations to ask in place of a solver that answered `unknown`, until one of them decides.

    Where a proof was expected and a solver found a model, cvc5 searches for finite models; any other model needs no
    confirmation.  Where one found a proof, the other is asked for a proof too, because a model search does not help.
    """
    silent = [answer for answer in answers if answer.status == "unknown" and not answer.missing]
    said = {answer.status for answer in answers}
    provers = {answer.module for answer in answers if answer.status == "unsat"}
    if not silent or (expected != "unsat" and len(provers) != 1):
        return
    if "sat" in said:
        yield CVC5_FINITE
        return
    if expected != "unsat":
        if all(answer.module == "z3" for answer in silent):
            yield Z3
            return
        yield CVC5
    if fragment(query).decidable:
        yield CVC5_MODELS
    yield CVC5_ENUMERATE


def _together(answers: Sequence[SolverAnswer]) -> Status:
    said = {answer.status for answer in answers}
    if {"sat", "unsat"} <= said:
        return "disagreement"
    return "sat" if "sat" in said else "unsat" if "unsat" in said else "unknown"


def _answer(solver: Solver, said: Mapping[str, Any], query: Query) -> SolverAnswer:
    status = str(said.get("status"))
    bare = SolverAnswer(
        solver.name,
        solver.options,
        str(said.get("version", "")),
        "unknown",
        module=solver.module,
        used=said.get("used", 0),
        seconds=said.get("seconds", 0.0),
    )
    try:
        if status == "unsat":
            return replace(bare, status="unsat", core=_core(said.get("core", ()), query))
        if status == "sat":
            return replace(bare, status="sat", model=_structure(said["model"], query))
    except (BadStructure, IndexError, KeyError, TypeError, ValueError) as error:
        what = "model" if status == "sat" else "core"
        return replace(bare, because=f"its {what} cannot be read: {error}", used=0)
    because = str(said.get("because", "")) or f"it said {status!r}"
    return replace(bare, because=because, missing=status == "missing", cut=bool(said.get("cut")))


def _core(numbered: Sequence[str], query: Query) -> tuple[str, ...]:
    """The names of assertions `a0`, `a1` …, in the order of the query.  Raises ValueError, IndexError."""
    places = sorted(int(name.removeprefix("a")) for name in numbered)
    return tuple(query.assertions[place][0] for place in places)


def _structure(tables: Mapping[str, Any], query: Query) -> Structure:
    """A model's tables as a structure of the query's symbols.  Raises BadStructure, KeyError, TypeError."""
    number = query.numbers
    called = {
        element: f"{sort.name}.{i}"
        for sort in query.sorts
        for i, element in enumerate(tables["universe"][number[sort.name]])
    }

    def row(entry: Sequence[str]) -> tuple[str, ...]:
        return tuple(called[element] for element in entry)

    return Structure(
        {sort.name: row(tables["universe"][number[sort.name]]) for sort in query.sorts},
        {r.name: frozenset(row(entry) for entry in tables["relations"][number[r.name]]) for r in query.relations},
        {
            f.name: {
                row(entry[:-1]): entry[-1] if f.codomain == NUMBER else called[entry[-1]]
                for entry in tables["functions"][number[f.name]]
            }
            for f in query.functions
        },
    ).checked(query.sorts, query.functions, query.relations)


_SHARED: list[Portfolio] = []


def shared() -> Portfolio:
    """Return the portfolio of this process, made on first use and closed when the process ends."""
    if not _SHARED:
        _SHARED.append(Portfolio())
        atexit.register(_SHARED[0].close)
    return _SHARED[0]
