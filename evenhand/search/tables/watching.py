"""Run the model on proxies under watch, and refuse what proxies cannot follow."""

from __future__ import annotations

import functools
import gc
import weakref
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

from evenhand.core.answers import error_text
from evenhand.processes.collector import uncollected
from evenhand.search.tables.expressions import Spent, plain
from evenhand.search.tables.loops import lazy_builtins
from evenhand.search.tables.proxies import Run, Unknown
from evenhand.search.tables.shape import Reshaped
from evenhand.search.tables.trees import Tree
from evenhand.search.tables.watch import Watch
from evenhand.search.witness import NotLearned

RUN = 50
"""What a run on proxies costs, in calls of the model, beside its operations."""


class Budget:
    """What learning may cost: a share of the calls of the model that the states found so far take or took."""

    def __init__(self, share: float) -> None:
        self.share = share
        self.calls = 0
        self.spent = 0
        self.runs = 0

    def spend(self, calls: int) -> None:
        """Count some calls of the model.  Raises Spent."""
        if self.spent + calls > self.share * self.calls:
            raise Spent(f"{self.runs} runs on proxies have not taught enough: the same is seldom seen twice")
        self.spent += calls


class Watching:
    """The watch over all runs of one configuration, and what they cost."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.watch = Watch()
        self.caches: list[Any] | None = None  # weak references: the one of a database keeps its file open

    def run_on(self, function: Callable[..., Any], *given: Any) -> Any:
        """Call a function of the model under watch."""
        with uncollected():
            return self.watch.watched(function, *given)

    def learned(self, tree: Tree, numbers: Sequence[int], act: Callable[[Run], Any]) -> Run:
        """Observe a run for a tree.  Raises NotLearned."""
        return self.observed(Run(tree.expressions, numbers), act)

    def observed(self, run: Run, act: Callable[[Run], Any]) -> Run:
        """Let `act` run the model on the proxies of a run.  Raises NotLearned for what they cannot follow."""
        self.budget.runs += 1
        self.budget.spend(RUN)
        with lazy_builtins(self.watch.got), self._no_cache(), uncollected():
            try:
                act(run)
            except Spent:
                run.expressions.trouble = ""
                raise
            except (NotLearned, Reshaped):
                self.watch.speak()
                raise
            except Unknown as error:
                raise NotLearned(f"a result holds {error}") from error
            except Exception as error:
                self._speak(run)
                raise NotLearned(f"{error_text(error)} was raised on proxies") from error
            finally:
                run.alive = False
        self._speak(run)
        return run

    def _speak(self, run: Run) -> None:
        """Raise NotLearned for what the watch or the proxies found."""
        self.watch.speak()
        if run.expressions.trouble:
            raise NotLearned(run.expressions.trouble)

    def clear_caches(self) -> None:
        """Forget what cached functions of the model keep."""
        for one in self._all_caches():
            one.cache_clear()

    def _all_caches(self) -> list[Any]:
        if self.caches is None:
            kind: Any = type(functools.lru_cache(lambda: None))
            # The garbage collector knows all caches, but lists none that were frozen.  Each refers to its type, which
            # is quicker to ask for than all that there is: a process may hold millions of objects.
            gc.unfreeze()
            self.caches = [weakref.ref(one) for one in gc.get_referrers(kind) if type(one) is kind and not _ours(one)]
            gc.freeze()
        return [one for known in self.caches if (one := known()) is not None]

    @contextmanager
    def _no_cache(self) -> Generator[None]:
        """Refuse a model that caches what is no value: a cache would mix proxies and values."""
        caches = self._all_caches()
        before = [one.cache_info().misses for one in caches]
        try:
            yield
        finally:
            used = [one for one, misses in zip(caches, before, strict=True) if one.cache_info().misses != misses]
            mixed = [one for one in used if not _holds_values(one)]
            for one in mixed:
                one.cache_clear()
        if mixed:
            raise NotLearned(f"{getattr(mixed[0], '__qualname__', 'a function')} keeps its results in a cache")


def _holds_values(cached: Any) -> bool:
    """Whether a cache holds nothing but values.  A proxy that looks something up decides by its whole value."""
    held = gc.get_referents(cached)
    own = {id(cached.__wrapped__), id(cached.__dict__), *(id(one) for one in held if isinstance(one, type))}
    return all(id(one) in own or _is_value(one, own) for one in held)


def _is_value(held: Any, own: set[int]) -> bool:
    """Whether something that a cache holds has no proxy in it; links and marks are the cache's own."""
    kind: Any = type(held)
    if kind is dict or kind is list or kind is tuple:
        return all(_is_value(one, own) for one in (*held, *(held.values() if kind is dict else ())))
    return kind is object or id(kind) in own or plain(held)


def _ours(cached: Any) -> bool:
    return str(getattr(cached, "__module__", "")).startswith(("evenhand.search", "evenhand.core"))
