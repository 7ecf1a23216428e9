"""Links, folders that were changed on the way, and what belongs to Hermes."""

from pathlib import Path

import pytest
from guard_places import HOME, judged

from hermes_tool_guard.guard import check, guarded_paths


def test_a_link_out_of_the_folder_leads_out_of_it(tmp_path: Path) -> None:
    root, outside = tmp_path / "work", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / "door").symlink_to(outside)
    (root / "top").symlink_to("/")
    (root / "inner").symlink_to(root / "sub")

    def outcome(command: str) -> str:
        return check(command, root=str(root), home=HOME).outcome

    assert outcome("rm -rf build") == "allow"
    assert outcome("echo x > inner/file") == "allow"
    assert outcome("rm -rf top/") == "deny"
    assert outcome("rm -rf top/etc") == "deny"
    assert outcome("chmod -R 777 top/") == "deny"
    assert outcome("cat top/etc/shadow") == "ask"


def test_a_link_to_what_is_guarded_is_guarded(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.yaml").write_text("x")
    (tmp_path / "innocent").symlink_to(home / "config.yaml")
    found = check("cat innocent", root=str(tmp_path), guarded=guarded_paths(str(home)))
    assert found.outcome == "deny"


def test_other_profiles_are_guarded(tmp_path: Path) -> None:
    own = tmp_path / "profiles" / "own"
    for folder in (own, tmp_path / "profiles" / "other"):
        folder.mkdir(parents=True)
    guarded = guarded_paths(str(own))
    for path in ("profiles/other/state.db", "profiles/own/config.yaml", ".env", "config.yaml"):
        assert check(f"cat {tmp_path}/{path}", root="/work", guarded=guarded).outcome == "deny", path
    assert check(f"cat {own}/notes.txt", root="/work", guarded=guarded).outcome == "allow"


@pytest.mark.parametrize(
    ("command", "folder", "outcome"),
    [
        ("rm -rf *", "/", "deny"),
        ("rm -rf build", "/work/project/sub", "allow"),
        ("rm -rf ../build", "/work/project/sub", "allow"),
        ("rm -rf ../../x", "/work/project/sub", "ask"),
        ("rm -rf .", HOME, "deny"),
        ("cat id_rsa", f"{HOME}/.ssh", "ask"),
        ("echo x > notes", "/etc", "ask"),
    ],
)
def test_the_folder_a_command_starts_in_counts(command: str, folder: str, outcome: str) -> None:
    assert judged(command, folder=folder).outcome == outcome


def test_a_home_as_working_folder_is_still_a_home() -> None:
    assert judged("rm -rf *", root=HOME).outcome == "deny"
    assert judged("cat .ssh/id_rsa", root=HOME).outcome == "ask"
    assert judged("echo x >> .bashrc", root=HOME).outcome == "ask"
    assert judged("touch notes.txt", root=HOME).outcome == "allow"


def test_a_root_as_working_folder_makes_nothing_an_inside() -> None:
    assert judged("rm -rf opt/x", root="/").outcome == "ask"
    assert judged("rm -rf *", root="/").outcome == "deny"
    assert judged("ls", root="/").outcome == "allow"
