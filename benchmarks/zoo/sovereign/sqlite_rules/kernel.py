"""A constitution-bound kernel on SQLite: gates are rows of a table, warrants outlive the process."""

import hashlib
import json
import posixpath
import re
import sqlite3

DEFECTS = (
    "like_paths",
    "spent_in_memory",
    "row_order",
    "gates_by_name",
    "null_author",
    "refusals_uncounted",
    "quoted_citation",
    "seen_bundles_ignored",
    "silent_refusals",
)
SCHEMA = """
CREATE TABLE clause(id PRIMARY KEY);
CREATE TABLE action_type(name PRIMARY KEY, kernel_only INTEGER, fields TEXT);
CREATE TABLE folder(path, mode);
CREATE TABLE amount(name PRIMARY KEY, value INTEGER);
CREATE TABLE gate(place INTEGER PRIMARY KEY, name);
CREATE TABLE cycle(number INTEGER PRIMARY KEY, decision, code, failed_gate, at);
CREATE TABLE observation(id PRIMARY KEY, cycle INTEGER, kind, payload);
CREATE TABLE bundle(hash, cycle INTEGER, body, failed_gate, PRIMARY KEY (hash, cycle));
CREATE TABLE warrant(id PRIMARY KEY, cycle INTEGER, at, body, used INTEGER DEFAULT 0);
CREATE TABLE notice(message);
CREATE TABLE file(path PRIMARY KEY, content);
CREATE TABLE log(stream, line);
INSERT INTO clause VALUES ('INV-NO-SIDE-EFFECTS-WITHOUT-WARRANT'), ('INV-EXPLICIT-AUTHORITY'),
    ('INV-NON-PRIVILEGED-REFLECTION'), ('INV-REPLAY-DETERMINISM');
INSERT INTO action_type VALUES ('Notify', 0, '["message"]'), ('ReadLocal', 0, '["path"]'),
    ('WriteLocal', 0, '["content", "path"]'), ('LogAppend', 1, '["lines", "stream"]'), ('Exit', 0, '[]');
INSERT INTO folder VALUES ('artifacts/', 'read'), ('workspace/', 'read'), ('workspace/', 'write'), ('logs/', 'write');
INSERT INTO amount VALUES ('tokens', 6000), ('lines', 50), ('chars', 10000), ('bytes', 256000);
INSERT INTO gate VALUES (1, 'completeness'), (2, 'authority_citation'), (3, 'scope_claim'),
    (4, 'constitution_compliance'), (5, 'io_allowlist');
"""
TIME = re.compile(r"\d{4}(-\d\d){2}T\d\d:\d\d:\d\d(\.\d+)?Z", re.ASCII)
CITATION = re.compile(r"constitution:v0\.1\.1(?:#(?P<id>.+)|@/clauses/(?P<place>0|[1-9][0-9]{0,3})(?:/id)?)", re.DOTALL)


def canonical(value, depth=40):
    if value is None or type(value) is bool or (type(value) is int and abs(value) < 2**53):
        return json.dumps(value)
    if type(value) is str:
        return json.dumps(value.encode().decode(), ensure_ascii=False)
    if type(value) is list and depth:
        return "[" + ",".join(canonical(item, depth - 1) for item in value) + "]"
    if type(value) is dict and depth and all(type(key) is str for key in value):
        order = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join(canonical(key) + ":" + canonical(value[key], depth - 1) for key in order) + "}"
    raise ValueError("not plain data")


def sha(text):
    return hashlib.sha256(text.encode()).hexdigest()


def shaped(body, **shape):
    return isinstance(body, dict) and all(isinstance(body.get(name), kind) for name, kind in shape.items())


