"""Token budgets, for any number of agents, kinds of tokens and rounds (P61 to P63, §9.10).

An account is what one agent has used of one kind of tokens, with its ceiling if it has one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product

from evenhand.core.system import AnySystem
from evenhand.model.markspace.layers import initial
from evenhand.model.markspace.layers_vocabulary import TOKEN, Layer, LayersConfig, LayersStep, Op, Operation
from evenhand.model.markspace.mutants import layers as faulty
from evenhand.model.markspace.readings import Readings
from evenhand.proofs.markspace.stating import theorem
from evenhand.properties.markspace import limits
from evenhand.smt.arithmetic import at_least, at_most, below, number, zero
from evenhand.smt.ends import End, Ends, ends_along
from evenhand.smt.logic import TRUE, Formula, Sort, conjunction, exists, forall, ite, variables
from evenhand.smt.preludes import define, mutation, numbers, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import structure
from evenhand.smt.theory import Axiom, Theory

ACCOUNT = Sort("Account")
(x,) = variables(ACCOUNT, "x")
rounds, raises, principal = relations("rounds raises principal")
"""An agent records a round; ceilings are to be raised; the token is the principal's."""
mine, limited, output = relations("mine limited output", ACCOUNT)
"""The acting agent's accounts; those with a ceiling; those of output tokens, by which a mutant goes."""
used, ceiling, tokens = numbers("used ceiling tokens", ACCOUNT)


def _reached(more: Formula) -> Formula:
    return exists([x], mine(x) & limited(x) & more)


(used_up,) = relations("used_up")
(charged,) = relations("charged", ACCOUNT)
_full = _reached(at_least(used(x), ceiling(x)))
_raised = raises() & principal()
BUDGETS = Theory.of(
    "markspace_budget",
    output,
    axioms=(
        Axiom("one_operation", ~(rounds() & raises()), "9.10"),
        Axiom(
            "tokens_are_counted",
            forall([x], conjunction([at_most(number(0), each(x)) for each in (used, ceiling, tokens)])),
            "9.10",
        ),
    ),
    definitions=(
        define("used_up", (), _full, "9.10: a total is reached"),
        define("accepted", (), (rounds() & ~used_up()) | _raised, "9.10"),
        define("refused", (), rounds() & used_up(), "9.10: the hard stop"),
        define("charged", (x,), rounds() & ~used_up() & mine(x) & ~zero(tokens(x)), "9.10: usage grows by the tokens"),
        define("kept", (x,), ~charged(x), "P63: usage stays as it is"),
    ),
)
_BEYOND: dict[str, Formula] = {"used_up": _reached(below(ceiling(x), used(x)))}
_INPUT: dict[str, Formula] = {"used_up": _reached(~output(x) & at_least(used(x), ceiling(x)))}
_NEVER: dict[str, Formula] = {"used_up": TRUE}
_RESET: dict[str, Formula] = {"kept": ~charged(x) & ~(_raised & mine(x) & ~zero(used(x)))}

# Conformance.

CONFIG = LayersConfig(frozenset({Layer.BUDGET}), ("alice", "bob"), Readings(), budget=(5, 2))
KINDS = ("input", "output")


