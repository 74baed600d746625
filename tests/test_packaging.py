"""The installable forms: wheel, sdist, editable install, and a clone on a system without symbolic links.

The folders `model`, `properties`, `proofs` and `counterexamples` are installed as parts of `evenhand`, where links show
them to tools that read files.  Links are easily lost on the way, and their loss is silent (a JSON file, a hundred
doctests), so each form is built and inspected here, without a network.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PARTS = ("model", "properties", "proofs", "counterexamples")
INSTALLED = (".py", ".json", ".html", ".yaml", ".sha256", ".j2", ".css", ".js", "py.typed")
PACKAGES = ("evenhand", "evenhand_certificates")
IMPORTS = """
import importlib, json, pathlib, sys
from importlib.metadata import distribution
from importlib.resources import files
sys.dont_write_bytecode = True
for name in ("core.registry", "model", "properties", "proofs", "counterexamples"):
    importlib.import_module(f"evenhand.{name}")
schema = files("evenhand.evidence").joinpath("schema/counterexample.json").read_text("utf-8")
points = [point for point in distribution("evenhand").entry_points if point.load()]
print(json.dumps({
    "title": json.loads(schema)["title"],
    "points": sorted(f"{point.group} {point.name}" for point in points),
    "model": str(pathlib.Path(sys.modules["evenhand.model"].__file__).resolve()),
    "top": str(pathlib.Path(sys.modules["evenhand"].__file__).resolve()),
}))
"""


def run(*command: str | Path, cwd: Path) -> str:
    """Return the output of a command that must succeed, without a package index and without our code on its path."""
    hidden = {"PYTHONPATH", "PYTEST_ADDOPTS", "COVERAGE_PROCESS_START"}
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    environment |= {"PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    if "PYTHONPYCACHEPREFIX" not in environment:  # otherwise byte code is kept where it changes no tree
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def git(*arguments: str | Path, cwd: Path) -> str:
    """Run git with settings of its own."""
    settings = ("user.name=t", "user.email=t@example.org", "commit.gpgsign=false", "core.hooksPath=/dev/null")
    return run("git", *(part for setting in settings for part in ("-c", setting)), *arguments, cwd=cwd)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the repository as the next commit would have it, in a repository of its own."""
    copy = tmp_path_factory.mktemp("tree")
    for name in git("ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT).split("\0"):
        if name and os.path.lexists(ROOT / name):  # a tracked file may have been removed
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name, follow_symlinks=False)
    git("init", "--quiet", cwd=copy)
    git("add", "--all", cwd=copy)
    git("commit", "--quiet", "-m", "now", cwd=copy)
    return copy


