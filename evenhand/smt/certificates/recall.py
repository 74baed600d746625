"""Certificates that were kept: found by the query that was asked, and believed only after they were checked.

A certificate answers a query if `evenhand_certificates` accepts it, and if its symbols and assertions are the query's:
what it refutes is then a part of what was asked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Literal

from evenhand.core.canonical import Json, canonical_bytes
from evenhand.smt.certificates.statement import Writer, symbols_of
from evenhand.smt.portfolio import CERTIFICATE, Answered, NoSolver, Portfolio, SolverAnswer
from evenhand.smt.smtlib import Query
from evenhand.smt.solvers import Expected, SolverLimits
from evenhand_certificates import Checked, Invalid, check
from evenhand_certificates.check import VERSION
from evenhand_certificates.formulas import Bank, read_nodes


def digest_of(query: Query, about: Json = None) -> str:
    """Return the digest under which the certificate of a query is kept: of the query, `about`, and the format."""
    asked = canonical_bytes([VERSION, about, query.asked])
    return "sha256:" + hashlib.sha256(asked).hexdigest()


def verified(certificate: Mapping[str, Any], query: Query) -> Checked:
    """Check that a certificate is valid, and that it refutes nothing but assertions of this query.  Raises Invalid."""
    found = check(certificate)
    symbols = symbols_of(query)
    if tuple(certificate[key] for key in ("sorts", "functions", "relations")) != symbols:
        raise Invalid("it is about other symbols than the query")
    bank = Bank(*symbols)
    writer = Writer(bank)
    asked = {(name, writer.formula(formula)) for name, formula in query.assertions}
    places = read_nodes(bank, certificate["nodes"])
    for name, place in certificate["assertions"]:
        if (name, places[place]) not in asked:
            raise Invalid(f"the query has no such assertion as its {name!r}")
    return found


class Recalled(Portfolio):
    """Answers queries that should have no model by certificates; `checked` are those of which one was valid."""

    def __init__(
        self,
        certificates: Mapping[str, Mapping[str, Json]],
        otherwise: Portfolio | None = None,
        about: Json = None,
    ) -> None:
        """`certificates` by the digests of the queries that they answer; `otherwise` is asked where there is none.

        `about` is part of each digest: what the queries are asked for.
        """
        super().__init__(())
        self._known, self._otherwise, self._about = certificates, otherwise, about
        self.checked: dict[str, Checked] = {}

    def digest(self, query: Query) -> str:
        """Return the digest under which a certificate of this query is looked for."""
        return digest_of(query, self._about)

    def ask(self, query: Query, *, expected: Expected, limits: SolverLimits | None = None) -> Answered:
        """Answer `unsat` where a valid certificate of this query was kept, else as solvers do, if they may be asked."""
        digest, because, core = self.digest(query), "there is no certificate of it", None
        if digest in self._known:
            try:
                found = self.checked[digest] = verified(self._known[digest], query)
                because, core = "", found.assertions
            except Invalid as error:
                because = f"its certificate is invalid: {error}"
        if because and self._otherwise is not None:
            return self._otherwise.ask(query, expected=expected, limits=limits)
        status: Literal["unsat", "unknown"] = "unknown" if because else "unsat"
        answer = SolverAnswer(CERTIFICATE, {}, str(VERSION), status, because, core, module=CERTIFICATE)
        return Answered(status, (answer,), query.asked, query)

    def model(self, query: Query, *, limits: SolverLimits | None = None, both: bool = False) -> Answered:
        """Ask the solvers for a model, which no certificate gives.  Raises NoSolver where none may be asked."""
        if self._otherwise is None:
            raise NoSolver(["only certificates may answer"])
        return self._otherwise.model(query, limits=limits, both=both)
