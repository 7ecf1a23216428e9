"""What a command inside tries, and does not get."""

# ruff: noqa: ASYNC220

import asyncio
import http.server
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from processes import running

from hermes_backend_bubblewrap.backend import Bubblewrap
from hermes_backend_bubblewrap.checks import of_walls
from hermes_backend_bubblewrap.config import Config
from hermes_backend_kit.probes import PROBES
from hermes_backend_kit.walls import LOOSE_BUT_GIT, NETWORK
from hermes_core.errors import UserError
from hermes_core.types import ExecRequest

pytestmark = pytest.mark.real


async def test_the_persons_secrets_are_not_there(box):
    places = f"{box.home}/.ssh {box.home}/.aws {box.home}/.hermes /etc/shadow /etc/ssh /var/lib /var/run/docker.sock"
    for place in places.split():
        result = await box.run("ls", "-d", place)
        assert result.status != 0, f"{place} is visible inside"
    found = await box.bash(f"grep -rls PRIVATE-4c1f9 /home /root /tmp /var /etc /run {box.home}; ls -A {box.home}")
    assert found.output == b"work\n"


async def test_root_of_the_machine_is_not_behind_any_process(box):
    script = "cat /proc/1/root/etc/shadow /proc/self/root/etc/shadow; ls /proc/1/cwd/ /proc/1/fd; cat /proc/1/environ"
    result = await box.bash(script)
    assert b"root:" not in result.output
    assert b"PATH" not in result.output


async def test_no_open_file_leads_out(box):
    script = """
import os
for name in os.listdir("/proc/self/fd"):
    fd = int(name)
    try:
        inside = os.open("../../../../../../../../etc/shadow", os.O_RDONLY, dir_fd=fd)
    except OSError:
        continue
    print("out through", name)
print("tried")
"""
    assert (await box.python(script)).output == b"tried\n"
    assert (await box.bash("ls /proc/self/fd | sort -n | head -5 | tr '\\n' ' '")).output.split()[:3] == [
        b"0",
        b"1",
        b"2",
    ]


async def test_nothing_outside_the_folder_can_be_written(box, tmp_path):
    for place in ("/usr/x", "/etc/x", "/x", "/dev/x", "/run/x", "/usr/local/bin/x"):
        assert (await box.run("sh", "-c", 'echo x >"$1"', "sh", place)).status != 0, f"{place} can be written"
    await box.bash(
        f"echo x >{box.home}/.bashrc; mkdir -p {tmp_path}/other; echo x >/tmp/inside; echo x >/var/tmp/inside"
    )
    assert not (box.home / ".bashrc").exists()
    assert not (tmp_path / "other").exists()
    assert not Path("/tmp/inside").exists()


async def test_the_kernels_switches_cannot_be_opened_for_writing(box):
    """Root owns /proc/sys without any rights: a program named in core_pattern would run outside."""
    script = """
import os
for top, folders, names in os.walk("/proc"):
    if top == "/proc":
        folders[:] = [name for name in folders if not name.isdigit() and "self" not in name]
    for name in names:
        try:
            os.close(os.open(os.path.join(top, name), os.O_WRONLY | os.O_NONBLOCK))
            print(os.path.join(top, name))
        except OSError:
            pass
print("looked")
"""
    assert (await box.python(script)).output == b"looked\n"
    assert (await box.bash("head -c1 /proc/kcore /proc/slabinfo")).status != 0


async def test_the_machines_network_is_not_there(box):
    server = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    hidden = socket.socket(socket.AF_UNIX)
    hidden.bind(f"\0hermes-test-{os.getpid()}")
    hidden.listen()
    thread = threading.Thread(target=server.handle_request, daemon=True)
    thread.start()
    try:
        script = f"""
import socket
def tries(name, family, address, kind=socket.SOCK_STREAM):
    try:
        s = socket.socket(family, kind); s.settimeout(2); s.connect(address); print("reached", name)
    except OSError as e:
        pass
tries("loopback", socket.AF_INET, ("127.0.0.1", {server.server_port}))
tries("abstract", socket.AF_UNIX, "\\0hermes-test-{os.getpid()}")
tries("outside", socket.AF_INET, ("192.0.2.1", 80))
tries("metadata", socket.AF_INET, ("169.254.169.254", 80))
tries("dns", socket.AF_INET, ("8.8.8.8", 53), socket.SOCK_DGRAM)
tries("docker", socket.AF_UNIX, "/var/run/docker.sock")
for family in (17, 38, 40):  # packet, alg, vsock
    try:
        socket.socket(family, socket.SOCK_DGRAM); print("family", family)
    except OSError:
        pass
print(sorted(name for _, name in socket.if_nameindex()))
"""
        assert (await box.python(script)).output == b"['lo']\n"
        assert (await box.run("getent", "hosts", "example.org")).status != 0
    finally:
        server.server_close()
        hidden.close()


