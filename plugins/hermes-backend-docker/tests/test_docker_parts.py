"""Parts that need no daemon: where it is, why it is silent, what a shell leaves, how far a pull is."""

import errno
import json
import os
import ssl
import subprocess
from hashlib import sha256

import pytest

from hermes_backend_docker import image
from hermes_backend_docker.checks import check_daemon
from hermes_backend_docker.config import Config
from hermes_backend_docker.container import plan
from hermes_backend_docker.daemon import Address, alive, explain, find
from hermes_backend_docker.mounts import inside, mountable
from hermes_backend_docker.shell import state_of, wrap
from hermes_core.errors import UserError


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch, tmp_path):
    for name in ("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("HOME", str(tmp_path))


def context(folder, name, host):
    place = folder / "config/contexts/meta" / sha256(name.encode()).hexdigest()
    place.mkdir(parents=True)
    meta = {"Name": name, "Metadata": {}, "Endpoints": {"docker": {"Host": host, "SkipTLSVerify": False}}}
    (place / "meta.json").write_text(json.dumps(meta))


def test_the_setting_wins_then_the_environment_then_the_context(tmp_path, monkeypatch):
    context(tmp_path, "chosen", "unix:///chosen.sock")
    context(tmp_path, "named", "unix:///named.sock")
    (tmp_path / "config/config.json").write_text('{"currentContext": "chosen"}')
    assert find().url == "unix:///chosen.sock"
    monkeypatch.setenv("DOCKER_CONTEXT", "named")
    assert find().url == "unix:///named.sock"
    monkeypatch.setenv("DOCKER_HOST", "unix:///host.sock")
    assert find().url == "unix:///host.sock"
    assert find("unix:///set.sock").url == "unix:///set.sock"


def test_a_context_that_is_not_there_is_told(monkeypatch):
    monkeypatch.setenv("DOCKER_CONTEXT", "nowhere")
    with pytest.raises(UserError, match="nowhere"):
        find()


def test_rootless_sockets_are_found(tmp_path):
    import socket

    folder = tmp_path / "run/podman"
    folder.mkdir(parents=True)
    if os.access("/var/run/docker.sock", os.W_OK):
        pytest.skip("this machine has a daemon, which comes first")
    with socket.socket(socket.AF_UNIX) as there:
        os.chdir(folder)
        there.bind("podman.sock")
        assert find().url == f"unix://{folder}/podman.sock"


@pytest.mark.parametrize("host", ["ssh://me@build1", "npipe:////./pipe/docker", "nonsense"])
def test_addresses_that_cannot_be_used_are_told(host):
    with pytest.raises(UserError) as told:
        find(host)
    assert told.value.hint


def test_certificates_that_are_not_there_are_told(monkeypatch, tmp_path):
    monkeypatch.setenv("DOCKER_TLS_VERIFY", "1")
    monkeypatch.setenv("DOCKER_CERT_PATH", str(tmp_path / "none"))
    with pytest.raises(UserError, match="settings cannot be read"):
        find("tcp://127.0.0.1:1")


def test_each_silence_has_its_reason_and_its_mend(snapshot):
    address = Address("unix:///var/run/docker.sock")
    wrapped = RuntimeError("Error while fetching server API version")
    wrapped.__cause__ = ConnectionError("aborted", PermissionError(errno.EACCES, "Permission denied"))
    errors = [
        wrapped,
        FileNotFoundError(errno.ENOENT, "No such file"),
        ConnectionRefusedError(errno.ECONNREFUSED, "refused"),
        TimeoutError(),
        ssl.SSLError("bad certificate"),
        OSError("something else"),
    ]
    assert [(e.text, e.hint) for e in (explain(error, address) for error in errors)] == snapshot


async def test_nobody_there_is_not_alive(tmp_path):
    assert not await alive(Address(f"unix://{tmp_path}/none.sock"))
    assert not await alive(Address("tcp://127.0.0.1:1"))


async def test_a_doctor_does_not_ask_for_what_nobody_set_up(tmp_path, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    (quiet,) = await check_daemon(Config(), tmp_path).run()
    (loud,) = await check_daemon(Config(pids=9), tmp_path).run()
    assert (quiet.level, loud.level) == ("ok", "warning")
    assert quiet.text == f"not set up: {loud.text}"


def test_a_pull_tells_how_far_it_is():
    told = []
    progress = image.Progress("x:1", told.append)
    progress.take({"status": "Pulling from library/x", "id": "1"})
    for current in range(101):
        progress.take(
            {"status": "Downloading", "id": "a", "progressDetail": {"current": current * 10_000, "total": 1_000_000}}
        )
    progress.take({"status": "Download complete", "id": "a", "progressDetail": {}})
    progress.take({"status": "Extracting", "id": "a", "progressDetail": {"current": 1, "total": 2}})
    assert told[0] == "docker: pulling x:1: 0 %\n"
    assert [int(line.split()[3]) for line in told] == [0, 20, 40, 60, 80, 100]
    assert told[-1].endswith("of 1 MB\n")


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("debian", ("debian", "latest")),
        ("debian:12", ("debian", "12")),
        ("localhost:5000/a/b", ("localhost:5000/a/b", "latest")),
        ("localhost:5000/a/b:1", ("localhost:5000/a/b", "1")),
        ("a@sha256:00", ("a@sha256:00", None)),
    ],
)
def test_names_of_images_are_read(name, parts):
    assert image._split(name) == parts


