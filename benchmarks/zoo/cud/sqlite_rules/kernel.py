"""Coordination under deadlock with the rules as queries over SQLite tables.

Names and values are stored as JSON text, so that any string and any primitive can be told apart.
"""

import json
import sqlite3

SCHEMA = """
CREATE TABLE IF NOT EXISTS setting(name PRIMARY KEY, value);
CREATE TABLE IF NOT EXISTS agent(name PRIMARY KEY, place INTEGER);
CREATE TABLE IF NOT EXISTS cell(key PRIMARY KEY, value);
CREATE TABLE IF NOT EXISTS authority(id PRIMARY KEY, commitment, holder, issuer);
CREATE TABLE IF NOT EXISTS atom(authority, target, operation);
CREATE TABLE IF NOT EXISTS request(epoch, agent, body, kind, stamp, outcome, code,
                                   PRIMARY KEY (epoch, agent));
CREATE TABLE IF NOT EXISTS touch(epoch, agent, key, PRIMARY KEY (epoch, agent, key));
CREATE TABLE IF NOT EXISTS delta(epoch, agent, key, value, PRIMARY KEY (epoch, agent, key));
CREATE TABLE IF NOT EXISTS cite(epoch, agent, authority);
CREATE TABLE IF NOT EXISTS message(epoch, sender, content, dropped);
CREATE TABLE IF NOT EXISTS departure(epoch, agent PRIMARY KEY);
CREATE TABLE IF NOT EXISTS round(epoch PRIMARY KEY, world, stall, stuck);
"""
TABLES = (
    "setting",
    "agent",
    "cell",
    "authority",
    "atom",
    "request",
    "touch",
    "delta",
    "cite",
    "message",
    "departure",
    "round",
)
FIELDS = {"agent_id", "action_id", "action_type", "declared_scope", "proposed_delta", "authorities_cited"}
ACTIVE = "SELECT name FROM agent WHERE name NOT IN (SELECT agent FROM departure)"
TARGET = """'"STATE:/' || substr({key}, 2)"""  # the atom's target of a key, both as JSON text


