"""The architecture, enforced: allowed imports, modules that write files, required parts of every module.

Each rule is a function from a parsed module to complaints.  The tree must have none, and every rule is shown to fire on
a fault planted in a tree of its own.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import grimp  # pyright: ignore[reportMissingTypeStubs]
import networkx as nx
import pytest

ROOT = Path(__file__).parents[1]
CONTENT = ("model", "properties", "proofs", "counterexamples")
FOLDERS = ("evenhand", *CONTENT)
ENGINES = {"cvc5", "hypothesis", "msgspec", "networkx", "numpy", "rich", "scipy", "typer", "z3"}
ENGINE_FOLDERS = ("core", "processes", "evidence", "search", "machine", "smt", "variants")
WRITERS = {
    "evenhand/core/files.py",
    "evenhand/evidence/store.py",
    "evenhand/search/spilling.py",
}
"""The modules of content and engines that may write files: the store, and the disk of a search, when requested.

`core/files.py` only reads; it opens with `os.open`, because `open` would wait for the writer of a FIFO.
"""

MAY_READ_THE_REFERENCE: dict[str, set[str]] = {}
"""The modules of claims that may read the reference.

Claims use vocabulary, never rules or mutants, because a mutant would otherwise be judged by its own rules. The kernel
classifier compares a kernel's behaviour with the reference's, so it calls the reference.
"""

MOST_LINES = 500
MOST_LINES_OF_A_FUNCTION = 60


@dataclass(frozen=True)
class Module:
    """One source file of the tree at `root`."""

    root: Path
    path: Path

    @property
    def name(self) -> str:
        """Return the path from the root."""
        return self.path.relative_to(self.root).as_posix()

    @property
    def layer(self) -> str:
        """Return the top-level folder."""
        return self.name.split("/")[0]

    @cached_property
    def text(self) -> str:
        """Return the source."""
        return self.path.read_text("utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        """Return the source, parsed."""
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Return every node of the tree."""
        return list(ast.walk(self.tree))

    @property
    def imports(self) -> Iterator[tuple[int, str]]:
        """Return line and dotted name of every import, anywhere in the file; `from a import b` gives a and a.b."""
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
    """Yield the modules of the five real folders; the links within `evenhand` show the other four again."""
    found: list[Module] = []
    for layer in FOLDERS:
        links = [root / layer / other for other in CONTENT if layer == "evenhand"]
        paths = (path for path in (root / layer).rglob("*.py") if not any(path.is_relative_to(link) for link in links))
        found += [Module(root, path) for path in sorted(paths)]
    return found


@cache
def the_tree() -> tuple[Module, ...]:
    """Return the modules of this repository, each parsed once for all rules."""
    return tuple(modules(ROOT))


def _called(call: ast.Call) -> str:
    """Return the dotted name of the called function if it is written as one; `…` stands for parts that are no names."""
    parts: list[str] = []
    place = call.func
    while isinstance(place, ast.Attribute):
        parts.append(place.attr)
        place = place.value
    parts.append(place.id if isinstance(place, ast.Name) else "…")
    return ".".join(reversed(parts))


def names_are_whole(module: Module) -> Iterator[str]:
    """A bare `import model` would make second copies of every class; our code never imports `evenhand` as a whole."""
    for line, name in module.imports:
        if name.split(".")[0] in CONTENT:
            yield f"{line}: imports {name} by its bare name"


def _is_adapter(module: Module) -> bool:
    """Return whether a module is an implementation behind the interface of a kernel: `model/PROTOCOL/adapter`."""
    return module.name.removesuffix(".py").split("/")[2:3] == ["adapter"]


def the_model_stands_alone(module: Module) -> Iterator[str]:
    """The model imports the standard library and the core, which adds canonical JSON."""
    known = sys.stdlib_module_names | {"evenhand"}
    for line, name in module.imports:
        if module.layer == "model" and name.split(".")[0] not in known and not _is_adapter(module):
            yield f"{line}: the model imports {name}"


def claims_see_no_rules(module: Module) -> Iterator[str]:
    """Modules of `properties` about a protocol import no module of it that defines rules or makes mutants."""
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
    """Return whether a module (or folder) of the model defines a class `Rules` or makes a `Mutant`."""
    place = root.joinpath(*name.split(".")[1:])
    paths = [path for path in (place.with_suffix(".py"), *place.glob("*.py")) if path.is_file()]
    if place.parent.name == "model":  # the package of a protocol as a whole: its own file only
        paths = [path for path in paths if path.name == "__init__.py"]
    nodes = [node for path in paths for node in ast.walk(Module(root, path).tree)]
    defines = any(isinstance(node, ast.ClassDef) and node.name == "Rules" for node in nodes)
    return defines or any(isinstance(node, ast.Call) and _called(node) == "Mutant" for node in nodes)


