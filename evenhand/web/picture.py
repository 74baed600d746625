"""A region as a picture of bounded size: the neighbourhood of the current state, or the strongly connected parts.

Places are computed here, so that the same run gives the same picture and nothing moves: earlier states stand on the
left, possible next ones on the right.  What is not drawn is counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from evenhand.core.canonical import Json
from evenhand.core.grouping import grouped
from evenhand.report.phrases import plural
from evenhand.web.neighbourhood import Edge, Region
from evenhand.web.state_table import differences, in_words, label

AHEAD, BEHIND, DRAWN = 22, 8, 40
"""States drawn: ahead of the current one; before it; parts of the condensation."""

EDGES = 48
"""Edges drawn at most, unless the edges of the current state are more."""

_COLUMN, _FOLD, _ROW, _TALL = 120, 62, 52, 8


@dataclass(frozen=True)
class Picture:
    """Nodes and edges with their places, and notes on what is drawn, left out and marked."""

    nodes: tuple[dict[str, Json], ...]
    edges: tuple[dict[str, Json], ...]
    note: tuple[str, ...]

    def to_json(self) -> dict[str, Json]:
        """Return the picture as JSON."""
        return {"nodes": list(self.nodes), "edges": list(self.edges), "note": list(self.note)}


def neighbourhood(region: Region, path: Sequence[int]) -> Picture:
    """Return the last states of the run, those one or two steps ahead, and some predecessors of the current one.

    `path` numbers the states of the run; the last one is the current one.
    """
    now = path[-1]
    columns = {now: 0}
    for back, at in enumerate(dict.fromkeys(reversed(path[:-1])), 1):
        if at not in columns and back <= BEHIND:
            columns[at] = -back
    near = _ahead(region, {now}, columns)
    columns.update(dict.fromkeys(near[:AHEAD], 1))
    further = _ahead(region, set(near[:AHEAD]), columns)
    columns.update(dict.fromkeys(further[: max(0, AHEAD - len(near))], 2))
    behind = [source for (source, target) in region.edges if target == now and source not in columns]
    columns.update(dict.fromkeys(behind[:BEHIND], -1))
    left_out = max(0, len(near) - AHEAD) + max(0, len(behind) - BEHIND)
    walked = set(pairwise(path))
    inside = [pair for pair in region.edges if pair[0] in columns and pair[1] in columns]
    drawn = inside if len(inside) <= EDGES else _telling(inside, columns, now, walked)
    edges = [_edge(region.edges[pair], pair, pair in walked, now) for pair in drawn]
    note = [f"{plural(len(columns), 'state')} drawn of {_known(region)}"]
    note += [f"{plural(left_out, 'neighbour')} not drawn"] if left_out else []
    note += [f"{plural(len(inside) - len(drawn), 'edge')} between them not drawn"] if len(inside) > len(drawn) else []
    nodes = [_state(region, at, place, now, set(path)) for at, place in _placed(columns).items()]
    return Picture(tuple(nodes), tuple(edges), (*note, *_marks(region)))


def _telling(
    inside: Sequence[tuple[int, int]], columns: Mapping[int, int], now: int, walked: set[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return the edges walked, those of the current state, and one edge to every other state."""
    kept = dict.fromkeys(pair for pair in inside if pair in walked or now in pair)
    reached = {target for _, target in kept}
    for source, target in inside:
        if target not in reached and columns[source] + 1 == columns[target]:
            reached.add(target)
            kept[source, target] = None
    return list(kept)


def _edge(edge: Edge, pair: tuple[int, int], walked: bool, now: int) -> dict[str, Json]:
    source, target = pair
    kinds = {"walked": walked, "next": source == now, "loop": source == target}
    return {
        "id": f"e{source}-{target}",
        "source": str(source),
        "target": str(target),
        "action": label(edge.action, 120),
        "number": edge.number,
        "weight": edge.weight,
        "classes": " ".join(kind for kind, so in kinds.items() if so),
    }


def _known(region: Region) -> str:
    if region.whole:
        return f"{len(region.states):,}, which are all that can be reached"
    return f"{len(region.states):,} known; {plural(region.steps, 'step')} were taken and the graph goes on"


def _marks(region: Region) -> list[str]:
    sizes = region.sizes()
    cycles = [part for part, size in sizes.items() if size > 1]
    note = [f"{plural(len(cycles), 'cycle')} of more than one state" + ("" if region.whole else " seen")]
    for name, marked in (("deadlock", region.stuck), ("livelock", region.circling)):
        if marked:
            claims = sorted({claim for names in marked.values() for claim in names})
            note.append(f"{plural(len(marked), 'state')} in a {name} ({', '.join(claims)})")
    return note


