"""Symmetric search: the quotient of one configuration's states by the group that fixes the configuration.

`group` sees on proxies what exchanging two names does, and picks one state of each orbit; `teams` and `learner` learn
tables of joint choices in which interchangeable agents choose in no order (`multisets`), `walk` searches the picked
states and counts those of the full space, and `check` compares samples with the model's own step.  All of it needs a
licence, which `licensed` in `quotient` checks.
"""
