"""Kernels in which something decides that should not, and kernels that look suspicious and are honest."""

from __future__ import annotations

import os
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import Any

Profile = Mapping[str, str]


class Desk:
    """One thing, for which agents ask; a subclass says who of several gets it."""

    def __init__(self, agents: list[str]) -> None:
        self.agents = agents
        self.choices = ["ask", "pass"]

    def winner(self, asking: list[str]) -> str | None:
        """Return who gets it; nobody if several ask."""
        return asking[0] if len(asking) == 1 else None

    def act(self, profile: Profile) -> dict[str, str]:
        """Give the thing to at most one of those who ask."""
        won = self.winner([agent for agent, choice in profile.items() if choice == "ask"])
        answer = {True: "got", False: "no"}
        return {agent: "idle" if choice == "pass" else answer[agent == won] for agent, choice in profile.items()}


class FirstListed(Desk):
    """The agent listed first wins."""

    def winner(self, asking: list[str]) -> str | None:
        """See `Desk`."""
        return next((agent for agent in self.agents if agent in asking), None)


class LastListed(Desk):
    """The agent listed last wins."""

    def winner(self, asking: list[str]) -> str | None:
        """See `Desk`."""
        return next((agent for agent in reversed(self.agents) if agent in asking), None)


class FirstAsked(Desk):
    """The request that is handed over first wins."""

    def winner(self, asking: list[str]) -> str | None:
        """See `Desk`."""
        return next(iter(asking), None)


class LastAsked(Desk):
    """The request that is handed over last overwrites the others."""

    def winner(self, asking: list[str]) -> str | None:
        """See `Desk`."""
        return asking[-1] if asking else None


class SmallestName(Desk):
    """Ties go to the smallest name."""

    def winner(self, asking: list[str]) -> str | None:
        """See `Desk`."""
        return min(asking, default=None)


class GreatestName(Desk):
    """Ties go to the greatest name."""

    def winner(self, asking: list[str]) -> str | None:
        """See `Desk`."""
        return max(asking, default=None)


class LongestName(Desk):
    """Ties go to the longest name; equal lengths block."""

    def winner(self, asking: list[str]) -> str | None:
        """See `Desk`."""
        longest = [agent for agent in asking if len(agent) == max(map(len, asking))]
        return longest[0] if len(longest) == 1 else None


class ByHash(Desk):
    """Ties go to the smallest hash, so that a new process may decide otherwise."""

    def winner(self, asking: list[str]) -> str | None:
        """See `Desk`."""
        return min(asking, key=hash, default=None)


class ByChance(Desk):
    """Ties are drawn, and no seed can be set."""

    def winner(self, asking: list[str]) -> str | None:
        """See `Desk`."""
        return random.choice(asking) if asking else None


