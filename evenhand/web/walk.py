"""The page's view of a position: one pure function from a run and a number of steps to everything that is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from evenhand.core.canonical import canonical_text
from evenhand.core.codec import encode
from evenhand.core.text import inert
from evenhand.core.trace import Scenario, Trace, replay
from evenhand.evidence.story import RunLines, story_of_trace
from evenhand.jobs.plan import claims_for, written_value
from evenhand.web.claim_status import ClaimStatus, Truth, standings
from evenhand.web.comparison import SideBySide, pair_of, variant_beside
from evenhand.web.menu import Menu, menu
from evenhand.web.neighbourhood import region
from evenhand.web.picture import Picture, neighbourhood, parts
from evenhand.web.position import Position, counted
from evenhand.web.state_table import Table, differences, in_words, label, shown_table, table

GROUPS = (
    (Truth.FALSE, "false on this run"),
    (Truth.MET, "met on this run"),
    (Truth.WAITING, "waiting, or not known"),
    (Truth.TRUE, "true so far"),
    (Truth.SILENT, "says nothing so far"),
)
"""The groups of claims, the most important first."""

LINE = 120
"""Characters of an action that is shown in one line; a longer one is a table."""


@dataclass(frozen=True)
class ViewRequest:
    """The settings in an address beside the run: filter words, page of actions, comparison, edited step, picture."""

    words: str = ""
    page: int = 1
    beside: str = ""
    pair: str = ""
    edit: int = 0
    picture: str = "states"

    @staticmethod
    def of(query: Mapping[str, str]) -> ViewRequest:
        """Return the settings of a query string; bad values become the defaults."""
        return ViewRequest(
            words=query.get("words", "")[:200],
            page=_number(query.get("page", ""), 1),
            beside=query.get("beside", "")[:200],
            pair=query.get("pair", "")[:200],
            edit=_number(query.get("edit", ""), 0),
            picture="parts" if query.get("picture") == "parts" else "states",
        )

    @property
    def query(self) -> str:
        """The query string of these settings."""
        usual = ViewRequest()
        asked = {name: value for name, value in vars(self).items() if value != getattr(usual, name)}
        return f"?{urlencode(asked)}" if asked else ""


def _number(text: str, default: int) -> int:
    return int(text) if text.isdecimal() and len(text) < 7 else default


@dataclass(frozen=True)
class View:
    """Everything that the page shows; `at` steps of the run are taken, the others can be taken again."""

    place: Position
    at: int
    asked: ViewRequest
    whole: Trace[Any, Any, Any, Any]

    @cached_property
    def trace(self) -> Trace[Any, Any, Any, Any]:
        """The run as far as it is walked."""
        scenario = self.whole.scenario
        here = Scenario(scenario.config, scenario.start, scenario.actions[: self.at])
        return Trace(here, self.whole.steps[: self.at])

    @cached_property
    def run(self) -> RunLines:
        """The whole run as lines, step by step."""
        (made,) = story_of_trace(self.whole, self.place.bundle.phases).runs
        return replace(made, loop=self.place.loop)

    @property
    def actions(self) -> list[str]:
        """Each action of the run in a line."""
        return [label(action) for action in self.whole.scenario.actions]

    @property
    def action(self) -> Table | str:
        """The last action; empty at the start."""
        if not self.at:
            return ""
        action = self.trace.scenario.actions[-1]
        return label(action) if len(label(action)) < LINE else shown_table(action) or label(action)

    @property
    def state(self) -> Table | str:
        """The current state, with what the last step changed."""
        now, before = self.trace.states[-1], self.trace.states[-2 if self.at else -1]
        return table(now, before) or (differences(before, now)[0] if self.changed else in_words(now))

    @property
    def changed(self) -> bool:
        """Whether the last step changed the state."""
        return self.at > 0 and self.trace.states[-1] != self.trace.states[-2]

    @property
    def shown(self) -> Table | str:
        """What the last step showed; empty at the start."""
        seen = self.trace.steps[-1].shown if self.at else None
        return "" if seen is None else shown_table(seen) or in_words(seen)

    @property
    def fixed(self) -> Table | str:
        """The configuration; empty if there is none."""
        config = self.whole.scenario.config
        return "" if config is None or config == () else shown_table(config) or in_words(config)

    @property
    def returns(self) -> int | None:
        """The number of steps after which the run was last in this state before, or None."""
        earlier = [number for number in range(self.at) if self.trace.states[number] == self.trace.final]
        return earlier[-1] if earlier else None

    @cached_property
    def menu(self) -> Menu:
        """The actions on offer now."""
        here = self.trace
        return menu(self.place.system, here.scenario.config, here.final, words=self.asked.words, page=self.asked.page)

    @cached_property
    def standings(self) -> tuple[ClaimStatus, ...]:
        """The status of each claim on the run."""
        return standings(self.place.system, claims_for(self.place.bundle, self.place.system.name), self.trace)

    @property
    def groups(self) -> list[tuple[Truth, str, list[ClaimStatus]]]:
        """The claims by their status."""
        return [(truth, title, [one for one in self.standings if one.truth is truth]) for truth, title in GROUPS]

    @property
    def saveable(self) -> list[str]:
        """The claims of which a counterexample or witness can be saved now; the claim of the walk first."""
        final = [one.claim.name for one in self.standings if one.truth in (Truth.FALSE, Truth.MET)]
        about = [self.place.claim] if self.place.claim and self.at == self.place.steps else []
        return list(dict.fromkeys([*about, *final]))

    @cached_property
    def beside(self) -> SideBySide | str | None:
        """The same actions in a variant, or why they cannot be shown there."""
        if not self.asked.beside:
            return None
        try:
            return variant_beside(self.place, self.at, self.asked.beside)
        except ValueError as error:
            return inert(str(error))

    @cached_property
    def pair(self) -> SideBySide | str | None:
        """The two runs that a claim relates, or why there are not two."""
        name = self.asked.pair or (self.place.claim if self.place.other is not None else "")
        if not name:
            return None
        claims = {claim.name: claim for claim in self.place.bundle.claims_of(self.place.system.name)}
        if name not in claims:
            return f"There is no claim {inert(name)} about {self.place.system.name}."
        return pair_of(self.place, claims[name], self.at)

    @property
    def edited(self) -> str | None:
        """The request that is being edited, as the text of a fixture."""
        if not 1 <= self.asked.edit <= self.place.steps:
            return None
        return canonical_text(encode(self.place.scenario.actions[self.asked.edit - 1]))

    @property
    def configs(self) -> str:
        """The number of configurations of the scope."""
        return counted(self.place.system.all_configs())

    @property
    def starts(self) -> str:
        """The number of initial states of this configuration."""
        return counted(self.place.system.initial(self.place.scenario.config))

    @property
    def chosen(self) -> str:
        """The readings that differ from their default, as they are written."""
        return " ".join(f"{name}={written_value(value)}" for name, value in self.place.chosen.items())

    def link(self, at: int | None = None, **changed: Any) -> str:
        """Return the address of this view with changes; at another step, edit, page and words are reset."""
        to = self.at if at is None else at
        usual: dict[str, Any] = {} if at is None else {"edit": 0, "page": 1, "words": ""}
        asked = replace(self.asked, **{**usual, **changed})
        return f"/run/{self.place.address}/{to}{asked.query}"


def walk(place: Position, at: int, asked: ViewRequest | None = None) -> View:
    """Return the view of a run after `at` of its steps, clamped to the length of the run."""
    within = max(0, min(at, place.steps))
    return View(place, within, asked or ViewRequest(), replay(place.system, place.scenario))


def picture(view: View) -> Picture:
    """Return the graph around the run, or its strongly connected parts."""
    place, states = view.place, view.trace.states
    claims = claims_for(place.bundle, place.system.name)
    around = region(place.system, claims, place.scenario.config, states)
    path = [around.number[state] for state in states]
    return parts(around, path[-1]) if view.asked.picture == "parts" else neighbourhood(around, path)
