"""Messages and observations of an epoch of `cud`, for any number of agents, messages and facts (A3, FQ20, FQ21, FQ31).

A message is its content; what else an agent may observe (the epoch, the world, a last token, id or scope) is a fact.
The theory admits every mailbox and every past, so that a theorem holds of each epoch of a run of any length.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any

from evenhand.core.atoms import Opaque
from evenhand.core.canonical import parse
from evenhand.core.system import AnySystem
from evenhand.model.cud import vocabulary as model
from evenhand.model.cud.layouts import agent_names, key_names, start_world
from evenhand.model.cud.mutants import reporting
from evenhand.model.cud.step import ended, initial
from evenhand.proofs.cud.encoding import CudStep
from evenhand.proofs.cud.vocabulary import AGENT
from evenhand.properties.cud import blindness, history
from evenhand.smt.ends import End, Ends, ends_along
from evenhand.smt.logic import Sort, conjunction, differ, exists, forall, iff, ite, same, variables
from evenhand.smt.preludes import Declarations, Faults
from evenhand.smt.structure import Structure
from evenhand.smt.tables import Rows, ones, prop
from evenhand.smt.theorem import Theorem
from evenhand.smt.theory import Axiom

MAIL, FACT = Sort("Mail"), Sort("Fact")
m, n = variables(MAIL, "m n")
f, g = variables(FACT, "f g")
x, y, z = variables(AGENT, "x y z")

SAID = Declarations()
following = SAID.function("following", AGENT, AGENT)
"""The next agent by name, the first one after the last: what a mutant looks at."""
active = SAID.relation("active", AGENT)
channel = SAID.relation("channel")
"""Communication is on."""
drafted = SAID.relation("drafted", AGENT, MAIL)
names = SAID.relation("names", AGENT, AGENT)
"""The draft of the first names the second as its sender."""
odd, oversize, shapeless = (SAID.relation(name, MAIL) for name in ("odd", "oversize", "shapeless"))
"""It is no JSON; it is above the size bound; it is JSON, but no object."""
waits = SAID.relation("waits", MAIL, AGENT)
"""It was sent in the epoch before, under this name."""
public = SAID.relation("public", FACT)
"""The epoch, and the world before it."""
own = SAID.relation("own", AGENT, FACT)
"""The agent's last token, and its last action's id and scope."""
token = SAID.relation("token", FACT)
leaves = SAID.relation("leaves", AGENT)
earned = SAID.relation("earned", AGENT, FACT)
"""The token that the agent gets in this epoch, and its action's id and scope."""

fit = SAID.word(
    "fit", (m,), channel() & ~odd(m) & ~oversize(m) & ~shapeless(m), "E14, FQ21: a JSON object in the bound"
)
carries = SAID.word(
    "carries",
    (x, y),
    same(x, y) & exists([m], drafted(x, m) & fit(m)),
    "FQ21: a draft goes out under its author's name",
)
sent = SAID.word("sent", (m, y), exists([x], carries(x, y) & drafted(x, m)), "FQ21: what goes out, under a name")
twofold = SAID.word(
    "twofold",
    (y,),
    exists([x, z], differ(x, z) & carries(x, y) & carries(z, y)),
    "FQ21: two drafts go out under one name",
)
lost = SAID.word("lost", (x,), exists([m], drafted(x, m) & ~fit(m)), "FQ16: what does not go out is dropped")
kept = SAID.word("kept", (m, y), sent(m, y), "FQ31: what was sent waits for the next epoch")
hears = SAID.word(
    "hears", (x, m, y), active(x) & waits(m, y) & differ(x, y), "FQ31: the others' messages of the epoch before"
)
sees = SAID.word("sees", (x, f), active(x) & (public(f) | own(x, f)), "A3, FQ20: what is public, and one's own")
recalls = SAID.word(
    "recalls",
    (x, f),
    active(x) & ~leaves(x) & earned(x, f),
    "FQ20, FQ24: who stays will observe its token, and its action's id and scope",
)
orderly = SAID.word(
    "orderly", (m,), channel() & ~odd(m) & ~oversize(m) & ~shapeless(m), "E14, FQ21: what a message is, for the claims"
)

