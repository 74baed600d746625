"""networkx: workers and the posts that they would take. Who gets a post when not everybody can have one?

The documented rule (3.6.1), `networkx/algorithms/bipartite/matching.py`, hopcroft_karp_matching: "A maximum cardinality
matching is a matching with the most edges possible. It is not always unique." It does not say which one is returned.
"""

from networkx import Graph
from networkx.algorithms.bipartite import eppstein_matching, hopcroft_karp_matching


class HopcroftKarp:
    """The agents are workers, in the order in which they enter the graph; a choice is the posts that one would take."""

    labels = ("north", "south")
    match = staticmethod(hopcroft_karp_matching)

    def __init__(self, agents):
        self.agents, self.matched = agents, None

    def choices(self, agent):
        return (("north",), ("south",), ("north", "south")) if self.matched is None else ()

    def act(self, profile):
        graph = Graph()
        graph.add_nodes_from(self.agents)
        graph.add_edges_from((agent, post) for agent in self.agents for post in profile[agent])
        self.matched = self.match(graph, top_nodes=self.agents)
        return {agent: self.matched.get(agent) for agent in self.agents}

    def holds(self, agent):
        return [self.matched[agent]] if agent in self.matched else []


class Eppstein(HopcroftKarp):
    """The same, matched by `eppstein_matching`."""

    match = staticmethod(eppstein_matching)
