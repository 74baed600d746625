"""pref_voting: which voting methods are anonymous, which are neutral, and what decides a tie?

Any method by its name: `pref_voting_methods.py:borda`. The documented rules (1.18.2) are docstrings: `ranked_pairs_zt`,
"It is always the voter in position 0 that breaks the ties"; `ranked_pairs_tb`, "the tie_breaker is the sorted list of
candidates"; `plurality_veto`, "Process voters one by one in the given order"; VotingMethod.choose, "Return a randomly
chosen element from the winning set". Without such a sentence a method returns all winners: a tie is told as a tie.
"""

from itertools import permutations

from pref_voting import voting_methods
from pref_voting.profiles import Profile


class Ballots:
    """The agents are voters, in the order of the profile; each hands in one ranking of three candidates."""

    labels, most = ("a", "b", "c"), 3  # most: voters of the largest election

    def __init__(self, agents):
        self.agents, self.open = agents, len(agents) <= self.most

    def choices(self, agent):
        return tuple(permutations(self.labels)) if self.open else ()

    def act(self, profile):
        self.open = False
        rankings = [[self.labels.index(one) for one in profile[agent]] for agent in self.agents]
        return dict.fromkeys(profile, frozenset(self.labels[n] for n in self.method(Profile(rankings))))


def counted_by(name, method):
    return type(name, (Ballots,), {"method": staticmethod(method)})


plurality_chosen = counted_by("plurality_chosen", lambda profile: [voting_methods.plurality.choose(profile)])


def __getattr__(name):
    return counted_by(name, getattr(voting_methods, name))
