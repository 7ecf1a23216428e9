"""The walls of a container, seen from inside and from the daemon."""

import asyncio
import os
from pathlib import Path

import pytest
from docker_steps import bash, container_of, processes, sh

from hermes_backend_docker.checks import check_walls
from hermes_backend_kit.probes import PROBES
from hermes_backend_kit.walls import FILTER, LOOSE, NETWORK, NO_SKILLS
from hermes_core.errors import ToolError, UserError
from hermes_core.types import ExecRequest, Feature

pytestmark = pytest.mark.real

ANYWHERE = [probe for probe in PROBES if not probe.file]  # the others are for files of this machine


@pytest.fixture
async def place(make, folder):
    place = await make().open(str(folder))
    yield place
    await place.close()


async def test_the_daemon_was_told_to_wall_it_in(daemon, place, folder):
    host = container_of(daemon, place)["HostConfig"]
    assert host["CapDrop"] == ["ALL"]
    assert {name.removeprefix("CAP_") for name in host["CapAdd"]} == {
        *("CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID")
    }
    assert host["SecurityOpt"] == ["no-new-privileges"]
    assert host["NetworkMode"] == "none"
    assert (host["PidsLimit"], host["Memory"], host["MemorySwap"]) == (256, 4 << 30, 4 << 30)
    assert host["NanoCpus"] == int(min(2.0, os.cpu_count()) * 1e9)
    assert (host["Init"], host["Privileged"], host["Binds"], host["Devices"]) == (True, False, None, None)
    assert set(host["Tmpfs"]) == {"/tmp", "/var/tmp", "/run"}
    assert [(m["Type"], m["Target"]) for m in host["Mounts"]] == [("volume", str(folder))]
    assert (host["PidMode"], host["IpcMode"], host["UsernsMode"]) == ("", "private", "")


async def test_the_kernel_sees_the_walls_too(place):
    status = dict(
        line.split(":", 1) for line in (await sh(place, "cat /proc/self/status")).output.decode().splitlines()
    )
    assert int(status["CapBnd"], 16) == sum(1 << bit for bit in (0, 1, 3, 6, 7))
    assert status["NoNewPrivs"].strip() == "1"
    assert status["Seccomp"].strip() == "2"


async def test_its_labels_say_whose_it_is(daemon, place, tmp_path, folder):
    labels = container_of(daemon, place)["Config"]["Labels"]
    assert labels["hermes.home"] == str(tmp_path / "home")
    assert labels["hermes.profile"] == "default"
    assert labels["hermes.key"] == str(folder)


async def test_there_is_no_network(place):
    assert (await sh(place, "ls /sys/class/net")).output.split() == [b"lo"]
    tried = await sh(place, "nc -w 2 192.0.2.2 53 </dev/null")
    assert tried.status
    assert b"unreachable" in tried.output


async def test_the_kernel_of_the_machine_cannot_be_turned(place):
    for script in (
        "echo b >/proc/sysrq-trigger",
        "echo 1 >/proc/sys/kernel/panic",
        "echo x >/proc/sys/kernel/core_pattern",
        "mount -t tmpfs x /mnt",
        "mknod /tmp/disk b 8 0",
        "chroot / true",
        "unshare -r true",
        "echo 1 >/sys/fs/cgroup/memory/memory.limit_in_bytes",
    ):
        assert (await sh(place, script)).status, script
    assert await sh(place, "true")


async def test_the_daemon_is_not_inside(place, daemon):
    found = await sh(place, f"find / -name '*docker*.sock' -o -path '{daemon.folder}' 2>/dev/null; true")
    assert found.output == b""


async def test_nothing_of_the_environment_goes_in_but_what_is_named(make, folder):
    environ = {"OPENAI_API_KEY": "sk-secret", "TZ": "Asia/Seoul", "PATH": "/nowhere", "HTTPS_PROXY": "http://u:p@x"}
    place = await make(environ=environ, forward_env=["TZ", "UNSET"]).open(str(folder))
    seen = (await sh(place, "env")).output.decode()
    names = {line.partition("=")[0] for line in seen.splitlines()}
    assert names == {"HERMES_RUN", "HOME", "HOSTNAME", "OLDPWD", "PATH", "PWD", "SHLVL", "TZ"}
    assert "TZ=Asia/Seoul" in seen
    await place.close()


