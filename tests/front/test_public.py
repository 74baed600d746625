"""The public interface: its names, lazy loading, and the behaviour of the quick constructor."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import evenhand
from evenhand.core.system import Scope

NAMES = """
    Fairness Lasso ModelError Mutant Pair Protocol Report Scenario Scope Status Step System Trace UnknownName Verdict
    __version__ always commute deadlock_free determined_by each_step eventually examine explore fuzz
    keeps_fairness leads_to licence_by_search livelock_free monitor per_agent reachable refines replay rule run_from_itf
    system temporal two_run verify
"""


def test_the_names_are_these() -> None:
    """A new or missing name changes the interface for other code."""
    assert evenhand.__all__ == NAMES.split()


def test_every_name_is_there_and_is_no_module() -> None:
    """Names load on demand; a module of the same name would hide a function."""
    for name in evenhand.__all__:
        assert type(getattr(evenhand, name)).__name__ != "module", name
    assert set(evenhand.__all__) <= set(dir(evenhand))


def test_every_name_says_what_it_is() -> None:
    """Docstrings are required on public names and on the public members of their instances."""
    for name in evenhand.__all__:
        found = getattr(evenhand, name)
        if callable(found):
            assert described(name, found) == []


def described(name: str, found: Any) -> list[str]:
    """Yield public names at and below `found` that lack a docstring of their own; functions in fields are left out."""
    silent = [] if found.__doc__ else [name]
    for one, value in vars(found).items() if isinstance(found, type) else ():
        function = getattr(value, "fget", None) or getattr(value, "__func__", value)
        if getattr(function, "__name__", "") == one and not one.startswith("_") and not function.__doc__:
            silent.append(f"{name}.{one}")
    return silent


def test_a_name_that_says_nothing_is_seen() -> None:
    """A class without docstring, and a method."""

    class Silent:
        def answer(self) -> int:
            return 42

    assert described("Silent", Silent) == ["Silent", "Silent.answer"]


def test_no_other_name_is_there() -> None:
    """A misspelled name fails as in any module."""
    with pytest.raises(AttributeError, match="no attribute 'verifi'"):
        _ = evenhand.verifi  # pyright: ignore[reportAttributeAccessIssue]


def test_the_import_loads_no_engine_and_a_submodule_hides_no_name() -> None:
    """`import evenhand` is cheap, whatever is imported later."""
    code = (
        "import sys, evenhand\n"
        "assert not {'z3', 'cvc5', 'hypothesis', 'numpy', 'rich', 'typer'} & set(sys.modules)\n"
        "import evenhand.verification, evenhand.core.quick, evenhand.report.report\n"
        "assert callable(evenhand.verify) and callable(evenhand.system)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_version_is_that_of_the_project() -> None:
    """Reports name the installed version."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    assert evenhand.__version__ == project["project"]["version"]


def counter(step: Callable[[Any, Any], Any], initial: Any = 0, **more: Any) -> evenhand.System[Any, Any, Any, Any, Any]:
    """Return a system with one action."""
    return evenhand.system("counter", initial=[initial], actions=lambda _state: ["go"], step=step, **more)


def taken(system: evenhand.System[Any, Any, Any, Any, Any]) -> evenhand.Step[Any, Any, Any, Any]:
    """Return the single step of such a system from its start."""
    (start,) = system.initial(None)
    assert list(system.all_configs()) == [None]
    (action,) = system.enabled(None, start)
    return system.take(None, start, action)


def test_a_step_may_give_the_new_state_or_also_what_it_shows() -> None:
    """Both forms of a step's result."""
    assert taken(counter(lambda state, _action: state + 1)).after == 1
    both = taken(counter(lambda state, _action: (state + 1, "up"), shows=True))
    assert (both.after, both.shown) == (1, "up")
    with pytest.raises(evenhand.ModelError, match=r"shows=True .* shows=False if the pair is the state"):
        taken(counter(lambda state, _action: (state + 1, "up")))
    with pytest.raises(evenhand.ModelError, match="say shows=True"):
        taken(counter(lambda _state, _action: ((1, 2), "up"), initial=(0, 0)))


def test_states_that_are_tuples_are_never_taken_apart() -> None:
    """If states are tuples, a pair is a state, unless `shows` says otherwise."""
    plain = taken(counter(lambda _state, _action: (1, 2), initial=(0, 0)))
    assert (plain.after, plain.shown) == ((1, 2), None)
    growing = taken(counter(lambda _state, _action: (1, 2), initial=()))
    assert growing.after == (1, 2)
    told = taken(counter(lambda _state, _action: ((1, 2), "up"), initial=(0, 0), shows=True))
    assert (told.after, told.shown) == ((1, 2), "up")
    assert taken(counter(lambda _state, _action: (1, 2), shows=False)).after == (1, 2)


def test_what_cannot_be_a_system_is_refused_with_a_reason() -> None:
    """One message: culprit, cause, next step."""
    with pytest.raises(ValueError, match="no initial state"):
        evenhand.system("none", initial=[], actions=lambda _: [], step=lambda state, _: state)
    with pytest.raises(TypeError, match=r"system 'counter': initial state \[\] is not hashable"):
        counter(lambda state, _action: state, initial=[])
    with pytest.raises(evenhand.ModelError, match=r"state \[1\] .* not hashable .* frozen dataclasses"):
        taken(counter(lambda _state, _action: [1]))
    with pytest.raises(evenhand.ModelError, match="shows=True"):
        taken(counter(lambda _state, _action: 1, shows=True))
    with pytest.raises(evenhand.UnknownName, match="unknown scope field 'agents'; there is: none"):
        counter(lambda state, _action: state).at(agents=2)
    assert counter(lambda state, _action: state).scope == Scope()
