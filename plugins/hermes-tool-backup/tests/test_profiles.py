"""Several homes side by side: made, chosen, deleted; and what may not be."""

from pathlib import Path

import pytest

from hermes_core.errors import UnknownName, UserError
from hermes_core.testing import Bench


@pytest.fixture
def home(hermes: Bench) -> Path:
    hermes.tmp_plugin("hermes_tool_backup")
    home = Path(hermes.runtime.home.root)
    home.mkdir(parents=True, exist_ok=True)
    return home


async def listed(hermes: Bench) -> list[list[str]]:
    return [line.split()[:2] for line in (await hermes.command("profile list")).splitlines()[1:]]


@pytest.mark.parametrize("name", ["..", "a/b", "A", "", " ", "-x", "a" * 65, "é", ".hidden", "default"])
async def test_names_that_could_leave_the_folder_are_refused(hermes, home, name) -> None:
    with pytest.raises(UserError, match="cannot be a profile's name"):
        await hermes.command("profile create", "--", name)
    assert not (home / "profiles").exists()


async def test_profiles_are_made_chosen_and_deleted(hermes, home) -> None:
    await hermes.command("profile create", "work")
    assert (home / "profiles" / "work").stat().st_mode & 0o777 == 0o700
    await hermes.command("profile use", "work")
    assert (home / "active_profile").read_text() == "work\n"
    assert [line[0] for line in await listed(hermes)] == ["default", "work"]
    assert ["work", "*"] in await listed(hermes)
    with pytest.raises(UserError, match="there already"):
        await hermes.command("profile create", "work")
    await hermes.command("profile delete", "work", "--yes")
    assert [line[0] for line in await listed(hermes)] == ["default"]
    assert (home / "active_profile").read_text() == "default\n"
    assert list((home / "profiles").iterdir()) == []
    with pytest.raises(UserError, match="cannot be deleted"):
        await hermes.command("profile delete", "default", "--yes")
    for words in (["use", "work"], ["delete", "work", "--yes"], ["create", "new", "--clone", "work"]):
        with pytest.raises(UnknownName, match="work"):
            await hermes.command(f"profile {words[0]}", *words[1:])


async def test_one_with_the_settings_of_another_has_its_keys_and_no_conversations(hermes, home) -> None:
    for name in ("config.yaml", ".env", "SOUL.md", "state.db"):
        (home / name).write_text(f"{name}: x\n")
    await hermes.command("profile create", "twin", "--clone", "default")
    made = home / "profiles" / "twin"
    assert sorted(path.name for path in made.iterdir()) == [".env", "SOUL.md", "config.yaml"]
    assert (made / ".env").read_text() == ".env: x\n"
    assert (made / ".env").stat().st_mode & 0o777 == 0o600


async def test_deleting_a_linked_profile_leaves_what_it_points_to(hermes, home, tmp_path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").touch()
    await hermes.command("profile create", "other")
    (home / "profiles" / "linked").symlink_to(elsewhere)
    await hermes.command("profile delete", "linked", "--yes")
    assert (elsewhere / "kept").exists()
    assert not (home / "profiles" / "linked").is_symlink()


async def test_what_cannot_be_made_leaves_nothing_behind(hermes, home) -> None:
    (home / "profiles").write_text("a file")
    with pytest.raises(UserError, match="The profile cannot be made: "):
        await hermes.command("profile create", "work")
    assert (home / "profiles").read_text() == "a file"
