"""The verdicts on a system's claims for any number of agents.

The source is read, the formulas are compared with the functions, small sizes are run, and what no run breaks is proved
by induction.  REFUTED comes from a run alone, HOLDS from a proof that both solvers confirm; everything else is
UNDECIDED with the reason, such as the line that is not readable.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evenhand.core.answers import ModelError
from evenhand.core.kinds import Liveness, Property
from evenhand.core.relations import Relational
from evenhand.core.system import AnySystem
from evenhand.core.verdict import Status, Verdict, verdict_on
from evenhand.evidence.judge import refutes
from evenhand.search import explore
from evenhand.smt.logic import FALSE, TRUE, Formula
from evenhand.smt.portfolio import Portfolio, shared
from evenhand.smt.structure import Structure
from evenhand.source.candidates import Guesses
from evenhand.source.counts import balances
from evenhand.source.family import Family, family_of
from evenhand.source.induction import Induction, Proof
from evenhand.source.instances import how_many, nth
from evenhand.source.owing import Owing
from evenhand.source.pairs import Pairs, beside
from evenhand.source.probes import fresh_bound
from evenhand.source.progress import Rank, parts_of, progress_of
from evenhand.source.ranks import Ranks, guesses
from evenhand.source.reached import MOST, Reached, reached
from evenhand.source.refusal import Unreadable
from evenhand.source.simplify import negation
from evenhand.source.validating_pairs import compare_pairs
from evenhand.source.validation import REACHED, Comparison, Mistranslated, Validation, spread

ENGINE = "prove"

SIZES = (1, 2, 3)
"""Agents of each sort with which runs are tried before a proof."""

ROWS = 1_500
"""States of each size from which invariants are guessed."""

PAIRED = 30
"""States of each size that are paired, each with each, to guess relations of two runs."""

BASE = (
    "the translator of evenhand.source, compared with the functions in this run",
    "z3 and cvc5, which both proved every step",
    "that whole numbers are among the numbers of which the proof speaks",
)


@dataclass(frozen=True)
class Unbounded:
    """The verdicts, and what they rest on."""

    verdicts: tuple[Verdict, ...]
    validation: Validation | None = None
    proofs: Mapping[str, Proof] = field(default_factory=dict[str, Proof])


def prove_any_size(system: AnySystem, claims: Sequence[Property], *, portfolio: Portfolio | None = None) -> Unbounded:
    """Return a verdict on each claim of a system for any number of agents.

    Raises NoSolver where no solver is installed.
    """
    try:
        family = family_of(system, tuple(claims))
    except Unreadable as error:
        return Unbounded(tuple(_open(system, claim, str(error)) for claim in claims))
    fields = family.world.sorts
    runs = [reached(system.at(**dict.fromkeys(fields, size)), claims) for size in SIZES]
    broken = {**_broken(runs, claims), **_searched(runs, claims)}
    try:
        comparison = Comparison(family)
        portfolio = portfolio or shared()
        states = [(run.config, state) for run in runs for state in _some(run.states, REACHED)]
        validation = comparison.all(portfolio, states)
        pairs = _pairs(family, comparison, runs, portfolio, set(broken))
    except (Mistranslated, Unreadable) as error:
        why = f"the formulas are not what the functions say, so nothing is proved: {error}"
        return Unbounded(tuple(broken.get(claim.name) or _open(system, claim, why) for claim in claims))
    proofs = _proofs(family, comparison, runs, portfolio, set(broken), pairs)
    verdicts: list[Verdict] = []
    for claim in claims:
        if claim.name in broken:
            verdicts.append(broken[claim.name])
        elif claim.name in family.unread:
            verdicts.append(_open(system, claim, family.unread[claim.name]))
        else:
            verdicts.append(_of_proof(system, claim, proofs[claim.name], validation, fields))
    return Unbounded(tuple(verdicts), validation, proofs)


def _some(states: Sequence[Any], most: int) -> Iterable[Any]:
    """The states found first, which contradict most wrong guesses, and some from all over: at most so many."""
    first = states[: most // 2]
    return [*first, *(states[len(first) + place] for place in spread(len(states) - len(first), most - len(first)))]


def _broken(runs: Sequence[Reached], claims: Sequence[Property]) -> dict[str, Verdict]:
    """The claims that a run of a small size breaks, if the run replays."""
    found: dict[str, Verdict] = {}
    for run in runs:
        for claim in claims:
            evidence = run.broken.get(claim.name)
            if evidence is None or claim.name in found or not refutes(run.system, claim, evidence):
                continue
            states = {"states": len(run.states)}
            found[claim.name] = verdict_on(
                run.system, claim.name, ENGINE, Status.REFUTED, evidence=evidence, coverage=states
            )
    return found


def _searched(runs: Sequence[Reached], claims: Sequence[Property]) -> dict[str, Verdict]:
    """The claims about pairs of runs and about whole runs that a search of small sizes refutes, by runs that replay."""
    asked = [claim for claim in claims if isinstance(claim, Relational | Liveness)]
    found: dict[str, Verdict] = {}
    for run in runs if asked else ():
        left = [claim for claim in asked if claim.name not in found]
        for claim, verdict in zip(left, explore(run.system, left, max_states=MOST).verdicts, strict=True):
            evidence = verdict.evidence
            if verdict.status is Status.REFUTED and evidence is not None and refutes(run.system, claim, evidence):
                found[claim.name] = replace(verdict, engine=ENGINE)
    return found


def _pairs(
    family: Family, comparison: Comparison, runs: Sequence[Reached], portfolio: Portfolio, broken: set[str]
) -> Pairs | None:
    """Two copies, compared with the functions, if a claim speaks of pairs of steps.  Raises Mistranslated."""
    if not any(stated.sides for name, stated in family.claims.items() if name not in broken):
        return None
    pairs = Pairs(family, portfolio)
    states = [(run.config, list(_some(run.states, REACHED))) for run in runs]
    comparison.done.pairs = compare_pairs(comparison, pairs, states, portfolio)
    return pairs


def _proofs(
    family: Family,
    comparison: Comparison,
    runs: Sequence[Reached],
    portfolio: Portfolio,
    broken: set[str],
    pairs: Pairs | None,
) -> dict[str, Proof]:
    whole = [name for name, stated in family.claims.items() if stated.courses and name not in broken]
    read = {name: s for name, s in family.claims.items() if name not in broken and name not in whole}
    found = {name: _progress(family, comparison, runs, portfolio, name) for name in whole}
    if not read:
        return found
    added = [] if pairs is not None else _balances(family, comparison, runs)
    induction = Induction(family, portfolio)
    try:
        goals = {
            name: fresh_bound(comparison.of_states[name][0]) for name, one in read.items() if one.of_state is not None
        }
        total = _total(comparison)
        known: list[Formula] = []
        proofs: dict[str, Proof] = {}
        wanted = [*goals.values(), *total, *added]
        for guessed in itertools.chain([[]], _guesses(family, comparison, runs)):
            wanted += guessed  # what is not inductive alone may be so with longer clauses
            held = {id(one) for one in known}
            known = induction.houdini([one for one in wanted if id(one) not in held], known)
            why = _may_raise(induction, family, total, known)
            for name in read:
                if name not in proofs or not proofs[name].proved:
                    open_ = Proof(False, because=why)
                    proofs[name] = open_ if why else _proof(induction, comparison, name, goals, known)
                    if pairs is not None and family.claims[name].sides and not why:
                        proofs[name] = _of_pair(induction, comparison, runs, pairs, name, known)
            if all(proof.proved for proof in proofs.values()):
                break
        return {**found, **proofs}
    finally:
        induction.close()


def _of_pair(
    induction: Induction,
    comparison: Comparison,
    runs: Sequence[Reached],
    pairs: Pairs,
    name: str,
    known: Sequence[Formula],
) -> Proof:
    """Prove a claim about pairs of steps, first without a relation of the two states, then with those that are kept."""
    proof = pairs.prove(name, induction, known, ())
    if proof.proved:
        return proof
    samples = [
        beside(comparison.encoded(run.config, one), comparison.encoded(run.config, other))
        for run in runs
        for one, other in itertools.product(list(_some(run.states, PAIRED)), repeat=2)
    ]
    return pairs.prove(name, induction, known, pairs.related(induction, known, samples))


def _progress(
    family: Family, comparison: Comparison, runs: Sequence[Reached], portfolio: Portfolio, name: str
) -> Proof:
    """Prove a claim about whole runs by a rank: the claim's own, or one that is guessed."""
    claim = family.claims[name].claim
    assert isinstance(claim, Liveness)
    progress = progress_of(family, claim)
    owing = Owing(claim, progress.fair, runs)
    clear = claim.helps is not None or not any(one.variables for one in progress.fair.values())
    try:
        objection = owing.objection(owing.helping()) if claim.rank is not None and clear else ""
        if objection:
            return Proof(False, because=objection)
        samples = Ranks(progress, comparison, owing)
        ranks = guesses(samples, list(parts_of(progress.family)))
    except (ModelError, TypeError) as error:
        return Proof(False, because=f"a function of the claim fails: {error}")
    if not ranks and claim.rank is not None:
        return Proof(False, because="it is open where each agent makes the rank of the claim fall; say it by `helps`")
    if not ranks:
        return Proof(False, because="no rank was found that falls in all runs of up to three agents")
    induction = Induction(progress.family, portfolio)
    try:
        total = _total(comparison)
        said = [formula for formula, _ in comparison.of_states.values()]
        known: list[Formula] = []
        wanted = [*total, *map(fresh_bound, said), *(fresh_bound(progress.on_offer(rank)) for rank in (Rank(), *ranks))]
        proof = Proof(False)
        owed = Guesses(progress.family, samples.states, _possible(progress.family, comparison))
        for guessed in itertools.chain([[]], owed.stages()):
            wanted += guessed
            held = {id(one) for one in known}
            known = induction.houdini([one for one in wanted if id(one) not in held], known)
            why = _may_raise(induction, progress.family, total, known)
            for rank in ranks:
                proof = Proof(False, because=why) if why else progress.prove(induction, known, rank)
                if proof.proved:
                    return proof
        return proof
    finally:
        induction.close()


