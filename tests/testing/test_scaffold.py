"""``hermes plugins new`` writes a package that stands on its own feet."""

import os
import subprocess
import sys
import tomllib

import pytest

from hermes_core.errors import UnknownName, UserError
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import new_plugin

# An author of plugins has none of the plugins of pytest that are left out; to load them takes longer than the tests.
LEFT_OUT = ("cacheprovider", "schemathesis", "hypothesispytest", "textual-snapshot", "syrupy", "xdist")
KINDS = ("provider", "tool", "backend", "platform", "memory", "hooks", "routes", "service", "setup", "command", "slash")


def _named(kind):
    return kind if kind in KINDS[:5] else "tool"


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_a_new_plugin_passes_its_tests_at_once(kind, tmp_path):
    new_plugin(kind, "my-thing", tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *(f"-pno:{name}" for name in LEFT_OUT)],
        cwd=tmp_path / f"hermes-{_named(kind)}-my-thing",
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_plugin_is_a_whole_package(kind, tmp_path):
    files = new_plugin(kind, "my-thing", tmp_path)
    folder, module = tmp_path / f"hermes-{_named(kind)}-my-thing", f"hermes_{_named(kind)}_my_thing"
    assert {str(f.relative_to(folder)) for f in files} == {
        ".gitignore",
        "README.md",
        "pyproject.toml",
        "quality.yaml",
        f"src/{module}/__init__.py",
        f"src/{module}/hermes-plugin.toml",
        f"src/{module}/py.typed",
        "tests/test_my_thing.py",
        "tests/test_my_thing_contract.py",
    }
    manifest = read_manifest(folder / "src" / module / "hermes-plugin.toml")
    assert manifest.label == f"{_named(kind)}/my-thing"
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["hermes.plugins"] == {"my-thing": module}
    assert not [f for f in files if "$" in f.read_text().replace("$ ", "")], "a word was not filled in"


@pytest.mark.parametrize(("kind", "name"), [("memory", "memory"), ("platform", "line"), ("tool", "class")])
def test_a_name_that_is_taken_in_the_code_makes_code_that_works(kind, name, tmp_path):
    new_plugin(kind, name, tmp_path)
    module = tmp_path / f"hermes-{kind}-{name}" / "src" / f"hermes_{kind}_{name}" / "__init__.py"
    subprocess.run([sys.executable, str(module)], check=True)


@pytest.mark.parametrize("name", ["", "My", "my_thing", "-a", "a-", "a--b", "1a", "a b", "../a", "a/b", "ä", "a" * 41])
def test_a_bad_name_is_refused(name, tmp_path):
    with pytest.raises(UserError, match="lower-case"):
        new_plugin("tool", name, tmp_path)
    assert not list(tmp_path.iterdir())


def test_every_kind_there_is_is_told_of(tmp_path):
    from hermes_core.testing.scaffold import KINDS as there
    from hermes_tool_authoring.commands import make_new

    assert set(there) == set(KINDS)
    assert all(kind in (make_new().help or "") for kind in there)


def test_an_unknown_kind_is_refused_with_the_nearest(tmp_path):
    with pytest.raises(UnknownName, match="platform"):
        new_plugin("platfrom", "mine", tmp_path)


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "hermes-tool-mine").mkdir()
    (tmp_path / "hermes-tool-mine" / "README.md").write_text("mine")
    with pytest.raises(UserError, match="there already"):
        new_plugin("tool", "mine", tmp_path)
    assert (tmp_path / "hermes-tool-mine" / "README.md").read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_place_that_cannot_be_written_is_said_plainly(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be written"):
        new_plugin("tool", "mine", tmp_path / "file")
