"""Compare each word that was read from the rules of `cud` with the function that it was read from.

Every run compares the words that a step shows; here those are compared too that no step shows, for every request (and
pair of requests) of a situation, with what the function returns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from evenhand.core.system import Step
from evenhand.model.cud import kernel
from evenhand.model.cud.kernel import Rules
from evenhand.model.cud.step import adjudicate, moment
from evenhand.model.cud.vocabulary import Shown
from evenhand.proofs.cud.encoding import CudStep, element, facts_of, structure_of, universe_of
from evenhand.proofs.cud.epoch import OBSERVED
from evenhand.smt.samples import Situation
from evenhand.smt.structure import Reader
from evenhand.smt.theory import Theory
from evenhand.source.validation import Mistranslated


@dataclass
class Compared:
    """How much was compared, and which truth values were seen of each word."""

    situations: int = 0
    values: int = 0
    seen: dict[str, set[bool]] = field(default_factory=dict[str, set[bool]])


def answers(rules: Rules, step: CudStep) -> Iterator[tuple[str, tuple[str, ...], bool]]:
    """Yield what the functions say of the requests of a situation, by word."""
    config, now = step.config, moment(rules, step.config, step.before)
    authorities = rules.in_force(config, now)
    settled = {name: one.finding for name, one in adjudicate(rules, config, now, step.action).judged}
    asked = {name: one.request for name, one in step.action.choices if one.request is not None and settled[name]}
    for name, request in asked.items():
        bound = rules.bind(name, kernel.action_id(name, now.epoch), request)
        examined = kernel.examine(rules, config, authorities, bound)
        found = settled[name]
        yield "formed", (name,), not rules.malformed(config, bound)
        yield "stray", (name,), rules.foreign(authorities, bound)
        yield "covered", (name,), rules.covers(authorities, bound)
        yield "vetoed", (name,), rules.vetoed(authorities, bound)
        yield "passes", (name,), examined.verdict == kernel.ADMITTED
        yield "struck", (name,), examined.verdict == kernel.STRUCTURE
        yield "contends", (name,), rules.contends(examined)
        yield "collides", (name,), found is not None and found.verdict == kernel.PASS_TWO
        for other, another in asked.items():
            if name != other:
                yield "interferes", (name, other), rules.interfere(request, another)


def compare(rules: Rules, theory: Theory, situations: Iterable[Situation]) -> Compared:
    """Compare the words of a theory with the rules.  Raises Mistranslated."""
    reader, done = Reader(theory.meanings), Compared()
    for config, state, action in situations:
        step: CudStep = Step(config, state, action, Shown(), state)
        facts = facts_of(step)
        if facts is None:
            continue
        structure = structure_of(facts, universe_of((facts,))).without(OBSERVED)
        done.situations += 1
        for name, who, said in answers(rules, step):
            meaning = theory.meanings[name]
            row = dict(zip(meaning.variables, (element("act", one) for one in who), strict=True))
            if reader.holds(meaning.relation(*meaning.variables), structure, row) != said:
                raise Mistranslated(f"{name} of {', '.join(who)}: the function says {said}; {config}, {action}")
            done.values += 1
            done.seen.setdefault(name, set()).add(said)
    return done
