"""The list of planted arbiters, written before the kernels were run: what each is, and what finds and names it.

The first table was drawn up from a description of what examining is to find, by somebody who had not read the code of
the questions; the second holds the planted arbiters of the tests.  `words` is a regular expression that the name given
to the arbiter has to match.  A row is never weakened: what is not found or not named as it says stays listed so.
"""

from __future__ import annotations

from dataclasses import dataclass

STRANGE = "benchmarks.arbiters.strange"
STATEFUL = "benchmarks.arbiters.stateful"
UNSEEN = "benchmarks.arbiters.unseen"
OFFERED = "benchmarks.arbiters.offered"
HONEST = "benchmarks.arbiters.honest"
TESTS = "tests.engines.arbiters.kernels"


@dataclass(frozen=True)
class Planted:
    """A kernel in which something decides: where it is, what decides, which question finds it, in which words."""

    place: str
    arbiter: str
    question: str
    words: str

    @property
    def name(self) -> str:
        """Return the name of the kernel."""
        return self.place.partition(":")[2]


DRAWN_UP = (
    Planted(f"{STRANGE}:last_write", "writes to one key are applied by node name", "names", "greatest name"),
    Planted(f"{STRANGE}:Cells", "the agent listed first gets the contested cell", "listing order", "first in `agents`"),
    Planted(f"{STRANGE}:tie_to_zero", "an exact tie goes to candidate 0", "labels", "smallest label"),
    Planted(f"{STRANGE}:yes_on_ties", "an exact tie is a yes", "labels", "'yes'"),
    Planted(f"{STRANGE}:Doors", "of two doors asked for, the smaller word opens", "labels", "smallest label"),
    Planted(f"{STRANGE}:Racers", "claims on one task race; several win", "thread timing", "same time mix"),
    Planted(f"{STRANGE}:Bucket", "the shard of a name is its hash", "hash seed", "PYTHONHASHSEED"),
    Planted(f"{STRANGE}:set_order", "the first of a set of texts is taken", "hash seed", "PYTHONHASHSEED"),
    Planted(f"{STRANGE}:Evening", "requests are refused after six in the evening", "clock", "clock decides"),
    Planted(f"{STRANGE}:Ticks", "a fine clock's last digit decides", "repetition", r"random: \d+ : \d+"),
    Planted(f"{STRANGE}:Secret", "the system's entropy decides", "repetition", r"random: \d+ : \d+"),
    Planted(
        f"{STRANGE}:Tickets", "each request draws a random number as its ticket", "repetition", r"random: \d+ : \d+"
    ),
    Planted(f"{STRANGE}:ByProcess", "the number of the process decides", "process", "process"),
    Planted(f"{STRANGE}:Checksum", "the smallest checksum of a name wins", "names", "something in the names decides"),
    Planted(f"{STRANGE}:Interned", "choices are compared by `is`", "identity", "object identity decides"),
    Planted(f"{STRANGE}:Popped", "the newest entry of the requests is served", "delivery order", "handed over last"),
    Planted(f"{STRANGE}:Middle", "of three who ask the middle one wins", "listing order", "the middle one in `agents`"),
    Planted(
        f"{STRANGE}:Quorum", "a rule counts idle agents in the list", "number of agents", "number of agents decides"
    ),
    Planted(f"{STRANGE}:Chairman", "the agent listed first may stop a round", "listing order", "first in `agents`"),
    Planted(
        f"{STRANGE}:ShortStraw", "a draw never picks the last request", "delivery order", "handed over (first|last)"
    ),
    Planted(f"{STRANGE}:Greedy", "who asks for more than is left gets nothing", "monotonicity", "asks for more"),
    Planted(f"{STRANGE}:Deposit", "a refused request costs a deposit", "participation", "worth -1"),
    Planted(f"{STRANGE}:Deduped", "of equal requests all but one are dropped", "answers", "no outcome"),
    Planted(f"{STRANGE}:Chatty", "an agent that sent nothing is answered", "answers", "did not ask|not asked|unasked"),
    Planted(f"{STATEFUL}:Leaking", "a counter outlives the kernel", "repetition", "earlier runs"),
    Planted(f"{STATEFUL}:Incumbent", "whoever won the last round wins the next tie", "history", "the past of"),
    Planted(f"{STATEFUL}:Seniority", "whoever asked in an earlier round wins a tie", "history", "the past of"),
    Planted(f"{STATEFUL}:SpareKey", "a second request gets the key that is out", "exclusion", "both hold"),
    Planted(f"{STATEFUL}:Philosophers", "each takes one fork and waits", "progress", "no choice makes progress"),
    Planted(f"{STATEFUL}:Polite", "two that meet step aside for ever", "progress", "runs on for ever"),
    Planted(f"{STATEFUL}:Skipping", "a declared rotation leaves one agent out", "turns", "never comes first"),
    Planted(f"{STATEFUL}:Corridor", "an environment's last agent gets the reward", "exchange", "south gets"),
)
"""Drawn up before the code of the questions was read."""

