"""One source, two readings: rules written in Python are run by the engines and read as formulas by the solvers.

`reading` finds the source of a function, `shapes` reads types, `expressions` and `statements` read what it returns,
`family` a whole system of any size; `validation` compares formulas with the functions they come from; `induction`
proves claims for any number of agents, and `unbounded` gives the verdicts.
"""