class ByClock(Desk):
    """In odd hours nobody gets anything."""

    def winner(self, asking: list[str]) -> str | None:
        """See `Desk`."""
        return super().winner(asking) if int(time.time() // 3600) % 2 else None


class Forgetful(Desk):
    """Three requests at a time are too many: the last is never answered."""

    def act(self, profile: Profile) -> dict[str, str]:
        """See `Desk`."""
        return dict(list(super().act(profile).items())[:2])


class Grudge(Desk):
    """Who got it once is never served again, and `observe` does not show it."""

    def __init__(self, agents: list[str]) -> None:
        super().__init__(agents)
        self.served: set[str] = set()

    def winner(self, asking: list[str]) -> str | None:
        """See `Desk`."""
        won = super().winner([agent for agent in asking if agent not in self.served])
        self.served |= {won} if won else set()
        return won

    def observe(self) -> str:
        """Show that the thing is free after each round."""
        return "free"


class TwoHolders(Desk):
    """With three requests two agents hold the thing."""

    def __init__(self, agents: list[str]) -> None:
        super().__init__(agents)
        self.held: set[str] = set()

    def act(self, profile: Profile) -> dict[str, str]:
        """See `Desk`."""
        asking = [agent for agent, choice in profile.items() if choice == "ask"]
        self.held = set(asking[:1]) if len(asking) < 3 else set(asking[:2])
        return {agent: "done" for agent in profile}

    def holds(self, agent: str) -> list[str]:
        """Return what the agent holds."""
        return ["thing"] if agent in self.held else []


class Penalty(Desk):
    """Asking together with others costs a fine, so staying away would be better."""

    def act(self, profile: Profile) -> dict[str, str]:
        """See `Desk`."""
        asking = [agent for agent, choice in profile.items() if choice == "ask"]
        return {agent: "fine" if agent in asking and len(asking) > 1 else "fair" for agent in profile}

    def worth(self, outcome: str | None) -> int:
        """Return what an outcome is worth."""
        return {"fine": -1, "fair": 1, None: 0}[outcome]


class Jam(Desk):
    """Two requests at once jam the desk for ever."""

    def __init__(self, agents: list[str]) -> None:
        super().__init__(agents)
        self.jammed = self.moved = False

    def act(self, profile: Profile) -> dict[str, str]:
        """See `Desk`."""
        asking = sum(choice == "ask" for choice in profile.values())
        self.moved = asking == 1 and not self.jammed
        self.jammed = self.jammed or asking > 1
        return dict.fromkeys(profile, "moved" if self.moved else "stayed")

    def observe(self) -> bool:
        """Show whether the desk is jammed."""
        return self.jammed

    def progress(self) -> bool:
        """Return whether the last round moved anything."""
        return self.moved


class FixedSeats:
    """The agents cannot be chosen, and the one with the smaller number wins."""

    agents = ("left", "right")
    choices = ("ask", "pass")

    def act(self, profile: Profile) -> dict[str, str]:
        """Serve `left` first."""
        won = next((agent for agent in self.agents if profile.get(agent) == "ask"), None)
        return {agent: "got" if agent == won else "no" for agent in profile}


def first_candidate(votes: Mapping[str, str]) -> str:
    """Count votes; a tie goes to the candidate that is first in the alphabet."""
    counts = Counter(votes.values())
    return min(candidate for candidate in counts if counts[candidate] == max(counts.values()))


def chair(votes: list[str]) -> str:
    """Count votes; a tie goes to the first vote in the list, the chair's."""
    counts = Counter(votes)
    best = {candidate for candidate in counts if counts[candidate] == max(counts.values())}
    return votes[0] if votes[0] in best else min(best)


class Honest(Desk):
    """Requests that collide block one another."""


class SeededDraw(Desk):
    """Ties are drawn from a seed that can be set, one agent as likely as the other."""

    def __init__(self, agents: list[str]) -> None:
        super().__init__(agents)
        self.draw = random.Random(0)

    def reset(self, seed: int) -> None:
        """Set the seed."""
        self.draw = random.Random(seed)

    def winner(self, asking: list[str]) -> str | None:
        """Draw one of those who ask."""
        return self.draw.choice(asking) if asking else None


class LoadedDraw(SeededDraw):
    """The draw looks fair, but the agent listed first has three tickets."""

    def winner(self, asking: list[str]) -> str | None:
        """See `Desk`."""
        tickets = [agent for agent in asking for _ in range(3 if agent == self.agents[0] else 1)]
        return self.draw.choice(tickets) if tickets else None


class Rotation(Desk):
    """Each round another agent comes first, and the kernel declares who does."""

    def __init__(self, agents: list[str]) -> None:
        super().__init__(agents)
        self.round = 0

    def order(self) -> list[str]:
        """Return the agents, the one first that comes first in the next round."""
        first = self.round % len(self.agents)
        return self.agents[first:] + self.agents[:first]

    def winner(self, asking: list[str]) -> str | None:
        """See `Desk`."""
        won = next((agent for agent in self.order() if agent in asking), None)
        self.round += 1
        return won


class FixedOrder(Rotation):
    """The kernel declares an order of precedence that never changes."""

    def order(self) -> list[str]:
        """Return the agents as they are listed."""
        return list(self.agents)


class Queue(Desk):
    """Who asks waits in a line that everybody sees; those of one round stand side by side and leave together."""

    def __init__(self, agents: list[str]) -> None:
        super().__init__(agents)
        self.line: tuple[frozenset[str], ...] = ()

    def act(self, profile: Profile) -> dict[str, str]:
        """Serve the head of the line, then let the new requests stand behind it."""
        head = self.line[0] if self.line else frozenset[str]()
        asking = frozenset(agent for agent, choice in profile.items() if choice == "ask")
        self.line = (*self.line[1:], *([asking] if asking else []))
        return {agent: "served" if agent in head else "waits" for agent in profile}

    def observe(self) -> tuple[frozenset[str], ...]:
        """Show the line."""
        return self.line


def merged(parts: Mapping[str, str]) -> tuple[str, ...]:
    """Merge what agents write: every part once, in the order of the alphabet."""
    return tuple(sorted(set(parts.values())))


def unanimous(votes: Iterable[str]) -> str:
    """Return the common vote, else `none`."""
    different = set(votes)
    return different.pop() if len(different) == 1 else "none"


class ByIdentity(Desk):
    """Ties go to the name that stands first in memory."""

    def winner(self, asking: list[str]) -> str | None:
        """See `Desk`."""
        return min(asking, key=id, default=None)


class Crowded(Desk):
    """Of more than three agents that are listed, nobody is served."""

    def winner(self, asking: list[str]) -> str | None:
        """See `Desk`."""
        return super().winner(asking) if len(self.agents) < 4 else None


class Twice(Desk):
    """Who asks alone is answered twice."""

    def act(self, profile: Profile) -> list[tuple[str, str]]:  # type: ignore[override]
        """See `Desk`."""
        given = list(super().act(profile).items())
        return given + [pair for pair in given if pair[1] == "got"]


class Pairs(Desk):
    """Answers come as pairs, each once."""

    def act(self, profile: Profile) -> list[tuple[str, str]]:  # type: ignore[override]
        """See `Desk`."""
        return list(super().act(profile).items())


class Carousel(Desk):
    """Two requests at once start a wheel that turns for ever and serves nobody."""

    def __init__(self, agents: list[str]) -> None:
        super().__init__(agents)
        self.wheel, self.moved = 0, False

    def act(self, profile: Profile) -> dict[str, str]:
        """See `Desk`."""
        asking = sum(choice == "ask" for choice in profile.values())
        self.moved = asking == 1 and not self.wheel
        if self.wheel or asking > 1:
            self.wheel = self.wheel % 3 + 1
        return dict.fromkeys(profile, "moved" if self.moved else "stayed")

    def observe(self) -> int:
        """Show where the wheel stands."""
        return self.wheel

    def progress(self) -> bool:
        """Return whether the last round served anybody."""
        return self.moved


class Brake(Carousel):
    """Two requests at once start the wheel; it stops after a turn."""

    def act(self, profile: Profile) -> dict[str, str]:
        """See `Desk`."""
        given = super().act(profile)
        self.wheel = 0 if self.wheel == 3 else self.wheel
        return given


class Valued(Desk):
    """Getting the thing is worth 1; requests that collide block one another."""

    def worth(self, outcome: str | None) -> int:
        """Return what an outcome is worth."""
        return int(outcome == "got")


class Council(Valued):
    """Whoever says no ends the round for all."""

    def __init__(self, agents: list[str]) -> None:
        super().__init__(agents)
        self.choices = ["ask", "pass", "no"]

    def winner(self, asking: list[str]) -> str | None:
        """See `Desk`."""
        return None if self.refused else super().winner(asking)

    def act(self, profile: Profile) -> dict[str, str]:
        """See `Desk`."""
        self.refused = "no" in profile.values()
        return super().act(profile)


class Auction(Valued):
    """The highest of the bids gets the thing, unless two bid the same."""

    top = 3

    def __init__(self, agents: list[str]) -> None:
        super().__init__(agents)
        self.choices: list[int] = [1, 2, 3]  # type: ignore[assignment]

    def act(self, profile: Mapping[str, int]) -> dict[str, str]:  # type: ignore[override]
        """Sell."""
        bids = [bid for bid in profile.values() if bid <= self.top]
        best = max(bids, default=0)
        return {agent: "got" if bid == best and bids.count(best) == 1 else "no" for agent, bid in profile.items()}

    def more(self, bid: int, than: int) -> bool:
        """Return whether one bid is higher."""
        return bid > than


class Capped(Auction):
    """Bids above two are thrown away without a word."""

    top = 2


class Named:
    """A kernel of two fixed agents that can be renamed; requests that collide block one another."""

    def __init__(self) -> None:
        self.agents = ["left", "right"]
        self.choices = ["ask", "pass"]

    def rename(self, names: Mapping[str, str]) -> None:
        """Give the agents other names."""
        self.agents = [names[agent] for agent in self.agents]

    def winner(self, asking: list[str]) -> str | None:
        """Return who of several gets it; nobody."""
        return asking[0] if len(asking) == 1 else None

    def act(self, profile: Profile) -> dict[str, str]:
        """Give the thing to at most one."""
        won = self.winner([agent for agent in self.agents if profile.get(agent) == "ask"])
        return {agent: "got" if agent == won else "no" for agent in profile}

    def observe(self) -> tuple[str, ...]:
        """Show who is there."""
        return tuple(self.agents)

    def progress(self) -> bool:
        """Return that each round achieves something."""
        return True


class RenamedSmallest(Named):
    """Ties go to the smaller name."""

    def winner(self, asking: list[str]) -> str | None:
        """See `Named`."""
        return min(asking, default=None)


class Racing(Desk):
    """Threads take the thing without a lock: several may see that it is free."""

    threads = True

    def __init__(self, agents: list[str]) -> None:
        super().__init__(agents)
        self.total = 0

    def act(self, profile: Profile) -> dict[str, str]:
        """Count the requests; the sum is read, and written later."""
        for choice in profile.values():
            total = self.total
            self.total = total + (choice == "ask")
        return dict.fromkeys(profile, "counted")

    def observe(self) -> int:
        """Show the sum."""
        return self.total


class Locked(Racing):
    """The same count under a lock."""

    def __init__(self, agents: list[str]) -> None:
        super().__init__(agents)
        self.lock = threading.Lock()

    def act(self, profile: Profile) -> dict[str, str]:
        """See `Racing`."""
        with self.lock:
            return super().act(profile)


class FirstThread(Desk):
    """The thread that comes first takes the thing, under a lock."""

    threads = True

    def __init__(self, agents: list[str]) -> None:
        super().__init__(agents)
        self.lock, self.taken = threading.Lock(), False

    def act(self, profile: Profile) -> dict[str, str]:
        """A whole round collides; a single request is served if the thing is left."""
        if len(profile) > 1:
            return super().act(profile)
        with self.lock:
            (agent, choice), *_ = profile.items()
            free, self.taken = not self.taken, self.taken or choice == "ask"
            return {agent: "idle" if choice == "pass" else "got" if free else "no"}


class DeadlyEmbrace(Desk):
    """Two locks, taken in the order of the choices."""

    threads = True

    def __init__(self, agents: list[str]) -> None:
        super().__init__(agents)
        self.choices = ["left", "right"]
        self.locks = {"left": threading.Lock(), "right": threading.Lock()}

    def act(self, profile: Profile) -> dict[str, str]:
        """Take the chosen lock, then the other."""
        for choice in profile.values():
            other = "right" if choice == "left" else "left"
            with self.locks[choice], self.locks[other]:
                pass
        return dict.fromkeys(profile, "both")


class Arena:
    """A small environment with PettingZoo's parallel interface: two agents want one cell; those that collide stay."""

    def __init__(self) -> None:
        self.possible_agents = ["north", "south"]
        self.agents: list[str] = []

    def action_space(self, agent: str) -> Any:
        """Return two actions: stay and move."""
        return SimpleNamespace(n=2, start=0)

    def reset(self, seed: int | None = None) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
        """Start."""
        self.agents = list(self.possible_agents)
        return dict.fromkeys(self.agents, 0), {agent: {} for agent in self.agents}

    def mover(self, moving: list[str]) -> str | None:
        """Return who of several moves."""
        return moving[0] if len(moving) == 1 else None

    def step(self, actions: Mapping[str, int]) -> tuple[dict[str, Any], ...]:
        """Let an agent move; the first that does ends the game for both."""
        here = list(self.agents)
        moved = self.mover([agent for agent in here if actions.get(agent) == 1])
        over = moved is not None
        self.agents = [] if over else here
        reward = {agent: float(agent == moved) for agent in here}
        return dict.fromkeys(here, int(over)), reward, dict.fromkeys(here, over), dict.fromkeys(here, False), {}


class NorthFirst(Arena):
    """The cell goes to the agent that is listed first."""

    def mover(self, moving: list[str]) -> str | None:
        """See `Arena`."""
        return moving[0] if moving else None


def smallest_hash(votes: Mapping[str, str]) -> str:
    """Return the vote with the smallest hash, which the hash seed decides."""
    return min(votes.values(), key=hash)


class Loud(Desk):
    """It prints what it does, as a command in a shell would."""

    def act(self, profile: Profile) -> dict[str, str]:
        """See `Desk`."""
        print("serving", profile, flush=True)
        return super().act(profile)


class Dies(Desk):
    """Its process ends where the hash seed is fixed."""

    def act(self, profile: Profile) -> dict[str, str]:
        """See `Desk`."""
        if os.environ.get("PYTHONHASHSEED") == "0":
            os._exit(7)
        return super().act(profile)


class Shuffled(Desk):
    """The menu comes from a set, so that its order depends on the hash seed; the outcomes do not."""

    def __init__(self, agents: list[str]) -> None:
        super().__init__(agents)
        self.choices = list({"ask", "pass", "wait"})


class Sleepy(Desk):
    """It takes its time."""

    def act(self, profile: Profile) -> dict[str, str]:
        """See `Desk`."""
        time.sleep(0.02)
        return super().act(profile)


class Hangs(Desk):
    """A call with two requests never returns."""

    def act(self, profile: Profile) -> dict[str, str]:
        """See `Desk`."""
        while list(profile.values()).count("ask") > 1:
            time.sleep(0.01)
        return super().act(profile)


class BrokenMenu(Desk):
    """After a round it cannot list its choices."""

    def __init__(self, agents: list[str]) -> None:
        self.agents, self.round = agents, 0

    def choices(self, agent: str) -> list[str]:  # type: ignore[override]
        """Return what an agent may choose."""
        if self.round:
            raise KeyError(agent)
        return ["ask", "pass"]

    def act(self, profile: Profile) -> dict[str, str]:
        """See `Desk`."""
        self.round += 1
        return super().act(profile)


class Everybody(Valued):
    """It wants a choice of every agent that is listed."""

    def act(self, profile: Profile) -> dict[str, str]:
        """See `Desk`."""
        return super().act({agent: profile[agent] for agent in self.agents})


PLANTED: Mapping[Callable[..., Any], tuple[str, str]] = {
    FirstListed: ("listing order", "the first in `agents` gets 'got'"),
    LastListed: ("listing order", "the last in `agents` gets 'got'"),
    FirstAsked: ("delivery order", "whoever is handed over first gets 'got'"),
    LastAsked: ("delivery order", "whoever is handed over last gets 'got'"),
    SmallestName: ("names", "the smallest name gets 'got'"),
    GreatestName: ("names", "the greatest name gets 'got'"),
    LongestName: ("names", "the longest name gets 'got'"),
    ByChance: ("repetition", "random: "),
    Forgetful: ("answers", "round 1 gave no outcome to cid"),
    Grudge: ("history", "the past of bob decides what bob gets"),
    TwoHolders: ("exclusion", "after round 1 ann and bob both hold 'thing'"),
    Penalty: ("participation", "ann gets what is worth -1, and 0 when it does not ask"),
    Jam: ("progress", "no choice makes progress or changes anything from here on"),
    FixedSeats: ("exchange", "left gets 'got' and right gets 'no', whoever makes which choice"),
    LoadedDraw: ("listing order", "the listing order decides"),
    FixedOrder: ("turns", "bob never comes first in 4 rounds"),
    ByIdentity: ("identity", "object identity decides: the agent whose name has the smallest `id` gets 'got'"),
    Crowded: ("number of agents", "the number of agents decides"),
    Twice: ("answers", "round 1 answered ann twice"),
    Carousel: ("progress", "it runs on for ever: whatever is chosen, it stays among 3 states and makes no progress"),
    Council: ("veto", "veto: 'no' of any agent takes from others what they get without it"),
    Capped: ("monotonicity", "bob gets what is worth 1, and 0 when it asks for more"),
    RenamedSmallest: ("names", "the smallest name gets 'got'"),
    Racing: ("thread timing", "thread timing decides: calls that run at the same time mix"),
    FirstThread: ("thread timing", "thread timing decides: the agent whose thread is first gets 'got'"),
    DeadlyEmbrace: ("thread timing", "thread timing decides: the calls of ann, bob do not return"),
    NorthFirst: ("exchange", "north gets (1, 1.0, True, False)"),
}
"""Kernel → the question that finds it, and how the answer names it."""