POST = SAID.theory(
    "cud_mail",
    AGENT,
    MAIL,
    FACT,
    axioms=(
        Axiom("one_draft_each", forall([x, m, n], (drafted(x, m) & drafted(x, n)) >> same(m, n)), "FQ31"),
        Axiom("only_active_write", forall([x, m], drafted(x, m) >> active(x)), "FQ24"),
        Axiom(
            "one_name_each",
            forall([x, y, z], (names(x, y) & names(x, z)) >> same(y, z))
            & forall([x, y], names(x, y) >> exists([m], drafted(x, m))),
            "FQ21: a draft names one sender, or none",
        ),
        Axiom(
            "only_messages_wait",
            forall([m, y], waits(m, y) >> (channel() & ~odd(m) & ~oversize(m) & ~shapeless(m))),
            "FQ21, FQ31: what waits was sent",
        ),
        Axiom(
            "one_last_token",
            forall([x], exists([f], token(f) & own(x, f)))
            & forall([x, f, g], (token(f) & token(g) & own(x, f) & own(x, g)) >> same(f, g))
            & forall([f], token(f) >> ~public(f)),
            "FQ20: own_last_outcome",
        ),
    ),
)


# Conformance.


def _text(content: str | Opaque) -> str:
    return content if isinstance(content, str) else f"opaque {content}"


@lru_cache(maxsize=256)
def _kind(content: str | Opaque) -> str:
    """Return what the content is: `object`, another `shape` of JSON, or `odd`, no JSON at all."""
    try:
        return "odd" if isinstance(content, Opaque) else "object" if isinstance(parse(content), dict) else "shape"
    except ValueError:
        return "odd"


def _facts(own_last: str | None, own_id: str | None, scope: tuple[str, ...] | None) -> set[str]:
    return {f"last {own_last}", f"id {own_id}", f"scope {scope}"}


def _past(name: str, epoch: int, outcome: str | None, scope: tuple[str, ...] | None) -> set[str]:
    """The facts of an agent's last action."""
    return _facts(outcome, None if scope is None else f"{name}:{epoch}:0", scope)


def _recorded(config: model.Config, state: model.State, last: int) -> dict[str, set[str]]:
    """The facts of each agent's own past, as the state records them."""
    return {
        name: _past(name, last, one.last, one.last_scope) for name, one in zip(config.agents, state.agents, strict=True)
    }


def _first(step: CudStep, here: list[str]) -> dict[str, model.Choice]:
    """The choice of each agent in the run that counts: its first."""
    return {agent: choice for agent, choice in reversed(step.action.choices) if agent in here}


def _kept(step: CudStep, now: int) -> dict[str, set[str]]:
    """The facts of each agent's own past after the epoch, of those who stay."""
    after = step.after
    staying = {name for name, one in zip(step.config.agents, after.agents, strict=True) if one.active}
    return {name: several for name, several in _recorded(step.config, after, now).items() if name in staying}


def _earned(step: CudStep, first: dict[str, model.Choice], now: int) -> dict[str, set[str]]:
    """The facts of this epoch's choice and token of each agent that gets one."""
    asked = {name: None if one.request is None else one.request.declared_scope for name, one in first.items()}
    return {name: _past(name, now, outcome, asked.get(name)) for name, outcome in step.shown.tokens}


def _told(shown: model.Shown) -> dict[str, set[str]]:
    """The facts that each agent is told."""
    return {
        name: {f"epoch {told.epoch}", f"world {told.world_state}"}
        | _facts(told.own_last_outcome, told.own_last_action_id, told.own_last_declared_scope)
        for name, told in shown.seen
    }


def _rows(facts: dict[str, set[str]]) -> Rows:
    return frozenset((name, fact) for name, several in facts.items() for fact in several)


