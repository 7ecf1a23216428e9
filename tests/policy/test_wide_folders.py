"""A home, and what holds homes, is no workspace: the session works in a folder of Hermes' own, and deletes nothing."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from hermes_closed.closed import wide
from hermes_core.testing import Call
from hermes_core.types import Returned

WORKED_IN = (
    *("/tmp/x", "/srv/shop", "/app", "/work", "/workspace", "/home/me/shop", "/mnt/d/x", "/usr/src/app", "/opt/shop"),
    *("/run/user/1000/x", "/mnt/c/Users/me/shop", "/usr/local/src/x", "/var/www/shop", "/library/x"),
)


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A person's home, not below a folder for temporary files."""
    with TemporaryDirectory(dir=Path(__file__).parents[2], prefix=".home-") as folder:
        monkeypatch.setenv("HOME", folder)
        yield Path(folder)


@pytest.mark.parametrize(
    "folder",
    [
        *("/run/user", "/run/user/1000", "/proc/self", "/sys/x", "/boot/efi", "/mnt/c/Users", "/mnt/c/Users/me"),
        *("/", "/tmp", "/var/tmp", "/home", "/home/somebody", "/mnt/disk", "/media/x", "/usr", "/etc", "/root", "/srv"),
        *(
            "/etc/nginx",
            "/etc/nginx/sites",
            "/var/lib",
            "/var/lib/docker",
            "/var/log",
            "/usr/lib/python3",
            "/usr/local",
        ),
        *("/usr/src", "/lib64", "/boot", "/private/etc/ssh"),
    ],
)
def test_what_is_wide(folder: str) -> None:
    assert wide(folder)


@pytest.mark.parametrize("folder", WORKED_IN)
def test_what_is_not(folder: str) -> None:
    assert not wide(folder)


@pytest.mark.parametrize(
    ("name", "is_wide"),
    [
        *((name, True) for name in (".ssh", ".ssh/keys", ".gnupg", ".aws", ".kube/cache", ".config", ".config/gh")),
        *((name, True) for name in (".local", ".local/share", ".local/share/keyrings", ".cache")),
        *((name, False) for name in (".config/nvim", ".local/share/chezmoi", "src/.ssh", "ssh", "etc/nginx")),
    ],
)
def test_keys_of_a_person_are_no_project(home: Path, name: str, is_wide: bool) -> None:
    assert wide(str(home / name)) is is_wide


def test_a_home_in_a_folder_of_the_system_has_projects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/var/lib/builder")
    assert [wide(f"/var/lib/{one}") for one in ("builder", "builder/jobs/x", "other")] == [True, False, True]


def test_the_home_what_holds_it_and_what_leads_to_it(home: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(home)
    assert [wide(str(one)) for one in (home, home.parent, tmp_path / "link", home / "x")] == [True, True, True, False]


@pytest.mark.parametrize("said", ["HOME", "~", "~/", "~/."])
async def test_a_session_in_a_home_works_in_a_folder_of_its_own(
    hermes: Any, scripted: Any, home: Path, said: str
) -> None:
    hermes.tmp_plugin(scripted("Hello."))
    hermes.configure({"terminal.cwd": said.replace("HOME", str(home))})
    await hermes.run("Hi.", session="s")
    own = Path(hermes.runtime.home.root, "workspace")
    session = await (await hermes.runtime.store()).sessions.get("s", hermes.runtime.owner)
    assert session.cwd == str(own)
    assert own.stat().st_mode & 0o777 == 0o700


async def test_a_folder_in_a_home_is_meant_by_its_short_name(hermes: Any, scripted: Any, home: Path) -> None:
    """So that it is the same folder as that which a person said is known."""
    hermes.tmp_plugin(scripted("Hello."))
    (home / "project").mkdir()
    hermes.configure({"terminal.cwd": "~/project"})
    await hermes.run("Hi.", session="s")
    session = await (await hermes.runtime.store()).sessions.get("s", hermes.runtime.owner)
    assert session.cwd == str(home / "project")


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
