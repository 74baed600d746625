"""langgraph: several nodes write one key in one step. Which write survives, and who decides it?

The documented rule (1.2.22), `langgraph/graph/state.py`, StateGraph: "Each state key can optionally be annotated with a
reducer function that will be used to aggregate the values of that key received from multiple nodes." Without one,
`langgraph/channels/last_value.py`: "can receive at most one value per step". No docstring says in which order values
are reduced.
"""

import operator
from typing import Annotated, Any, TypedDict

from langgraph.errors import InvalidUpdateError
from langgraph.graph import START, StateGraph


class KeepLast:
    """The agents are nodes, in the order in which they are added; each writes its choice. The later write is kept."""

    key: Any = Annotated[str, lambda old, new: new]
    written = staticmethod(str)
    labels = ("x", "y")

    def __init__(self, agents):
        self.agents, self.choices = agents, self.labels

    def act(self, profile):
        self.choices = ()
        graph = StateGraph(TypedDict("State", {"key": self.key}))
        for agent in self.agents:
            graph.add_node(agent, lambda state, agent=agent: {"key": self.written(profile[agent])})
            graph.add_edge(START, agent)
        try:
            return dict.fromkeys(profile, graph.compile().invoke({"key": self.written("")})["key"])
        except InvalidUpdateError:
            return dict.fromkeys(profile, "refused")


Appended = type("Appended", (KeepLast,), {"key": Annotated[list, operator.add], "written": staticmethod(list)})
Merged = type("Merged", (KeepLast,), {"key": Annotated[set, operator.or_], "written": staticmethod(set)})
Unannotated = type("Unannotated", (KeepLast,), {"key": str})