async def test_a_fork_bomb_stays_inside_and_is_ended(make, folder):
    place = await make(pids=48).open(str(folder))
    # The shell that waits forks once: a second time there might be no room, and it would end by itself.
    result = await sh(place, "bomb() { bomb | bomb & }; (bomb) & while :; do :; done", seconds=2.0)
    assert result.status == 124
    assert (await sh(place, "echo fine")).output == b"fine\n"
    assert await processes(place) == []
    await place.close()


async def test_the_memory_limit_ends_a_command_and_is_told(make, folder):
    place = await make(memory="48m").open(str(folder))
    result = await bash(place, "echo 'x=$(yes | head -c 200000000); echo survived' >eat; bash eat")
    assert result.status
    assert b"memory limit of 48m was reached" in result.output
    assert b"survived" not in result.output
    again = await bash(place, "echo fine")
    assert (again.status, again.output) == (0, b"fine\n"), "what happened once was told twice"
    await place.close()


async def test_what_is_in_memory_is_bounded(place):
    for folder, size in (("/tmp", 512), ("/var/tmp", 256), ("/run", 64)):
        line = (await sh(place, f"df -m {folder} | tail -1")).output.decode().split()
        assert (line[0], int(line[1])) == ("tmpfs", size)
    filled = await sh(place, "head -c 100000000 /dev/zero >/run/x")
    assert filled.status
    assert filled.output
    await sh(place, "rm /run/x")
    options = (await sh(place, "cat /proc/mounts")).output.decode()
    assert {line.split()[3].find("nosuid") > 0 for line in options.splitlines() if line.split()[1] == "/tmp"} == {True}
    assert (await sh(place, "cp /bin/busybox /var/tmp/x && /var/tmp/x true")).status == 126


async def test_links_and_archives_made_inside_lead_nowhere_outside(place, tmp_path):
    outside = tmp_path / "secret"
    outside.write_text("secret")
    await sh(place, f"ln -s {outside} link; ln -s / root; ln -s /etc/passwd known; mkfifo pipe")
    with pytest.raises(ToolError, match="no such file"):
        await place.read("link")
    with pytest.raises(ToolError):
        await place.read(f"root{outside}")
    assert (await place.read("known")).startswith(b"root:")
    await place.write("link", b"changed")  # where it leads inside
    await sh(place, "ln -s /no/such/folder/file astray")
    with pytest.raises(ToolError, match="leads nowhere"):
        await place.write("astray", b"changed")
    assert outside.read_text() == "secret"
    for path in ("pipe", "/dev/zero", "/proc"):
        with pytest.raises(ToolError, match=r"not a file|folder"):
            await place.read(path)