def _total(comparison: Comparison) -> list[Formula]:
    """That neither `actions` nor a claim raises in a state."""
    parts = [comparison.family.raises, *(raises for _, raises in comparison.of_states.values())]
    return [fresh_bound(negation(one)) for one in parts if one != FALSE]


def _may_raise(induction: Induction, family: Family, total: Sequence[Formula], kept: Sequence[Formula]) -> str:
    """Why some function may raise in a reachable state; empty if that is excluded."""
    if family.start_raises != FALSE:
        return "`initial` may raise"
    if not all(any(one is other for other in kept) for one in total):
        return "it is open whether `actions` or a claim raises in some reachable state"
    steps = [(move, negation(move.raises)) for move in family.moves if move.raises != FALSE]
    proof = induction.prove_steps(steps, kept)
    return "" if proof.proved else f"it is open whether `step` raises: {proof.because}"


def _proof(
    induction: Induction, comparison: Comparison, name: str, goals: Mapping[str, Formula], kept: Sequence[Formula]
) -> Proof:
    stated = comparison.family.claims[name]
    if stated.of_state is not None:
        return induction.prove(goals[name], kept)
    if stated.here is not None:
        return induction.prove_here(stated.here, kept)
    if stated.sides:
        return Proof(False, because="claims about pairs of steps need two copies")
    if stated.of_start != TRUE:
        begins = induction.prove_starts(stated.of_start)
        if not begins.proved:
            return begins
    steps = [(move, comparison.of_steps[name, place]) for place, move in enumerate(comparison.family.moves)]
    may_raise = [(move, negation(raises)) for move, (_, raises) in steps if raises != FALSE]
    return induction.prove_steps([*((move, formula) for move, (formula, _) in steps), *may_raise], kept)


