"""``hermes trust``, and what a person is told of a folder."""

from pathlib import Path
from typing import Any

import pytest

from hermes_core.errors import UserError
from hermes_core.testing import Call
from hermes_core.types import Noticed


@pytest.fixture
def project(hermes: Any) -> Path:
    hermes.tmp_plugin("hermes_tool_provenance")
    folder = Path(hermes.workspace.folder)
    hermes.configure({"terminal.cwd": str(folder)})
    return folder


async def test_add_list_forget(hermes: Any, project: Path) -> None:
    (project / "AGENTS.md").write_text("Notes.")
    said = await hermes.command("trust add", str(project))
    assert said == f"{project} is known. Followed from now on, in new sessions: AGENTS.md.\n"
    assert f"{project}  (a person)" in await hermes.command("trust list")
    assert '"known": true' in await hermes.command("trust list", "--json")
    assert await hermes.command("trust forget", str(project)) == f"{project} is not known any more.\n"
    assert await hermes.command("trust list") == ""
    with pytest.raises(UserError, match="Nothing was said of"):
        await hermes.command("trust forget", str(project))


@pytest.mark.parametrize("folder", ["/", "/tmp", "/home", "~", "/usr"])
async def test_what_is_too_wide_cannot_be_known(hermes: Any, project: Path, folder: str) -> None:
    with pytest.raises(UserError, match="too wide"):
        await hermes.command("trust add", folder)


async def test_what_is_not_there_cannot_be_known(hermes: Any, project: Path) -> None:
    with pytest.raises(UserError, match="There is no"):
        await hermes.command("trust add", str(project / "none"))


async def test_a_file_may_be_ones_own(hermes: Any, project: Path) -> None:
    (project / "a.txt").write_text("x")
    assert await hermes.command("trust add", str(project / "a.txt")) == f"{project / 'a.txt'} is your own.\n"


async def test_a_person_is_told_of_a_folder_that_is_not_known(hermes: Any, scripted: Any, project: Path) -> None:
    hermes.tmp_plugin(scripted("Hello.", "Hello."))
    (project / "CLAUDE.md").write_text("Notes.")
    told = [event.text async for event in hermes.turn("Hi.", session="a") if isinstance(event, Noticed)]
    assert "\n".join(told) == (
        f"{project} is not known. CLAUDE.md is not followed, and what is read here counts as text from outside. "
        "If it is yours: hermes trust add"
    )
    await hermes.command("trust add", str(project))
    assert [event async for event in hermes.turn("Hi.", session="b") if isinstance(event, Noticed)] == []


async def test_a_twin_of_a_call_is_marked_too(hermes: Any, scripted: Any, project: Path) -> None:
    hermes.tmp_plugin("hermes_tool_files")
    (project / "a.txt").write_text("x")
    read = Call("read_file", {"path": "a.txt"})
    hermes.tmp_plugin(scripted([read, read], "Done."))
    results = [event.result async for event in hermes.turn("Go.") if hasattr(event, "result")]
    assert [result.untrusted for result in results] == [True, True]


async def test_of_a_large_folder_only_what_is_near_is_looked_at_before_a_turn(
    hermes: Any, scripted: Any, project: Path
) -> None:
    hermes.tmp_plugin(scripted("Hello."))
    for number in range(200):
        (project / f"part{number:03}").mkdir()
        (project / f"part{number:03}" / "AGENTS.md").write_text("Notes.")
    far = project / "part199" / "inner"
    far.mkdir()
    (far / "AGENTS.md").write_text("Notes.")
    (told,) = [event.text async for event in hermes.turn("Hi.", session="a") if isinstance(event, Noticed)]
    assert "part000/AGENTS.md, " in told
    assert "part004/AGENTS.md and more are not followed" in told
    assert "and 196 more" in await hermes.command("trust add", str(project))