@pytest.mark.parametrize(
    ("place", "there"),
    [
        ("/home/me/project", "/home/me/project"),
        ("/tmp/x", "/tmp/x"),
        ("/", "/workspace"),
        ("/root", "/workspace"),
        ("/etc/apt", "/workspace"),
        ("/run/user/1000", "/workspace"),
    ],
)
def test_a_folder_has_its_own_path_inside_unless_the_container_needs_it(place, there):
    assert inside(place) == there


def test_limits_that_a_daemon_cannot_keep_are_not_asked_of_it(tmp_path):
    info = {"MemoryLimit": False, "CpuCfsQuota": False, "PidsLimit": False, "NCPU": 1}
    made = plan(Config(), str(tmp_path), tmp_path, Address("unix:///x"), info).create
    assert (made["memory"], made["cpus"], made["pids"]) == ("", 0.0, 0)
    able = plan(Config(), str(tmp_path), tmp_path, Address("unix:///x"), {"NCPU": 1}).create
    assert (able["memory"], able["cpus"], able["pids"]) == ("4g", 1.0, 256)


def test_where_root_is_the_person_commands_run_as_root(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    for options, user in (([], f"{os.getuid()}:{os.getgid()}"), (["name=seccomp", "name=rootless"], "0:0")):
        info = {"SecurityOptions": options}
        assert plan(Config(mount=True), str(folder), tmp_path / "h", Address("unix:///x"), info).user == user


def test_a_daemon_elsewhere_has_no_folders_of_this_machine(tmp_path):
    with pytest.raises(UserError, match="does not see this machine's folders"):
        plan(Config(mount=True), str(tmp_path), tmp_path / "h", Address("tcp://far:2375"), {})


def test_a_profile_has_containers_of_its_own(tmp_path):
    homes = (tmp_path / "home", tmp_path / "home/profiles/work", tmp_path / "other")
    plans = [plan(Config(), str(tmp_path), home, Address("unix:///x"), {}) for home in homes]
    assert len({p.name for p in plans}) == len({p.volume for p in plans}) == 3
    assert [p.labels["hermes.profile"] for p in plans] == ["default", "work", "default"]


def test_of_what_a_shell_tells_the_daemon_gets_text_only():
    assert state_of(b"") is None
    told = b"/w/sub\0HOME=/root\0NEW=a=b\nc\0BAD=\xff\0BASH_FUNC_f%%=() { :; }\0"
    assert state_of(told) == ("/w/sub", {"HOME": "/root", "NEW": "a=b\nc"})
    assert state_of(b"/w/\xff\0A=1\0") == ("", {"A": "1"})


def test_a_shells_trap_is_plain_shell():
    argv, file = wrap(("bash", "-c", "echo 'x'"), "/bin/bash", {"B", "C"})
    assert argv[:2] == ("/bin/bash", "-c")
    assert argv[2].startswith("unset -v B C; trap ")
    assert file in argv[2]
    assert "\n" not in argv[2]
    subprocess.run(["bash", "-n", "-c", argv[2]], check=True)


def test_of_hermes_own_home_only_the_folder_of_a_guest_is_mounted(tmp_path):
    home = tmp_path / "home"
    mine = home / "people" / "anna" / "work"
    mine.mkdir(parents=True)
    (home / "data").mkdir()
    (mine / "link").symlink_to(home / "data")
    assert mountable(str(mine), home, "") == str(mine)
    for place in (home, home / "data", home / "people", mine / "link"):
        with pytest.raises(UserError, match="docker"):
            mountable(str(place), home, "")