def view(taken: LayersStep) -> Structure | None:
    """Return a step of a deployment whose only layer is the budget, as a structure."""
    act, config, before, after = taken.action, taken.config, taken.before.budget, taken.after.budget
    if config.layers != CONFIG.layers or config.readings != Readings() or before is None or after is None:
        return None
    known = act.agent in config.agents
    if min(act.tokens) < 0 or not known:
        return None
    accounts = {(place, kind): f"{name}/{KINDS[kind]}" for place, name in enumerate(config.agents) for kind in (0, 1)}
    place = config.agents.index(act.agent)

    def those(told: Callable[[int, int], bool]) -> list[str]:
        return [name for one, name in accounts.items() if told(*one)]

    def count(told: Callable[[int, int], int]) -> dict[str, int]:
        return {name: told(*one) for one, name in accounts.items()}

    def moved(owner: int, kind: int) -> int:
        return after.used[owner][kind] - before.used[owner][kind]

    def spent(owner: int, kind: int) -> int:
        return act.tokens[kind] if owner == place else 0

    turn, more = act.op is Op.ROUND, act.op is Op.RAISE
    told = {
        "rounds": turn,
        "raises": more,
        "principal": act.token == TOKEN,
        "mine": those(lambda owner, _kind: owner == place),
        "limited": those(lambda owner, kind: before.ceiling[owner][kind] is not None),
        "output": those(lambda _owner, kind: kind == 1),
        "refused": turn and taken.shown.by is Layer.BUDGET,
        "charged": those(lambda owner, kind: moved(owner, kind) == spent(owner, kind) != 0),
        "kept": those(lambda owner, kind: moved(owner, kind) == 0),
        "used": count(lambda owner, kind: before.used[owner][kind]),
        "ceiling": count(lambda owner, kind: before.ceiling[owner][kind] or 0),
        "tokens": count(spent),
    }
    said = {"accepted": taken.shown.accepted} if turn or more else {}
    return structure({"Account": accounts.values()}, {**told, **said})


_MENU = (
    Operation(Op.ROUND, "alice", tokens=(0, 2)),
    Operation(Op.ROUND, "alice", tokens=(4, 1)),
    Operation(Op.ROUND, "bob", tokens=(5, 3)),
    Operation(Op.RAISE, "alice", tokens=(1, 1), token=TOKEN),
    Operation(Op.RAISE, "bob", tokens=(0, 2), token="forged"),
    Operation(Op.WRITE, "alice", "a"),
)


@Ends
def samples(system: AnySystem) -> Iterator[End]:
    """Yield every run of three operations under four budgets, by any variant."""
    for budget in ((5, 2), (5, None), (None, None), (4, 1)):
        config = replace(CONFIG, budget=budget)
        for first, second, third in product(_MENU[:4], _MENU[:4], _MENU):
            yield ends_along(system, config, initial(config)[0], first, second, third)[-1]


_theorem = partial(
    theorem,
    system="layers",
    theory=BUDGETS,
    view=view,
    samples=samples,
    scope="any number of agents, kinds of tokens and rounds",
)
_says = BUDGETS.word
_RESETS = mutation(BUDGETS, faulty.raising_resets_usage, _RESET, "raising is no activation")

STOPPED = _theorem(
    claim=limits.budget_hard_stop_p61,
    sentence="Where the acting agent has reached a ceiling, its round is refused for that.",
    assumes=rounds() & _full,
    goal=~_says("accepted") & _says("refused"),
    mutants=(
        mutation(BUDGETS, faulty.stops_beyond_the_limit, _BEYOND),
        mutation(BUDGETS, faulty.output_unlimited, _INPUT),
        mutation(BUDGETS, faulty.never_resumes, _NEVER, "it stops whoever is to be stopped"),
        _RESETS,
    ),
)
RESUMED = _theorem(
    claim=limits.budget_resumption_p62,
    sentence="Where the acting agent is below every ceiling, its round is accepted.",
    assumes=rounds() & ~_full,
    goal=_says("accepted"),
    witness=exists([x], mine(x) & limited(x)),
    mutants=(
        mutation(BUDGETS, faulty.never_resumes, _NEVER),
        mutation(BUDGETS, faulty.stops_beyond_the_limit, _BEYOND, "it stops too few"),
        mutation(BUDGETS, faulty.output_unlimited, _INPUT, "it stops too few"),
        _RESETS,
    ),
)
_spends = rounds() & _says("accepted") & mine(x) & ~zero(tokens(x))
TRACKED = _theorem(
    claim=limits.budget_tracking_accuracy_p63,
    sentence="An accepted round adds its tokens to the accounts of its agent; otherwise no account changes.",
    variables=(x,),
    goal=ite(_spends, _says("charged", x), _says("kept", x)),
    witness=exists([x], _spends),
    mutants=(
        mutation(BUDGETS, faulty.raising_resets_usage, _RESET),
        mutation(BUDGETS, faulty.never_resumes, _NEVER, "what is refused adds nothing"),
        mutation(BUDGETS, faulty.stops_beyond_the_limit, _BEYOND, "what is accepted is added"),
    ),
)
