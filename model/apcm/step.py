"""One step of RSA-PoC v1.0: justify → compile → mask → select → execute, in two actions of the system.

A step that halts or gridlocks executes nothing, is logged, and spends its place: the environment publishes its next
situation (9.2 counts rates of both, so neither ends the run).  An APCM that is not total does end it (2.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from evenhand.core.records import replace
from evenhand.core.system import Step
from evenhand.model.apcm.compiler import Rules, compiled
from evenhand.model.apcm.vocabulary import (
    ASB,
    BYPASS,
    DONE,
    HALTED,
    INVALID_RUN,
    REVISE,
    SCRAMBLE,
    Act,
    Compiled,
    Config,
    Entry,
    Select,
    Shown,
    Situation,
    State,
    Submit,
)

ApcmStep = Step[Config, State, Act, Shown]


def initial(_config: Config) -> tuple[State, ...]:
    """Return the first place, without a previous artefact."""
    return (State(),)


def awaits_selection(state: State) -> bool:
    """Return whether a mask is in place and an action is to be selected."""
    return bool(state.offered)


def advanced(config: Config, state: State) -> State:
    """Return the state after a spent step: the environment's next place, or the end of a run of frozen length."""
    place = state.place + 1
    after = State(place, state.previous)
    if config.steps is not None:
        return replace(after, over=DONE if place >= config.steps else "")
    return replace(after, place=place % len(config.situations))


def step(rules: Rules, config: Config, state: State, action: Act) -> tuple[State, Shown]:
    """Take one action; an action that is not on offer is rejected and changes nothing."""
    if state.over:
        return state, Shown("rejected", rejected=f"the run is over: {state.over}")
    match action:
        case Select(name):
            if name not in state.offered:
                return state, Shown("rejected", rejected="not among the actions offered")
            violates = tuple(sorted(config.published(state).violates(name)))
            return advanced(config, state), Shown("select", selected=name, selected_violates=violates)
        case Submit():
            if awaits_selection(state):
                return state, Shown("rejected", rejected="a selection is awaited")
            return _arrive(rules, config, state, action)


def _arrive(rules: Rules, config: Config, state: State, action: Submit) -> tuple[State, Shown]:
    situation = config.published(state)
    invalid = rules.validate(config, situation)
    if invalid:
        return replace(state, over=INVALID_RUN), Shown("submit", invalid=invalid)
    if config.condition == ASB:
        return _unjustified(rules, config, state, situation)
    if config.readings.validated == "on_arrival" and not config.generator:
        faults = rules.read(rules, config, action.artifact)[1]
        if faults:
            return state, Shown("rejected", rejected=f"the artefact is malformed: {faults[0]}")
    return _submit(rules, config, state, action, situation)


def _submit(rules: Rules, config: Config, state: State, action: Submit, situation: Situation) -> tuple[State, Shown]:
    artifact = rules.generate(config, state) if config.generator else action.artifact
    if config.condition == SCRAMBLE and artifact is not None:
        artifact = rules.scramble(config, artifact)
    result = compiled(rules, config, situation, state.previous, artifact)
    permitted = rules.permit(config, situation, result)
    halt = rules.halts(config, situation, result)
    offered = rules.offer(config, state, result.fields, permitted) if permitted else ()
    shown = Shown(
        "submit",
        artifact=artifact,
        fields=result.fields,
        mode=result.mode,
        compile_ok=result.ok,
        errors=result.errors,
        forbidden=() if config.condition == BYPASS else result.forbidden,
        permitted=permitted,
        offered=offered,
        halt=halt,
        gridlock=not halt and not permitted,
        revision=result.mode == REVISE,
    )
    return _awaiting(config, State(state.place, rules.keep(config, state.previous, result)), shown), shown


def _unjustified(rules: Rules, config: Config, state: State, situation: Situation) -> tuple[State, Shown]:
    """ASB: no artefact, no compiler, no mask (10)."""
    permitted = tuple(sorted(situation.feasible))
    halt = rules.halts(config, situation, Compiled(None, "", (), ()))
    offered = rules.offer(config, state, None, permitted) if permitted else ()
    shown = Shown("submit", permitted=permitted, offered=offered, halt=halt, gridlock=not halt and not permitted)
    return _awaiting(config, state, shown), shown


def _awaiting(config: Config, state: State, shown: Shown) -> State:
    """Return the state that awaits a selection; without an action to select the step is spent, or the run over."""
    if shown.halt and config.readings.after_halt == "ends":
        return replace(advanced(config, state), over=HALTED)
    if not shown.offered:
        return advanced(config, state)
    return State(state.place, state.previous, shown.permitted, shown.offered)


def wants(config: Config, state: State) -> bool:
    """Return whether the run goes on and some action is feasible."""
    return not state.over and bool(config.published(state).feasible)


def progress(step: ApcmStep) -> bool:
    """Return whether an action was executed."""
    return bool(step.shown.selected)


def smaller(config: Config, _start: State) -> Iterator[tuple[Config, State]]:
    """Yield fewer situations, feasible actions, preferences or violations."""
    for less in _less(config):
        yield less, initial(less)[0]


def _less(config: Config) -> Iterable[Config]:
    many = config.situations
    if len(many) > 1:
        for gone in range(len(many)):
            yield replace(config, situations=many[:gone] + many[gone + 1 :])
    for place, situation in enumerate(many):
        for changed in _fewer(situation):
            yield replace(config, situations=(*many[:place], changed, *many[place + 1 :]))
    used = {a for situation in many for a in (*situation.feasible, *(name for name, _ in situation.apcm))}
    if any(action not in used for action in config.actions):
        yield replace(config, actions=tuple(action for action in config.actions if action in used))
    if len(config.preferences) > 1:
        for gone_one in reversed(config.preferences):
            yield _without(config, gone_one)


def _fewer(situation: Situation) -> Iterator[Situation]:
    for action in reversed(situation.feasible):
        yield Situation(
            tuple(a for a in situation.feasible if a != action),
            tuple(entry for entry in situation.apcm if entry[0] != action),
        )
    for place, (name, entry) in enumerate(situation.apcm):
        if isinstance(entry.violates, frozenset):
            for p in sorted(entry.violates, key=str):
                less = replace(entry, violates=entry.violates - {p})
                if isinstance(entry.satisfies, frozenset):
                    less = replace(less, satisfies=entry.satisfies | {p})
                yield replace(situation, apcm=(*situation.apcm[:place], (name, less), *situation.apcm[place + 1 :]))


def _without(config: Config, gone: str) -> Config:
    def entry(one: Entry) -> Entry:
        violates, satisfies = (
            value - {gone} if isinstance(value, frozenset) else value for value in (one.violates, one.satisfies)
        )
        return Entry(violates, satisfies)

    situations = tuple(
        replace(situation, apcm=tuple((name, entry(one)) for name, one in situation.apcm))
        for situation in config.situations
    )
    return replace(config, preferences=tuple(p for p in config.preferences if p != gone), situations=situations)
