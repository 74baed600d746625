"""The program of a solver process: one query per line of JSON in, one answer per line out.

Solvers are C++ and may crash, hang or run out of memory; a process of their own contains this.  Where the platform can
fork, a fork answers a few queries, and ends with the one that it does not survive.  Every query has a solver and a
context of its own, so that no answer depends on earlier ones; the first of each z3 fork is made before the forks.  This
file imports nothing of evenhand and is the only one that uses z3 and cvc5, whose Python interfaces carry no types.

Question: `text`, `sorts` (names), `functions` ([name, [sorts], sort]), `relations` ([name, [sorts]]), `options`,
`rlimit`, `seconds` (of CPU), `proof` (whether cvc5 is to print its proof).  Answer: `status` (sat, unsat, unknown,
missing, crashed), `because`, `core`, `model`, `used`, `version`, `cut` (whether its units came to an end), `seconds`,
`proof`.  Of `many` questions there are as many `replies`, from one fork, each in a context of its own.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import itertools
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

Question = Mapping[str, Any]
Answer = dict[str, Any]


def answer(solver: str, question: Question, made: Any = None, kept: list[Any] | None = None) -> Answer:
    """Return one solver's answer to one question.  Never raises: every failure is an `unknown` with its reason.

    `made` is the result of `_ready`, not used before.  What the solver made is added to `kept`: a process that ends
    after its answer need not free it piece by piece.
    """
    try:
        module = importlib.import_module(solver)
    except ImportError as error:
        return {"status": "missing", "because": f"the Python package of {solver} does not import: {error}"}
    drivers: dict[str, Callable[[Any, Question, Any, list[Any]], Answer]] = {"z3": _z3, "cvc5": _cvc5}
    began = time.process_time()
    reply: Answer
    try:
        reply = drivers[solver](module, question, made, [] if kept is None else kept)
    except Exception as error:  # a solver's own exceptions have no common base
        reply = {"status": "unknown", "because": f"{type(error).__name__}: {error}"}
    cut = reply["status"] == "unknown" and reply.get("used", 0) >= int(question["rlimit"])
    return {**reply, "cut": cut, "seconds": time.process_time() - began}


def _ready(solver: str) -> Any:
    """Import the solver before the forks; return an unused context for z3, else None."""
    with contextlib.suppress(Exception):  # `answer` reports errors of a solver
        module = importlib.import_module(solver)
        return module.Context() if solver == "z3" else None
    return None


def _z3(z3: Any, question: Question, made: Any, kept: list[Any]) -> Answer:
    context = z3.Context() if made is None else made
    if "goals" in question:
        return _each(z3, question, context)
    version = str(z3.get_version_string())
    solver = z3.Solver(ctx=context)
    kept.append(solver)
    solver.set("unsat_core", True)
    solver.set("core.minimize", True)
    solver.set("rlimit", int(question["rlimit"]))
    for name, value in question["options"].items():
        solver.set(name, value)
    solver.from_string(question["text"])
    found = str(solver.check())
    reply: Answer = {"status": found, "because": "", "version": version}
    if found == "unsat":
        reply["core"] = sorted(str(name) for name in solver.unsat_core())  # minimises now, so before counting units
    elif found == "sat":
        model = solver.model()
        kept.append(model)
        reply["model"] = _z3_model(z3, model, question)
    else:
        reply["because"] = str(solver.reason_unknown())
    counted = {str(key): value for key, value in solver.statistics()}
    reply["used"] = int(counted.get("rlimit count", 0))
    return reply


def _each(z3: Any, question: Question, context: Any) -> Answer:
    """Whether the assertions allow each of the goals (propositions) in turn; `results` has status and core of each."""
    solver = z3.Solver(ctx=context)
    solver.set("unsat_core", True)
    solver.set("rlimit", int(question["rlimit"]))
    solver.from_string(question["text"])
    results: list[list[Any]] = []
    for goal in question["goals"]:
        found = str(solver.check(z3.Bool(goal, context)))
        results.append([found, sorted(str(name) for name in solver.unsat_core()) if found == "unsat" else []])
    return {"status": "each", "because": "", "version": str(z3.get_version_string()), "results": results}


def _z3_model(z3: Any, model: Any, question: Question) -> Answer:
    sorts = {str(sort.name()): model.get_universe(sort) for sort in model.sorts()}
    elements: dict[str, list[Any]] = {
        name: sorted(sorts.get(name) or [], key=lambda e: (len(e.sexpr()), e.sexpr())) for name in question["sorts"]
    }
    declared = {str(symbol.name()): symbol for symbol in model.decls()}
    truths = {name for name, _ in question["relations"]}
    known = {one.ast.value: one for those in elements.values() for one in those}

    def value(name: str, arguments: tuple[Any, ...]) -> Any:
        symbol = declared.get(name)
        if symbol is None:
            return None
        found = _z3_value(z3, model, symbol, arguments)
        if name in truths:
            return int(z3.Z3_get_bool_value(model.ctx.ref(), found.ast)) == z3.Z3_L_TRUE
        element = known.get(found.ast.value)
        return model.eval(symbol(*arguments), model_completion=True) if element is None else element  # a number

    def exact(found: Any) -> str:
        return str(Fraction(found.numerator_as_long(), found.denominator_as_long()))

    return _tables(question, elements, value, bool, exact, lambda found: str(found.sexpr()))


def _z3_value(z3: Any, model: Any, symbol: Any, arguments: tuple[Any, ...]) -> Any:
    """A symbol's value in a model, by the library's own functions.

    A model has hundreds, and z3's Python classes take several times as long: they look up the sort of each argument.
    """
    context, found = model.ctx.ref(), (z3.Ast * 1)()
    given = (z3.Ast * len(arguments))(*[one.ast for one in arguments])
    asked = z3.Z3_mk_app(context, symbol.ast, len(arguments), given)
    z3.Z3_inc_ref(context, asked)
    if not z3.Z3_model_eval(context, model.model, asked, True, found):
        raise ValueError(f"z3 gives {symbol} no value")
    value = z3.ExprRef(found[0], model.ctx)
    z3.Z3_dec_ref(context, asked)
    return value


def _cvc5(cvc5: Any, question: Question, _made: Any, kept: list[Any]) -> Answer:
    manager = cvc5.TermManager()
    solver = cvc5.Solver(manager)
    solver.setOption("rlimit", str(question["rlimit"]))
    for name, value in question["options"].items():
        solver.setOption(name, str(value))
    if question.get("proof"):
        solver.setOption("produce-proofs", "true")
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, question["text"], "query")
    symbols = parser.getSymbolManager()
    kept += [manager, solver, parser, symbols]
    printed = ""
    while True:
        command = parser.nextCommand()
        if command.isNull():
            break
        printed += str(command.invoke(solver, symbols))
    words = printed.split(maxsplit=1)
    found = words[0] if words and words[0] in ("sat", "unsat") else "unknown"
    reply: Answer = {"status": found, "because": "", "version": str(cvc5.__version__)}
    used = [entry for name, entry in solver.getStatistics() if "resourceUnitsUsed" in str(name)]
    reply["used"] = int(used[0]["value"]) if used else 0
    if found == "unsat":
        named = symbols.getNamedTerms()
        reply["core"] = sorted(str(named[term]) for term in solver.getUnsatCore() if term in named)
        if question.get("proof"):
            printed = solver.proofToString(solver.getProof()[0], cvc5.ProofFormat.CPC)
            reply["proof"] = printed.decode() if isinstance(printed, bytes) else str(printed)
    elif found == "sat":
        reply["model"] = _cvc5_model(cvc5, manager, solver, symbols, question)
    else:
        reply["because"] = printed.strip() or "no answer"
    return reply


def _cvc5_model(cvc5: Any, manager: Any, solver: Any, symbols: Any, question: Question) -> Answer:
    sorts = {str(sort): sort for sort in symbols.getDeclaredSorts()}
    elements: dict[str, list[Any]] = {
        name: sorted(solver.getModelDomainElements(sorts[name]), key=lambda e: (len(str(e)), str(e)))
        for name in question["sorts"]
    }
    declared = {str(term): term for term in symbols.getDeclaredTerms()}

    def value(name: str, arguments: tuple[Any, ...]) -> Any:
        symbol = declared[name]
        return solver.getValue(manager.mkTerm(cvc5.Kind.APPLY_UF, symbol, *arguments) if arguments else symbol)

    def exact(found: Any) -> str:
        return str(Fraction(found.getRealValue()))

    return _tables(question, elements, value, lambda found: bool(found.getBooleanValue()), exact)


def _tables(
    question: Question,
    elements: Mapping[str, list[Any]],
    value: Callable[[str, tuple[Any, ...]], Any],
    is_true: Callable[[Any], bool],
    exact: Callable[[Any], str],
    written: Callable[[Any], str] = str,
) -> Answer:
    """The model as plain tables; element i of a sort is called `Sort.i`, an undetermined value is the first element.

    `written` tells elements of a sort apart.

    A number is written as a fraction in lowest terms, 0 if undetermined.  For an irrational one the solver's interface
    raises an exception, and the answer becomes `unknown`.
    """
    names = {sort: {written(e): f"{sort}.{i}" for i, e in enumerate(found)} for sort, found in elements.items()}
    # A sort that the solver never needed has no elements; it gets one.
    universe = {sort: list(found.values()) or [f"{sort}.0"] for sort, found in names.items()}
    things = {sort: list(found) or [None] for sort, found in elements.items()}
    functions: dict[str, list[list[str]]] = {}
    for name, domain, codomain in question["functions"]:
        table = functions[name] = []
        for picks in itertools.product(*(range(len(universe[sort])) for sort in domain)):
            arguments = tuple(things[sort][i] for sort, i in zip(domain, picks, strict=True))
            found = None if any(a is None for a in arguments) else value(name, arguments)
            labels = [universe[sort][i] for sort, i in zip(domain, picks, strict=True)]
            if codomain == "Real":
                table.append([*labels, "0" if found is None else exact(found)])
            else:
                table.append([*labels, universe[codomain][0] if found is None else names[codomain][written(found)]])
    relations: dict[str, list[list[str]]] = {}
    for name, domain in question["relations"]:
        entries = relations[name] = []
        for picks in itertools.product(*(range(len(universe[sort])) for sort in domain)):
            arguments = tuple(things[sort][i] for sort, i in zip(domain, picks, strict=True))
            found = None if any(a is None for a in arguments) else value(name, arguments)
            if found is not None and is_true(found):
                entries.append([universe[sort][i] for sort, i in zip(domain, picks, strict=True)])
    return {"universe": universe, "functions": functions, "relations": relations}


def _answers(solver: str, question: Question, made: Any, kept: list[Any] | None) -> Answer:
    if "many" not in question:
        return answer(solver, question, made, kept)
    return {"status": "many", "replies": [answer(solver, one) for one in question["many"]]}


def _say(reply: Answer) -> None:
    os.write(1, json.dumps(reply, sort_keys=True).encode() + b"\n")


def _end_with_parent() -> None:
    """Have this fork killed when the process ends that forked it, as `evenhand.processes.launch` does; on Linux."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


