"""Symmetric search: the quotient of one configuration's states by the group that fixes the configuration.

`moves` finds the effect of exchanging two names on the fields of a state, `group` builds a group of such exchanges and
picks one state of each orbit, `compiler` compiles rows in which interchangeable agents choose in no order, `walk`
searches the picked states and counts those of the full space, and `check` compares samples with the model's own step.
All of it needs a licence, which `licensed` in `quotient` checks.
"""
