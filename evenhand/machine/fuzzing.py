"""Draw runs with Hypothesis: configurations, initial states, rules, actions, in this order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky, Unsatisfiable
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from evenhand.core.answers import whole_number
from evenhand.core.ending import has_ended
from evenhand.core.generator import Generator
from evenhand.core.generator import Rule as DrawRule
from evenhand.core.property import Property, checked_claims
from evenhand.core.system import AnySystem
from evenhand.machine.ledger import Fuzzing, Ledger, Refuted
from evenhand.machine.provider import BACKEND
from evenhand.machine.watch import Run


def fuzz(
    system: AnySystem,
    claims: Sequence[Property] = (),
    generator: Generator | None = None,
    *,
    examples: int = 200,
    steps: int = 20,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Fuzzing:
    """Draw `examples` sequences of `steps` steps of `system` and evaluate `claims` along them.

    Same system, claims, generator, numbers and seed: same result, under any hash seed.  When no action is enabled, a
    sequence begins a new run of the same configuration.  Claims about whole runs that are open then are pursued by the
    machine's own rules in half as many sequences more.  Ctrl-C ends the drawing; then only witnessed reachability
    claims HOLD.  Raises ValueError for a generator of another system and for numbers below 1; exceptions of the
    model carry a note of the step.
    """
    whole_number("examples", examples, 1)
    whole_number("steps", steps, 1)
    whole_number("seed", seed)
    ledger = Ledger(system, checked_claims(system, claims), generator)
    ledger.progress = progress
    _drive(ledger, examples=examples, steps=steps, seed=seed)
    for one, second in ledger.pursuits():
        _drive(second, examples=1 + examples // 2, steps=steps, seed=seed)
        ledger.join(one, second)
    return ledger.result(steps, seed)


def _drive(ledger: Ledger, *, examples: int, steps: int, seed: int) -> None:
    """Let Hypothesis draw `examples` of `steps` steps into one ledger, until Ctrl-C."""
    ledger.asked = examples
    drawn = settings(
        max_examples=examples,
        stateful_step_count=steps + 1,  # Hypothesis counts drawing the initial state as a step
        backend=BACKEND,
        derandomize=True,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=tuple(cast("Iterable[HealthCheck]", HealthCheck)),  # not its deprecated members
        verbosity=Verbosity.quiet,
        print_blob=False,
    )
    try:
        run_state_machine_as_test(_seeded(_machine(lambda: ledger), seed), settings=drawn)
    except KeyboardInterrupt:
        ledger.interrupted = True
    except (AssertionError, IndexError) as error:  # of Hypothesis, where Ctrl-C or an alarm struck inside it
        struck = error.__context__
        if struck is None or isinstance(struck, Exception):
            raise
        if not isinstance(struck, KeyboardInterrupt):
            raise struck from None
        ledger.interrupted = True
    except Flaky:
        # Hypothesis repeats a failing example; the ledger has gone on counting, so that it may end otherwise.
        if ledger.raised is None:
            raise
        raise ledger.raised from None
    except Unsatisfiable as error:
        ledger.findings.setdefault("generator", f"the generator gave no complete example: {error}")


def machine(
    system: AnySystem, claims: Sequence[Property] = (), generator: Generator | None = None
) -> type[RuleBasedStateMachine]:
    """Return a Hypothesis state machine for `system`, for a test file: `TestLock = machine(lock, CLAIMS).TestCase`.

    It raises `Refuted` at the step that refutes a claim, and Hypothesis shrinks and prints the run.  Each example is
    judged alone: no floors, no antecedents, no comparison across runs, which `fuzz` adds.
    """
    return _machine(lambda: Ledger(system, tuple(claims), generator, raising=True))


def _machine(new_ledger: Callable[[], Ledger]) -> type[RuleBasedStateMachine]:
    """A new class of machine, because Hypothesis keeps settings and rules by class."""
    return type("Machine", (_Machine,), {"new_ledger": staticmethod(new_ledger)})


class _Machine(RuleBasedStateMachine):
    """Draws from Hypothesis in order; the ledger does the rest."""

    run: Run | None = None
    chosen: frozenset[str] | None = None

    def __init__(self) -> None:
        super().__init__()
        self.ledger = self.new_ledger()

    @staticmethod
    def new_ledger() -> Ledger:
        """Return the ledger of one example; `_machine` overrides this."""
        raise NotImplementedError

    @initialize(data=st.data())
    def start(self, data: st.DataObject) -> None:
        """Draw a configuration and an initial state; half of the examples use only some of the rules.

        Leaving rules out at random (swarm testing) reaches states from which they lead away.
        """
        ledger = self.ledger
        config = ledger.draw_config(data.draw)
        if len(ledger.rules) > 1 and data.draw(st.booleans()):
            self.chosen = frozenset(one.name for one in ledger.rules if data.draw(st.booleans()))
        self.run = ledger.begin(data.draw, config)

    @rule(data=st.data())
    def act(self, data: st.DataObject) -> None:
        """Draw a possible rule and an action by it, and take the step."""
        assert self.run is not None
        ledger = self.ledger
        drawn = self.drawn(data)
        if drawn is None:
            ledger.end(self.run)
            self.run = ledger.begin(data.draw, ledger.draw_config(data.draw) if ledger.roams else self.run.config)
            drawn = self.drawn(data)
            if drawn is None:  # no action is enabled in the initial state
                return
        drawing, action = drawn
        run, here = self.run, (self.run.config, self.run.state)
        ledger.counts[f"rule:{drawing.name}"] += 1
        number = len(run.steps) + 1
        try:
            ledger.step(run, action)
        except Refuted:
            raise
        except Exception as error:
            error.add_note(f"in step {number} of a run of {ledger.system.name}, drawn by rule {drawing.name!r}:")
            error.add_note(f"configuration {here[0]!r}, state {here[1]!r}, action {action!r}")
            ledger.raised = ledger.raised or error
            raise

    def drawn(self, data: st.DataObject) -> tuple[DrawRule, Any] | None:
        """Return a possible rule and an action by it; None outside a constraint, and sometimes where the run ends."""
        assert self.run is not None
        system, config, state = self.ledger.system, self.run.config, self.run.state
        if system.constrained and not (
            system.stays(self.run.steps[-1]) if self.run.steps else system.inside(config, state)
        ):
            return None
        menu: list[DrawRule | None] = [*possible_rules(self.ledger.rules, self.chosen, config, state)]
        if not menu or has_ended(system, config, state):
            menu.append(None)
        drawing = data.draw(st.sampled_from(menu)) if len(menu) > 1 else menu[0]
        return None if drawing is None else (drawing, drawing.draw(data.draw, config, system.scope, state))

    def teardown(self) -> None:
        """Count the example."""
        ledger = self.ledger
        if self.run is not None and ledger.raised is None:
            ledger.end(self.run)
            ledger.counts["examples"] += 1
            if ledger.progress is not None:
                ledger.progress(ledger.counts["examples"], ledger.asked)


def _seeded(made: type[RuleBasedStateMachine], number: int) -> type[RuleBasedStateMachine]:
    seed(number)(made)
    return made


def possible_rules(
    rules: Iterable[DrawRule], chosen: frozenset[str] | None, config: Any, state: Any
) -> tuple[DrawRule, ...]:
    """Return the possible rules among those chosen for this example, or all possible ones where none of these is."""
    possible = tuple(one for one in rules if one.possible(config, state))
    preferred = tuple(one for one in possible if chosen is None or one.name in chosen)
    return preferred or possible
