"""The vocabulary of the pure functions of strength: measurements and their results."""

from __future__ import annotations

from fractions import Fraction

from evenhand.core.freedom import free_field
from evenhand.core.records import dataclass
from evenhand.core.system import Step
from evenhand.model.markspace.exact import ZERO, Amount
from evenhand.model.markspace.marks import ONE, Kind, Source
from evenhand.model.markspace.readings import Readings
from evenhand.model.markspace.strength import Lives


@dataclass(frozen=True, slots=True)
class SignalConfig:
    """The parameters of a deployment: trust weights, reinforcement factor and cap, half-lives and TTL."""

    weights: tuple[Fraction, Fraction, Fraction]
    factor: Fraction
    cap: Fraction
    lives: Lives
    readings: Readings


@dataclass(frozen=True, slots=True)
class Still:
    """The only state; pure functions have no memory."""


@dataclass(frozen=True, slots=True)
class Against:
    """A warning against the measured mark: its initial strength, and its age at the first instant (seconds)."""

    strength: Fraction
    age: int = 0
    source: Source = Source.FLEET


@dataclass(frozen=True, slots=True)
class Measure:
    """Strength of one mark at `age` and `later` seconds after that, with warnings against it."""

    kind: Kind
    strength: Fraction = ONE
    source: Source = Source.FLEET
    age: int = 0
    later: int = 0
    resolved: bool = False
    warnings: tuple[Against, ...] = ()


@dataclass(frozen=True, slots=True)
class Combine:
    """The aggregate of effective strengths, and of the same with one more."""

    strengths: tuple[Fraction, ...]
    more: Fraction


@dataclass(frozen=True, slots=True)
class Measured:
    """Base, effective and reduced strength at both instants, or aggregates before and after the addition."""

    base: tuple[Amount, Amount] = (ZERO, ZERO)
    effective: tuple[Amount, Amount] = (ZERO, ZERO)
    reduced: tuple[Amount, Amount] = (ZERO, ZERO)
    by_source: tuple[Amount, ...] = ()
    aggregate: tuple[Amount, Amount] = (ZERO, ZERO)
    refused: str = free_field("texts", "")


SignalStep = Step[SignalConfig, Still, Measure | Combine, Measured]
TYPES: tuple[type, ...] = (
    SignalConfig,
    Lives,
    Readings,
    Still,
    Against,
    Measure,
    Combine,
    Measured,
    Amount,
    Kind,
    Source,
)
