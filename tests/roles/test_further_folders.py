"""Commands reach what others share with somebody: as it is at each step, and no longer than that."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from speaking import House

from hermes_core.kinds import Service, ToolContext, tool
from hermes_core.types import Effect, ExecRequest, Folder, Principal, Session, Speaker
from hermes_core.values import frozen

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not shutil.which("bwrap"), reason="no bwrap here"),
]


@frozen
class Typed:
    """A command."""

    command: str = ""


class Shares(Service):
    """Who has which folder, as the test says."""

    name = "shared"
    local = True

    def __init__(self) -> None:
        self.of: dict[str, list[tuple[str, bool]]] = {}

    async def run(self) -> None:
        """Nothing."""

    async def opened(self, owner: Principal) -> list[tuple[str, bool]]:
        return self.of.get(owner.person, [])


@tool(toolset="desk", effects={Effect.EXECUTE}, touches=lambda _: ())
async def shell(context: ToolContext, typed: Typed) -> str:
    """Run a command."""
    done = await context.workspace.run(ExecRequest(argv=("bash", "-c", typed.command), seconds=60.0))
    if done.online:
        context.from_outside()
    return f"{done.status} {done.output.decode()}{' (outside)' if done.online else ''}"


class Family:
    """Mia, with whom somebody shares a folder."""

    def __init__(self, hermes: Any, folder: Path) -> None:
        self.house, self.shares, self.folder = House(hermes), Shares(), folder
        hermes.tmp_plugin("hermes_backend_bubblewrap")
        hermes.tmp_plugin(self.shares, name="shares")
        hermes.tmp_plugin(shell, name="shelled")
        hermes.configure({"roles.backend": "bubblewrap", "roles.people": {"mia": "member"}})
        folder.mkdir()
        (folder / "a.txt").write_text("Their words.")

    async def types(self, command: str, place: str = "direct") -> str:
        given = f"CALL shell {json.dumps({'command': command})}"
        told, failed = await self.house.say(place, "mia", given, session="s")
        assert not failed
        return told.removeprefix("<untrusted from='shell'>\n").partition("\n</untrusted>")[0]


@pytest.fixture
def family(hermes: Any, tmp_path: Path) -> Family:
    return Family(hermes, tmp_path / "theirs")


async def test_a_share_is_there_from_the_next_step_on_and_gone_likewise(family: Family) -> None:
    folder = family.folder
    assert not (await family.types(f"cat {folder}/a.txt")).startswith("0 ")
    family.shares.of["mia"] = [(str(folder), False)]
    assert await family.types(f"cat {folder}/a.txt") == "0 Their words. (outside)"
    assert not (await family.types(f"echo x >{folder}/b.txt")).startswith("0 ")
    family.shares.of["mia"] = []
    assert not (await family.types(f"cat {folder}/a.txt")).startswith("0 ")
    assert not (folder / "b.txt").exists()


async def test_commands_write_there_until_text_from_outside_is_in_the_conversation(family: Family) -> None:
    folder = family.folder
    family.shares.of["mia"] = [(str(folder), True)]
    assert await family.types("echo hello") == "0 hello\n"
    assert (await family.types(f"echo mine >{folder}/b.txt")).startswith("0 ")
    assert (folder / "b.txt").read_text() == "mine\n"
    assert "Their words. (outside)" in await family.types(f"cat {folder}/a.txt")
    assert not (await family.types(f"echo obeyed >{folder}/c.txt")).startswith("0 ")
    assert (await family.types(f"ls {folder}")).startswith("0 "), "they still read there"
    assert not (folder / "c.txt").exists()


async def test_a_conversation_of_several_people_has_none(family: Family) -> None:
    family.shares.of["mia"] = [(str(family.folder), True)]
    guests, mia = family.house.hermes.runtime.guests, Principal(person="mia")
    own = Session(id="s", origin="room", owner=mia)
    assert await guests.further(own) == (Folder(str(family.folder), writes=True),)
    group = Session(id="t", origin="room", owner=Principal(person="room#7"), speaker=Speaker(person="mia"))
    assert await guests.further(group) == ()
