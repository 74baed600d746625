"""The parts of `explore` that few runs need and that are slow to import: licences, pictures of graphs, waits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evenhand.cli.console import BadUse, usage
from evenhand.cli.determined import alone, say_determined
from evenhand.cli.waits import waiting
from evenhand.core.bundle import Bundle
from evenhand.core.licence import Licence
from evenhand.core.system import AnySystem
from evenhand.jobs.proving import licence_for
from evenhand.report.graph import exporter
from evenhand.search.views import licence_by_search

__all__ = ["alone", "graph_writer", "licence_named", "say_determined", "waiting"]


def licence_named(bundle: Bundle, system: AnySystem, name: str) -> Licence:
    """Return the licence of a quotient or view (empty name: the symmetry).  Raises BadUse, also without a solver."""
    option = f"--quotient {name}" if name else "--symmetry"
    view = name or ("" if system.quotients else "symmetry")
    if view in system.views:
        with usage():
            return licence_by_search(system, view, bundle.claims_of(system.name))
    if bundle.own and not name and not system.quotients:
        raise BadUse(f"{system.label} has no symmetry; give `symmetry=` to evenhand.system, or leave --symmetry out")
    if system.variant != "reference":
        raise BadUse(
            f"a mutant has no licence: {system.variant} may be the very fault that breaks the symmetry; "
            f"leave {option} out"
        )
    try:
        return licence_for(bundle, system.name, name)
    except ValueError as error:
        raise BadUse(f"{error}; leave {option} out") from error


def graph_writer(graph: Path) -> Any:
    """Return the function that writes a graph to this file.  Raises BadUse for an unknown suffix."""
    with usage():
        return exporter(graph)
