"""``hermes checkpoints``, as a person and as a program use it."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hermes_core.errors import UserError
from hermes_tool_checkpoints.commands import commands
from hermes_tool_checkpoints.config import Config
from hermes_tool_checkpoints.git import Job
from hermes_tool_checkpoints.notes import Notes
from hermes_tool_checkpoints.store import About, Store

Run = Callable[..., Result]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    monkeypatch.chdir(made)
    (made / "a").write_text("one\n")
    (made / "b").write_text("two\n")
    (made / ".env").write_text("KEY=1")
    return made


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "home" / "data", Config(), closed=tmp_path / "home")


@pytest.fixture
def run(store: Store, tmp_path: Path) -> Run:
    made = {c.name.split()[1]: c.build() for c in commands(store, Notes(tmp_path / "home" / "notes"))}

    def invoke(name: str, *words: str) -> Result:
        return CliRunner().invoke(made[name], words, catch_exceptions=False)

    return invoke


def take(store: Store, folder: Path) -> None:
    store.take(folder, About(tool="terminal", session="s1"), Job(60))


def plain(text: str, folder: Path) -> str:
    """Without what differs from run to run."""
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "WHEN", text).replace(str(folder), "FOLDER")


def test_the_whole_way_for_a_person(run: Run, store: Store, folder: Path, tmp_path: Path) -> None:
    assert run("list").stderr == f"There is no snapshot of {folder}.\n"
    take(store, folder)
    (folder / "a").unlink()
    (folder / "new").write_text("n\n")
    assert plain(run("list").output, folder).splitlines() == [
        "Snapshots of FOLDER, newest first, and what changed after each:",
        "     1  WHEN  before terminal  2 files changed, 1 insertion(+), 1 deletion(-) (1 file left out)",
    ]
    shown = run("show").output
    assert "Left out of it: .env (it holds secrets)" in shown
    assert "-one" in shown
    assert plain(run("restore", "1").output, folder).splitlines() == [
        "Brought back to WHEN: 1 file restored, 1 file deleted.",
        "    restored  a",
        "    deleted   new",
        "To undo this: hermes checkpoints restore 1",
    ]
    assert list((tmp_path / "home" / "notes").glob("*.json"))
    assert plain(run("restore", "2").output, folder).startswith("Nothing to do: the files are as they were at WHEN.")
    assert f"    {folder}: 3, the newest of " in run("status").output
    assert "snapshots dropped" in run("prune").output


def test_the_same_for_a_program(run: Run, store: Store, folder: Path) -> None:
    take(store, folder)
    (folder / "a").write_text("changed\n")
    (row,) = map(json.loads, run("list", "--json").output.splitlines())
    assert (row["number"], row["tool"], row["session"], row["files"], row["skipped"]) == (1, "terminal", "s1", 2, 1)
    shown = json.loads(run("show", "1", "--json").output)
    assert shown["skipped"] == {".env": "it holds secrets"}
    assert "+changed" in shown["patch"]
    done = [json.loads(line) for line in run("restore", "1", "a", "b", "--json").output.splitlines()]
    assert [d["restored"] for d in done] == [["a"], []]
    status = json.loads(run("status", "--json").output)
    assert status["enabled"] is True
    assert status["folders"][0]["folder"] == str(folder)
    assert status["folders"][0]["snapshots"] >= 1
    assert json.loads(run("prune", "--json").output)["dropped"] == 0


def test_a_folder_is_named_from_elsewhere(
    run: Run, store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(store, folder)
    (folder / "a").unlink()
    monkeypatch.chdir(folder.parent)
    assert "restored  a" in run("restore", "1", "--folder", "project").output


def test_what_is_not_there_is_said(run: Run, folder: Path) -> None:
    with pytest.raises(UserError, match="There is no snapshot of"):
        run("restore", "1")
    with pytest.raises(UserError, match="too wide"):
        run("list", "--folder", "/")
    assert run("restore", "one").exit_code == 2
    assert run("status").output.startswith("Snapshots are on.\n")