def engines_write_no_files(module: Module) -> Iterator[str]:
    """Engines return values; disk access belongs to the layers above them and to the store."""
    parts = module.name.split("/")
    above = module.layer == "evenhand" and parts[1] not in ENGINE_FOLDERS
    if above or module.name in WRITERS or _is_adapter(module):
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
        null = bool(call.args) and ast.unparse(call.args[0]) == "os.devnull"
        return (name == "os.open" and not null) or any(len(text) <= 3 and set(text) & set("wax+") for text in texts)
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
    """Text never becomes code, and no file becomes objects by itself."""
    imported = list(module.imports)
    for line, name in imported:
        only_writes = name == "marshal" and {n for at, n in imported if at == line} == {"marshal", "marshal.dumps"}
        if (
            name.split(".")[0] in {"dill", "marshal", "pickle", "shelve"}
            and name != "marshal.dumps"
            and not only_writes
        ):
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
    """Every module has a docstring."""
    if not ast.get_docstring(module.tree):
        yield "1: has no docstring"


def modules_stay_readable(module: Module) -> Iterator[str]:
    """A module has one idea, and is short enough to read in one go."""
    lines = module.text.count("\n")
    if lines > MOST_LINES:
        yield f"{lines}: more than {MOST_LINES} lines"


def functions_stay_readable(module: Module) -> Iterator[str]:
    """No function is longer than a screen; the signature and the help of a command do not count."""
    for node in module.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            whole = node.body[1:] or node.body if module.name.startswith("evenhand/cli/") else [node]
            lines = (node.end_lineno or 0) - whole[0].lineno + 1
            if lines > MOST_LINES_OF_A_FUNCTION:
                yield f"{node.lineno}: `{node.name}` has {lines} lines"


Rule = Callable[[Module], Iterator[str]]
RULES: tuple[Rule, ...] = (
    names_are_whole,
    the_model_stands_alone,
    claims_see_no_rules,
    engines_write_no_files,
    nothing_is_evaluated,
    imports_are_absolute,
    modules_say_what_they_are,
    modules_stay_readable,
    functions_stay_readable,
)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_tree_keeps_the_rule(rule: Rule) -> None:
    """There is no complaint about any module."""
    assert [f"{module.name}:{complaint}" for module in the_tree() for complaint in rule(module)] == []


def test_the_walk_finds_the_tree_once() -> None:
    """Every tracked folder has modules, and no module is found through a link as well."""
    names = [module.name for module in the_tree()]
    assert {name.split("/")[0] for name in names} == set(FOLDERS)
    assert "evenhand/core/codec.py" in names
    assert not [name for name in names if name.startswith(tuple(f"evenhand/{layer}/" for layer in CONTENT))]


def test_allowances_are_used() -> None:
    """An allowance for a deleted file would apply to the next file of that name."""
    assert [name for name in (*WRITERS, *MAY_READ_THE_REFERENCE) if not (ROOT / name).is_file()] == []


HEAD = '"""A module."""\n'
FAULTS: tuple[tuple[Rule, str, str, str], ...] = (
    (names_are_whole, "evenhand/x.py", "from model.cud.kernel import Rules", "by its bare name"),
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
    (engines_write_no_files, "evenhand/search/x.py", "os.makedirs('d')", "writes files"),
    (engines_write_no_files, "evenhand/search/x.py", "os.open(os.path.devnull + 'x', os.O_RDWR)", "writes files"),
    (nothing_is_evaluated, "evenhand/x.py", "import pickle", "imports pickle"),
    (nothing_is_evaluated, "evenhand/x.py", "from marshal import loads", "imports marshal"),
    (nothing_is_evaluated, "model/x.py", "eval('1')", "calls eval"),
    (imports_are_absolute, "model/x.py", "from . import y", "a relative import"),
    (imports_are_absolute, "model/x.py", "from ..model.y import z", "a relative import"),
    (modules_stay_readable, "model/x.py", "\n" * MOST_LINES, "more than 500 lines"),
    (functions_stay_readable, "model/x.py", "def f():\n" + "    f()\n" * 60, "`f` has 61 lines"),
    (functions_stay_readable, "evenhand/cli/x.py", "def f():\n    'f'\n" + "    f()\n" * 61, "`f` has 61 lines"),
)


def planted(root: Path, name: str, source: str) -> Module:
    """Return a module in a small tree that has a protocol `cud` with a kernel and mutants."""
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
        ("model/x.py", "import json\nimport evenhand.model.cud.kernel"),
        ("properties/x.py", "import evenhand.model\nfrom evenhand import model\nimport hypothesis"),
        ("properties/cud/claims.py", "from evenhand.model.cud.vocabulary import Outcome"),
        ("properties/cud/claims.py", "from evenhand.model.cud import vocabulary"),
        ("properties/search.py", "def f(system):\n    return system.rules"),
        ("evenhand/evidence/store.py", "path.open('xb')\npath.unlink()"),
        ("model/cud/adapter.py", "import numpy\nopen('f', 'w')"),
        ("evenhand/core/x.py", "from marshal import dumps"),
        ("evenhand/jobs/x.py", "open('f', 'w')\nimport evenhand.smt.prove"),
        ("proofs/x.py", "open('f')\nopen('f', 'rb')\n'a'.replace('a', 'w')"),
        ("model/x.py", "\n" * (MOST_LINES - 3)),
        ("model/x.py", "def f():\n" + "    f()\n" * 59),
        ("evenhand/cli/x.py", "def f():\n    'f'\n" + "    f()\n" * 60),
    ],
)
def test_rules_let_honest_modules_through(name: str, source: str, tmp_path: Path) -> None:
    """Allowed code gives no complaint."""
    module = planted(tmp_path, name, source)
    assert [complaint for rule in RULES for complaint in rule(module)] == []


