"""Links, folders that were changed on the way, and what belongs to Hermes."""

from pathlib import Path

import pytest
from guard_places import HOME, judged

from hermes_tool_guard import guard
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


def test_what_find_deletes_may_hold_files_of_hermes() -> None:
    def outcome(command: str) -> str:
        return check(command, root="/work", home=HOME, guarded=("/work/own/config.yaml",)).outcome

    assert outcome("find . -name x -delete") == "deny"
    assert outcome("find own -name x -exec rm {} +") == "deny"
    assert outcome("find src -name x -delete") == "allow"
    assert outcome("find src own -name x -delete") == "deny"


def test_a_home_as_working_folder_is_still_a_home() -> None:
    assert judged("rm -rf *", root=HOME).outcome == "deny"
    assert judged("cat .ssh/id_rsa", root=HOME).outcome == "ask"
    assert judged("echo x >> .bashrc", root=HOME).outcome == "ask"
    assert judged("touch notes.txt", root=HOME).outcome == "allow"


def test_a_root_as_working_folder_makes_nothing_an_inside() -> None:
    assert judged("rm -rf opt/x", root="/").outcome == "ask"
    assert judged("rm -rf *", root="/").outcome == "deny"
    assert judged("ls", root="/").outcome == "allow"


@pytest.mark.parametrize(
    ("root", "home", "command", "outcome"),
    [
        ("/root", "/root", "touch notes.txt", "allow"),
        ("/root", "/root", "touch /rooted/notes.txt", "ask"),
        ("/root", "/root", "touch /srv/notes.txt", "ask"),
        ("/root", "/root", "rm -rf *", "deny"),
        ("/root", "/root", "echo x >> .bashrc", "ask"),
        ("/", "/", "touch x", "ask"),
        ("/", HOME, "touch x", "ask"),
        ("/usr", HOME, "touch x", "ask"),
        ("/opt/app/", HOME, "touch x", "allow"),
        ("/opt/app/../tool", HOME, "touch /opt/tool/x", "allow"),
        ("/opt/app/../tool", HOME, "touch /opt/app/x", "ask"),
        ("", HOME, "touch x", "ask"),
        ("", HOME, "rm -rf *", "deny"),
        ("/srv/work", "/srv/me/", "rm -rf /srv/me", "deny"),
        ("/srv/work", "/srv/me/", "rm -rf /srv", "deny"),
        ("/srv/work", "/opt/people/me", "rm -rf /opt/people", "deny"),
        ("/srv/work", "/opt/people/me", "rm -rf /opt/people/you", "ask"),
    ],
)
def test_which_folder_is_the_working_one_decides(root: str, home: str, command: str, outcome: str) -> None:
    assert check(command, root=root, home=home).outcome == outcome


def test_a_working_folder_behind_a_link_is_still_one(tmp_path: Path) -> None:
    root, link = tmp_path / "real", tmp_path / "link"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "up").symlink_to(root)
    (root / "out").symlink_to("/srv")
    link.symlink_to(root)

    def outcome(command: str) -> str:
        return check(command, root=str(link), home=HOME).outcome

    assert outcome("touch sub/up/x") == "allow"
    assert outcome("rm -rf sub/up/build") == "allow"
    assert outcome("touch out/x") == "ask"
    assert outcome("rm -rf sub/up/.git/objects") == "ask"
    assert outcome(f"rm -rf {root}/build") == outcome(f"rm -rf {root}x/build")


def test_what_is_guarded_may_be_behind_a_link_itself(tmp_path: Path) -> None:
    home, kept = tmp_path / "home", tmp_path / "kept"
    home.mkdir()
    kept.mkdir()
    (kept / "settings.yaml").write_text("x")
    (home / "config.yaml").symlink_to(kept / "settings.yaml")
    for file in (home / "config.yaml", kept / "settings.yaml"):
        assert check(f"cat {file}", root="/work", guarded=guarded_paths(str(home))).outcome == "deny"
    assert check(f"cat {kept}/other.yaml", root="/work", guarded=guarded_paths(str(home))).outcome == "allow"


def test_what_cannot_be_followed_is_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    def deep(*_: object) -> None:
        raise RecursionError

    monkeypatch.setattr(guard, "judge_code", deep)
    assert judged("ls")[:2] == ("ask", "is nested too deeply to follow")
