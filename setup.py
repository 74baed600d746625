"""The package list, from the real folders; `pyproject.toml` holds everything else."""

from setuptools import find_packages, setup

PARTS = ("model", "properties", "proofs", "counterexamples")
LINKS = [pattern for part in PARTS for pattern in (part, f"{part}.*")]
ROOTS = {"evenhand": find_packages("evenhand", exclude=LINKS), **{f"evenhand.{p}": find_packages(p) for p in PARTS}}
setup(packages=sorted(name for root, below in ROOTS.items() for name in (root, *(f"{root}.{sub}" for sub in below))))
