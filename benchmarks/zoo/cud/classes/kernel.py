"""An arena in which agents meet over shared cells. Agents are objects:

    observe(observation), compose_message(), wants_to_exit(), propose_action()

`Arena(setup, agents).run()` plays until nobody is left or the frozen number of epochs is reached.
"""

import copy
import json
from dataclasses import dataclass
from typing import Any, ClassVar

REFUSED = "JOINT_ADMISSIBILITY_FAILURE"
FIELDS = {"agent_id", "action_id", "action_type", "declared_scope", "proposed_delta", "authorities_cited"}


@dataclass(frozen=True)
class Message:
    sender: str
    epoch: int
    content: dict[str, Any]


@dataclass(frozen=True)
class Observation:
    epoch: int
    world_state: dict[str, Any]
    own_last_outcome: str | None
    own_last_action_id: str | None
    own_last_declared_scope: list[str] | None
    messages: list[Message]


class Fault(Exception):
    """The argument is the code."""


def same(a, b):
    return json.dumps(a) == json.dumps(b)


def depth(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(depth, inner), default=0)


def clean_copy(thing):
    """A copy of a JSON value of at most fifty levels; of anything else, an object that says so."""
    try:
        twin = json.loads(json.dumps(thing, allow_nan=False))
        sound = depth(twin) <= 50 and twin == thing
    except (TypeError, ValueError, RecursionError):
        sound = False
    return twin if sound else {"not_json": type(thing).__name__}


class Registry:
    """The authorities; fixed from epoch 0 on."""

    def __init__(self, artefacts):
        self._by_id = {}
        for artefact in copy.deepcopy(artefacts):
            if artefact["authority_id"] in self._by_id:
                raise ValueError("authority id used twice")
            self._by_id[artefact["authority_id"]] = artefact

    def held_by(self, agent, authority_id):
        artefact = self._by_id.get(authority_id)
        return artefact is not None and artefact["holder_agent_id"] == agent

    def _matching(self, commitment, key, operation):
        atom = {"target": f"STATE:/{key}", "operation": operation}
        return [a for a in self._by_id.values() if a["commitment"] == commitment and atom in a["scope"]]

    def vetoed(self, key, operation):
        return bool(self._matching("DENY", key, operation))

    def allows(self, key, operation):
        return self._matching("ALLOW", key, operation)

    def writers(self, key):
        return {a["holder_agent_id"] for a in self.allows(key, "WRITE")}


class Mailbox:
    def __init__(self, limit, live=False):
        self._limit, self._live = limit, live
        self._posted, self._delivered = [], []

    def turn(self):
        self._delivered, self._posted = self._posted, []

    def post(self, sender, epoch, content):
        """Take a message; the answer says why it was dropped, if it was."""
        twin = clean_copy(content)
        if not isinstance(content, dict) or twin != content:
            return "not a JSON object"
        text = json.dumps(twin, ensure_ascii=False, separators=(",", ":"))
        if len(text.encode("utf-8", "surrogatepass")) > self._limit:
            return "too long"
        self._posted.append(Message(sender, epoch, twin))
        return None

    def for_reader(self, agent):
        letters = self._delivered + self._posted if self._live else self._delivered
        return [copy.deepcopy(letter) for letter in letters if letter.sender != agent]


class Roster:
    gone: ClassVar[set[str]] = set()

    def __init__(self, names, sticky=False):
        self.names = list(names)
        if not sticky:
            self.gone = set()

    def active(self):
        return [name for name in self.names if name not in self.gone]