def _ahead(region: Region, sources: set[int], known: Mapping[int, int]) -> list[int]:
    """Return the successors of these states that are not known yet, in the order of discovery."""
    return list(dict.fromkeys(t for (s, t) in region.edges if s in sources and t not in known))


def _placed(columns: Mapping[int, int]) -> dict[int, tuple[int, int]]:
    """Return a place for each: its column, in rows around the middle line; a long column is folded outwards."""
    below = grouped((column, at) for at, column in columns.items())
    places: dict[int, tuple[int, int]] = {}
    for sign in (1, -1):
        edge = 0
        for column in sorted((one for one in below if one * sign > 0 or (one == 0 and sign == 1)), key=abs):
            rows = below[column]
            folds = -(-len(rows) // _TALL)
            high = -(-len(rows) // folds)
            edge += _COLUMN if column else 0
            for place, at in enumerate(rows):
                fold, row = divmod(place, high)
                places[at] = (
                    sign * (edge + fold * _FOLD),
                    round((row - (high - 1) / 2) * _ROW) + (_ROW // 3 if fold % 2 else 0),
                )
            edge += (folds - 1) * _FOLD
    return places


def _state(region: Region, at: int, place: tuple[int, int], now: int, path: set[int]) -> dict[str, Json]:
    size = region.sizes()[region.part[at]]
    kinds = {
        "now": at == now,
        "path": at in path,
        "start": at == 0,
        "stuck": at in region.stuck,
        "circling": at in region.circling,
        "cycle": size > 1,
        "end": at in region.ends,
        "open": at not in region.expanded,
    }
    words = {
        "now": "here now",
        "stuck": f"deadlock: {', '.join(region.stuck.get(at, ()))}",
        "circling": f"livelock: {', '.join(region.circling.get(at, ()))}",
        "cycle": f"in a cycle of {size} states",
        "end": "nothing is on offer",
        "open": "not explored further",
    }
    difference = () if at == now else differences(region.states[now], region.states[at])[:4]
    return {
        "id": str(at),
        "label": f"{at}",
        "note": [word for kind, word in words.items() if kinds[kind]],
        "state": in_words(region.states[at], 300),
        "difference": list(difference),
        "classes": " ".join(kind for kind, so in kinds.items() if so),
        "x": place[0],
        "y": place[1],
    }


def parts(region: Region, now: int) -> Picture:
    """Return the strongly connected parts nearest to the current state, and the steps between them."""
    here = region.part[now]
    weights: dict[tuple[int, int], int] = {}
    for (source, target), edge in region.edges.items():
        pair = (region.part[source], region.part[target])
        if pair[0] != pair[1]:
            weights[pair] = weights.get(pair, 0) + edge.weight
    columns = {here: 0}
    for sign in (1, -1):
        level = [here]
        column = 0
        while level and len(columns) < DRAWN:
            column += sign
            onward = [pair[sign == 1] for pair in weights if pair[sign != 1] in level]
            level = [part for part in dict.fromkeys(onward) if part not in columns][: DRAWN - len(columns)]
            columns.update(dict.fromkeys(level, column))
    sizes = region.sizes()
    members = grouped((part, at) for at, part in enumerate(region.part))
    nodes = [_part(region, part, members[part], place, here) for part, place in _placed(columns).items()]
    edges: list[dict[str, Json]] = [
        {
            "id": f"p{source}-{target}",
            "source": f"p{source}",
            "target": f"p{target}",
            "action": plural(weight, "step"),
            "weight": weight,
            "classes": "",
        }
        for (source, target), weight in weights.items()
        if source in columns and target in columns
    ]
    note = [f"{plural(len(columns), 'part')} drawn of {len(sizes):,}, among {_known(region)}"]
    return Picture(tuple(nodes), tuple(edges), (*note, *_marks(region)))


def _part(region: Region, part: int, members: list[int], place: tuple[int, int], here: int) -> dict[str, Json]:
    kinds = {
        "now": part == here,
        "start": region.part[0] == part,
        "stuck": any(at in region.stuck for at in members),
        "circling": any(at in region.circling for at in members),
        "cycle": len(members) > 1,
        "end": any(at in region.ends for at in members),
        "open": any(at not in region.expanded for at in members),
    }
    words = {
        "now": "here now",
        "stuck": "deadlock",
        "circling": "livelock",
        "end": "runs end here",
        "open": "not explored whole",
    }
    return {
        "id": f"p{part}",
        "label": plural(len(members), "state") if len(members) > 1 else f"state {members[0]}",
        "note": [plural(len(members), "state"), *(word for kind, word in words.items() if kinds[kind])],
        "state": in_words(region.states[members[0]], 300),
        "difference": [],
        "classes": " ".join(["part", *(kind for kind, so in kinds.items() if so)]),
        "x": place[0],
        "y": place[1],
        "first": members[0],
    }
