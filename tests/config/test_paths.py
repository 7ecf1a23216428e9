"""Homes and profiles: found, made, and failing in plain words."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from hermes_core.config.paths import Home
from hermes_core.errors import UnknownName, UserError


def find(base: Path, profile: str | None = None, **environ: str) -> Home:
    return Home.find(profile=profile, environ={"HERMES_HOME": str(base), **environ})


def test_the_home_is_where_the_environment_says(tmp_path: Path) -> None:
    home = find(tmp_path)
    assert (home.root, home.profile) == (tmp_path, "default")
    assert home.config_file == tmp_path / "config.yaml"
    assert home.outputs == tmp_path / "cache" / "outputs"


def test_without_a_word_the_home_is_a_hidden_folder_named_like_the_brand() -> None:
    assert Home.find("acme-bot", environ={}).root == Path.home() / ".acme-bot"


def test_another_brand_has_its_own_variables(tmp_path: Path) -> None:
    environ = {"ACME_BOT_HOME": str(tmp_path), "HERMES_HOME": "/nowhere"}
    assert Home.find("acme-bot", environ=environ).root == tmp_path


def test_the_argument_beats_the_environment_beats_the_sticky_profile(tmp_path: Path) -> None:
    home = find(tmp_path)
    for name in ("a", "b", "c"):
        (home.base / "profiles" / name).mkdir(parents=True)
    (home.base / "active_profile").write_text("c\n")
    assert find(tmp_path).root == tmp_path / "profiles" / "c"
    assert find(tmp_path, HERMES_PROFILE="b").profile == "b"
    assert find(tmp_path, "a", HERMES_PROFILE="b").profile == "a"
    assert find(tmp_path, "default").root == tmp_path


def test_an_unknown_profile_is_named_with_what_is_close(tmp_path: Path) -> None:
    (tmp_path / "profiles" / "work").mkdir(parents=True)
    with pytest.raises(UnknownName, match=r"'wrok'. Did you mean 'work'"):
        find(tmp_path, "wrok")


def test_a_sticky_profile_that_is_gone_says_how_to_go_back(tmp_path: Path) -> None:
    (tmp_path / "active_profile").write_text("gone\n")
    with pytest.raises(UnknownName, match="-p default profile use default"):
        find(tmp_path)


def test_a_home_is_made_for_its_owner_only(tmp_path: Path) -> None:
    home = find(tmp_path / "a" / "b")
    home.create()
    home.create()
    assert home.root.stat().st_mode & 0o777 == 0o700


def test_a_home_that_is_a_file_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="a file stands where a folder is needed"):
        find(tmp_path / "file").create()


# --- a real read-only and a real full file system, in a mount namespace of the child ------------------------------

CHILD = """
import sys
from pathlib import Path
from hermes_core.config.edit import set_value
from hermes_core.config.paths import Home
from hermes_core.config.secrets import Secrets
from hermes_core.config.settings import load_settings
from hermes_core.errors import UserError

home = Home.find(environ={"HERMES_HOME": sys.argv[1]})
def attempt(what, action):
    try:
        action()
    except UserError as error:
        print(what, "|", str(error).replace("\\n", " | "))
    else:
        print(what, "| done")
attempt("create", home.create)
attempt("load", lambda: load_settings(home))
attempt("set", lambda: set_value(home, "agent.identity", "x" * int(sys.argv[2])))
attempt("secret", lambda: Secrets(home.env_file, {}).set("KEY", "x" * int(sys.argv[2])))
print("files", sorted(p.name for p in Path(sys.argv[1]).rglob("*") if p.name != "lost+found"))
"""


def in_namespace(folder: Path, mount: str, size: int) -> dict[str, str]:
    folder.mkdir()
    script = f'mount {mount} && exec "$0" "$@"'
    command = ["unshare", "--mount", "sh", "-c", script, sys.executable, "-c", CHILD, str(folder), str(size)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"no mount namespaces here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())


def test_a_read_only_home_is_readable_and_every_write_says_why_not(tmp_path: Path) -> None:
    origin = tmp_path / "origin"
    origin.mkdir()
    (origin / "config.yaml").write_text("toolsets: [files]\n")
    folder = tmp_path / "home"
    said = in_namespace(folder, f"--bind {origin} {folder} && mount -o remount,ro,bind {folder}", 10)
    assert said["load"] == "| done"
    for what in ("create", "set", "secret"):
        assert "read-only" in said[what], said
        assert str(folder) in said[what]
    assert said["files"] == "['config.yaml']"


def test_a_full_disk_leaves_everything_as_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    fill = f"printf 'toolsets: [files]\\n' > {folder}/config.yaml && (cat /dev/zero > {folder}/ballast || true) 2>&-"
    said = in_namespace(folder, f"-t tmpfs -o size=64k none {folder} && {fill}", 5000)
    for what in ("set", "secret"):
        assert "the disk is full" in said[what], said
        assert "Make room" in said[what]
    assert said["load"] == "| done"
    assert said["files"] == "['ballast', 'cache', 'config.yaml']"


@pytest.mark.skipif(os.geteuid() == 0, reason="permission bits do not bind root")
def test_a_locked_folder_is_said_so(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(UserError, match="permission denied"):
        find(tmp_path).create()


def test_a_home_is_for_its_owner_alone(tmp_path: Path) -> None:
    Home(tmp_path / ".hermes", "work").create()
    assert [
        stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / ".hermes", tmp_path / ".hermes/profiles/work")
    ] == [0o700] * 2


def test_a_home_that_was_open_is_closed_and_another_folder_is_left_as_it_is(tmp_path: Path) -> None:
    for name in (".hermes", "shared"):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(0o755)
        Home(tmp_path / name).create()
    assert stat.S_IMODE((tmp_path / ".hermes").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "shared").stat().st_mode) == 0o755
