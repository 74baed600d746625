# ruff: noqa: E501 - a row of a table is a line
"""Readings that would be wrong: what a function says, and what a careless translator might make of it.

`PLANTED` has (name, the function's body, the body that is read in its place); the comparison must find them apart.
`REFUSED` has (name, body, a part of the reason): what must not be read at all.  Bodies are those of a function of
`config` and `state`.
"""

from __future__ import annotations

PLANTED: tuple[tuple[str, str, str], ...] = (
    ("record there without its condition", "found = state if state.flag else None\nreturn found is not None and found.count == 1", "return state.count == 1"),
    ("None for what is there", "found = state if state.flag else None\nreturn found is None", "return state.flag"),
    ("members of a set that may be None", "found = state.marks if state.flag else None\nreturn found is not None and config.agents[0] in found", "return config.agents[0] in state.marks"),
    ("empty for None", "found = state.marks if state.flag else None\nreturn bool(found)", "return state.flag"),
    ("equal to what may be None", "found = state if state.flag else None\nreturn found == state", "return True"),
    ("class matched where there is None", "match state if state.flag else None:\n    case State(count=1):\n        return True\n    case _:\n        return False", "return state.count == 1"),
    ("isinstance denied", "return isinstance(state if state.flag else None, State)", "return not isinstance(state if state.flag else None, State)"),
    ("last turn for all", "for one in (state.flag, state.count == 1):\n    if one:\n        return True\nreturn False", "return state.count == 1"),
    ("first turn for all", "for one in (state.flag, state.count == 1):\n    if one:\n        return True\nreturn False", "return state.flag"),
    ("continue for break", "n = 0\nfor one in (state.flag, state.count == 1):\n    if one:\n        break\n    n = n + 1\nreturn n == 1", "n = 0\nfor one in (state.flag, state.count == 1):\n    if one:\n        continue\n    n = n + 1\nreturn n == 1"),
    ("total of the last turn", "n = 0\nfor one in (1, state.count):\n    n += one\nreturn n == 2", "return state.count == 2"),
    ("pairs in another order", "for wanted, one in zip((True, False), (state.flag, state.quiet)):\n    if wanted != one:\n        return False\nreturn True", "for wanted, one in zip((True, False), (state.quiet, state.flag)):\n    if wanted != one:\n        return False\nreturn True"),
    ("places from one", "for n, one in enumerate((state.flag, state.count == 1)):\n    if one:\n        return n == 0\nreturn True", "for n, one in enumerate((state.flag, state.count == 1)):\n    if one:\n        return n == 1\nreturn True"),
    ("first value of `or`", "return (state.count or 2) == 2", "return state.count == 2"),
    ("last value of `and`", "return (state.count and 2) == 0", "return state.count == 2"),
    ("factor lost", "return 2 * state.count == 2", "return state.count == 2"),
    ("sign lost", "return -state.count == 1 - 2", "return state.count == 1 - 2"),
    ("another field by name", "return getattr(state, 'flag')", "return getattr(state, 'quiet')"),
    ("name in a test lost", "if n := state.count:\n    return n == 1\nreturn state.flag", "return state.count == 1"),
    ("remembered result of other arguments", "return remembered(state.flag)", "return remembered(not state.flag)"),
    ("whole tuple for its end", "return (state.flag, state.quiet, True)[1:][0]", "return (state.flag, state.quiet, True)[:1][0]"),
    ("known tuple turned round", "return (state.flag, state.quiet)[::-1][0]", "return (state.flag, state.quiet)[0]"),
    ("joined in another order", "return (*(state.flag, True), state.quiet)[0]", "return (state.quiet, *(state.flag, True))[0]"),
    ("first member of an Enum for all", "return any(one is Kind.TWO and state.flag for one in Kind)", "return any(one is Kind.TWO and state.flag for one in (Kind.ONE,))"),
    ("number there without its condition", "n = state.count if state.flag else None\nreturn n is not None and n + 1 == 2", "return state.count + 1 == 2"),
    ("swapped branches", "return state.flag if state.marks else not state.flag", "return not state.flag if state.marks else state.flag"),
    ("lost not", "return not state.flag", "return state.flag"),
    ("and for or", "return state.flag or state.holder is None", "return state.flag and state.holder is None"),
    ("or for and", "return state.flag and state.count == 1", "return state.flag or state.count == 1"),
    ("any for all", "return all(a in state.marks for a in config.agents)", "return any(a in state.marks for a in config.agents)"),
    ("all for any", "return any(a in state.marks for a in config.agents)", "return all(a in state.marks for a in config.agents)"),
    ("filter of all as a conjunct", "return all(state.at[a] == 'a' for a in config.agents if a in state.marks)", "return all(state.at[a] == 'a' and a in state.marks for a in config.agents)"),
    ("filter of any as an implication", "return any(state.at[a] == 'a' for a in config.agents if a in state.marks)", "return any(state.at[a] == 'a' or a not in state.marks for a in config.agents)"),
    ("equal for different", "return state.count != 1", "return state.count == 1"),
    ("in for not in", "return state.holder not in state.marks", "return state.holder in state.marks"),
    ("first half of a chain", "return 0 < state.count < 2", "return 0 < state.count"),
    ("second half of a chain", "return 0 < state.count < 2", "return state.count < 2"),
    ("ends of a chain", "return state.at[config.agents[0]] == state.at[config.agents[-1]] == 'a'", "return state.at[config.agents[0]] == 'a'"),
    ("shadowed name in a comprehension", "a = config.agents[0]\nreturn all(a in state.marks for a in config.agents) or a == state.holder", "a = config.agents[0]\nreturn all(b in state.marks for b in config.agents) or state.holder == config.agents[-1]"),
    ("shadowed name of a lambda", "flag = state.flag\nboth = lambda flag: flag\nreturn both(not flag)", "flag = state.flag\nboth = lambda other: flag\nreturn both(not flag)"),
    ("default of the definition", "n = state.count\ndef f(v=n):\n    return v == 1\nn = n + 1\nreturn f()", "n = state.count\ndef f(v):\n    return v == 1\nn = n + 1\nreturn f(n)"),
    ("closure as late as the call", "n = state.count\ndef f():\n    return n == 1\nreturn f()", "n = state.count\ndef f():\n    return n == 2\nreturn f()"),
    ("second assignment lost", "x = state.flag\nx = not x\nreturn x", "x = state.flag\nreturn x"),
    ("early return lost", "if state.marks:\n    return True\nreturn state.flag", "return state.flag"),
    ("order of elif", "if state.count > 0:\n    return state.flag\nelif state.count > 1:\n    return True\nreturn False", "if state.count > 1:\n    return True\nelif state.count > 0:\n    return state.flag\nreturn False"),
    ("short circuit", "return state.holder is None or state.at[state.holder] == 'a'", "return state.holder is not None and state.at[state.holder] == 'a'"),
    ("is for is not", "return state.holder is not None", "return state.holder is None"),
    ("truth of an empty set", "return not state.marks", "return bool(state.marks)"),
    ("truth of a tuple", "return bool((state.flag,))", "return state.flag"),
    ("truth of a table", "return bool(state.at)", "return any(v == 'a' for v in state.at)"),
    ("truth of a number", "return True if state.count else False", "return state.count > 1"),
    ("truth of None", "return True if state.holder is not None else state.flag", "return state.flag"),
    ("order of truths turned round", "return state.flag < (state.count == 1)", "return (state.count == 1) < state.flag"),
    ("difference turned round", "return not (state.marks - state.others)", "return not (state.others - state.marks)"),
    ("union for intersection", "return bool(state.marks & state.others)", "return bool(state.marks | state.others)"),
    ("subset for proper subset", "return state.marks <= state.others", "return state.marks < state.others"),
    ("subset turned round", "return state.marks <= state.others", "return state.others <= state.marks"),
    ("at most for exactly one", "return len(state.marks) <= 1", "return len(state.marks) == 1"),
    ("all for one", "return len(state.marks) == len(config.agents)", "return len(state.marks) >= 1"),
    ("pair turned round", "return (config.agents[0], config.agents[-1]) in state.pairs", "return (config.agents[-1], config.agents[0]) in state.pairs"),
    ("quantifiers exchanged", "return all(any((a, b) in state.pairs for b in config.agents) for a in config.agents)", "return any(all((a, b) in state.pairs for a in config.agents) for b in config.agents)"),
    ("binders exchanged", "return all((b, a) in state.pairs for a, b in state.pairs)", "return all((a, b) in state.pairs for a, b in state.pairs)"),
    ("update lost", "return replace(state, flag=not state.flag).flag", "return state.flag"),
    ("update of every entry", "return put(state.at, config.agents[0], 'a')[config.agents[-1]] == 'a'", "return tuple('a' for _ in config.agents)[config.agents[-1]] == 'a'"),
    ("update beside the entry", "return put(state.at, config.agents[0], 'a')[config.agents[0]] == 'a'", "return state.at[config.agents[0]] == 'a'"),
    ("entry of another agent", "return tuple(a in state.marks for a in config.agents)[config.agents[0]]", "return tuple(a in state.marks for a in config.agents)[config.agents[-1]]"),
    ("enumerate turned round", "return all(v == 'a' for a, v in enumerate(state.at) if a in state.marks)", "return all(v == 'a' for a, v in enumerate(state.at) if a not in state.marks)"),
    ("first case taken for all", "match state.count:\n    case 0:\n        return state.flag\n    case _:\n        return not state.flag", "match state.count:\n    case 1:\n        return state.flag\n    case _:\n        return not state.flag"),
    ("alternative of a pattern lost", "match state.at[config.agents[0]]:\n    case 'a' | 'b':\n        return True\n    case _:\n        return state.flag", "match state.at[config.agents[0]]:\n    case 'a':\n        return True\n    case _:\n        return state.flag"),
    ("guard of a case lost", "match state.count:\n    case 0 if state.flag:\n        return True\n    case _:\n        return False", "match state.count:\n    case 0:\n        return True\n    case _:\n        return False"),
    ("plus for minus", "return state.count - 1 == 0", "return state.count + 1 == 2 and state.flag"),
    ("quotient rounded to zero", "return (state.count - 1) // 2 == 0 - 1", "return 0 - (1 - state.count) // 2 == 0 - 1"),
    ("remainder lost", "return (state.count - 1) % 3 == 2", "return state.count - 1 == 2"),
    ("quotient for remainder", "return state.count % 2 == 1", "return state.count // 2 == 1"),
    ("at least half for a majority", "return 2 * len(state.marks) > len(config.agents)", "return 2 * len(state.marks) >= len(config.agents)"),
    ("half rounded up", "return len(state.marks) > len(config.agents) // 2", "return len(state.marks) >= len(config.agents) // 2"),
    ("pairs for their first parts", "return len({a for a, _ in state.pairs}) == state.count", "return len(state.pairs) == state.count"),
    ("first parts for second ones", "return len({b for _, b in state.pairs}) > state.count", "return len({a for a, _ in state.pairs}) > state.count"),
    ("members of two sets for those of both together", "return len(state.marks | state.others) == state.count", "return len(state.marks) + len(state.others) == state.count"),
    ("member that is left out counted", "return len(state.marks - {state.holder}) == state.count", "return len(state.marks) - 1 == state.count"),
    ("test of a sum lost", "return sum(1 for a in config.agents if a in state.marks) == state.count", "return sum(1 for a in config.agents) == state.count"),
    ("truths counted the other way", "return sum(a in state.marks for a in config.agents) == state.count", "return sum(a not in state.marks for a in config.agents) == state.count"),
    ("ones for numbers", "return sum(state.count for a in config.agents) == 2", "return sum(1 for a in config.agents) == 2"),
    ("first case of a sum", "return sum(2 if a in state.marks else state.count for a in config.agents) == 4", "return sum(2 if a in state.marks else 1 for a in config.agents) == 4"),
    ("another value counted", "return state.at.count('a') == state.count", "return state.at.count('b') == state.count"),
    ("another agent's share of pairs", "return all(len({p for p in state.pairs if p[0] == a}) <= state.count for a in config.agents)", "return len(state.pairs) <= state.count"),
    ("Python's sum for another", "def sum(xs):\n    return 0\nreturn sum([a in state.marks for a in config.agents]) == state.count", "return sum(a in state.marks for a in config.agents) == state.count"),
    ("places of a list for its members", "return len([state.at[a] for a in config.agents]) == state.count", "return len({a for a in config.agents if state.at[a] == 'a'}) == state.count"),
    ("several for a number", "return len(state.pairs) >= 3", "return len(state.pairs) >= 4"),
    ("neighbour on the other side", "return config.agents[(config.agents[0] - 1) % len(config.agents)] in state.marks", "return config.agents[0] in state.marks"),
    ("max for min", "return max(state.count, 1) == 1", "return min(state.count, 1) == 1"),
    ("round the ring the other way", "return config.agents[(config.agents[0] + 1) % len(config.agents)] in state.marks", "return config.agents[0] in state.marks"),
    ("all members for the first of the sorted", "return config.agents[-1] in sorted(state.marks)[:1]", "return config.agents[-1] in sorted(state.marks)"),
    ("first of all for the first of a part", "return config.agents[-1] in tuple(a for a in config.agents if a in state.marks)[:1]", "return config.agents[-1] in tuple(a for a in config.agents if a not in state.marks)[:1]"),
    ("part for equal of sorted lists", "return sorted(state.marks) == sorted(state.others)", "return state.marks <= state.others"),
    ("first of either list for the chosen one", "return config.agents[0] in (sorted(state.marks) if state.flag else [])[:1]", "return config.agents[0] in sorted(state.marks)[:1]"),
    ("last for first", "return config.agents[0] == state.holder", "return config.agents[-1] == state.holder"),
    ("at most for before", "return all(a < b for a, b in state.pairs)", "return all(a <= b for a, b in state.pairs)"),
    ("order of tuples by parts", "return (state.count, 1) < (1, state.count)", "return state.count < 1 and 1 < state.count"),
    ("search that ends too late", "for a in config.agents:\n    if a in state.marks:\n        return False\nreturn True", "for a in config.agents:\n    if a not in state.marks:\n        return False\nreturn True"),
    ("filter of a set lost", "return {a for a in config.agents if a in state.marks} == state.others", "return {a for a in config.agents} == state.others"),
    ("unpacked in the other order", "x, y = state.flag, state.count == 1\nreturn x and not y", "y, x = state.flag, state.count == 1\nreturn x and not y"),
    ("augmented assignment lost", "n = state.count\nn += 1\nreturn n == 1", "n = state.count\nreturn n == 1"),
    ("dictionary turned round", "return {'a': True, 'b': False, 'c': False}[state.at[config.agents[0]]]", "return {'a': False, 'b': True, 'c': False}[state.at[config.agents[0]]]"),
    ("method of the wrong record", "return replace(state, flag=True).is_flag()", "return state.is_flag()"),
    ("property denied", "return state.quiet", "return not state.quiet"),
    ("negation inside any", "return not any(a in state.marks for a in config.agents)", "return any(a not in state.marks for a in config.agents)"),
    ("equal sets by one side", "return state.marks == state.others", "return state.marks <= state.others"),
    ("equal records by one field", "return replace(state, count=0) == state", "return replace(state, count=0).flag == state.flag"),
    ("last for the first that passes", "return next((a for a in config.agents if a in state.marks), None) == state.holder", "return next((a for a in reversed(config.agents) if a in state.marks), None) == state.holder"),
    ("some member for the first", "return next((state.at[a] for a in config.agents if a in state.marks), 'c') == 'b'", "return any(state.at[a] == 'b' for a in config.agents if a in state.marks)"),
    ("default of `next` where there is a member", "return next((a for a in config.agents if a in state.marks), None) is None", "return True"),
    ("first of a part for its last", "xs = [a for a in config.agents if a in state.marks]\nreturn bool(xs) and xs[-1] in state.others", "xs = [a for a in config.agents if a in state.marks]\nreturn bool(xs) and xs[0] in state.others"),
    ("list of the first for that of the last", "return config.agents[0] in [a for a in config.agents if a in state.marks][-1:]", "return config.agents[0] in [a for a in config.agents if a in state.marks][:1]"),
    ("greatest key for the least", "return max(config.agents, key=lambda a: state.at[a] == 'a') == state.holder", "return min(config.agents, key=lambda a: state.at[a] == 'a') == state.holder"),
    ("ties of a key to the last", "return max(config.agents, key=lambda a: state.at[a] == 'a') == state.holder", "return max(reversed(config.agents), key=lambda a: state.at[a] == 'a') == state.holder"),
    ("least of an empty list", "return min((a for a in config.agents if a in state.marks), default=None) is None", "return not config.agents"),
    ("place of the last for the first", "return config.agents[state.at.index('a')] == config.agents[0] if 'a' in state.at else state.flag", "return 'a' in state.at and state.at[config.agents[-1]] == 'a'"),
    ("place in a known tuple", "return (state.flag, True).index(True) == 1", "return (state.flag, True).index(True) == 0"),
    ("search that returns of any, not of the first", "for a in config.agents:\n    if a in state.marks:\n        return a in state.others\nreturn False", "return any(a in state.others for a in config.agents if a in state.marks)"),
    ("first entry of a key for the last", "d = {}\nfor a in config.agents:\n    d[state.at[a]] = a\nreturn ('a', config.agents[0]) in tuple(d.items())", "d = {}\nfor a in reversed(config.agents):\n    d[state.at[a]] = a\nreturn ('a', config.agents[0]) in tuple(d.items())"),
    ("turned list read forwards", "return config.agents[0] in [a for a in reversed(config.agents) if a in state.marks][:1]", "return config.agents[0] in [a for a in config.agents if a in state.marks][:1]"),
    ("first of each, not of all", "return any(next((b for b in config.agents if (a, b) in state.pairs), None) == state.holder for a in config.agents)", "return next((b for b in config.agents if any((a, b) in state.pairs for a in config.agents)), None) == state.holder"),
    ("entry changed at another place than the one found", "row = put(state.at, max(config.agents, key=lambda a: state.at[a] == 'a'), 'c')\nreturn row[config.agents[0]] == 'c'", "row = put(state.at, min(config.agents, key=lambda a: state.at[a] == 'a'), 'c')\nreturn row[config.agents[0]] == 'c'"),
    ("greatest number of all", "return max((1 if a in state.marks else 0 for a in config.agents), default=0) == state.count", "return min((1 if a in state.marks else 0 for a in config.agents), default=0) == state.count"),
    ("other entry of a known tuple", "return (state.flag, state.count == 1)[0 if state.marks else 1]", "return (state.flag, state.count == 1)[1 if state.marks else 0]"),
    ("members of an Enum in another order", "return tuple(Kind).index(Kind.TWO if state.flag else Kind.ONE) == state.count", "return tuple(Kind)[::-1].index(Kind.TWO if state.flag else Kind.ONE) == state.count"),
    ("other list of two", "xs = [state.at[a] for a in config.agents if a in state.marks]\nys = [state.at[a] for a in config.agents if a in state.others]\nboth = xs or ys\nreturn bool(both) and both[0] == 'a'", "xs = [state.at[a] for a in config.agents if a in state.marks]\nys = [state.at[a] for a in config.agents if a in state.others]\nboth = ys or xs\nreturn bool(both) and both[0] == 'a'"),
    ("last of a list that is one of two for its first", "xs = [state.at[a] for a in config.agents if a in state.marks]\nys = [state.at[a] for a in config.agents]\nreturn (xs if xs else ys)[0] == 'a'", "xs = [state.at[a] for a in config.agents if a in state.marks]\nys = [state.at[a] for a in config.agents]\nreturn (xs if xs else ys)[-1] == 'a'"),
    ("greatest of all for that of a part", "return max((1 if a in state.marks else 0 for a in config.agents if a in state.others), default=0) == 1", "return max((1 if a in state.marks else 0 for a in config.agents), default=0) == 1"),
    ("value not in the list as the greatest", "return max((1 if a in state.marks else 0 for a in config.agents), default=0) == state.count", "return all(state.count >= (1 if a in state.marks else 0) for a in config.agents)"),
    ("equal to one of a list for the greatest", "return max((1 if a in state.marks else 0 for a in config.agents), default=0) == state.count", "return any(state.count == (1 if a in state.marks else 0) for a in config.agents)"),
    ("case and value of two places that are equal", "return max((a + 1) % len(config.agents) if a in state.marks else config.agents[0] for a in config.agents) == state.holder", "return min((a + 1) % len(config.agents) if a in state.marks else config.agents[0] for a in config.agents) == state.holder"),
    ("sign of a number that may be None lost", "n = state.count if state.flag else None\nreturn (0 if n is None else -n) == 0 - 1", "n = state.count if state.flag else None\nreturn (0 if n is None else n) == 0 - 1"),
    ("wrapper left out", "return wrapped(state.flag)", "return state.flag"),
    ("field of a named tuple", "return Pair(state.flag, state.quiet).one", "return Pair(state.flag, state.quiet).two"),
    ("named tuple changed at another field", "return Pair(state.flag, True)._replace(two=state.quiet).two", "return Pair(state.flag, True)._replace(two=state.quiet).one"),
    ("named tuple in another order", "one, two = Pair(state.flag, True)\nreturn one", "two, one = Pair(state.flag, True)\nreturn one"),
    ("default of a named tuple lost", "return Pair(state.flag).two == state.flag", "return Pair(state.flag, False).two == state.flag"),
    ("named tuple unlike its tuple", "return Pair(state.flag, True) == (True, True)", "return False"),
    ("named tuple matched in parts", "match Pair(state.flag, state.quiet):\n    case (one, _):\n        return one", "match Pair(state.flag, state.quiet):\n    case (_, one):\n        return one"),
    ("entry of a list changed for all", "xs = list(state.at)\nxs[config.agents[0]] = 'c'\nreturn xs[config.agents[-1]] == 'c'", "return True"),
    ("changed entry of a list lost", "xs = list(state.at)\nxs[config.agents[0]] = 'c'\nreturn tuple(xs)[config.agents[0]] == 'c'", "return state.at[config.agents[0]] == 'c'"),
    ("list changed in one branch for both", "xs = list(state.at)\nif state.flag:\n    xs[config.agents[0]] = 'c'\nreturn xs[config.agents[0]] == 'c'", "return True"),
    ("number in a list not raised", "xs = [1] * len(config.agents)\nxs[config.agents[0]] += state.count\nreturn xs[config.agents[0]] == 2", "return state.count == 2"),
    ("members of a list of one", "xs = [a for a in config.agents if a in state.marks]\nreturn len(xs) <= 1", "return len(state.marks) < 1"),
    ("collected without its condition", "def told():\n    found = []\n    for a in config.agents:\n        if a in state.marks:\n            found.append(a)\n    return found\nreturn config.agents[0] in told()", "return True"),
    ("collected before what ends early", "def told():\n    found = []\n    if state.flag:\n        return found\n    found.extend(state.marks)\n    return found\nreturn bool(told())", "return bool(state.marks)"),
    ("set collected as one of two", "def told():\n    found = set()\n    found.update(state.marks)\n    for a in config.agents:\n        if a not in state.others:\n            continue\n        found.add(a)\n    return frozenset(found)\nreturn told() == state.marks", "return state.others == state.marks"),
    ("condition between loops lost", "for a in config.agents:\n    if a in state.marks:\n        for b in config.agents:\n            if (a, b) in state.pairs:\n                return False\nreturn True", "for a in config.agents:\n    for b in config.agents:\n        if (a, b) in state.pairs:\n            return False\nreturn True"),
    ("continue in a search lost", "for a in config.agents:\n    if a not in state.marks:\n        continue\n    if state.at[a] == 'a':\n        return True\nreturn False", "for a in config.agents:\n    if state.at[a] == 'a':\n        return True\nreturn False"),
    ("second of two searches lost", "for a in config.agents:\n    if a in state.marks:\n        return False\n    b = a\n    if b in state.others:\n        return False\nreturn True", "for a in config.agents:\n    if a in state.marks:\n        return False\nreturn True"),
    ("named argument passed on lost", "return changed(state, flag=state.quiet).flag", "return changed(state).flag"),
    ("arguments passed on in another order", "return second(*(state.flag, state.quiet))", "return second(*(state.quiet, state.flag))"),
    ("function of another branch", "def told():\n    if state.flag:\n        def g():\n            return True\n    else:\n        def g():\n            return state.quiet\n    yield g()\nreturn True in set(told())", "return state.quiet"),
    ("keys counted as members", "return len(dict.fromkeys([state.at[a] for a in config.agents])) <= 1", "return len([a for a in config.agents]) <= 1"),
    ("dictionary without entries as true", "more = {}\nreturn state.flag if more else state.quiet", "return state.flag"),
    ("entry joined by + at another place", "if state.holder is None:\n    return False\nrow = state.at[:state.holder] + ('c',) + state.at[state.holder + 1:]\nreturn row[config.agents[0]] == 'c'", "return state.holder is not None and state.at[config.agents[0]] == 'c'"),
)  # fmt: skip

