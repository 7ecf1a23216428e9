"""A product is begun, checked and renewed; what a person edited stays."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import plugin_context
from hermes_core.testing.contract_base import manifest_path
from hermes_distribution.form import read
from hermes_tool_distribution.commands import make_check, make_new, make_update


@pytest.fixture
def ctx(tmp_path: Path) -> PluginContext:
    return plugin_context(read_manifest(manifest_path("hermes_tool_distribution")), tmp_path / "home")


def _run(command: object, *words: str) -> str:
    done = CliRunner().invoke(command, list(words), standalone_mode=False)  # type: ignore[arg-type]  # of click
    if done.exception:
        raise done.exception
    return done.output


def test_a_product_is_begun_and_is_sound(ctx: PluginContext, tmp_path: Path) -> None:
    folder = tmp_path / "acme-desk"
    _run(make_new(ctx), "acme-desk", "--into", str(folder))
    form = read(folder / "src/acme_desk/hermes-distribution.toml")
    assert (form.brand.name, form.brand.title, form.user_plugins) == ("acme-desk", "Acme Desk", False)
    assert form.locked == {"policy.mode": "ask"}
    told = _run(make_check(ctx), str(folder / "src/acme_desk"))
    assert "locked    policy.mode = 'ask'" in told
    with pytest.raises(UserError, match="not empty"):
        _run(make_new(ctx), "acme-desk", "--into", str(folder))
    for name, more in {"Acme!": (), "hermes": (), "x": ("--title", "a`b")}.items():
        with pytest.raises(UserError, match="no distribution"):
            _run(make_new(ctx), name, "--into", str(tmp_path / "wrong"), *more)
    assert not (tmp_path / "wrong").exists()


def test_no_product_takes_the_name_of_something_that_is_there(
    ctx: PluginContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh-keys").mkdir()
    (tmp_path / "acmectl").write_text("#!/bin/sh\n")
    (tmp_path / "acmectl").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    for name, told in {
        "class": "a word of Python",
        "json": "a module json already",
        "hermes-core": "hermes is taken",
        "acmectl": "a program .*acmectl already",
        "ssh-keys": "where its home would be",
    }.items():
        with pytest.raises(UserError, match=told):
            _run(make_new(ctx), name, "--into", str(tmp_path / "wrong"))
    assert not (tmp_path / "wrong").exists()


def test_a_misspelt_lock_is_told_before_the_product_is_shipped(ctx: PluginContext, tmp_path: Path) -> None:
    file = tmp_path / "hermes-distribution.toml"
    for text, wrong in {
        "[locked]\npolicy.moode = 'ask'": "- policy.moode: no such setting; did you mean mode?",
        "[locked]\npolcy.mode = 'ask'\n[defaults]\nmodle.provider = 'x'": "- polcy: no such setting",
        "[locked]\npolicy.mode = 7": "- policy.mode: must be one of ask",
    }.items():
        file.write_text(f"name = 'acme'\n{text}")
        with pytest.raises(UserError) as error:
            _run(make_check(ctx), str(file))
        assert wrong in str(error.value)


@pytest.mark.long
def test_the_template_runs_as_it_is(ctx: PluginContext, tmp_path: Path) -> None:
    _run(make_new(ctx), "acme", "--into", str(tmp_path / "acme"), "--title", "Acme Desk")
    environ = {**os.environ, "PYTHONPATH": str(tmp_path / "acme/src"), "ACME_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-c", "from acme import main; main()"]

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*command, *words], env=environ, capture_output=True, text=True, check=False)

    done = run("-z", "hello", "--provider", "offline")
    assert (done.returncode, "Hermes" in done.stdout) == (0, False), done.stderr
    assert (tmp_path / "home/SOUL.md").read_text().startswith("You are Acme Desk.")
    assert "There is no command named 'gateway'" in run("gateway").stderr


UV = """#!{python}
import pathlib, sys
with open({log!r}, "a") as log: print(*sys.argv[1:], file=log)
if "fails" in sys.argv: sys.exit(1)
package = pathlib.Path({package!r})
file = package / "hermes-distribution.toml"
file.write_text(file.read_text().replace('"chat"', '"chat", "web"')
    .replace('"acme-*"]   #', '"acme-more"]   #'))
(package / "files/SOUL.md").write_text("new")
"""


def test_an_update_says_what_changes_and_keeps_what_was_edited(
    ctx: PluginContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from importlib.util import find_spec

    from hermes_tool_distribution import renewing

    _run(make_new(ctx), "acme", "--into", str(tmp_path / "acme"))
    source, package = tmp_path / "acme/src", tmp_path / "acme/src/acme"
    info = source / "acme-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text("[console_scripts]\nacme = acme:main\n")
    (tmp_path / "bin").mkdir()
    uv = tmp_path / "bin/uv"
    uv.write_text(UV.format(python=sys.executable, log=str(tmp_path / "log"), package=str(package)))
    uv.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.syspath_prepend(str(source))
    monkeypatch.setattr(renewing, "find_spec", lambda name: None if name == "pip" else find_spec(name))
    home = ctx.paths.home
    home.mkdir(parents=True, exist_ok=True)
    (home / "SOUL.md").write_text("mine")
    object.__setattr__(ctx, "program", "acme")

    with pytest.raises(UserError, match="names no source"):  # on the index somebody else's may be called so
        _run(make_update(ctx), "--yes")
    assert not (tmp_path / "log").exists()
    told = _run(make_update(ctx), "--yes", "--source", "git+https://git.example.org/acme.git@v2")
    first, second = (tmp_path / "log").read_text().splitlines()
    assert first.endswith("-- git+https://git.example.org/acme.git@v2")
    assert second.endswith("-- acme-more")  # what the new file names, and the old one did not
    assert "+ verbs     chat, web," in told
    assert "Kept SOUL.md" in told
    assert ((home / "SOUL.md").read_text(), (home / "SOUL.md.new").read_text()) == ("mine", "new")
    for wrong in ("git+http://x/y", "--index-url=x", "../acme", "acme; rm", "git+https://x/ --hash"):
        with pytest.raises(UserError, match="is no source"):
            _run(make_update(ctx), "acme", "--yes", f"--source={wrong}")
    with pytest.raises(UserError, match="could not be installed"):
        _run(make_update(ctx), "acme", "--yes", "--source", "fails")
    with pytest.raises(UserError, match="No product is installed here that is called nosuch"):
        _run(make_update(ctx), "nosuch")