QUESTIONS = 16
"""Questions that one fork answers, so that what it keeps does not grow."""


class _Fork:
    """A fork of this process that answers up to `QUESTIONS` questions, each by a solver of its own.

    What a fork costs, and the pages that it touches anew, are more than many questions cost.
    """

    def __init__(self, solver: str, made: Any) -> None:
        self.left = QUESTIONS
        theirs, self._asks = os.pipe()
        self._ends, done = os.pipe()
        self._process = os.fork()
        if self._process == 0:
            code = 1
            try:
                os.close(self._asks)
                os.close(self._ends)
                _end_with_parent()
                _serve(solver, made, theirs, done)
                code = 0
            finally:
                os._exit(code)
        os.close(theirs)
        os.close(done)

    def ask(self, line: str) -> bool:
        """Have a question answered; returns whether the fork lives on, after reporting what ended it."""
        with contextlib.suppress(BrokenPipeError):
            _written(self._asks, line.encode())
        self.left -= 1
        if os.read(self._ends, 1):
            return True
        ended = self.end()
        if os.WIFSIGNALED(ended) and os.WTERMSIG(ended) == signal.SIGPROF:
            _say({"status": "unknown", "because": f"no answer within {json.loads(line)['seconds']} s of CPU"})
        else:
            how = f"signal {os.WTERMSIG(ended)}" if os.WIFSIGNALED(ended) else f"exit code {os.WEXITSTATUS(ended)}"
            _say({"status": "crashed", "because": f"the solver process ended with {how}"})
        return False

    def end(self) -> int:
        """Wait for the end of the fork, which has no more questions; returns how it ended."""
        os.close(self._asks)
        os.close(self._ends)
        return os.waitpid(self._process, 0)[1]