REFUSED: tuple[tuple[str, str, str], ...] = (
    ("generator under a name", "g = (a in state.marks for a in config.agents)\nreturn any(g) or any(g)", "generator"),
    ("generator of either of two", "g = (a for a in state.marks) if state.flag else (a for a in config.agents)\nreturn any(g) or any(g)", "generator"),
    ("generator named in a test", "if g := (a for a in state.marks):\n    return any(g)\nreturn state.flag", "generator"),
    ("generator as a test", "return bool(a for a in state.marks)", "generator"),
    ("generator as an argument", "twice = lambda g: any(g) or any(g)\nreturn twice(a in state.marks for a in config.agents)", "generator"),
    ("turned list under a name", "g = reversed(config.agents)\nreturn any(a in state.marks for a in g) and any(a in state.marks for a in g)", ""),
    ("pairs under a name", "g = zip(config.agents, config.agents)\nreturn any(a in state.marks for a, b in g) and any(a in state.marks for a, b in g)", ""),
    ("products under a name", "g = itertools.product(config.agents, config.agents)\nreturn any(a in state.marks for a, b in g) and any(a in state.marks for a, b in g)", ""),
    ("quotient of two unknowns", "return state.count // state.count == 1", "// of"),
    ("remainder by a negative number", "return state.count % (0 - 2) == 0", "% of"),
    ("remainder by zero", "return state.count % 0 == 0", "% of"),
    ("product", "return state.count * state.count == 1", "* of"),
    ("first key of a dict", "return dict.fromkeys(state.pairs)[0] in state.pairs", "of a dict"),
    ("entry of a dict of agents", "return dict.fromkeys(config.agents)[0] in state.marks", "of a dict"),
    ("another function called set", "def set(xs):\n    return ()\nreturn len(set(dict.fromkeys(state.pairs))) != len(dict.fromkeys(state.pairs))", "len"),
    ("second parts called as the first", "return len({k for k, k in dict.fromkeys(state.pairs)}) != len(dict.fromkeys(state.pairs))", "the length of"),
    ("first parts of pairs that differ", "return len({k for k, v in dict.fromkeys(state.pairs)}) != len(dict.fromkeys(state.pairs))", "the length of"),
    ("identity of numbers", "one = 1\nreturn state.count is one", "which object it is"),
    ("identity of records", "return replace(state) is state", "which object it is"),
    ("place in a set", "return list(state.marks)[0] == state.holder", "entry"),
    ("first of a list that may repeat", "return config.agents[0] in [*state.marks, *state.others][:1]", "a slice"),
    ("first of two sorted lists in a row", "return config.agents[0] in (sorted(state.marks) + sorted(state.others))[:1]", "a slice"),
    ("first of a list without order", "return config.agents[0] in [a for a in state.marks][:1]", "a slice"),
    ("first of sorted pairs", "return bool(sorted(state.pairs)[:1])", "a slice"),
    ("first of the neighbours of the sorted", "return config.agents[0] in [(a + 1) % len(config.agents) for a in sorted(state.marks)][:1]", "a slice"),
    ("first two of the sorted", "return bool(sorted(state.marks)[:2])", "a slice"),
    ("a sorted list beside one that may repeat", "return sorted(state.marks) == sorted([*state.marks, *state.others])", "a list compared with a list"),
    ("sorted with None", "return bool(sorted([state.holder, config.agents[0]]))", "what may be None"),
    ("slice", "return state.at[:1] == state.at", "a slice"),
    ("while", "while state.flag:\n    return True\nreturn False", "While"),
    ("sum over two loops", "return sum(1 for a in state.marks for b in state.others) == 1", "may stand there twice"),
    ("sum over pairs of a zip", "return sum(1 for a, b in zip(config.agents, state.at)) == 1", "may stand there twice"),
    ("sum of agents", "return sum(config.agents) == 1", "a sum of an agent"),
    ("sum from a start", "return sum([state.count], 1) == 1", "sum has no counterpart"),
    ("another function called sum", "def sum(xs, ys=0):\n    return [*xs]\nreturn sum([a for a in config.agents]) == 1", "compared with"),
    ("members of a set with None", "return len({state.holder, config.agents[0]}) == state.count", "the length of a set in which"),
    ("members of a set of texts", "return len({state.at[a] for a in config.agents}) == state.count", "the length of a set in which"),
    ("size of a joined list", "return len([*state.marks, *state.others]) == state.count", "in which a member may stand twice"),
    ("size of a list of parts of pairs", "return len([a for a, b in {(a, a) for a, b in state.pairs}]) == state.count", "length of a list"),
    ("size of what may be None", "return len(state.marks if state.flag else None) == state.count", "length"),
    ("first of a set", "return next(iter(state.marks), None) is None", "iter has no counterpart"),
    ("least of a set", "return min(state.marks) == state.holder", "min has no counterpart"),
    ("truth of an agent", "return bool(state.holder)", "0 counts as false"),
    ("truth of an agent in `or`", "return state.flag or state.holder", "0 counts as false|in one case and"),
    ("agent as a number", "return state.holder == 1", "the agent with the number 1"),
    ("agent in a sum", "return state.holder + 1 == 2", "a calculation"),
    ("truth as a number", "return state.flag + 1 == 2", "+ of"),
    ("truth compared with a number", "return state.flag == 1", "compared with"),
    ("text", "return f'{state.count}' == '1'", "JoinedStr"),
    ("method of a text", "return state.at[config.agents[0]].startswith('a')", "attribute startswith"),
    ("isinstance of an agent", "return isinstance(state.holder, int)", "without a known class"),
    ("isinstance of a truth", "return isinstance(state.flag, int)", "isinstance of a truth"),
    ("attribute of what may be a text", "found = state if state.flag else 'none'\nreturn found.count == 1", "the attribute count"),
    ("dictionary with a key twice", "return {'a': True, 'a': False}['a']", "twice"),
    ("loop that counts among yields", "def told():\n    n = 0\n    for a in config.agents:\n        n = n + 1\n        yield n\nreturn 1 in told()", "from turn to turn"),
    ("slice of unknown length", "return bool((1, 2, 3)[: state.count])", "a slice"),
    ("zip kept for later", "both = zip((1, 2), (state.count, 2))\nreturn bool(both)", "zip has no counterpart"),
    ("assignment in an expression", "return (x := state.flag) and x", "NamedExpr"),
    ("try", "try:\n    return state.flag\nexcept ValueError:\n    return True", "Try"),
    ("lists compared", "return [a for a in config.agents] == [a for a in state.marks]", "compared with"),
    ("length of a list", "return len([*state.marks, *state.others]) == 1", "length of a list"),
    ("changing list", "found = []\nfor a in config.agents:\n    found.append(a)\nreturn not found", "a loop"),
    ("recursion", "return rule(config, state)", "calls itself"),
    ("numbers of a set", "return all(i == 0 for i, a in enumerate(state.marks))", "what has no order"),
    ("deletion", "x = state.flag\ndel x\nreturn True", "Delete"),
    ("fraction", "return state.count < 0.5", "a float"),
    ("place in part of a list", "xs = [a for a in config.agents if a in state.marks]\nreturn xs.index(state.holder) == config.agents[0]", "index"),
    ("entry of part of a list", "xs = [a for a in config.agents if a in state.marks]\nreturn xs[config.agents[0]] in state.marks", "entry"),
    ("numbers of part of a list", "return all(n in state.marks for n, a in enumerate([a for a in config.agents if a in state.marks]))", "numbers or pairs"),
    ("filled dictionary with another name", "d = {}\ne = d\nfor a in config.agents:\n    d[state.at[a]] = a\nreturn not e", "another name"),
    ("filled dictionary that was given", "def fill(d):\n    for a in config.agents:\n        d[a] = a\n    return d\nd = {}\nreturn bool(fill(d)) and bool(d)", "another name"),
    ("dictionary filled from a set", "d = {}\nfor a in state.marks:\n    d[state.at[a]] = a\nreturn bool(d)", "a loop"),
    ("names carried from turn to turn", "d = {}\nn = state.flag\nfor a in config.agents:\n    n = not n\n    d[a] = n\nreturn bool(d)", "from turn to turn"),
    ("unknown entry of a known tuple", "return (state.flag, True)[state.count]", "entry a number"),
    ("changed list with another name", "xs = list(state.at)\nys = xs\nys[config.agents[0]] = 'c'\nreturn xs[config.agents[0]] == 'c'", "another name"),
    ("changed list that another holds", "xs = list(state.at)\nys = (xs, xs)\nxs[config.agents[0]] = 'c'\nreturn ys[0][config.agents[0]] == 'c'", "another name"),
    ("changed list that was given", "def f(xs):\n    xs[config.agents[0]] = 'c'\n    return xs\nreturn bool(f(list(state.at)))", "another name"),
    ("changed list that a lambda sees", "xs = list(state.at)\nf = lambda: xs[config.agents[0]]\nxs[config.agents[0]] = 'c'\nreturn f() == 'c'", "another name"),
    ("changed part of a list", "xs = [a for a in config.agents if a in state.marks]\nxs[config.agents[0]] = config.agents[0]\nreturn True", "no list of an entry for each"),
    ("list changed in a loop", "xs = list(state.at)\nfor a in config.agents:\n    xs[a] = 'c'\nreturn xs[config.agents[0]] == 'c'", "a loop"),
    ("names that a search changes", "n = state.flag\nfor a in config.agents:\n    n = not n\n    if n:\n        return True\nreturn False", "a loop"),
    ("search that breaks", "for a in config.agents:\n    if a in state.marks:\n        break\n    if a in state.others:\n        return True\nreturn False", "a loop"),
    ("collected list that is looked at", "def told():\n    found = []\n    for a in config.agents:\n        if not found:\n            found.append(a)\n    return found\nreturn bool(told())", "a loop"),
    ("last key of a list that may repeat", "xs = tuple(dict.fromkeys([state.at[a] for a in config.agents]))\nreturn xs[-1] == state.at[config.agents[-1]]", "entry a int of a list"),
    ("changed list named by a pattern", "ys = list(state.at)\nmatch ys:\n    case xs:\n        xs[config.agents[0]] = 'c'\nreturn ys[config.agents[0]] == 'c'", "another name"),
    ("changed list made by another function called list", "def list(x):\n    return x\nys = [state.at[a] for a in config.agents]\nxs = list(ys)\nxs[config.agents[0]] = 'c'\nreturn ys[config.agents[0]] == 'c'", "another name"),
    ("nothing returned before a list is collected", "def told():\n    if state.flag:\n        return\n    found = []\n    for a in config.agents:\n        found.append(a)\n    return found\nreturn told() is None", "a loop"),
    ("last turn's name, which is one outside too", "for a in config.agents:\n    for Kind in config.agents:\n        b = Kind\n    if Kind is Kind.ONE:\n        return True\nreturn False", "not defined here"),
    ("name changed by a search", "a = config.agents[0]\nfor a in config.agents:\n    if a in state.marks:\n        return a in state.others\nreturn a in state.others", "a loop"),
    ("name changed by a loop that fills", "a = config.agents[0]\nd = {}\nfor a in config.agents:\n    d[a] = state.at[a]\nreturn a in state.marks", "from turn to turn"),
    ("name changed by a loop that yields", "def told():\n    a = config.agents[0]\n    for a in config.agents:\n        yield a\n    yield a\nreturn state.holder in set(told())", "from turn to turn"),
    ("name changed in a case among yields", "def told():\n    n = 0\n    match state.at[config.agents[0]]:\n        case 'a':\n            n += 1\n    yield n\nreturn 1 in set(told())", "among yields"),
    ("name changed by a pattern among yields", "def told():\n    x = state.quiet\n    match (state.flag, 1):\n        case (x, _):\n            yield False\n    yield x\nreturn True in set(told())", "among yields"),
    ("name changed by a case that is left", "x = state.quiet\nmatch (state.flag, 1):\n    case (x, _) if state.count == 1:\n        return True\n    case _:\n        pass\nreturn x", "a pattern that changes a name"),
    ("function that sees a name change", "n = state.count\nf = lambda: n == 1\nn = n + 1\nreturn f()", "sees a name change"),
    ("dictionaries compared", "more = {'a': 1}\nreturn more == {'a': 1}", "dictionaries compared"),
    ("record made in a way of its own", "return Turned(state.flag).one", "`__init__` of its own"),
    ("replace of a named tuple", "return replace(Pair(True, state.flag), one=False).one", "`replace` of"),
)  # fmt: skip

