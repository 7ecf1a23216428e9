"""A real sandbox, for everything that is marked ``real``."""

import os
import shutil
from pathlib import Path

import pytest

from hermes_backend_bubblewrap.backend import Bubblewrap
from hermes_backend_bubblewrap.config import Config
from hermes_core.types import ExecRequest


@pytest.fixture(scope="session", autouse=True)
def _bwrap(request):
    if shutil.which("bwrap") or not any(item.get_closest_marker("real") for item in request.session.items):
        return
    if os.environ.get("CI"):
        pytest.fail("bwrap is missing; install bubblewrap. In CI nothing real is skipped.")
    pytest.skip("bwrap is missing (apt install bubblewrap)")


class Box:
    """A workspace, the machine around it, and short ways to try things."""

    def __init__(self, workspace, folder: Path, home: Path) -> None:
        self.workspace = workspace
        self.folder = folder
        self.home = home

    async def run(self, *argv, **options):
        return await self.workspace.run(ExecRequest(argv=argv, **{"seconds": 60.0, **options}))

    async def bash(self, script, **options):
        return await self.run("bash", "-c", script, **options)

    async def python(self, script, **options):
        return await self.run("python3", "-c", script, **options)


@pytest.fixture
async def make(tmp_path, monkeypatch):
    """Opens boxes with the settings asked for; closes them in the end."""
    opened = []
    person = tmp_path / "person"
    for name, text in (
        (".ssh/id_ed25519", "PRIVATE-4c1f9"),
        (".aws/credentials", "PRIVATE-4c1f9"),
        (".hermes/.env", "PRIVATE-4c1f9"),
    ):
        (person / name).parent.mkdir(parents=True, exist_ok=True)
        (person / name).write_text(text)
    monkeypatch.setenv("HOME", str(person))

    async def make(name="work", **settings):
        folder = person / name
        folder.mkdir(exist_ok=True)
        backend = Bubblewrap(Config(**{"tmp_mb": 32, **settings}), person / ".hermes")
        opened.append(await backend.open(str(folder)))
        return Box(opened[-1], folder, person)

    yield make
    for workspace in opened:
        await workspace.close()


@pytest.fixture
async def box(make):
    """The sandbox as it is without settings."""
    return await make()
