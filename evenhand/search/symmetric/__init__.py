"""Symmetric search: the quotient of one configuration's states by the group that leaves the configuration as it is.

`moves` finds out what exchanging two names does to the fields of a state, `group` makes a group of such exchanges and
picks one state of each orbit, `compiler` compiles rows in which interchangeable agents choose in no order, `walk`
searches the picked states and counts those of the full space, and `check` compares samples with the model's own
step.  All of it only under a licence, which `licensed` in `quotient` looks at.
"""