HEAD = """
from __future__ import annotations
import functools
from dataclasses import dataclass, replace
from enum import Enum
from typing import Literal, NamedTuple, NewType
import evenhand

class Kind(Enum):
    ONE = 1
    TWO = 2

Agent = NewType("Agent", int)

@dataclass(frozen=True)
class Config:
    agents: tuple[Agent, ...]

@dataclass(frozen=True)
class State:
    at: tuple[Literal["a", "b", "c"], ...]
    holder: Agent | None
    marks: frozenset[Agent]
    others: frozenset[Agent]
    pairs: frozenset[tuple[Agent, Agent]]
    flag: bool
    count: int

    def is_flag(self) -> bool:
        return self.flag

    @property
    def quiet(self) -> bool:
        return not self.flag

def put(row, place, entry):
    return (*row[:place], entry, *row[place + 1:])

class Pair(NamedTuple):
    one: bool
    two: bool = True

@dataclass(frozen=True)
class Turned:
    one: bool

    def __init__(self, one):
        object.__setattr__(self, "one", not one)

def changed(state, **more):
    return replace(state, **more)

def second(*given):
    return given[1]

def denied(function):
    @functools.wraps(function)
    def inner(*given):
        return not function(*given)
    return inner

@denied
def wrapped(value):
    return value

@functools.lru_cache(maxsize=4)
def remembered(value):
    return not value

def initial(config):
    none = frozenset()
    return [State(("a",) * len(config.agents), None, none, none, none, False, 0)]

def actions(config, state):
    return []

def step(config, state, action):
    return state

system = evenhand.system("planted", config=Config, scope={"agents": 2}, initial=initial, actions=actions, step=step)
"""