def _written(pipe: int, data: bytes) -> None:
    while data:
        data = data[os.write(pipe, data) :]


def _serve(solver: str, made: Any, asks: int, done: int) -> None:
    """Answer the questions of a pipe, and say after each that it is answered.

    A solver's memory is freed where that costs less than new pages: z3's.
    """
    kept: list[Any] | None = None if solver == "z3" else []
    with os.fdopen(asks) as questions:
        for line in questions:
            question = json.loads(line)
            signal.setitimer(signal.ITIMER_PROF, question["seconds"])  # of CPU, which does not depend on the load
            _say(_answers(solver, question, made, kept))
            made = None
            os.write(done, b".")


def main(solver: str) -> None:
    """Answer questions from standard input until it closes."""
    forks = hasattr(os, "fork")
    made = _ready(solver) if forks else None
    gc.disable()
    gc.freeze()  # a collection in a fork would copy every page that it visits
    fork: _Fork | None = None
    for line in sys.stdin:
        if not forks:
            _say(_answers(solver, json.loads(line), None, None))
            continue
        fork = fork or _Fork(solver, made)
        if not fork.ask(line):
            fork = None
        elif not fork.left:
            fork.end()
            fork = None
    if fork is not None:
        fork.end()


if __name__ == "__main__":
    main(sys.argv[1])
