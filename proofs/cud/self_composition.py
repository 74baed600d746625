"""The theorems that compare two epochs: no arbitration, no drift, blindness to the pass that refuses.

Each has its own theory: an epoch and a second copy of the symbols that may differ.  Common symbols are shared, not
equated.  The proof that the honest kernel ignores the differences is short; the theorems exist to refute faulty
kernels.
"""

from __future__ import annotations

from typing import Any

from evenhand.model.cud.readings import Readings
from evenhand.proofs.cud.concretisation import both
from evenhand.proofs.cud.copies import PASSES as JUDGED
from evenhand.proofs.cud.copies import answers, apart, by_passes, effects, pair, twin
from evenhand.proofs.cud.definitions import word
from evenhand.proofs.cud.epoch import BEFORE_EXECUTION, EPOCH
from evenhand.proofs.cud.samples import PAIRED, WORLDS
from evenhand.proofs.cud.vocabulary import ACT, AGENT, HIDDEN, KEY, VALUE, later, scope, wants
from evenhand.properties.cud import arbitration
from evenhand.smt.logic import conjunction, exists, forall, iff, variables
from evenhand.smt.preludes import Copies
from evenhand.smt.theory import Axiom, Theory

r, s = variables(ACT, "r s")
k = KEY("k")
x = AGENT("x")
v = VALUE("v")

_BEFORE: dict[str, Any] = {"base": BEFORE_EXECUTION, "readings": {"scope_check": "before_execution"}}

# Order of submission.

_in_order = apart("cud_reordered", ("sooner",), keep=("submissions_are_ordered",))

ORDER = twin(
    arbitration.order_independence,
    _in_order.theory,
    sentence="Submit the same requests in any other order, and everybody is told the same, and the same changes.",
    goal=conjunction([*answers(_in_order), effects(_in_order)]),
    witness=exists([r, s], word("executed", r) & word("collides", s)),
    view=pair("sooner"),
)

# The epoch: only the epoch and what agents remember of the one before differ.

_EPOCHS = ("later", "turn")
_in_epoch = apart("cud_first_epoch", _EPOCHS, keep=("turns_are_ordered",))
_EPOCH = _in_epoch.extended(
    "cud_first_epoch",
    Axiom("later_and_first", later() & ~_in_epoch.second("later"), "of any two epochs each is compared with the first"),
)

EPOCHS = twin(
    arbitration.epoch_independence,
    _EPOCH,
    system="run",
    sentence="In the first epoch the same requests are answered as in any other, with the same effects.",
    goal=conjunction([*answers(_in_epoch), effects(_in_epoch)]),
    witness=exists([r, s], word("executed", r) & word("collides", s)),
    view=pair(*_EPOCHS),
)

# History: past refusals, and the last declarations of exited agents, are forgotten.

_PAST = ("balked", "locked")
_forgetting = apart("cud_forgetful", _PAST)
_FORGETFUL = _forgetting.extended(
    "cud_forgetful",
    Axiom(
        "nothing_is_remembered",
        forall([x], ~_forgetting.second("balked", x)) & forall([k], ~_forgetting.second("locked", k)),
        "the second epoch is the first without a past",
    ),
)

HISTORY = twin(
    arbitration.history_independence,
    _FORGETFUL,
    system="run",
    sentence="Without what was asked and refused before, the same requests are answered alike, with the same effects.",
    goal=conjunction([*answers(_forgetting), effects(_forgetting)]),
    witness=exists([r, s], word("executed", r) & word("collides", s)),
    view=pair(*_PAST),
)

# Values: the written ones, and those the world holds.

_VALUES = ("wants", "held", "below")


def _valued(name: str, base: Theory, *axioms: Axiom) -> Theory:
    two = apart(name, _VALUES, keep=("values_are_ranked", "one_value_per_key"), base=base)
    shape = Axiom(
        "same_keys_written",
        forall([r, k], iff(exists([v], wants(r, k, v)), exists([v], two.second("wants", r, k, v)))),
        "the two epochs differ in values alone",
    )
    return two.extended(name, shape, *axioms)


_KEPT_TO = Axiom(
    "all_keep_to_their_scope",
    forall([r, k, v], wants(r, k, v) >> scope(r, k)),
    "C10: values matter where a request writes what it does not declare",
)
_VALUED = _valued("cud_other_values", EPOCH, _KEPT_TO)
_VALUED_BEFORE = _valued("cud_other_values_before", BEFORE_EXECUTION)
_LOOSE = _valued("cud_any_other_values", EPOCH)