FROM_TESTS = (
    Planted(f"{TESTS}:FirstListed", "the agent listed first", "listing order", "first in `agents`"),
    Planted(f"{TESTS}:LastListed", "the agent listed last", "listing order", "last in `agents`"),
    Planted(f"{TESTS}:FirstAsked", "the request that comes first", "delivery order", "handed over first"),
    Planted(f"{TESTS}:LastAsked", "the request that comes last", "delivery order", "handed over last"),
    Planted(f"{TESTS}:SmallestName", "the smallest name", "names", "smallest name"),
    Planted(f"{TESTS}:GreatestName", "the greatest name", "names", "greatest name"),
    Planted(f"{TESTS}:LongestName", "the longest name", "names", "longest name"),
    Planted(f"{TESTS}:ByHash", "the smallest hash of a name", "hash seed", "PYTHONHASHSEED"),
    Planted(f"{TESTS}:ByChance", "a draw without a seed", "repetition", r"random: \d+ : \d+"),
    Planted(f"{TESTS}:ByClock", "nobody is served in odd hours", "clock", "clock decides"),
    Planted(f"{TESTS}:Forgetful", "the third request is lost", "answers", "no outcome"),
    Planted(f"{TESTS}:Grudge", "who was served once is never served again", "history", "the past of"),
    Planted(f"{TESTS}:TwoHolders", "two hold one thing", "exclusion", "both hold"),
    Planted(f"{TESTS}:Penalty", "asking together costs a fine", "participation", "worth -1"),
    Planted(f"{TESTS}:Jam", "two requests jam the desk", "progress", "no choice makes progress"),
    Planted(f"{TESTS}:FixedSeats", "the fixed agent `left` is served first", "exchange", "left gets"),
    Planted(f"{TESTS}:LoadedDraw", "the first in the list has three tickets", "listing order", "listing order decides"),
    Planted(f"{TESTS}:FixedOrder", "a declared order never changes", "turns", "never comes first"),
    Planted(f"{TESTS}:ByIdentity", "the smallest address", "identity", "object identity decides"),
    Planted(f"{TESTS}:Crowded", "of more than three nobody is served", "number of agents", "number of agents decides"),
    Planted(f"{TESTS}:Twice", "a request is answered twice", "answers", "twice"),
    Planted(f"{TESTS}:Carousel", "a wheel turns for ever", "progress", "runs on for ever"),
    Planted(f"{TESTS}:Council", "anybody may stop a round", "veto", "'no'"),
    Planted(f"{TESTS}:Capped", "high bids are thrown away", "monotonicity", "asks for more"),
    Planted(f"{TESTS}:RenamedSmallest", "the smaller name, by `rename`", "names", "smallest name"),
    Planted(f"{TESTS}:Racing", "a sum is written without a lock", "thread timing", "same time mix"),
    Planted(f"{TESTS}:FirstThread", "the thread that comes first", "thread timing", "thread is first"),
    Planted(f"{TESTS}:DeadlyEmbrace", "two locks in two orders", "thread timing", "do not return"),
    Planted(f"{TESTS}:NorthFirst", "an environment's first agent gets the cell", "exchange", "north gets"),
    Planted(f"{TESTS}:first_candidate", "a tie goes by alphabet", "labels", "smallest label"),
    Planted(f"{TESTS}:chair", "a tie goes to the first vote", "listing order", "first in `agents`"),
    Planted(f"{TESTS}:smallest_hash", "the smallest hash of a vote", "hash seed", "PYTHONHASHSEED"),
)
"""The planted arbiters of the tests."""

