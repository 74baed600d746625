"""`python -m evenhand.proofs.conviction`: every obligation and fault, by both solvers; exit 1 if one surprises."""

from __future__ import annotations

import sys

from evenhand.proofs.conviction.obligations import OBLIGATIONS, decide

__all__ = ["main"]


def main() -> int:
    """Print what the solvers say."""
    surprises = 0
    for one in OBLIGATIONS:
        proof, witness = decide(one.assumes, one.goal), decide(one.assumes, None)
        faults = {
            name: decide({**one.assumes, which: instead}, one.goal).status
            for name, (which, instead) in one.faults.items()
        }
        good = proof.status == "unsat" and witness.status == "sat" and all(said == "sat" for said in faults.values())
        surprises += not good
        print(f"{'proved' if good else 'NOT PROVED'}  {one.name} ({one.claim}): {one.sentence}")
        print(f"    z3 {proof.z3}, cvc5 {proof.cvc5}; assumptions {witness.status}")
        for name, said in faults.items():
            print(f"    fault {name}: {'refuted' if said == 'sat' else said}")
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