VALUES = twin(
    arbitration.value_independence,
    _VALUED,
    sentence="With other values in the world and in the requests everybody is told the same, as long as every request "
    "keeps to its declared keys.",
    goal=conjunction(answers(Copies(_VALUED))),
    **by_passes(Copies(_VALUED)),
    needs=("all_keep_to_their_scope", "same_keys_written"),
    witness=exists([r, s], word("executed", r) & word("collides", s)),
    view=pair(*_VALUES),
    samples=WORLDS.fewer(8, 1),
)
VALUES_BEFORE = twin(
    arbitration.value_independence,
    _VALUED_BEFORE,
    name="value_independence_before_execution",
    **_BEFORE,
    sentence="Where the delta itself is compared with the scope, values never decide what anybody is told.",
    source="C10, FQ3",
    goal=conjunction(answers(Copies(_VALUED_BEFORE))),
    **by_passes(Copies(_VALUED_BEFORE)),
    needs=("same_keys_written",),
    witness=exists([r, k, v], word("passes", r) & wants(r, k, v) & ~scope(r, k)),
    view=pair(*_VALUES),
    samples=WORLDS.fewer(8, 1),
)
PASSES = twin(
    arbitration.passes_ignore_values,
    _LOOSE,
    goal=conjunction(answers(Copies(_LOOSE), ("struck", "passes", "collides"))),
    **by_passes(Copies(_LOOSE), JUDGED[:-1]),
    needs=("same_keys_written",),
    witness=exists([r, k, v], word("passes", r) & wants(r, k, v) & ~scope(r, k)),
    view=pair(*_VALUES),
    samples=WORLDS.fewer(8, 1),
)

# Drift: only requests and authorities are equal, and the world where a request writes outside its declared scope.

_DRIFTING = (*(name for name in HIDDEN if name in {"sooner", "turn", "later", "balked", "locked"}), "held", "member")


_ALIKE = (
    "only_members_act",
    "all_start_active",
    "one_value_per_key",
    "the_world_is_known",
    "refusals_are_remembered",
    "locks_are_left_behind",
    "submissions_are_ordered",
    "turns_are_ordered",
)
"""Axioms that the other epoch obeys as well, because otherwise no run would have both epochs."""


def _drift(name: str, base: Theory, *, loose: bool) -> Theory:
    two = apart(name, _DRIFTING, keep=_ALIKE, base=base)
    strays = exists([r, k, v], wants(r, k, v) & ~scope(r, k))
    same_world = Axiom(
        "same_world_if_it_matters",
        strays >> forall([k, v], two.alike("held", k, v)),
        "C10: where a request writes what it does not declare, what is there decides",
    )
    return two.extended(name, same_world) if loose else two.theory


_DRIFT = _drift("cud_drift", EPOCH, loose=True)
_DRIFT_BEFORE = _drift("cud_drift_before", BEFORE_EXECUTION, loose=False)

DRIFT = twin(
    arbitration.verdict_determined,
    _DRIFT,
    system="run",
    sentence="Whatever the order, the epoch, the past and who has left: the same requests under the same authorities "
    "are answered alike, if the world is the same or nobody writes what it does not declare.",
    goal=conjunction(answers(Copies(_DRIFT))),
    needs=("same_world_if_it_matters",),
    witness=exists([r, s], word("executed", r) & word("collides", s)),
    view=pair(*_DRIFTING),
    realise=both(),
    samples=PAIRED,
)
DRIFT_BEFORE = twin(
    arbitration.verdict_determined,
    _DRIFT_BEFORE,
    name="verdict_determined_before_execution",
    base=BEFORE_EXECUTION,
    system="run",
    readings={"scope_check": "before_execution"},
    sentence="Where the delta itself is compared with the scope, the world does not matter either.",
    source="C10, D11",
    goal=conjunction(answers(Copies(_DRIFT_BEFORE))),
    witness=exists([r, k, v], word("passes", r) & wants(r, k, v) & ~scope(r, k)),
    view=pair(*_DRIFTING),
    realise=both(Readings(scope_check="before_execution")),
    samples=PAIRED,
)

# The world after an epoch.

WORLD = twin(
    arbitration.final_world_is_a_function_of_the_requests,
    _in_order.theory,
    sentence="Submit the same requests in any other order, and the same keys change to the same values.",
    goal=effects(_in_order),
    witness=exists([k, v], word("becomes", k, v)),
    view=pair("sooner"),
)
_in_order_before = apart("cud_reordered_before", ("sooner",), keep=("submissions_are_ordered",), base=BEFORE_EXECUTION)
WORLD_BEFORE = twin(
    arbitration.final_world_is_a_function_of_the_requests,
    _in_order_before.theory,
    name="final_world_is_a_function_of_the_requests_before_execution",
    **_BEFORE,
    sentence="Submit the same requests in any other order, and the same keys change to the same values.",
    goal=effects(_in_order_before),
    witness=exists([k, v], word("becomes", k, v)),
    view=pair("sooner"),
)