class Arena:
    def __init__(self, setup, agents, defects=frozenset()):
        self._defects = frozenset(defects)
        self._agents = dict(agents)
        self._epochs, self._talk = setup["max_epochs"], setup.get("communication", False)
        self._registry = Registry(setup["authorities"])
        self._cells = dict(setup["state"])
        self._mail = Mailbox(setup.get("message_limit", 4096), live="same_epoch_mail" in self._defects)
        self._roster = Roster(setup["agents"], sticky="sticky_exits" in self._defects)
        self._records = [{"setup": copy.deepcopy(setup)}]
        self._last = {name: (None, None, None) for name in setup["agents"]}
        self._repertoire = []
        self._stall, self._patience, self.epoch = 0.0, 3.0, 0
        self._stalled_out = self._progress = self._stuck = False

    @property
    def state(self):
        return dict(self._cells)

    @property
    def log(self):
        return copy.deepcopy(self._records)

    def over(self):
        return self.epoch >= self._epochs or not self._roster.active()

    def run(self):
        while not self.over():
            self.play_epoch()
        return self.verdict()

    def play_epoch(self):
        self._mail.turn()
        moves, requests, leaving = {}, {}, []
        before = self.state
        for name in self._roster.active():
            agent = self._agents[name]
            outcome, action_id, scope = self._last[name]
            world = self._cells if "shared_state" in self._defects else self.state
            agent.observe(
                Observation(self.epoch, world, outcome, action_id, scope and list(scope), self._mail.for_reader(name))
            )
            move = moves[name] = {"exit": agent.wants_to_exit() is True}
            if move["exit"]:
                leaving.append(name)
                if "late_exit" not in self._defects:
                    self._roster.gone.add(name)
                    continue
            if self._talk:
                content = agent.compose_message()
                if content is not None:
                    dropped = self._mail.post(name, self.epoch, content)
                    move.update(message=clean_copy(content), message_dropped=dropped)
            offer = agent.propose_action()
            if offer is not None:
                requests[name] = clean_copy(offer)
                move["request"] = offer if "aliased_request" in self._defects else requests[name]
        self._roster.gone.update(leaving)
        verdicts = self._adjudicate(requests)
        for name, move in moves.items():
            if move["exit"] and name not in requests:
                continue
            outcome, code = verdicts.get(name, ("NO_ACTION", None))
            move.update(outcome=outcome, code=code)
            scope = requests[name]["declared_scope"] if code not in (None, "MALFORMED_REQUEST") else None
            self._last[name] = (outcome, f"{name}:{self.epoch}:0" if name in requests else None, scope)
        self._records.append({"epoch": self.epoch, "before": before, "moves": moves, "after": self.state})
        self._count(before, requests, verdicts)
        self.epoch += 1

    def _check_form(self, name, request):
        def need(condition):
            if not condition:
                raise Fault("MALFORMED_REQUEST")

        need(isinstance(request, dict) and set(request) == FIELDS)
        need(request["agent_id"] == name and request["action_id"] == f"{name}:{self.epoch}:0")
        need(request["action_type"] in ("READ", "WRITE"))
        scope, delta, cited = map(request.get, ("declared_scope", "proposed_delta", "authorities_cited"))
        need(isinstance(scope, list) and scope)
        if "trusting_scope" not in self._defects:
            need(all(isinstance(key, str) for key in scope))
        need(len(set(scope)) == len(scope) and set(scope) <= set(self._cells))
        need(isinstance(delta, dict) and not any(isinstance(value, (dict, list)) for value in delta.values()))
        need(request["action_type"] == "WRITE" or not delta)
        need(isinstance(cited, list) and all(isinstance(entry, str) for entry in cited))
        if not all(self._registry.held_by(name, entry) for entry in cited):
            raise Fault("INVALID_CAPABILITY_CLAIM")

    def _passes(self, request):
        """Pass 1: each declared key is covered by a cited ALLOW, and none is vetoed."""
        operation = request["action_type"]
        return all(
            not self._registry.vetoed(key, operation)
            and any(a["authority_id"] in request["authorities_cited"] for a in self._registry.allows(key, operation))
            for key in request["declared_scope"]
        )

    def _adjudicate(self, requests):
        verdicts, admitted = {}, {}
        for name, request in requests.items():
            self._repertoire.append((name, request))
            try:
                self._check_form(name, request)
            except Fault as fault:
                verdicts[name] = "ACTION_FAULT", fault.args[0]
                continue
            if self._passes(request):
                admitted[name] = request
            else:
                verdicts[name] = REFUSED, "PASS_1"
        settled, before = self.state, self.state
        for name, request in admitted.items():
            if any(
                rival != name
                and set(request["declared_scope"]) & set(other["declared_scope"])
                and "WRITE" in (request["action_type"], other["action_type"])
                for rival, other in admitted.items()
            ):
                verdicts[name] = REFUSED, "PASS_2"
                continue
            trial = before if "blind_diff" in self._defects else dict(before)
            trial.update(request["proposed_delta"])
            changed = {key for key in trial if key not in before or not same(trial[key], before[key])}
            if changed <= set(request["declared_scope"]):
                verdicts[name] = "EXECUTED", ""
                old, new = self._cells, request["proposed_delta"]
                settled.update({key: new[key] for key in new if key not in old or not same(new[key], old[key])})
            else:
                verdicts[name] = "ACTION_FAULT", "SCOPE_VIOLATION"
                if "violation_stays" in self._defects:
                    settled.update(request["proposed_delta"])
        self._cells = settled
        return verdicts

    def _count(self, before, requests, verdicts):
        codes = [code for _, code in verdicts.values()]
        self._progress |= "" in codes
        if "PASS_2" in codes and same(before, self.state):
            self._stall += 1.0
        elif "leaky_stall" in self._defects:
            self._stall *= 0.5
        else:
            self._stall = 0.0
        self._stalled_out |= self._stall >= self._patience
        admitted = {"", "PASS_2", "SCOPE_VIOLATION"} & set(codes)
        self._stuck = bool(requests) and not admitted

    def _another_way(self):
        """Would a request of this run, from an agent still here, pass if made again?"""
        for name, request in self._repertoire:
            if name not in self._roster.active() or not isinstance(request, dict):
                continue
            again = {**request, "action_id": f"{name}:{self.epoch}:0"}
            try:
                self._check_form(name, again)
            except Fault:
                continue
            if self._passes(again):
                return True
        return False

    def _orphaned(self):
        active = set(self._roster.active())
        return [
            key
            for key in self._cells
            if self._registry.writers(key) & self._roster.gone and not self._registry.writers(key) & active
        ]

    def verdict(self):
        if not self.over():
            return None
        if not self._roster.active():
            return "COLLAPSE"
        if self._orphaned():
            return "ORPHANING"
        if self._stuck and not self._another_way():
            return "STATE_DEADLOCK"
        if self._stalled_out:
            return "STATE_LIVELOCK"
        return "COORDINATED" if self._progress else "INVALID_RUN/NONTERMINATING_CONDITION"