def text(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def depth(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(depth, inner), default=0)


def plain(value):
    """The JSON text of a value and a copy of it; twice None if it is not JSON of at most fifty levels."""
    try:
        copy = json.loads(text(value))
        return (text(copy), copy) if depth(copy) <= 50 and copy == value else (None, None)
    except (TypeError, ValueError, RecursionError):
        return None, None


class Kernel:
    def __init__(self, setup, path=":memory:", defects=frozenset()):
        self.defects = frozenset(defects)
        self.db = sqlite3.connect(path)
        with self.db:
            if "reused_file" not in self.defects:
                for table in TABLES:
                    self.db.execute(f"DROP TABLE IF EXISTS {table}")
            self.db.executescript(SCHEMA)
            self._load(setup)

    def _load(self, setup):
        if any(isinstance(value, (dict, list)) for value in setup["state"].values()):
            raise ValueError("the world is flat")
        ids = [paper["authority_id"] for paper in setup["authorities"]]
        if len(set(ids)) < len(ids) or len(set(setup["agents"])) < len(setup["agents"]):
            raise ValueError("an id is used twice")
        settings = {"communication": False, "message_limit": 4096, **setup}
        self._put(
            "setting", [(name, text(settings[name])) for name in ("max_epochs", "communication", "message_limit")]
        )
        self._put("agent", [(text(name), place) for place, name in enumerate(setup["agents"])])
        self._put("cell", [(text(key), text(value)) for key, value in setup["state"].items()])
        self.db.execute("DELETE FROM atom")
        for paper in setup["authorities"]:
            name = text(paper["authority_id"])
            self._put(
                "authority",
                [(name, paper["commitment"], text(paper["holder_agent_id"]), text(paper["issuer_agent_id"]))],
            )
            self._put("atom", [(name, text(atom["target"]), atom["operation"]) for atom in paper["scope"]])

    def _put(self, table, rows):
        for row in rows:
            marks = ",".join("?" * len(row))
            self.db.execute(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", row)

    def _all(self, query, *values):
        return self.db.execute(query, values).fetchall()

    def _column(self, query, *values):
        return [row[0] for row in self._all(query, *values)]

    def _setting(self, name):
        return json.loads(self._column("SELECT value FROM setting WHERE name = ?", name)[0])

    @property
    def epoch(self):
        return self._column("SELECT COUNT(*) FROM round")[0]

    @property
    def state(self):
        return {json.loads(k): json.loads(v) for k, v in self._all("SELECT key, value FROM cell")}

    def active(self):
        return [json.loads(name) for name in self._column(ACTIVE + " ORDER BY place")]

    def over(self):
        return not self.active() or self.epoch >= self._setting("max_epochs")

    def observation(self, agent):
        now, name = self.epoch, text(agent)
        last = "SELECT outcome, stamp, body, code FROM request WHERE epoch = ? AND agent = "
        if "pasted_sql" in self.defects:
            rows = self._all(last + f"'{name}'", now - 1)
        else:
            rows = self._all(last + "?", now - 1, name)
        outcome, stamp, body, code = rows[0] if rows else (None, None, None, None)
        told = stamp is not None and code != "MALFORMED_REQUEST"
        letters = self._all(
            "SELECT sender, content FROM message WHERE epoch = ? AND sender <> ? AND dropped IS NULL ORDER BY rowid",
            now - 1,
            name,
        )
        return {
            "epoch": now,
            "world_state": self.state,
            "own_last_outcome": outcome,
            "own_last_action_id": stamp and json.loads(stamp),
            "own_last_declared_scope": json.loads(body)["declared_scope"] if told else None,
            "messages": [
                {"sender": json.loads(sender), "epoch": now - 1, "content": json.loads(content)}
                for sender, content in letters
            ],
        }

    def play(self, moves):
        """One epoch; `moves` maps agents to {"exit": ..., "message": ..., "request": ...}."""
        if self.over():
            raise ValueError("the run is over")
        with self.db:
            return self._play(moves, self.epoch)

    def _play(self, moves, now):
        before = text(self.state)
        for agent in self.active():
            move = moves.get(agent) or {}
            if move.get("exit") is True:
                self._put("departure", [(now, text(agent))])
                continue
            if move.get("message") is not None:
                self._take_message(agent, now, move["message"])
            self._submit(agent, now, move.get("request"))
        self._pass_one(now)
        self._pass_two(now)
        self._execute(now)
        after = text(self.state)
        rows = self._all("SELECT kind, outcome, code FROM request WHERE epoch = ?", now)
        telling = "outcome = 'JOINT_ADMISSIBILITY_FAILURE'" if "futile_counts" in self.defects else "code = 'PASS_2'"
        refused = self._column(f"SELECT COUNT(*) FROM request WHERE epoch = ? AND {telling}", now)[0]
        stall = self._column("SELECT stall FROM round WHERE epoch = ?", now - 1) or [0]
        submitted = any(outcome != "NO_ACTION" for _, outcome, _ in rows)
        passed = any(code in ("", "PASS_2", "SCOPE_VIOLATION") for _, _, code in rows)
        stuck = submitted and not passed and not self._open_door()
        self._put("round", [(now, after, stall[0] + 1 if refused and before == after else 0, stuck)])
        return {
            json.loads(agent): outcome
            for agent, outcome in self._all(
                "SELECT agent, outcome FROM request JOIN agent ON name = agent WHERE epoch = ? ORDER BY place", now
            )
        }

    def _take_message(self, agent, now, content):
        raw, copy = plain(content)
        size = len(json.dumps(copy, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))
        dropped = None
        if not self._setting("communication"):
            dropped = "no communication"
        elif not isinstance(copy, dict):
            dropped = "not a JSON object"
        elif size > self._setting("message_limit"):
            dropped = "too long"
        self._put("message", [(now, text(agent), raw, dropped)])

    def _submit(self, agent, now, request):
        name = text(agent)
        if request is None:
            return self._put("request", [(now, name, None, None, None, "NO_ACTION", None)])
        raw, request = plain(request)
        stamp = f"{agent}:{now}:0"
        if not self._well_formed(agent, stamp, request):
            row = (now, name, raw, None, text(stamp), "ACTION_FAULT", "MALFORMED_REQUEST")
            return self._put("request", [row])
        self._put("request", [(now, name, raw, request["action_type"], text(stamp), None, None)])
        self._put("touch", [(now, name, text(key)) for key in request["declared_scope"]])
        self._put("delta", [(now, name, text(k), text(v)) for k, v in request["proposed_delta"].items()])
        self._put("cite", [(now, name, text(entry)) for entry in request["authorities_cited"]])

    def _well_formed(self, agent, stamp, request):
        if not isinstance(request, dict) or set(request) != FIELDS:
            return False
        scope, delta, cited = map(request.get, ("declared_scope", "proposed_delta", "authorities_cited"))
        if not (isinstance(scope, list) and isinstance(delta, dict) and isinstance(cited, list)):
            return False
        return (
            request["agent_id"] == agent
            and request["action_id"] == stamp
            and (request["action_type"] == "WRITE" or (request["action_type"] == "READ" and not delta))
            and scope != []
            and all(isinstance(name, str) for name in scope + cited)
            and len(set(scope)) == len(scope)
            and set(scope) <= set(self.state)
            and not any(isinstance(value, (dict, list)) for value in delta.values())
        )

    def _settle(self, now, outcome, code, agents):
        self.db.executemany(
            "UPDATE request SET outcome = ?, code = ? WHERE epoch = ? AND agent = ? AND outcome IS NULL",
            [(outcome, code, now, agent) for agent in agents],
        )

    def _pass_one(self, now):
        like = "LIKE" if "like_match" in self.defects else "="
        matches = f"a.target {like} {TARGET.format(key='t.key')}"
        same_op = "1" if "veto_any_op" in self.defects else "a.operation = r.kind"
        sender = "JOIN agent h ON h.name = w.holder" if "veto_join" in self.defects else ""
        open_touch = (
            "FROM touch t JOIN request r ON r.epoch = t.epoch AND r.agent = t.agent "
            "WHERE t.epoch = ? AND r.outcome IS NULL"
        )
        foreign = self._column(
            "SELECT agent FROM cite c WHERE epoch = ? AND NOT EXISTS "
            "(SELECT 1 FROM authority w WHERE w.id = c.authority AND w.holder = c.agent)",
            now,
        )
        self._settle(now, "ACTION_FAULT", "INVALID_CAPABILITY_CLAIM", foreign)
        vetoed = self._column(
            f"SELECT t.agent {open_touch} AND EXISTS (SELECT 1 FROM atom a JOIN authority w "
            f"ON w.id = a.authority {sender} WHERE w.commitment = 'DENY' AND {matches} AND {same_op})",
            now,
        )
        uncovered = self._column(
            f"SELECT t.agent {open_touch} AND NOT EXISTS (SELECT 1 FROM cite c JOIN authority w "
            f"ON w.id = c.authority JOIN atom a ON a.authority = w.id WHERE c.epoch = t.epoch AND "
            f"c.agent = t.agent AND w.commitment = 'ALLOW' AND {matches} AND a.operation = r.kind)",
            now,
        )
        self._settle(now, "JOINT_ADMISSIBILITY_FAILURE", "PASS_1", vetoed + uncovered)

    def _pass_two(self, now):
        crowd = "COUNT(*) = 2" if "exactly_two" in self.defects else "COUNT(*) > 1"
        writer = "1" if "readers_collide" in self.defects else "SUM(r.kind = 'WRITE') > 0"
        open_touch = (
            "touch t JOIN request r ON r.epoch = t.epoch AND r.agent = t.agent WHERE t.epoch = ? AND r.outcome IS NULL"
        )
        struck = self._column(
            f"SELECT t.agent FROM {open_touch} AND t.key IN (SELECT t.key FROM {open_touch} "
            f"GROUP BY t.key HAVING {crowd} AND {writer})",
            now,
            now,
        )
        self._settle(now, "JOINT_ADMISSIBILITY_FAILURE", "PASS_2", struck)

    def _execute(self, now):
        stray = self._column(
            "SELECT d.agent FROM delta d LEFT JOIN cell c ON c.key = d.key WHERE d.epoch = ? "
            "AND d.value IS NOT c.value AND d.key NOT IN "
            "(SELECT key FROM touch t WHERE t.epoch = d.epoch AND t.agent = d.agent)",
            now,
        )
        self._settle(now, "ACTION_FAULT", "SCOPE_VIOLATION", stray)
        rest = self._column("SELECT agent FROM request WHERE epoch = ? AND outcome IS NULL", now)
        self._settle(now, "EXECUTED", "", rest)
        codes = "('', 'SCOPE_VIOLATION')" if "partial_keep" in self.defects else "('')"
        self.db.execute(
            f"UPDATE cell SET value = d.value FROM (SELECT d.key, d.value FROM delta d "
            f"JOIN request r ON r.epoch = d.epoch AND r.agent = d.agent JOIN touch t ON t.epoch = d.epoch "
            f"AND t.agent = d.agent AND t.key = d.key WHERE d.epoch = ? AND r.code IN {codes}) AS d "
            f"WHERE cell.key = d.key",
            (now,),
        )

    def _open_door(self):
        """Is any read or write of a cell allowed to an active agent and not vetoed?"""
        return bool(
            self._all(
                f"SELECT 1 FROM authority w JOIN atom a ON a.authority = w.id JOIN cell c "
                f"ON a.target = {TARGET.format(key='c.key')} WHERE w.commitment = 'ALLOW' AND w.holder IN ({ACTIVE}) "
                f"AND NOT EXISTS (SELECT 1 FROM authority v JOIN atom b ON b.authority = v.id "
                f"WHERE v.commitment = 'DENY' AND b.target = a.target AND b.operation = a.operation)"
            )
        )

    def _orphans(self):
        return self._column(
            f"SELECT a.target FROM authority w JOIN atom a ON a.authority = w.id JOIN cell c "
            f"ON a.target = {TARGET.format(key='c.key')} WHERE w.commitment = 'ALLOW' AND a.operation = 'WRITE' "
            f"GROUP BY a.target HAVING SUM(w.holder IN (SELECT agent FROM departure)) > 0 "
            f"AND SUM(w.holder IN ({ACTIVE})) = 0"
        )

    def verdict(self):
        if not self.over():
            return None
        if not self.active():
            return "COLLAPSE"
        if self._orphans():
            return "ORPHANING"
        if self._column("SELECT stuck FROM round ORDER BY epoch DESC LIMIT 1") == [1]:
            return "STATE_DEADLOCK"
        if self._column("SELECT COUNT(*) FROM round WHERE stall >= 3") != [0]:
            return "STATE_LIVELOCK"
        executed = self._column("SELECT COUNT(*) FROM request WHERE outcome = 'EXECUTED'")[0]
        return "COORDINATED" if executed else "INVALID_RUN/NONTERMINATING_CONDITION"

    def history(self):
        """What happened, as rows (epoch, step, agent, what, outcome, code)."""
        parts = [
            "SELECT epoch, 2, sender, content, dropped, NULL FROM message",
            "SELECT epoch, 3, agent, body, outcome, code FROM request",
            "SELECT epoch, 4, NULL, world, NULL, NULL FROM round",
        ]
        if "exits_unrecorded" not in self.defects:
            parts.append("SELECT epoch, 1, agent, 'exit', NULL, NULL FROM departure")
        return self._all(" UNION ALL ".join(parts) + " ORDER BY 1, 2, 3")