@pytest.fixture(scope="module")
def without_links(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a clone on a system without symbolic links: each link is a file with the name of its target."""
    clone = tmp_path_factory.mktemp("clone") / "evenhand"
    git("clone", "--quiet", "-c", "core.symlinks=false", tree, clone, cwd=tree)
    for part in PARTS:
        assert (clone / "evenhand" / part).read_text() == f"../{part}"
    return clone


def build(source: Path, out: Path, kind: str) -> Path:
    """Build the wheel or sdist of a source tree."""
    run(sys.executable, "-m", "build", "--no-isolation", f"--{kind}", "--outdir", out, source, cwd=source)
    (made,) = out.iterdir()
    return made


def expected(tree: Path) -> dict[str, bytes]:
    """Return the files to install, by their path there: every module and data file of our folders."""
    found: dict[str, bytes] = {}
    for name in git("ls-files", "-z", cwd=tree).split("\0"):
        folder, _, _ = name.partition("/")
        if folder in (*PACKAGES, *PARTS) and name.endswith(INSTALLED) and not (tree / name).is_symlink():
            found[name if folder in PACKAGES else f"evenhand/{name}"] = (tree / name).read_bytes()
    assert found.keys() >= {"evenhand/py.typed", "evenhand/core/codec.py", "evenhand_certificates/check.py"}
    return found


def contents(wheel: Path) -> dict[str, bytes]:
    """Return the files that a wheel installs in our packages."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if name.split("/")[0] in PACKAGES}


def differences(one: dict[str, bytes], two: dict[str, bytes]) -> list[str]:
    """Return the paths at which two trees differ."""
    return sorted(name for name in one.keys() | two.keys() if one.get(name) != two.get(name))


def virtual_environment(folder: Path) -> Path:
    """Return the interpreter of a new environment that has our dependencies but not evenhand itself."""
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    own = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip()
    # a .pth line puts the folder on the path and does not run the .pth files in it, ours among them
    Path(own, "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", "utf-8")
    return python


def install(python: Path, *what: str | Path) -> None:
    """Run pip without an index."""
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--ignore-installed")
    run(*pip, "--no-build-isolation", *what, cwd=python.parent)


def test_a_wheel_holds_every_module_and_data_file_once(tree: Path, tmp_path: Path) -> None:
    """From a clone with links; it imports, with its command and its pytest plugin."""
    wheel = build(tree, tmp_path / "out", "wheel")
    assert differences(contents(wheel), expected(tree)) == []
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert len(names) == len(set(names))
    assert [name for name in names if name.endswith("licenses/LICENSE")] != []
    python = virtual_environment(tmp_path / "venv")
    install(python, wheel)
    seen = ast.literal_eval(run(python, "-c", IMPORTS, cwd=tmp_path))
    assert seen["title"] == "evenhand counterexample"
    assert seen["points"] == ["console_scripts evenhand", "console_scripts evenhand-check", "pytest11 evenhand"]
    assert Path(seen["model"]).is_relative_to((tmp_path / "venv").resolve())
    assert run(python.parent / "evenhand", "--help", cwd=tmp_path).strip()


def test_a_clone_without_links_builds_the_same_wheel(tree: Path, without_links: Path, tmp_path: Path) -> None:
    """Byte for byte the same installed files."""
    assert differences(contents(build(without_links, tmp_path / "out", "wheel")), expected(tree)) == []


def test_a_missing_file_would_be_seen(tree: Path, tmp_path: Path) -> None:
    """The comparison fails for a data file that the settings omit, and for a module."""
    forgetful = tmp_path / "forgetful"
    git("clone", "--quiet", tree, forgetful, cwd=tree)
    settings = forgetful / "pyproject.toml"
    text = settings.read_text("utf-8")
    assert text.count('"**/*.json"') == 1
    settings.write_text(text.replace('"**/*.json"', '"*.md"'), "utf-8")
    lost = differences(contents(build(forgetful, tmp_path / "out", "wheel")), expected(tree))
    assert "evenhand/evidence/schema/counterexample.json" in lost
    assert all(name.endswith(".json") for name in lost)


def test_an_sdist_holds_the_sources_once_and_builds_the_wheel(tree: Path, tmp_path: Path) -> None:
    """In the layout of the repository, without the links, with the tests."""
    sdist = build(tree, tmp_path / "sdist", "sdist")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
        archive.extractall(tmp_path / "unpacked", filter="data")
    assert names >= {
        "evenhand/core/codec.py",
        "tests/test_packaging.py",
        "LICENSE",
        "README.md",
        "CHANGELOG.md",
        ".ci/run",
    }
    assert [name for name in names if name.startswith(tuple(f"evenhand/{part}" for part in PARTS))] == []
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    assert differences(contents(build(unpacked, tmp_path / "wheel", "wheel")), expected(tree)) == []


@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
def test_an_editable_install_imports_the_real_folders(
    links: bool, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """From another folder and from the clone itself, with and without links."""
    source: Path = request.getfixturevalue("tree" if links else "without_links")
    python = virtual_environment(tmp_path / "venv")
    install(python, "--editable", source)
    for place in (tmp_path, source):
        seen = ast.literal_eval(run(python, "-c", IMPORTS, cwd=place))
        assert Path(seen["model"]) == (source / "model" / "__init__.py").resolve()
        assert Path(seen["top"]) == (source / "evenhand" / "__init__.py").resolve()
        assert seen["points"] == ["console_scripts evenhand", "console_scripts evenhand-check", "pytest11 evenhand"]


def test_pytest_collects_every_doctest_and_every_record() -> None:
    """Through the links; without them pytest silently finds fewer."""
    collected = run(
        sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "evenhand", cwd=ROOT
    ).splitlines()
    records = {line.removesuffix("::replay") for line in collected if line.endswith(".json::replay")}
    kept = [path.relative_to(ROOT).as_posix() for path in (ROOT / "counterexamples").glob("*/*.json")]
    assert records == {f"evenhand/{name}" for name in kept}
    doctests = {line for line in collected if ".py::evenhand." in line}
    assert len(doctests) >= len(places_with_examples()) >= 1


def places_with_examples() -> list[str]:
    """Return the modules of the real folders with an example in some docstring, read without importing them."""
    sources = [path for folder in ("evenhand", *PARTS) for path in sorted((ROOT / folder).rglob("*.py"))]
    return [str(path) for path in sources if not path.parent.is_symlink() and _shows_an_example(path)]


def _shows_an_example(path: Path) -> bool:
    tree = ast.parse(path.read_text("utf-8"))
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return any(isinstance(text, str) and re.search(r"^\s*>>> ", text, re.MULTILINE) for text in texts)