def test_a_module_without_docstring_is_seen(tmp_path: Path) -> None:
    """In a package's `__init__.py` too."""
    for name in ("x.py", "__init__.py"):
        module = planted(tmp_path, f"model/{name}", "")
        module.path.write_text("x = 1\n", "utf-8")
        assert list(modules_say_what_they_are(Module(module.root, module.path))) == ["1: has no docstring"]
    module.path.write_text('"""Doc."""\n', "utf-8")
    assert list(modules_say_what_they_are(Module(module.root, module.path))) == []


def engines_loaded_by(program: str) -> set[str]:
    """Return the engines' libraries that a fresh interpreter has loaded after `program`."""
    after = f"{program}\nimport sys\nprint(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", after], cwd=ROOT, capture_output=True, text=True, check=True)
    return ENGINES & set(done.stdout.split())


def test_importing_the_model_loads_no_engine() -> None:
    """Not even through `evenhand/__init__.py`; and the check notices an engine that is loaded."""
    every_model = (
        "import importlib, pkgutil, evenhand.model as m\n"
        "for found in pkgutil.walk_packages(m.__path__, 'evenhand.model.'): importlib.import_module(found.name)"
    )
    assert engines_loaded_by(every_model) == set()
    assert engines_loaded_by(f"{every_model}\nimport evenhand.machine") >= {"hypothesis"}


def linted(root: Path) -> subprocess.CompletedProcess[str]:
    """Run the contracts of import-linter, on the tree at `root`."""
    program = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    command = [sys.executable, "-c", program, "--no-logo", "--no-cache"]
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, env=environment)


def test_imports_keep_the_contracts() -> None:
    """The layers and their exceptions are in pyproject.toml."""
    done = linted(ROOT)
    assert done.returncode == 0, done.stdout


def test_no_module_leads_back_to_itself() -> None:
    """Imports for types count as well."""
    graph = grimp.build_graph("evenhand", cache_dir=None)
    imports = nx.DiGraph((a, b) for a in graph.modules for b in graph.find_modules_directly_imported_by(a))
    assert imports.number_of_nodes() > 500
    assert [sorted(circle) for circle in nx.strongly_connected_components(imports) if len(circle) > 1] == []


def imports_inside_functions(folder: Path) -> list[str]:
    """Return the imports inside functions: of an optional extra, or of modules that only some systems need."""
    found: list[str] = []
    for module in modules(folder):
        functions = [node for node in module.nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        inside = [node for function in functions for node in ast.walk(function)]
        inner = {node.lineno for node in inside if isinstance(node, ast.Import | ast.ImportFrom)}
        found += [f"{module.name}:{line}" for line in sorted(inner)]
    return found


@pytest.mark.slow
def test_few_imports_hide_in_functions(tmp_path: Path) -> None:
    """A hidden import hides a dependency from readers of a module's head."""
    assert len(imports_inside_functions(ROOT)) < 20, imports_inside_functions(ROOT)
    planted(tmp_path, "model/x.py", "def f():\n    from evenhand.core import text\n    return text")
    assert imports_inside_functions(tmp_path) == ["model/x.py:3"]


UPWARD = {
    "evenhand/core/trace.py": "import evenhand.report.text",
    "evenhand/search/errors.py": "def late() -> None:\n    import evenhand.model.cud",
    "model/cud/kernel.py": "import evenhand.model.apcm",
    "model/apcm/kernel.py": "import evenhand.search",
    "properties/cud/claims.py": "import evenhand.proofs.cud",
    "properties/apcm/claims.py": "import evenhand.properties.cud",
    "proofs/cud/theory.py": "import evenhand.jobs.plan",
    "proofs/apcm/theory.py": "import evenhand.proofs.cud",
}
"""Planted imports, in modules of a copied tree; each breaks another contract."""


def test_an_upward_import_is_seen(tmp_path: Path) -> None:
    """An import planted for each contract breaks it, and the message names the module."""
    for folder in FOLDERS:
        shutil.copytree(
            ROOT / folder, tmp_path / folder, symlinks=True, ignore=shutil.ignore_patterns("*.json", "*.pyc")
        )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for name, planted_import in UPWARD.items():
        path = tmp_path / name
        text = path.read_text("utf-8") if path.exists() else '"""Planted."""\n'
        path.write_text(f"{text}\n\n{planted_import}\n", "utf-8")
    done = linted(tmp_path)
    assert done.returncode == 1
    kept = [line for line in done.stdout.splitlines() if line.endswith(" KEPT")]
    assert kept == [], done.stdout
    for name in UPWARD:
        dotted = name.removesuffix(".py").replace("/", ".")
        assert (dotted if dotted.startswith("evenhand.") else f"evenhand.{dotted}") in done.stdout
