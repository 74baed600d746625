"""Proof records: canonical JSON of the queries, the solvers and their answers.

A record holds no clock reading and no path, so the same proof gives the same bytes; licences and reports refer to its
digest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.core.canonical import Json, digest
from evenhand.smt.portfolio import Answered, ProofText
from evenhand.smt.solvers import SolverLimits

FORMAT = "evenhand/proof"
VERSION = 2
"""2 added the outcome of a countermodel of the theorem itself, and the solvers' own proofs where they are kept."""

KEPT = "kept, not checked"
"""The status of a solver's own proof: evenhand does not check it."""


def answered_json(answered: Answered) -> Json:
    """Return one query as JSON: the digest of its text, the joint status, each solver's answer with core or model."""
    return {
        "text": answered.digest,
        "status": answered.status,
        "answers": [
            {
                "solver": answer.solver,
                "version": answer.version,
                "options": {name: str(value) for name, value in answer.options.items()},
                "status": answer.status,
                "because": answer.because,
                "core": None if answer.core is None else list(answer.core),
                "model": None if answer.model is None else answer.model.to_json(),
            }
            for answer in answered.answers
        ],
    }


def record_of(
    limits: SolverLimits,
    queries: Sequence[tuple[str, Answered]],
    proofs: Mapping[str, ProofText] | None,
    **parts: Json,
) -> dict[str, Any]:
    """Return the record of one theorem: everything that a second run can be compared with.

    `parts` are `theorem`, `fragments`, `mutants`, `outcome`, `conformance`, `verdict` and `because`.
    """
    return {
        **parts,
        "format": FORMAT,
        "version": VERSION,
        "limits": {"rlimit": limits.rlimit, "timeout_ms": limits.timeout_ms},
        "queries": {name: answered_json(answered) for name, answered in queries},
        "proofs": None if proofs is None else {name: _proof_json(proof) for name, proof in proofs.items()},
    }


def _proof_json(proof: ProofText) -> Json:
    """Size, digest and status of a proof text; without a proof, the reason."""
    if not proof.text:
        return {"solver": proof.solver, "status": f"not kept: {proof.because}"}
    data = proof.text.encode()
    return {
        "solver": proof.solver,
        "bytes": len(data),
        "digest": "sha256:" + hashlib.sha256(data).hexdigest(),
        "status": KEPT,
    }


def record_digest(record: Mapping[str, Any]) -> str:
    """Return `sha256:` and the digest of the record's canonical bytes."""
    return digest(dict(record))
