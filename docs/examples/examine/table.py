"""Examine every kernel of this folder and print the table of README.md: `python docs/examples/examine/table.py`.

A hash seed of its own for each run would change the numbers of `networkx_matching.py`: set PYTHONHASHSEED=0.
NUMBA_DISABLE_JIT=1 saves the time in which each process would compile pref_voting.
"""

import resource
import sys
from importlib.metadata import version
from pathlib import Path

import evenhand
from evenhand.arbiters.loading import factory_at

FOLDER = Path(__file__).parent
KERNELS = {
    "langgraph_reducers.py:KeepLast": {},
    "langgraph_reducers.py:Appended": {},
    "langgraph_reducers.py:Merged": {},
    "langgraph_reducers.py:Unannotated": {},
    "lbforaging_step.py:Row": {},
    "pref_voting_methods.py:borda": {},
    "pref_voting_methods.py:instant_runoff": {},
    "pref_voting_methods.py:essential": {},
    "pref_voting_methods.py:ranked_pairs_tb": {"labels": "the tie_breaker is the sorted list of candidates"},
    "pref_voting_methods.py:ranked_pairs_zt": {"listing order": "the voter in position 0 breaks the ties"},
    "pref_voting_methods.py:plurality_veto": {"listing order": "voters are processed in the given order"},
    "pref_voting_methods.py:plurality_chosen": {"repetition": "a randomly chosen element from the winning set"},
    "simpy_resource.py:Pump": {"listing order": "requests wait in a plain list, in the order in which they were made"},
    "networkx_matching.py:HopcroftKarp": {},
}
"""Kernel → what its documented rule allows, in the words of the rule."""


def examined(kernel, **more):
    """Examine one kernel of the folder."""
    place = f"{FOLDER / kernel.partition(':')[0]}:{kernel.partition(':')[2]}"
    return evenhand.examine(factory_at(place), allow=KERNELS[kernel], place=place, **more)


def cpu_seconds():
    """Return the processor time of this process and of those that it started."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def rows(kernel):
    """Yield the table's rows of one kernel: a row for each finding, one for all that holds."""
    library = kernel.split("_")[0] + ("_voting" if kernel.startswith("pref") else "")
    began = cpu_seconds()
    found = examined(kernel, seconds=600, examples=10)
    used, name = f"{cpu_seconds() - began:.0f}", f"{library} {version(library)} `{kernel.rpartition(':')[2]}`"
    for one in found.answers:
        if one.status.name == "REFUTED":
            agents = len(one.witness.play.agents)
            allowed = f" (allowed: {one.allowed})" if one.allowed else ""
            yield [name, one.question, f"{one.named}{allowed}", f"{one.length} step, {agents} agents", used]
            name = used = ""
    held = [one.question for one in found.answers if one.status.name == "HOLDS"]
    yield [name, ", ".join(held), "nothing decides", "", used]


if __name__ == "__main__":
    print("| kernel | question | answer | witness | CPU seconds |\n|---|---|---|---|---|")
    for kernel in sys.argv[1:] or KERNELS:
        for row in rows(kernel):
            print(f"| {' | '.join(row)} |", flush=True)