async def test_a_server_inside_is_reached_by_the_next_command(box):
    from hermes_core.types import ExecRequest

    await box.workspace.start(ExecRequest(argv=("python3", "-m", "http.server", "8123", "--bind", "127.0.0.1")))
    script = """
import time, urllib.request
for _ in range(200):
    try:
        print(urllib.request.urlopen("http://127.0.0.1:8123/").status); break
    except OSError:
        time.sleep(0.05)
"""
    assert (await box.python(script)).output == b"200\n"


async def test_processes_of_the_machine_are_neither_seen_nor_reached(box):
    victim = subprocess.Popen(["sleep", "60"])
    try:
        seen = await box.bash("cat /proc/[0-9]*/cmdline | tr '\\0' ' '")
        assert b"sleep 60" not in seen.output
        assert (await box.run("sh", "-c", f"kill -9 {victim.pid}")).status != 0
        await box.bash("kill -9 -1")
        assert victim.poll() is None
        assert (await box.bash("kill -9 1; kill -STOP 1; kill -INT 1; echo alive")).output == b"alive\n"
        assert (await box.bash("echo again")).output == b"again\n"
    finally:
        victim.kill()
        victim.wait()


async def test_no_rights_are_held_or_gained(box):
    status = (
        await box.run("grep", "-E", "^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):", "/proc/self/status")
    ).output
    values = dict(line.split(":\t") for line in status.decode().splitlines())
    assert {values[f"Cap{name}"] for name in ("Inh", "Prm", "Eff", "Bnd", "Amb")} == {"0000000000000000"}
    assert (values["NoNewPrivs"], values["Seccomp"]) == ("1", "2")
    for words in (
        ("unshare", "-Ur", "true"),
        ("unshare", "-n", "true"),
        ("mount", "-t", "tmpfs", "none", "/tmp"),
        ("su", "-c", "true"),
        ("mount", "-o", "remount,rw", "/usr"),
        ("umount", "/proc"),
        ("chroot", "/", "true"),
        ("nsenter", "-t", "1", "-m", "true"),
    ):
        assert (await box.run(*words)).status != 0, f"{words} worked"
    options = (await box.bash(f"grep -E ' ({box.folder}|/usr) ' /proc/self/mountinfo")).output.decode().splitlines()
    assert len(options) == 2
    assert all("nosuid" in line for line in options)


async def test_system_calls_that_break_sandboxes_are_refused(box):
    script = """
import ctypes, errno, fcntl, os, platform
libc = ctypes.CDLL(None, use_errno=True)
x86 = platform.machine() == "x86_64"
calls = {
    "keyctl": (250 if x86 else 219, 0, 0), "add_key": (248 if x86 else 217, 0, 0), "bpf": (321 if x86 else 280, 0, 0),
    "userfaultfd": (323 if x86 else 282, 0), "perf": (298 if x86 else 241, 0, 0, -1, -1, 0),
    "io_uring": (425, 1, 0), "unshare": (272 if x86 else 97, 0x10000000), "attach": (101 if x86 else 117, 16, 1, 0, 0),
    "clone_user": (56 if x86 else 220, 0x10000000 | 17, 0, 0, 0, 0), "setns": (308 if x86 else 268, 0, 0),
    "mount_new": (428, -100, b"/", 0), "vm_write": (311 if x86 else 271, 1, 0, 0, 0, 0, 0),
}
for name, words in calls.items():
    ctypes.set_errno(0)
    if libc.syscall(*words) != -1 or ctypes.get_errno() != errno.EPERM:
        print(name, ctypes.get_errno())
ctypes.set_errno(0)
print("clone3", libc.syscall(435, 0, 0), ctypes.get_errno() == errno.ENOSYS)
main, side = os.openpty()
for request in (0x5412, 0x541C, 0x5412 | 1 << 32):
    number = 16 if x86 else 29
    if libc.syscall(number, side, ctypes.c_ulong(request), b"x") != -1 or ctypes.get_errno() != errno.EPERM:
        print("typed", hex(request))
"""
    assert (await box.python(script)).output == b"clone3 -1 True\n"


