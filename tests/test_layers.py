"""The architecture, enforced: who imports whom, who writes files, what every module has.

Each rule is a function from a parsed module to complaints.  The tree must have none, and every rule is
shown to fire on a fault planted in a tree of its own.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAYERS = {
    "model": {"model"},
    "properties": {"model", "properties"},
    "proofs": {"model", "properties", "proofs"},
    "counterexamples": {"model", "properties", "counterexamples"},
    "evenhand": {"model", "properties", "proofs", "counterexamples", "evenhand"},
}
LIBRARIES_OF_THE_MODEL = {"rfc8785"}
ENGINES = {"cvc5", "hypothesis", "jsonschema", "networkx", "numpy", "rich", "scipy", "typer", "z3"}
WRITERS = {"counterexamples/store.py"}
"""Beside `evenhand/`, where files may be written: the store, when asked."""

MAY_READ_THE_REFERENCE: dict[str, set[str]] = {}
"""Claims see vocabulary, never rules or mutants, or a mutant would be judged by its own notion.  The kernel
classifier compares what a kernel did with what the reference would have done, so it calls the reference's."""

MOST_LINES = 500


@dataclass(frozen=True)
class Module:
    """One source file of the tree at `root`."""

    root: Path
    path: Path

    @property
    def name(self) -> str:
        """The path from the root."""
        return self.path.relative_to(self.root).as_posix()

    @property
    def layer(self) -> str:
        """The top-level folder."""
        return self.name.split("/")[0]

    @cached_property
    def text(self) -> str:
        """The source."""
        return self.path.read_text("utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        """The source, parsed."""
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of the tree."""
        return list(ast.walk(self.tree))

    @property
    def imports(self) -> Iterator[tuple[int, str]]:
        """Line and dotted name of everything imported, wherever in the file; `from a import b` gives a and a.b."""
        for node in self.nodes:
            if isinstance(node, ast.Import):
                yield from ((node.lineno, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
                yield node.lineno, node.module
                yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
            elif isinstance(node, ast.Call) and _called(node).endswith("import_module"):
                names = (argument.value for argument in node.args if isinstance(argument, ast.Constant))
                yield from ((node.lineno, name) for name in names if isinstance(name, str))


def modules(root: Path) -> list[Module]:
    """The modules of the five real folders; the links within `evenhand` show the other four again."""
    found: list[Module] = []
    for layer in LAYERS:
        links = [root / layer / other for other in LAYERS if layer == "evenhand" and other != layer]
        paths = (path for path in (root / layer).rglob("*.py") if not any(path.is_relative_to(link) for link in links))
        found += [Module(root, path) for path in sorted(paths)]
    return found


@cache
def the_tree() -> tuple[Module, ...]:
    """The modules of this repository, each parsed once for all rules."""
    return tuple(modules(ROOT))


def _called(call: ast.Call) -> str:
    """The dotted name of what is called, as far as it is written as one; `…` stands for what is no name."""
    parts: list[str] = []
    place = call.func
    while isinstance(place, ast.Attribute):
        parts.append(place.attr)
        place = place.value
    parts.append(place.id if isinstance(place, ast.Name) else "…")
    return ".".join(reversed(parts))


def imports_run_one_way(module: Module) -> Iterator[str]:
    """model ← properties ← {proofs, counterexamples} ← evenhand."""
    for line, name in module.imports:
        parts = name.split(".")
        if parts[0] in LAYERS and parts[0] != "evenhand":
            yield f"{line}: imports {name} by its bare name"
        if parts[0] == "evenhand" and name != "evenhand":
            target = parts[1] if parts[1] in LAYERS else "evenhand"
            if target not in LAYERS[module.layer]:
                yield f"{line}: {module.layer} imports {name}"
        if name == "evenhand" and module.layer != "evenhand" and not _only_layers_from(module, line):
            yield f"{line}: {module.layer} imports {name}"


def _only_layers_from(module: Module, line: int) -> bool:
    """Whether the import on this line is `from evenhand import model` or the like, judged by its second name."""
    found = [node for node in module.nodes if isinstance(node, ast.ImportFrom) and node.lineno == line]
    return any(alias.name in LAYERS for node in found for alias in node.names)


def the_model_stands_alone(module: Module) -> Iterator[str]:
    """The model imports the standard library and canonical JSON."""
    known = sys.stdlib_module_names | LIBRARIES_OF_THE_MODEL | {"evenhand"}
    for line, name in module.imports:
        if module.layer == "model" and name.split(".")[0] not in known:
            yield f"{line}: the model imports {name}"


def claims_see_no_rules(module: Module) -> Iterator[str]:
    """What speaks of a protocol in `properties` imports nothing of it that defines rules or makes mutants."""
    parts = module.name.removesuffix(".py").split("/")
    if module.layer != "properties" or not (module.root / "model" / parts[1]).is_dir():
        return
    allowed = MAY_READ_THE_REFERENCE.get(module.name, set())
    for line, name in module.imports:
        if name.startswith("evenhand.model.") and _makes_rules(module.root, name) and name not in allowed:
            yield f"{line}: claims import {name}, where rules are made"
        if name.startswith("evenhand.model.") and name.rpartition(".")[2] in {"MUTANTS", "REFERENCE", "Rules"}:
            yield f"{line}: claims import {name}, where rules are handed on"
    for node in module.nodes:
        if isinstance(node, ast.Attribute) and node.attr in {"mutants", "rules"} and not allowed:
            yield f"{node.lineno}: claims look at `{ast.unparse(node)}`"


@cache
def _makes_rules(root: Path, name: str) -> bool:
    """Whether a module (or folder) of the model defines a class `Rules` or makes a `Mutant`."""
    place = root.joinpath(*name.split(".")[1:])
    paths = [path for path in (place.with_suffix(".py"), *place.glob("*.py")) if path.is_file()]
    if place.parent.name == "model":  # the package of a protocol as a whole: its own file only
        paths = [path for path in paths if path.name == "__init__.py"]
    nodes = [node for path in paths for node in ast.walk(Module(root, path).tree)]
    defines = any(isinstance(node, ast.ClassDef) and node.name == "Rules" for node in nodes)
    return defines or any(isinstance(node, ast.Call) and _called(node) == "Mutant" for node in nodes)


def engines_write_no_files(module: Module) -> Iterator[str]:
    """Engines return values; what touches a disk stands in `evenhand` and in the store."""
    if module.layer == "evenhand" or module.name in WRITERS:
        return
    for node in module.nodes:
        if isinstance(node, ast.Call) and _writes(node):
            yield f"{node.lineno}: writes files: {ast.unparse(node):.60}"


def _writes(call: ast.Call) -> bool:
    name = _called(call)
    last = name.rpartition(".")[2]
    if last == "open":
        modes = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
        texts = [mode.value for mode in modes if isinstance(mode, ast.Constant) and isinstance(mode.value, str)]
        return name == "os.open" or any(len(text) <= 3 and set(text) & set("wax+") for text in texts)
    return name.split(".")[0] in {"shutil", "tempfile"} or last in {
        "NamedTemporaryFile",
        "makedirs",
        "mkdir",
        "mkdtemp",
        "mkstemp",
        "symlink_to",
        "touch",
        "unlink",
        "write_bytes",
        "write_text",
    }


def nothing_is_evaluated(module: Module) -> Iterator[str]:
    """No text becomes code, and no file becomes objects by itself."""
    for line, name in module.imports:
        if name.split(".")[0] in {"dill", "marshal", "pickle", "shelve"}:
            yield f"{line}: imports {name}"
    for node in module.nodes:
        if isinstance(node, ast.Call) and _called(node) in {"eval", "exec", "__import__"}:
            yield f"{node.lineno}: calls {_called(node)}"


def imports_are_absolute(module: Module) -> Iterator[str]:
    """A relative import would name the second copy of a linked module."""
    for node in module.nodes:
        if isinstance(node, ast.ImportFrom) and node.level:
            yield f"{node.lineno}: a relative import"


def modules_say_what_they_are(module: Module) -> Iterator[str]:
    """A docstring and `__all__`, unless there is nothing but the docstring."""
    if not ast.get_docstring(module.tree):
        yield "1: has no docstring"
    if module.path.name == "__main__.py" or (module.path.name == "__init__.py" and len(module.tree.body) <= 1):
        return
    assigned = [target for node in module.tree.body if isinstance(node, ast.Assign) for target in node.targets]
    annotated = [node.target for node in module.tree.body if isinstance(node, ast.AnnAssign)]
    if "__all__" not in [target.id for target in (*assigned, *annotated) if isinstance(target, ast.Name)]:
        yield "1: has no __all__"


def modules_stay_readable(module: Module) -> Iterator[str]:
    """One idea each, so not longer than a person reads in one go."""
    lines = module.text.count("\n")
    if lines > MOST_LINES:
        yield f"{lines}: more than {MOST_LINES} lines"


Rule = Callable[[Module], Iterator[str]]
RULES: tuple[Rule, ...] = (
    imports_run_one_way,
    the_model_stands_alone,
    claims_see_no_rules,
    engines_write_no_files,
    nothing_is_evaluated,
    imports_are_absolute,
    modules_say_what_they_are,
    modules_stay_readable,
)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_tree_keeps_the_rule(rule: Rule) -> None:
    """No complaint about any module."""
    assert [f"{module.name}:{complaint}" for module in the_tree() for complaint in rule(module)] == []


def test_the_walk_finds_the_tree_once() -> None:
    """Every tracked folder has modules, and no module is seen through a link as well."""
    names = [module.name for module in the_tree()]
    assert {name.split("/")[0] for name in names} == set(LAYERS)
    assert "model/codec.py" in names
    assert not [name for name in names if name.startswith(tuple(f"evenhand/{layer}/" for layer in LAYERS))]


def test_allowances_are_used() -> None:
    """An allowance for a file that is gone would let the next file of that name through."""
    assert [name for name in (*WRITERS, *MAY_READ_THE_REFERENCE) if not (ROOT / name).is_file()] == []


HEAD = '"""A module."""\n__all__: list[str] = []\n'
FAULTS: tuple[tuple[Rule, str, str, str], ...] = (
    (imports_run_one_way, "model/x.py", "import evenhand.properties.verdict", "model imports evenhand.properties"),
    (imports_run_one_way, "model/x.py", "from evenhand import properties", "model imports evenhand.properties"),
    (imports_run_one_way, "model/x.py", "import evenhand", "model imports evenhand"),
    (imports_run_one_way, "properties/x.py", "from evenhand.cli import main", "properties imports evenhand.cli"),
    (imports_run_one_way, "properties/x.py", "from evenhand import verify", "properties imports evenhand"),
    (imports_run_one_way, "properties/x.py", "def f():\n    import evenhand.proofs.prove", "imports evenhand.proofs"),
    (imports_run_one_way, "proofs/x.py", "import evenhand.counterexamples.store", "imports evenhand.counterexamples"),
    (imports_run_one_way, "counterexamples/x.py", "from evenhand.proofs import prove", "imports evenhand.proofs"),
    (imports_run_one_way, "evenhand/x.py", "from model.system import System", "by its bare name"),
    (
        imports_run_one_way,
        "model/x.py",
        "import importlib\nimportlib.import_module('evenhand.properties.search')",
        "model imports evenhand.properties",
    ),
    (the_model_stands_alone, "model/cud/x.py", "import numpy.linalg", "the model imports numpy"),
    (claims_see_no_rules, "properties/cud/claims.py", "from evenhand.model.cud.kernel import REFERENCE", "are made"),
    (claims_see_no_rules, "properties/cud/claims.py", "from evenhand.model.cud import broken", "rules are made"),
    (claims_see_no_rules, "properties/cud/claims.py", "from evenhand.model.cud.faulty import ALL", "rules are made"),
    (claims_see_no_rules, "properties/cud/claims.py", "from evenhand.model.cud import REFERENCE", "are handed on"),
    (claims_see_no_rules, "properties/cud/claims.py", "def f(p):\n    return p.mutants", "`p.mutants`"),
    (claims_see_no_rules, "properties/cud.py", "import evenhand.model.cud.kernel", "rules are made"),
    (claims_see_no_rules, "properties/cud/claims.py", "def f(system):\n    return system.rules.g()", "`system.rules`"),
    (engines_write_no_files, "proofs/x.py", "open('f', 'w')", "writes files"),
    (engines_write_no_files, "proofs/x.py", "path.open(mode='ab')", "writes files"),
    (engines_write_no_files, "proofs/x.py", "path.write_text('x')", "writes files"),
    (engines_write_no_files, "properties/x.py", "with tempfile.TemporaryDirectory() as d: pass", "writes files"),
    (engines_write_no_files, "counterexamples/x.py", "os.makedirs('d')", "writes files"),
    (nothing_is_evaluated, "evenhand/x.py", "import pickle", "imports pickle"),
    (nothing_is_evaluated, "evenhand/x.py", "from marshal import loads", "imports marshal"),
    (nothing_is_evaluated, "model/x.py", "eval('1')", "calls eval"),
    (imports_are_absolute, "model/x.py", "from . import y", "a relative import"),
    (imports_are_absolute, "model/x.py", "from ..model.y import z", "a relative import"),
    (modules_stay_readable, "model/x.py", "\n" * MOST_LINES, "more than 500 lines"),
)


def planted(root: Path, name: str, source: str) -> Module:
    """A module in a small tree that has a protocol `cud` with a kernel and mutants."""
    files = {
        "model/cud/kernel.py": "class Rules: ...",
        "model/cud/broken.py": "MUTANTS = (Mutant('m'),)",
        "model/cud/faulty/one.py": "MUTANT = Mutant('m')",
        "model/cud/vocabulary.py": "",
        name: source,
    }
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(HEAD + text, "utf-8")
    return Module(root, root / name)


@pytest.mark.parametrize(("rule", "name", "source", "complaint"), FAULTS)
def test_each_rule_fires_on_its_fault(rule: Rule, name: str, source: str, complaint: str, tmp_path: Path) -> None:
    """On that module and no other of its tree, and no other rule fires there."""
    module = planted(tmp_path, name, source)
    assert [found for found in rule(module) if complaint in found] != []
    assert [other for other in modules(tmp_path) if other.name != name and list(rule(other))] == []
    assert [other.__name__ for other in RULES if other is not rule and list(other(module))] == []


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("model/x.py", "import json\nimport rfc8785\nimport evenhand.model.cud.kernel"),
        ("properties/x.py", "import evenhand.model\nfrom evenhand import model\nimport hypothesis"),
        ("properties/cud/claims.py", "from evenhand.model.cud.vocabulary import Outcome"),
        ("properties/cud/claims.py", "from evenhand.model.cud import vocabulary"),
        ("properties/search.py", "def f(system):\n    return system.rules"),
        ("counterexamples/store.py", "path.open('xb')\npath.unlink()"),
        ("evenhand/x.py", "open('f', 'w')\nimport evenhand.proofs.prove"),
        ("proofs/x.py", "open('f')\nopen('f', 'rb')\n'a'.replace('a', 'w')"),
        ("model/x.py", "\n" * (MOST_LINES - 3)),
    ],
)
def test_rules_let_honest_modules_through(name: str, source: str, tmp_path: Path) -> None:
    """What is allowed is not complained about."""
    module = planted(tmp_path, name, source)
    assert [complaint for rule in RULES for complaint in rule(module)] == []


@pytest.mark.parametrize(("text", "complaint"), [("x = 1\n", "no docstring"), ('"""Doc."""\nx = 1\n', "no __all__")])
def test_a_module_without_docstring_or_names_is_seen(text: str, complaint: str, tmp_path: Path) -> None:
    """In a package's `__init__.py` too, once it holds something."""
    for name in ("x.py", "__init__.py"):
        module = planted(tmp_path, f"model/{name}", "")
        module.path.write_text(text, "utf-8")
        assert complaint in " ".join(modules_say_what_they_are(module))
    module.path.write_text('"""Doc."""\n', "utf-8")
    assert list(modules_say_what_they_are(Module(module.root, module.path))) == []


def engines_loaded_by(program: str) -> set[str]:
    """Which engines' libraries a fresh interpreter has loaded after `program`."""
    after = f"{program}\nimport sys\nprint(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", after], cwd=ROOT, capture_output=True, text=True, check=True)
    return ENGINES & set(done.stdout.split())


def test_importing_the_model_loads_no_engine() -> None:
    """Not even through `evenhand/__init__.py`; and the look at what is loaded sees an engine that is."""
    every_model = (
        "import importlib, pkgutil, evenhand.model as m\n"
        "for found in pkgutil.walk_packages(m.__path__, 'evenhand.model.'): importlib.import_module(found.name)"
    )
    assert engines_loaded_by(every_model) == set()
    assert engines_loaded_by(f"{every_model}\nimport evenhand.properties.machine") >= {"hypothesis"}