def _view(step: CudStep, *, dated: bool) -> Structure | None:
    """Return an epoch's messages and observations as a structure; None after the end and without a numbered epoch.

    Messages of two epochs are two elements if `dated`, else equal contents are one.
    """
    config, before, shown = step.config, step.before, step.shown
    if ended(config, before) or before.epoch is None:
        return None

    def mail(epoch: int | None, content: str | Opaque) -> str:
        return f"mail {epoch if dated else ''} {_text(content)}"

    now, last = before.epoch, before.epoch - 1
    here = [name for name, one in zip(config.agents, before.agents, strict=True) if one.active]
    first = _first(step, here)
    drafts = {a: c.draft for a, c in first.items() if c.draft is not None and not c.exits}
    contents: dict[str, str | Opaque] = {mail(now, draft.content): draft.content for draft in drafts.values()}
    contents |= {mail(last, content): content for _, content in before.mailbox}
    kinds = {element: _kind(content) for element, content in contents.items()}
    mine = _recorded(config, before, last)
    earned, later = _earned(step, first, now), _kept(step, now)
    common = {f"epoch {now}", f"world {before.world}"}
    seen = _told(shown)
    heard = {(name, mail(one.epoch, one.content), one.sender) for name, told in shown.seen for one in told.messages}
    every = sorted(common.union(*mine.values(), *earned.values(), *later.values(), *seen.values()))
    forged = {(name, draft.sender) for name, draft in drafts.items() if draft.sender is not None}
    senders = [one.sender for one in shown.sent]
    named = {*senders, *(sender for sender, _ in before.mailbox), *(str(sender) for _, sender in forged)}
    agents = (*config.agents, *sorted(named.difference(config.agents)))
    around = (*config.agents[1:], config.agents[0], *agents[len(config.agents) :])
    universe = {"Agent": agents, "Mail": tuple(sorted(contents)) or ("mail",), "Fact": tuple(every)}
    limit = config.readings.message_limit
    relations = {
        "active": ones(here),
        "channel": prop(config.communication),
        "drafted": frozenset((name, mail(now, draft.content)) for name, draft in drafts.items()),
        "names": frozenset((name, str(sender)) for name, sender in forged),
        "odd": ones(one for one, kind in kinds.items() if kind == "odd"),
        "oversize": ones(one for one, content in contents.items() if len(_text(content).encode()) > limit),
        "shapeless": ones(one for one, kind in kinds.items() if kind == "shape"),
        "waits": frozenset((mail(last, content), sender) for sender, content in before.mailbox),
        "public": ones(common),
        "own": _rows(mine),
        "token": ones(fact for fact in every if fact.startswith("last ")),
        "leaves": ones(name for name, choice in first.items() if choice.exits),
        "earned": _rows(earned),
        "sent": frozenset((mail(one.epoch, one.content), one.sender) for one in shown.sent),
        "twofold": ones(name for name in agents if senders.count(name) > 1),
        "lost": ones(name for name, _ in shown.dropped),
        "kept": frozenset((mail(now, content), sender) for sender, content in step.after.mailbox),
        "hears": frozenset(heard),
        "sees": _rows(seen),
        "recalls": _rows(later),
    }
    # A last token is one of each agent, in the run or not; others than agents of the run have none.
    relations["own"] |= frozenset((name, "last None") for name in agents if name not in mine)
    if "last None" not in every:
        universe["Fact"] = (*every, "last None")
        relations["token"] |= ones(["last None"])
    return Structure(universe, relations, {"following": {(one,): two for one, two in zip(agents, around, strict=True)}})


_SHORT = 5
_CONTENTS: tuple[str | Opaque, ...] = (
    '{"a":1}',
    '{"b":2}',
    "[0]",
    "words",
    Opaque("function"),
    '{"c":"%s"}' % ("c" * 5000),
)


def _config(agents: int, *, talks: bool) -> model.Config:
    return model.Config(agent_names(agents), start_world(key_names(1)), (), communication=talks, epochs=_SHORT)


def _refused(config: model.Config) -> model.Request:
    return model.Request(model.WRITE, config.keys, (), ())


def _choice(draw: random.Random, config: model.Config) -> model.Choice:
    if draw.random() < 0.1:
        return model.Choice(exits=True)
    request = _refused(config) if draw.random() < 0.3 else None
    forged = draw.choice((None, None, *config.agents, "nobody"))
    content = draw.choice((*_CONTENTS, *_CONTENTS[:2] * 3))
    return model.Choice(request, draft=model.Draft(content, forged) if draw.random() < 0.8 else None)


@Ends
def samples(system: AnySystem) -> Iterator[End]:
    """Yield the epochs of drawn runs with and without communication, by any variant."""
    for number in range(45):
        draw = random.Random(f"cud mail {number}")
        config = _config(2 + number % 2, talks=number % 9 > 0)
        epochs = (model.Epoch(tuple((a, _choice(draw, config)) for a in config.agents)) for _ in range(_SHORT))
        yield from ends_along(system, config, initial(config)[0], *epochs)


