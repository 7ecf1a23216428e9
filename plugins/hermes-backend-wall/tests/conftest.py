"""Walls of both kinds around real folders."""

import shutil
import sys
from pathlib import Path

import pytest

from hermes_backend_wall import landlock
from hermes_backend_wall.plan import Plan

sys.path.insert(0, str(Path(__file__).parent))  # for seatbelt_judge; pytest does not do it in this import mode
KINDS = ("landlock", "bubblewrap")


@pytest.fixture(params=KINDS)
def kind(request):
    """A wall; skipped where this machine cannot make it."""
    if request.param == "landlock" and not landlock.version():
        pytest.skip("no Landlock here")
    if request.param == "bubblewrap" and not shutil.which("bwrap"):
        pytest.skip("no bwrap here")
    return request.param


@pytest.fixture
def person(tmp_path, monkeypatch):
    """The home of a person, with keys."""
    home = tmp_path / "person"
    for name in (".ssh/id_ed25519", ".hermes/.env", "Documents/letter.txt"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("PRIVATE-4c1f9")
    (home / ".gitconfig").write_text(
        '[user]\n\tname = Ann \\"A\\" B\n\temail = ann@example.org\n[alias]\n\tst = status\n\tx = !sh evil.sh\n'
        "[core]\n\thooksPath = /evil\n\tautocrlf = input\n[credential]\n\thelper = store\n"
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{sys.base_prefix}/bin:/usr/local/bin:/usr/bin:/bin")
    return home


@pytest.fixture
def plan(kind, person, tmp_path):
    """What the walls of a test are made of."""
    return Plan(kind=kind, homes=tmp_path / "homes", hidden=(person / ".hermes",))


@pytest.fixture
def folder(person) -> Path:
    """A project in the person's home."""
    made = person / "code" / "project"
    made.mkdir(parents=True)
    return made


@pytest.fixture
async def here(folder, plan):
    """Its workspace, as the backend local opens it."""
    from hermes_backend_local.workspace import Here
    from hermes_backend_wall.walled import Walled

    place = Here(str(folder), walled=Walled(str(folder), plan))
    yield place
    await place.close()


@pytest.fixture
def bash(here):
    """Runs a script; its status and output."""
    from hermes_core.types import ExecRequest

    async def run(script, **options):
        result = await here.run(ExecRequest(argv=("bash", "-c", script), **{"seconds": 50.0, **options}))
        return result.status, result.output.decode(errors="replace")

    return run