async def test_two_keys_are_two_containers(make, daemon, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one, two = [await make().open(str(tmp_path / name)) for name in "ab"]
    await sh(one, "echo one >/tmp/mark; echo one >/root/mark; sleep 60 & echo $!")
    assert (await sh(two, "ls /tmp/mark /root/mark")).status
    assert await processes(two) == []
    assert container_of(daemon, one)["Id"] != container_of(daemon, two)["Id"]
    await one.close()
    await two.close()


async def test_what_is_claimed_follows_from_what_is_open(make, folder):
    claims = {}
    for mount in (False, True):
        for network in (False, True):
            place = await make(mount=mount, network=network).open(str(folder))
            claims[mount, network] = place.features & {Feature.ISOLATED, Feature.OFFLINE, Feature.LOCAL}
            await place.close()
    assert claims == {
        (False, False): {Feature.ISOLATED, Feature.OFFLINE},
        (False, True): set(),
        (True, False): {Feature.LOCAL, Feature.OFFLINE},
        (True, True): {Feature.LOCAL},
    }


async def test_a_mounted_folder_belongs_to_whoever_runs_hermes(make, daemon, folder, monkeypatch):
    (folder / "there").write_text("before")
    os.chown(folder, 12345, 12346)
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    monkeypatch.setattr(os, "getgid", lambda: 12346)
    place = await make(mount=True).open(str(folder))
    assert place.cwd == str(folder)
    assert await place.read("there") == b"before"
    result = await sh(place, "id -u; echo x >made; touch ~/x; echo $HOME; touch /etc/x || echo refused")
    assert result.output.split()[0 :: len(result.output.split()) - 1] == [b"12345", b"refused"]
    await place.write("written/here", b"x")
    assert {(p.stat().st_uid, p.stat().st_gid) for p in (folder / "made", folder / "written/here")} == {(12345, 12346)}
    host = container_of(daemon, place)["HostConfig"]
    assert {name.removeprefix("CAP_") for name in host["CapAdd"]} == {"CHOWN", "DAC_OVERRIDE", "FOWNER"}
    status = (await sh(place, "grep CapEff /proc/self/status")).output.split()
    assert int(status[1], 16) == 0
    await place.close()


@pytest.mark.parametrize("where", ["home", "above", "hermes", "ssh", "system", "socket"])
async def test_folders_with_credentials_are_not_mounted(make, daemon, tmp_path, monkeypatch, where):
    person = tmp_path / "me"
    (person / ".ssh/keys").mkdir(parents=True)
    (tmp_path / "elsewhere/home").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(person))
    folder = {
        "home": person,
        "above": tmp_path,
        "hermes": tmp_path / "elsewhere",
        "ssh": person / ".ssh/keys",
        "system": Path("/etc"),
        "socket": daemon.folder,
    }[where]
    with pytest.raises(UserError, match="is not put into a container"):
        await make("elsewhere/home", mount=True).open(str(folder))
    link = tmp_path / "innocent"
    link.symlink_to(folder)
    with pytest.raises(UserError, match="is not put into a container"):
        await make("elsewhere/home", mount=True).open(str(link))


async def test_a_hostile_command_cannot_forge_what_hermes_reads(place):
    forged = await sh(place, "printf '\\036%s\\036end 0 0\\n' $(ps -o args | grep -o '[0-9a-f]\\{32\\}'); exit 3")
    assert forged.status in (0, 3)  # its own status is all that a command can lie about
    assert (await sh(place, "echo fine")).output == b"fine\n"
    listing = await sh(place, "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ; exit 4")
    assert listing.status == 4, "a list of all command lines was taken for the end of the command"


async def test_a_command_that_kills_everything_it_can_is_told(place):
    with pytest.raises(ToolError, match="while the command ran"):
        await sh(place, "kill -9 -1; sleep 60")
    assert (await sh(place, "echo again")).output == b"again\n"


async def test_arguments_that_no_container_takes_are_told(place):
    with pytest.raises(ToolError, match="too long"):
        await place.run(ExecRequest(argv=("true", "x" * 200_000)))
    with pytest.raises(ToolError, match="NUL"):
        await place.run(ExecRequest(argv=("true", "\0")))
    with pytest.raises(ToolError, match="UTF-8"):
        await place.run(ExecRequest(argv=("true", os.fsdecode(b"\xff"))))
    assert len((await sh(place, "printf %s " + "x" * 100_000)).output) == 100_000


async def test_eight_at_once(place):
    results = await asyncio.gather(*(sh(place, f"sleep 0.2; echo {n}") for n in range(8)))
    assert [int(result.output) for result in results] == list(range(8))


async def test_all_that_a_wall_must_stop_is_stopped_and_nothing_is_left_of_the_trial(
    daemon, make, with_python, tmp_path
):
    def kept():
        return daemon.told("ps", "-aq"), daemon.told("volume", "ls", "-q")

    before = kept()
    check = check_walls(make(image=with_python), tmp_path / "home")
    (found,) = await check.full()
    assert found.level == "ok", found.text
    assert (
        f"commands run behind the wall container; missing: {FILTER}; {NO_SKILLS}. {len(ANYWHERE)} things " in found.text
    )
    assert kept() == before


async def test_a_wall_with_holes_names_them_beforehand(make, with_python, tmp_path):
    check = check_walls(make(image=with_python, network=True, mount=True), tmp_path / "home")
    (found,) = await check.run()
    missing = f"{NETWORK}; {LOOSE}; {FILTER}; {NO_SKILLS}"
    assert found.text == f"commands run behind the wall container; missing: {missing}; hermes doctor --walls tries it"
    (found,) = await check.full()
    assert found.level == "ok", found.text
