"""The package list, from the real folders; `pyproject.toml` holds everything else."""

from setuptools import find_packages, setup

CHECKER = "evenhand_certificates"  # a package of its own; only its part about searches imports evenhand's core
PARTS = ("model", "properties", "proofs", "counterexamples")
LINKS = [pattern for part in PARTS for pattern in (part, f"{part}.*")]
ROOTS = {
    CHECKER: find_packages(CHECKER),
    "evenhand": find_packages("evenhand", exclude=LINKS),
    **{f"evenhand.{part}": find_packages(part) for part in PARTS},
}
setup(packages=sorted(name for root, below in ROOTS.items() for name in (root, *(f"{root}.{sub}" for sub in below))))