async def test_another_architectures_numbers_are_no_way_around(box):
    """x32 calls have other numbers on the same processor."""
    script = "import ctypes; print(ctypes.CDLL(None).syscall(0x40000000 + 39))"
    assert (await box.python(script)).output == b"-1\n"


async def test_other_commands_memory_is_closed(box):
    """The process that starts all commands cannot be rewritten by one of them."""
    script = "open('/proc/1/mem', 'r+b')"
    result = await box.python(script)
    assert result.status != 0


async def test_no_secret_is_in_the_environment(make, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-verysecretverysecret")
    monkeypatch.setenv("INNOCENT_NAME", "value")
    monkeypatch.setenv("LANG", "C.UTF-8")
    box = await make()
    seen = (await box.bash("env; tr '\\0' '\\n' </proc/1/environ 2>/dev/null")).output.decode()
    assert "verysecret" not in seen
    assert "INNOCENT" not in seen
    assert "LANG=C.UTF-8" in seen
    assert f"HOME={box.home}" in seen
    other = await make("other", env_passthrough=["INNOCENT_NAME"])
    assert b"INNOCENT_NAME=value" in (await other.bash("env")).output


async def test_a_fork_bomb_is_bounded(make):
    box = await make(processes=60)
    neighbour = await make("neighbour")
    mark = f"bomb-{os.getpid()}-{id(box)}"  # in the command line of each of its processes
    bomb = asyncio.create_task(box.bash(f": {mark}; b() {{ b | b & }}; b; sleep 30", seconds=3.0))
    most = 0
    while not bomb.done():
        most = max(most, len(running(mark)))
        await asyncio.sleep(0.02)
    ended = (await asyncio.gather(bomb, return_exceptions=True))[0]
    assert not isinstance(ended, BaseException) or "sandbox ended" in str(ended)
    assert 0 < most < 100
    assert (await neighbour.bash("echo fine")).output == b"fine\n"
    assert (await box.bash("echo fine")).output == b"fine\n"


async def test_scratch_places_are_bounded(make):
    box = await make(tmp_mb=8)
    for place in ("/tmp", "/var/tmp", "/dev/shm", str(box.home)):
        result = await box.bash(f"head -c 20000000 /dev/zero >{place}/fill; wc -c <{place}/fill; rm {place}/fill")
        assert b"No space left" in result.output, place
        assert int(result.output.split()[-1]) <= 8 << 20


async def test_files_and_memory_are_bounded(make):
    box = await make(file_mb=1, memory_mb=200, open_files=300)
    await box.bash("head -c 5000000 /dev/zero >big")
    assert (box.folder / "big").stat().st_size == 1 << 20
    assert (await box.python("x = bytearray(400 << 20)")).status != 0
    assert (await box.bash("ulimit -n 1000000")).status != 0
    assert (await box.bash("ulimit -n; ulimit -c")).output == b"300\n0\n"


async def test_hermes_files_in_the_folder_are_not_visible(tmp_path, monkeypatch):
    from hermes_backend_bubblewrap.backend import Bubblewrap
    from hermes_backend_bubblewrap.config import Config
    from hermes_core.types import ExecRequest

    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    home = tmp_path / "project" / ".state" / "profiles" / "me"
    home.mkdir(parents=True)
    (home.parent.parent / ".env").write_text("SECRET")
    (home / ".env").write_text("SECRET")
    workspace = await Bubblewrap(Config(), home).open(str(tmp_path / "project"))
    try:
        script = "find .state; mv .state moved; cat moved/.env moved/profiles/me/.env; echo x >moved/config.yaml"
        output = (await workspace.run(ExecRequest(argv=("sh", "-c", script)))).output
    finally:
        await workspace.close()
    assert b"SECRET" not in output
    assert b"profiles" not in output.split(b"mv:")[0].split(b"cat:")[0]
    assert not (tmp_path / "project" / ".state" / "config.yaml").exists()


async def test_only_what_is_listed_is_shown_besides(make):
    box = await make("first")
    for name in ("tools", "cache", "other"):
        (box.home / name).mkdir()
        (box.home / name / "file").write_text(name)
    box = await make(readable=["~/tools"], writable=["~/cache"])
    result = await box.bash("cat ~/tools/file ~/cache/file; cat ~/other/file; echo x >~/tools/new; echo x >~/cache/new")
    assert result.output.startswith(b"toolscache")
    assert not (box.home / "tools" / "new").exists()
    assert (box.home / "cache" / "new").exists()
    assert b"other" not in result.output.replace(b"/other/file", b"")


@pytest.mark.skipif(sys.platform != "linux", reason="does not claim this system")
async def test_with_the_network_the_place_is_not_called_isolated(make):
    from hermes_core.types import Feature

    box = await make(network=True)
    assert Feature.ISOLATED not in box.workspace.features
    hidden = socket.socket(socket.AF_UNIX)
    hidden.bind(f"\0hermes-scope-{os.getpid()}")
    hidden.listen()
    with socket.socket() as server, hidden:
        server.bind(("127.0.0.1", 0))
        server.listen()
        script = f"""
import socket
s = socket.socket(); s.settimeout(2); s.connect(("127.0.0.1", {server.getsockname()[1]})); print("reached")
try:
    socket.socket(socket.AF_UNIX).connect("\\0hermes-scope-{os.getpid()}"); print("abstract")
except OSError:
    print("closed")
"""
        output = (await box.python(script)).output
    scoped = tuple(int(n) for n in os.uname().release.split(".")[:2]) >= (6, 12)
    assert output == (b"reached\nclosed\n" if scoped else b"reached\nabstract\n")


async def test_of_hermes_own_home_only_the_folder_of_a_guest_is_shown(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    home, backend = tmp_path / "home", Bubblewrap(Config(), tmp_path / "home")
    for folder in ("data", "people/anna/work", "people/ben/work"):
        (home / folder).mkdir(parents=True)
        (home / folder / "file").write_text("SECRET")
    for folder in ("", "data", "people", "people/../data"):
        with pytest.raises(UserError, match="belongs to Hermes itself"):
            await backend.open(str(home / folder))
    workspace = await backend.open(str(home / "people" / "anna" / "work"))
    try:
        script = (
            f"cat file; cat {home}/data/file {home}/people/ben/work/file ../../ben/work/file; ls {home}/ {home}/people"
        )
        output = (await workspace.run(ExecRequest(argv=("sh", "-c", script)))).output
    finally:
        await workspace.close()
    assert output.count(b"SECRET") == 1
    assert b"data\n" not in output
    assert b"ben\n" not in output


async def test_a_session_that_began_in_too_wide_a_folder_has_one_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    home, backend = tmp_path / "home", Bubblewrap(Config(), tmp_path / "home")
    (home / "workspace").mkdir(parents=True)
    (home / ".env").write_text("SECRET")
    workspace = await backend.open(str(home / "workspace"))
    try:
        request = ExecRequest(argv=("sh", "-c", f"echo made >note; cat {home}/.env; ls -A {home}"))
        output = (await workspace.run(request)).output
    finally:
        await workspace.close()
    assert (home / "workspace/note").read_text() == "made\n"
    assert b"SECRET" not in output
    assert output.endswith(b"\nworkspace\n")


@pytest.mark.parametrize(("settings", "lacks"), [({}, LOOSE_BUT_GIT), ({"network": True, "git": "writable"}, NETWORK)])
async def test_doctor_tries_all_that_it_must_stop(tmp_path, settings, lacks):
    (found,) = await of_walls(Config(**settings), tmp_path / "home", full=True)
    assert found.level == "ok", found.text
    assert lacks in found.text
    assert f"{len(PROBES)} things that it must stop were tried" in found.text
    (found,) = await of_walls(Config(**settings), tmp_path / "home")
    assert "hermes doctor --walls tries all" in found.text


async def test_scripts_of_skills_are_read_and_run_and_never_changed(tmp_path, monkeypatch):
    from hermes_backend_bubblewrap.backend import Bubblewrap
    from hermes_backend_bubblewrap.config import Config
    from hermes_core.types import ExecRequest

    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    folder = tmp_path / "project"
    folder.mkdir()
    for home in (tmp_path / "home", folder / ".hermes"):
        skills = (home / "skills", tmp_path / "person" / ".agents" / "skills", tmp_path / "nowhere")
        for place in skills[:2]:
            (place / "demo").mkdir(parents=True, exist_ok=True)
            (place / "demo" / "hi.sh").write_text("echo hi")
        (home / ".env").write_text("SECRET")
        workspace = await Bubblewrap(Config(), home, skills).open(str(folder))
        try:
            script = "".join(f"sh {place}/demo/hi.sh; echo x >{place}/demo/hi.sh\n" for place in skills[:2])
            output = (await workspace.run(ExecRequest(argv=("sh", "-c", f"{script}cat {home}/.env")))).output.decode()
        finally:
            await workspace.close()
        assert output.count("hi\n") == 2, output
        assert "SECRET" not in output
        assert [(place / "demo" / "hi.sh").read_text() for place in skills[:2]] == ["echo hi", "echo hi"]
