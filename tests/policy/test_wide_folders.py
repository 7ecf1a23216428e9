"""A home, and what holds homes, is no workspace: the session works in a folder of Hermes' own, and deletes nothing."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from hermes_core.closed import wide
from hermes_core.testing import Call
from hermes_core.types import Returned


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A person's home, not below a folder for temporary files."""
    with TemporaryDirectory(dir=Path(__file__).parents[2], prefix=".home-") as folder:
        monkeypatch.setenv("HOME", folder)
        yield Path(folder)


@pytest.mark.parametrize(
    "folder", ["/", "/tmp", "/var/tmp", "/home", "/home/somebody", "/mnt/disk", "/media/x", "/usr", "/etc", "/root"]
)
def test_what_is_wide(folder: str) -> None:
    assert wide(folder)


@pytest.mark.parametrize("folder", ["/tmp/x", "/srv/shop", "/app", "/work", "/workspace", "/home/me/shop", "/mnt/d/x"])
def test_what_is_not(folder: str) -> None:
    assert not wide(folder)


def test_the_home_what_holds_it_and_what_leads_to_it(home: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(home)
    assert [wide(str(one)) for one in (home, home.parent, tmp_path / "link", home / "x")] == [True, True, True, False]


async def test_a_session_in_a_home_works_in_a_folder_of_its_own(hermes: Any, scripted: Any, home: Path) -> None:
    hermes.tmp_plugin(scripted("Hello."))
    hermes.configure({"terminal.cwd": str(home)})
    await hermes.run("Hi.", session="s")
    own = Path(hermes.runtime.home.root, "workspace")
    session = await (await hermes.runtime.store()).sessions.get("s", hermes.runtime.owner)
    assert session.cwd == str(own)
    assert own.stat().st_mode & 0o777 == 0o700


async def test_a_session_of_before_that_worked_in_a_home_does_no_more(
    hermes: Any, scripted: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hermes.tmp_plugin(scripted("Hello."))
    project = home / "project"
    project.mkdir()
    hermes.configure({"terminal.cwd": str(project)})
    await hermes.run("Hi.", session="s")
    await hermes.runtime.sessions.close()
    monkeypatch.setenv("HOME", str(project))
    state = await hermes.runtime.sessions.take("s", "embed", hermes.runtime.owner)
    assert state.session.cwd == str(hermes.runtime.home.root / "workspace")


@pytest.mark.parametrize("wall", ["auto", "none"])
async def test_no_order_deletes_what_lies_in_the_home(hermes: Any, scripted: Any, home: Path, wall: str) -> None:
    (home / "Documents").mkdir()
    for plugin in ("hermes_tool_guard", "hermes_tool_terminal", "hermes_backend_local"):
        hermes.tmp_plugin(plugin)
    hermes.tmp_plugin(scripted(Call("terminal", {"command": "rm -rf ~/Documents; rm -rf *"}), "Done."))
    hermes.configure({"terminal.cwd": str(home), "terminal.backend": "local", "backends.local.wall": wall})
    [result] = [event.result async for event in hermes.turn("Go.") if isinstance(event, Returned)]
    assert result.failed or wall == "auto"  # behind it another home is what ~ means
    assert (home / "Documents").is_dir()