class Kernel:
    def __init__(self, path=":memory:", files=None, defects=frozenset()):
        self.defects, self.spent = frozenset(defects), set()
        self.db = sqlite3.connect(path, isolation_level=None)
        if not self.rows("SELECT 1 FROM sqlite_master"):
            self.db.executescript(SCHEMA)
        for name, content in (files or {}).items():
            self.rows("INSERT OR REPLACE INTO file VALUES (?, ?)", name, content)

    def rows(self, query, *values):
        return self.db.execute(query, values).fetchall()

    def one(self, query, *values):
        return next((row[0] for row in self.rows(query, *values)), None)

    @property
    def cycle(self):
        """The running cycle: decided, and open until the next one is decided."""
        return self.one("SELECT COALESCE(MAX(number), -1) FROM cycle")

    def observe(self, kind, payload):
        """The host notes something for the next cycle."""
        good = {
            "user_input": isinstance(payload, str),
            "timestamp": isinstance(payload, str) and TIME.fullmatch(payload),
            "budget": type(payload) is int and 0 <= payload < 2**53,
            "system": payload in ("startup_integrity_ok", "startup_integrity_fail"),
        }
        if not good.get(kind):
            raise ValueError(kind)
        name = f"o{self.one('SELECT COUNT(*) FROM observation') + 1}"
        self.rows("INSERT INTO observation VALUES (?, NULL, ?, ?)", name, kind, canonical(payload))
        return name

    # gates: each says whether the bundle passes

    def completeness(self, body, by_kernel):
        if not shaped(body, action_request=dict, authority_citations=list) or not body["authority_citations"]:
            return False
        if not shaped(body["action_request"], action_type=str, fields=dict):
            return False
        kind, fields = body["action_request"]["action_type"], body["action_request"]["fields"]
        wanted = self.one("SELECT fields FROM action_type WHERE name = ?", kind)
        if wanted is not None and sorted(fields) != json.loads(wanted):
            return False
        author = "kernel" if by_kernel else body.get("author")
        if self.one("SELECT kernel_only FROM action_type WHERE name = ?", kind):
            if "null_author" in self.defects:  # the reflection's LogAppend is rejected
                by_kernel = not self.one("SELECT ? <> 'kernel'", author if isinstance(author, str) else None)
            return by_kernel and self.fits(fields["lines"])
        scope, known = body.get("scope_claim"), author in ("reflection", "host")
        if not shaped(scope, claim=str, clause_ref=str, observation_ids=list):
            return False
        texts = all(isinstance(text, str) for text in [*fields.values(), *scope["observation_ids"]])
        return known and texts and shaped(body.get("justification"), text=str)

    def fits(self, lines):
        most = dict(self.rows("SELECT name, value FROM amount"))
        size = sum(len(line.encode()) + 1 for line in lines)
        short = all(len(line) <= most["chars"] for line in lines)
        return len(lines) <= most["lines"] and short and size <= most["bytes"]

    def resolves(self, citation):
        match = CITATION.fullmatch(citation) if isinstance(citation, str) else None
        if match and match["place"]:
            return int(match["place"]) < self.one("SELECT COUNT(*) FROM clause")
        if match and "quoted_citation" in self.defects:
            return bool(self.rows(f"SELECT 1 FROM clause WHERE id = '{match['id']}'"))
        return bool(match and self.rows("SELECT 1 FROM clause WHERE id = ?", match["id"]))

    def authority_citation(self, body, _by_kernel):
        return all(self.resolves(citation) for citation in body["authority_citations"])

    def scope_claim(self, body, by_kernel):
        seen = {row[0] for row in self.rows("SELECT id FROM observation WHERE cycle = ?", self.cycle)}
        scope = body.get("scope_claim")
        return by_kernel or (self.resolves(scope["clause_ref"]) and set(scope["observation_ids"]) <= seen)

    def constitution_compliance(self, body, _by_kernel):
        return bool(self.rows("SELECT 1 FROM action_type WHERE name = ?", body["action_request"]["action_type"]))

    def io_allowlist(self, body, _by_kernel):
        mode = {"ReadLocal": "read", "WriteLocal": "write"}.get(body["action_request"]["action_type"])
        path = self.clean(body["action_request"]["fields"]["path"]) if mode else ""
        if mode and "like_paths" in self.defects:
            return bool(self.rows("SELECT 1 FROM folder WHERE mode = ? AND ? LIKE path || '%'", mode, path))
        folders = self.rows("SELECT path FROM folder WHERE mode = ?", mode)
        return not mode or any(path.startswith(folder) for (folder,) in folders)

    @staticmethod
    def clean(path):
        odd = not path or path.startswith("/") or "\\" in path or "\0" in path
        return "" if odd else posixpath.normpath(path)

    def failed_gate(self, body, by_kernel=False):
        """The first gate that the bundle fails, '' if it passes all."""
        order = "name" if "gates_by_name" in self.defects else "place"
        for (name,) in self.rows(f"SELECT name FROM gate ORDER BY {order}"):
            try:
                if not getattr(self, name)(body, by_kernel):
                    return name
            except (KeyError, TypeError, AttributeError):
                if order == "place":
                    raise
                return name
        return ""

    # deciding

    def decide(self, bundles=()):
        """Decides on what was observed since the last cycle; an ACTION comes with the id of its warrant."""
        if self.one("SELECT 1 FROM cycle WHERE decision = 'EXIT'"):
            raise RuntimeError("the agent has exited")
        self.db.execute("BEGIN")
        try:
            answer = self.judge(list(bundles))
            self.db.execute("COMMIT")
        except BaseException:
            self.db.execute("ROLLBACK")
            raise
        return answer

    def judge(self, bundles):
        number = self.cycle + 1
        last = self.one("SELECT decision FROM cycle WHERE number = ?", number - 1)
        if last == "REFUSE" and "refusals_uncounted" in self.defects:
            number -= 1
            self.rows("DELETE FROM bundle WHERE cycle = ?", number)
        self.rows("INSERT OR REPLACE INTO cycle(number) VALUES (?)", number)
        self.rows("UPDATE observation SET cycle = ? WHERE cycle IS NULL", number)
        seen = self.rows("SELECT kind, payload FROM observation WHERE cycle = ?", number)
        seen = [(kind, json.loads(payload)) for kind, payload in seen]
        times = [payload for kind, payload in seen if kind == "timestamp"]
        budgets = [payload for kind, payload in seen if kind == "budget"]
        at = times[0] if len(times) == 1 else ""
        self.store(bundles, number)
        if not at:
            return self.close(number, at, "REFUSE", "MISSING_REQUIRED_OBSERVATION", "required_observations")
        if ("system", "startup_integrity_fail") in seen:
            return self.close(number, at, "EXIT")
        if sum(budgets[-1:]) > self.one("SELECT value FROM amount WHERE name = 'tokens'"):
            return self.close(number, at, "REFUSE", "BUDGET_EXHAUSTED")
        for key, body in self.rows("SELECT hash, body FROM bundle WHERE cycle = ?", number):
            gate = self.failed_gate(json.loads(body))
            self.rows("UPDATE bundle SET failed_gate = ? WHERE cycle = ? AND hash = ?", gate, number, key)
        order = "rowid" if "row_order" in self.defects else "hash"
        body = self.one(f"SELECT body FROM bundle WHERE cycle = ? AND failed_gate = '' ORDER BY {order}", number)
        if body is not None:
            return self.close(number, at, "ACTION", warrant=self.issue(body, number, at))
        furthest = "SELECT name FROM bundle JOIN gate ON name = failed_gate WHERE cycle = ? ORDER BY place DESC"
        gate = self.one(furthest, number)
        return self.close(number, at, "REFUSE", "NO_ADMISSIBLE_ACTION", gate or "")

    def store(self, bundles, number):
        for bundle in bundles:
            try:
                body = canonical(bundle)
            except (ValueError, RecursionError):
                body = "null"
            copy = json.loads(body)
            if shaped(copy, action_request=dict) and copy["action_request"].get("action_type") == "Exit":
                continue
            old = self.rows("SELECT 1 FROM bundle WHERE hash = ?", sha(body))
            if not (old and "seen_bundles_ignored" in self.defects):
                self.rows("INSERT OR IGNORE INTO bundle VALUES (?, ?, ?, NULL)", sha(body), number, body)

    def issue(self, body, number, at):
        request = canonical(json.loads(body)["action_request"])
        name = sha(canonical([request, sha(body), number, at]))
        self.rows("INSERT INTO warrant(id, cycle, at, body) VALUES (?, ?, ?, ?)", name, number, at, body)
        return name

    def close(self, number, at, decision, code="", gate="", warrant=None):
        query = "INSERT OR REPLACE INTO cycle VALUES (?, ?, ?, ?, ?)"
        self.rows(query, number, decision, code, gate, at)
        answer = {"cycle": number, "decision": decision, "code": code, "failed_gate": gate, "at": at}
        answer["warrant"] = warrant
        seen = self.rows("SELECT id, kind, payload FROM observation WHERE cycle = ? ORDER BY rowid", number)
        bodies = self.rows("SELECT body, failed_gate FROM bundle WHERE cycle = ? ORDER BY rowid", number)
        artifacts = [canonical([number, "candidate", json.loads(body), gate]) for body, gate in bodies]
        if decision != "REFUSE" or "silent_refusals" not in self.defects:
            artifacts.append(canonical([number, "decision", answer]))
        self.write_log("observations", [canonical([number, *row]) for row in seen], number, at)
        self.write_log("artifacts", artifacts, number, at)
        return answer

    def write_log(self, stream, lines, number, at):
        """Log lines go out under warrants of the kernel's own, five at a time (five always fit)."""
        chars = self.one("SELECT value FROM amount WHERE name = 'chars'")
        lines = [line if len(line) <= chars else canonical([number, "too long", sha(line)]) for line in lines]
        for first in range(0, len(lines), 5):
            request = {"action_type": "LogAppend", "fields": {"stream": stream, "lines": lines[first : first + 5]}}
            cited = ["constitution:v0.1.1#INV-REPLAY-DETERMINISM"]
            body = {"action_request": request, "authority_citations": cited, "place": first}
            body["place"] += self.one("SELECT COUNT(*) FROM log")
            if self.failed_gate(body, by_kernel=True) == "":
                self.execute(self.issue(canonical(body), number, at))

    # executing

    def execute(self, warrant):
        """Carries out an unused warrant of the running cycle."""
        row = self.rows("SELECT body, used FROM warrant WHERE id = ? AND cycle = ?", str(warrant), self.cycle)
        if not row:
            return {"done": False, "why": "no warrant of this cycle"}
        used = warrant in self.spent if "spent_in_memory" in self.defects else row[0][1]
        if used:
            return {"done": False, "why": "used"}
        self.spent.add(warrant)
        self.rows("UPDATE warrant SET used = 1 WHERE id = ?", warrant)
        request = json.loads(row[0][0])["action_request"]
        return {"done": True, **(getattr(self, "do_" + request["action_type"])(**request["fields"]) or {})}

    def do_Notify(self, message):
        self.rows("INSERT INTO notice VALUES (?)", message)

    def do_ReadLocal(self, path):
        return {"content": self.one("SELECT content FROM file WHERE path = ?", self.clean(path))}

    def do_WriteLocal(self, path, content):
        self.rows("INSERT OR REPLACE INTO file VALUES (?, ?)", self.clean(path), content)

    def do_LogAppend(self, stream, lines):
        for line in lines:
            self.rows("INSERT INTO log VALUES (?, ?)", stream, line)

    def notices(self):
        return [row[0] for row in self.rows("SELECT message FROM notice ORDER BY rowid")]

    def log(self, stream):
        return [row[0] for row in self.rows("SELECT line FROM log WHERE stream = ? ORDER BY rowid", stream)]
