"""What becomes of a counterexample: judged, shrunk, replayed, recorded, stored."""