LATER = (
    Planted(f"{UNSEEN}:most_common", "a tie goes to the vote that was met first", "delivery order", "over first"),
    Planted(f"{UNSEEN}:float_total", "a sum of floats", "delivery order", "delivery order decides"),
    Planted(f"{UNSEEN}:Wordy", "the longest message is read", "labels", "longest label"),
    Planted(f"{UNSEEN}:Uptime", "odd hours of the monotonic clock", "clock", "clock decides"),
    Planted(f"{UNSEEN}:FirstDone", "objects in a set", "identity", "object identity decides"),
    Planted(f"{UNSEEN}:Mailbox", "names with the same beginning share a box", "names", "in the names decides"),
    Planted(f"{UNSEEN}:Waiting", "a default argument outlives the kernel", "repetition", "earlier runs"),
    Planted(f"{UNSEEN}:Permits", "three collisions use up all permits", "progress", "no choice makes progress"),
    Planted(f"{UNSEEN}:NoShow", "a vote against brings the quorum", "participation", "worth -1"),
    Planted(f"{UNSEEN}:Misrouted", "answers go by name, requests by arrival", "delivery order", "order decides"),
    Planted(f"{UNSEEN}:WarmCache", "a cache hands out an earlier round", "history", "the past of"),
    Planted(f"{UNSEEN}:Poisoned", "a bad request ends the batch", "listing order", "listing order decides"),
)
"""Drawn up, with their kernels, by another who had read the documents and not the code of the questions."""

BY_OFFER = (
    Planted(f"{OFFERED}:Loophole", "one wins where the rule says nobody may", "own rule", "own rule forbids"),
    Planted(f"{OFFERED}:Overdrawn", "the stock is counted too late", "own rule", "round 2 gave .* forbids"),
    Planted(f"{OFFERED}:Seated", "being asked gives a seat", "asking order", "asked first"),
    Planted(f"{OFFERED}:Aliased", "a snapshot is no copy", "snapshot", "does not go on"),
    Planted(f"{OFFERED}:Drawn", "equal bids above a million win by seat", "listing order", "first in `agents`"),
)
"""Drawn up for the questions that a rule, a menu that acts, a snapshot and a strategy open, by who wrote these."""

PLANTED = DRAWN_UP + FROM_TESTS + LATER + BY_OFFER

LOOKS = {
    f"{HONEST}:AnnouncedDraw": "a tie is drawn from a seed that can be set, and `observe` tells it",
    f"{HONEST}:Turns": "each round another agent comes first, by a declared order",
    f"{HONEST}:Line": "who asks stands in a line that everybody sees",
    f"{HONEST}:Commutative": "writes are merged by a sum",
    f"{HONEST}:union": "writes are merged as a sorted set",
    f"{HONEST}:Sealed": "sealed bids; equal bids share in proportion",
    f"{HONEST}:ProRata": "what is scarce is shared by what was asked",
    f"{HONEST}:Sortition": "an office is drawn anew each round, by a seed",
    f"{HONEST}:TimeOut": "everybody's hold ends after the same number of rounds, which is seen",
    f"{HONEST}:SortedLoop": "it goes through the names in order, and the order changes nothing",
    f"{HONEST}:Majority": "most votes win; a tie is told as a tie",
    f"{HONEST}:Log": "it prints and keeps a hidden log that decides nothing",
    f"{HONEST}:Clocked": "it reads the clock and the hash, and uses neither",
    f"{HONEST}:Careful": "threads serve one another's requests under a lock, in an order without meaning",
    f"{HONEST}:Cud": "the reference kernel of `cud` through an adapter",
    f"{HONEST}:Lake": "an environment where those that collide stay",
    f"{HONEST}:Vickrey": "the highest of the sealed bids pays the second highest; equal bids sell nothing",
    f"{OFFERED}:Copied": "it can be restored, and has a rule of its own that it keeps",
    f"{HONEST}:Renamer": "fixed seats that can be renamed, and none is favoured",
}
"""Honest kernels that look suspicious → what looks so."""

OPTIONS = {
    f"{TESTS}:first_candidate": ("--choices", "x,y", "--label", "x", "--label", "y"),
    f"{TESTS}:chair": ("--choices", "x,y", "--listed", "--label", "x", "--label", "y"),
    f"{TESTS}:smallest_hash": ("--choices", "x,y,z"),
}
"""Place of a rule → what a user has to say of it."""
