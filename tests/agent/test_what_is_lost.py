"""What no snapshot has is deleted by a person's word only, as guard and checkpoints say together."""

from pathlib import Path
from typing import Any

import pytest

from hermes_core.testing import Call
from hermes_core.types import Returned
from hermes_tool_checkpoints.config import Config
from hermes_tool_checkpoints.git import Job
from hermes_tool_checkpoints.store import Store


@pytest.fixture
def played(hermes: Any, scripted: Any, tmp_path: Path) -> Any:
    """Plays commands in a folder, with nobody to ask: for each, whether it was run."""

    async def play(folder: Path, *commands: str, **config: Any) -> list[bool]:
        for plugin in ("guard", "terminal", "checkpoints"):
            hermes.tmp_plugin(f"hermes_tool_{plugin}")
        hermes.tmp_plugin("hermes_backend_local")
        hermes.tmp_plugin(scripted(*(Call("terminal", {"command": command}) for command in commands), "Done."))
        options = {f"tools.checkpoints.{name}": value for name, value in config.items()}
        hermes.configure({"terminal.cwd": str(folder), "terminal.backend": "local", "policy.mode": "ask", **options})
        results = [event.result async for event in hermes.turn("Go.") if isinstance(event, Returned)]
        return [not result.failed for result in results]

    return play


async def test_in_a_folder_that_is_too_large_for_snapshots_what_was_there_stays(played: Any, tmp_path: Path) -> None:
    folder = tmp_path / "large"
    folder.mkdir()
    for name in ("a", "b", "c"):
        (folder / name).write_text(name)
    ran = await played(folder, "rm a", "echo x > new; rm new", "rm new b", "touch build; rm build", max_files=2)
    assert ran == [False, True, False, True]
    assert sorted(path.name for path in folder.iterdir()) == ["a", "b", "c"]


async def test_with_a_snapshot_it_goes_unasked(played: Any, tmp_path: Path) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    for name in ("a", ".env"):
        (folder / name).write_text(name)
    assert await played(folder, "rm a", "rm .env") == [True, False]
    assert [path.name for path in folder.iterdir()] == [".env"]


async def test_who_turned_snapshots_off_is_not_asked_for_want_of_them(played: Any, tmp_path: Path) -> None:
    folder = tmp_path / "off"
    folder.mkdir()
    (folder / "a").write_text("a")
    assert await played(folder, "rm a", max_files=1, enabled=False) == [True]


async def test_the_folder_of_a_session_begun_in_a_home_has_snapshots(
    played: Any, hermes: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "me"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    own = tmp_path / "home" / "workspace"
    own.mkdir(parents=True)
    (own / "notes.txt").write_text("mine")
    assert await played(home, "rm notes.txt") == [True]
    assert not (own / "notes.txt").exists()
    assert own == Path(hermes.runtime.home.root, "workspace")
    home_of_hermes = own.parent
    store = Store(home_of_hermes / "data" / "tool-checkpoints", Config(), closed=home_of_hermes)
    assert store.snapshots(own, Job(60)), "it can be brought back"