# Theorems.

_say = POST.means
FAULTS = Faults(
    (
        reporting.message_delivered_at_once,
        _say("hears", active(x) & sent(m, y) & differ(x, y), "messages of this epoch are heard"),
    ),
    (reporting.own_message_echoed, _say("hears", active(x) & waits(m, y), "its own message is heard too")),
    (
        reporting.other_agents_outcome_seen,
        _say(
            "sees",
            active(x) & (public(f) | ite(token(f), own(following(x), f), own(x, f))),
            "the last token seen is the next agent's",
        ),
    ),
    (
        reporting.forged_sender_accepted,
        _say(
            "carries",
            exists([m], drafted(x, m) & fit(m)) & ite(exists([z], names(x, z)), names(x, y), same(x, y)),
            "a draft goes out under the name that it gives",
        ),
    ),
    (
        reporting.oversized_message_passes,
        _say("fit", channel() & ~odd(m) & ~shapeless(m), "of any size"),
    ),
    (reporting.any_text_is_a_message, _say("fit", channel() & ~odd(m) & ~oversize(m), "any JSON is a message")),
)

DATED: Callable[[Any], Structure | None] = partial(_view, dated=True)
_UNDATED: Callable[[Any], Structure | None] = partial(_view, dated=False)
theorem = partial(
    Theorem,
    protocol="cud",
    system="run",
    theory=POST,
    samples=samples,
    scope="any number of agents, messages and epochs",
)
_due = active(x) & waits(m, y) & differ(x, y)
SENDING, _SEEING = "it is about what is sent", "it is about what is seen"

OBSERVED = theorem(
    claim=blindness.observation_is_own_only,
    variables=(x, m, y, f),
    view=DATED,
    goal=iff(sees(x, f), active(x) & (public(f) | own(x, f))) & iff(hears(x, m, y), _due),
    witness=exists([x, y, f], own(x, f) & ~own(y, f)),
    mutants=(
        *FAULTS.refuted(
            reporting.message_delivered_at_once, reporting.own_message_echoed, reporting.other_agents_outcome_seen
        ),
        FAULTS.unseen(reporting.forged_sender_accepted, SENDING),
    ),
)

LATER = theorem(
    claim=history.messages_one_epoch_later,
    variables=(x, m, y),
    view=_UNDATED,
    goal=iff(hears(x, m, y), _due) & iff(kept(m, y), sent(m, y)),
    witness=exists([m, y], waits(m, y)),
    mutants=(
        *FAULTS.refuted(reporting.message_delivered_at_once, reporting.own_message_echoed),
        FAULTS.unseen(reporting.other_agents_outcome_seen, "it is about messages"),
    ),
)

TRUE_SENDER = theorem(
    claim=history.sender_is_true,
    variables=(y, m),
    view=DATED,
    goal=(sent(m, y) >> drafted(y, m)) & ~twofold(y),
    witness=exists([x, y, m], names(x, y) & differ(x, y) & sent(m, x)),
    mutants=(
        *FAULTS.refuted(reporting.forged_sender_accepted),
        FAULTS.unseen(reporting.any_text_is_a_message, "it goes out under its author's name all the same"),
    ),
)

LAWFUL = theorem(
    claim=history.messages_are_lawful,
    variables=(y,),
    view=DATED,
    goal=conjunction(
        [
            iff(exists([m], sent(m, y)), exists([m], drafted(y, m) & orderly(m))),
            iff(lost(y), exists([m], drafted(y, m) & ~orderly(m))),
        ]
    ),
    witness=exists([x, y], exists([m], sent(m, x)) & lost(y)),
    mutants=(
        *FAULTS.refuted(
            reporting.oversized_message_passes, reporting.any_text_is_a_message, reporting.forged_sender_accepted
        ),
        FAULTS.unseen(reporting.own_message_echoed, _SEEING),
    ),
)

POSTED: tuple[Theorem, ...] = (OBSERVED, LATER, TRUE_SENDER, LAWFUL)
"""The theorems about messages and observations."""