def _guesses(family: Family, comparison: Comparison, runs: Sequence[Reached]) -> Iterator[list[Formula]]:
    """Candidates from the states that runs reach, the shortest first."""
    structures = [comparison.encoded(run.config, state) for run in runs for state in _some(run.states, ROWS)]
    yield from Guesses(family, structures, _possible(family, comparison)).stages()


def _balances(family: Family, comparison: Comparison, runs: Sequence[Reached]) -> list[Formula]:
    """Sums of counts and numbers that stay, as far as the states that runs reach show."""
    structures = [comparison.encoded(run.config, state) for run in runs for state in _some(run.states, ROWS)]
    words = family.vocabulary
    return list(map(fresh_bound, balances(family.world.totals, words.functions, words.relations, structures)))


def _possible(family: Family, comparison: Comparison) -> list[Structure]:
    """Some states with two and three of each sort, reached or not; with what is owed, if the family knows it."""
    possible: list[Structure] = []
    for size in (2, 3):
        system = family.system.at(**dict.fromkeys(family.world.sorts, size))
        config = next(iter(system.all_configs()))
        sizes = comparison.sizes(config)
        total = how_many(family.shape, sizes)
        possible += [comparison.encoded(config, nth(family.shape, sizes, place)) for place in spread(total, 150)]
    for ghost in family.ghosts:
        rows: tuple[frozenset[tuple[str, ...]], ...] = (frozenset(), frozenset([()]))
        possible = [
            Structure(one.universe, {**one.relations, ghost.relation.name: row}, one.functions)
            for one in possible
            for row in rows
        ]
    return possible


def _open(system: AnySystem, claim: Property, why: str) -> Verdict:
    asked = {"asked": f"any number of {' and '.join(system.scope)}"}
    return verdict_on(system, claim.name, ENGINE, Status.UNDECIDED, scope=asked, because=why)


def _of_proof(
    system: AnySystem, claim: Property, proof: Proof, validation: Validation, fields: Iterable[str]
) -> Verdict:
    if not proof.proved:
        return _open(system, claim, proof.because)
    return verdict_on(
        system,
        claim.name,
        ENGINE,
        Status.HOLDS,
        scope={"proved": f"any number of {' and '.join(fields)}"},
        coverage={
            "invariants": len(proof.invariants),
            "queries": proof.queries,
            "linked_structures": validation.listed + validation.reached + validation.made,
        },
        trusted_base=(*BASE, validation.sentence),
    )
