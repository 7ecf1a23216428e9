"""The profile for macOS as far as its text can be judged elsewhere, and how commands get behind it."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seatbelt_judge import Quoted, allows, parsed

from hermes_backend_kit import walls
from hermes_backend_kit.probes import PROBES
from hermes_backend_local.backend import Local
from hermes_backend_wall import seatbelt
from hermes_backend_wall.bounds import Bounds
from hermes_backend_wall.plan import Plan, chosen
from hermes_backend_wall.seatbelt import profile
from hermes_core.errors import ToolError
from hermes_core.types import ExecRequest

HOME, HERMES = "/Users/ann", "/Users/ann/work/.hermes"
WORK, SCRATCH, OUTSIDE = f"{HOME}/work", "/private/tmp/x", "/private/tmp/hermes-outside-1"
LOOPBACK, OTHERS = ("localhost", 8080), "others"

# What a probe needs of the system, by its text: the operation, and what it is done to.
OF_PROBES = {
    "writing a new file outside": ("file-write-create", {"path": f"{OUTSIDE}/new"}),
    "changing a file outside": ("file-write-data", {"path": f"{OUTSIDE}/file"}),
    "emptying a file outside": ("file-write-data", {"path": f"{OUTSIDE}/file"}),
    "removing a file outside": ("file-write-unlink", {"path": f"{OUTSIDE}/file"}),
    "making a folder outside": ("file-write-create", {"path": f"{OUTSIDE}/folder"}),
    "moving a file out": ("file-write-create", {"path": f"{OUTSIDE}/moved"}),
    "moving a file in": ("file-write-unlink", {"path": f"{OUTSIDE}/file"}),
    "a hard link to a file outside": ("file-link", {"path": f"{OUTSIDE}/file"}),
    "writing through a symbolic link": ("file-write-data", {"path": f"{OUTSIDE}/file"}),
    "reading through a symbolic link": ("file-read-data", {"path": f"{OUTSIDE}/file"}),
    "changing a file's mode outside": ("file-write-mode", {"path": f"{OUTSIDE}/file"}),
    "changing a file's owner outside": ("file-write-owner", {"path": f"{OUTSIDE}/file"}),
    "changing a file's times outside": ("file-write-times", {"path": f"{OUTSIDE}/file"}),
    "an attribute on a file outside": ("file-write-xattr", {"path": f"{OUTSIDE}/file"}),
    "flags of a file of the system": ("file-write-flags", {"path": "/usr/bin/python3"}),
    "a device file": ("file-write-create", {"path": "/dev/disk9"}),
    "reading a key in the home": ("file-read-data", {"path": f"{HOME}/.ssh/id_probe"}),
    "listing the home": ("file-read-data", {"path": HOME}),
    "writing into the home": ("file-write-create", {"path": f"{HOME}/.ssh/config_probe"}),
    "reading Hermes' own folder": ("file-read-data", {"path": f"{HERMES}/.env"}),
    "reading the passwords of the system": ("file-read-data", {"path": "/private/etc/master.passwd"}),
    "writing into /etc": ("file-write-create", {"path": "/private/etc/hermes-probe"}),
    "writing into /usr": ("file-write-create", {"path": "/usr/hermes-probe"}),
    "another program's temporary files": ("file-read-data", {"path": f"{OUTSIDE}/file"}),
    "writing a disk": ("file-write-data", {"path": "/dev/disk0"}),
    "a signal to Hermes": ("signal", {"target": OTHERS}),
    "ending another process": ("signal", {"target": OTHERS}),
    "the environment of another process": ("process-info-pidinfo", {"target": OTHERS}),
    "attaching to a process": ("mach-priv-task-port", {"target": OTHERS}),
    "mounting": ("file-mount", {"path": f"{WORK}/x"}),
    "setting the clock": ("system-set-time", {}),
    "the name of the machine": ("sysctl-write", {}),
    "a server of this machine": ("network-outbound", {"remote": LOOPBACK}),
    "a public address": ("network-outbound", {"remote": ("1.1.1.1", 443)}),
    "the metadata of a cloud": ("network-outbound", {"remote": ("169.254.169.254", 80)}),
    "a socket of another program": ("network-outbound", {"path": f"{OUTSIDE}/socket"}),
    "the system's message bus": ("mach-lookup", {"service": "com.apple.pasteboard.1"}),
    "being reached from outside": ("network-inbound", {"local": ("192.0.2.1", 80)}),
}
NEEDED = {
    "running a program": ("process-exec", {"path": "/usr/bin/git"}),
    "a child": ("process-fork", {}),
    "reading a library": ("file-read-data", {"path": "/usr/lib/libSystem.B.dylib"}),
    "reading a setting of the system": ("file-read-data", {"path": "/private/etc/ssl/cert.pem"}),
    "the way to a file": ("file-read-metadata", {"path": HOME}),
    "reading the project": ("file-read-data", {"path": f"{WORK}/a/b"}),
    "changing the project": ("file-write-create", {"path": f"{WORK}/a/new"}),
    "a temporary file": ("file-write-create", {"path": f"{SCRATCH}/t"}),
    "throwing output away": ("file-write-data", {"path": "/dev/null"}),
    "ending its own child": ("signal", {"target": "same-sandbox"}),
    "a server of its own": ("network-bind", {"local": LOOPBACK}),
    "the names of users": ("mach-lookup", {"service": "com.apple.system.opendirectoryd.libinfo"}),
}


def bounds(**changed):
    whole = {"folder": WORK, "source": WORK, "home": "/private/cache/home", "scratch": SCRATCH, "person": HOME}
    return Bounds(**{**whole, "hidden": [HERMES], **changed})


@pytest.mark.parametrize("what", OF_PROBES)
def test_what_probes_try_is_denied(what):
    assert what in {probe.text for probe in PROBES}
    operation, facts = OF_PROBES[what]
    assert not allows(profile(bounds()), operation, **facts)


@pytest.mark.parametrize("what", NEEDED)
def test_what_work_needs_is_allowed(what):
    operation, facts = NEEDED[what]
    assert allows(profile(bounds()), operation, **facts)


def test_what_is_fixed_or_shown_is_so_wherever_it_lies():
    text = profile(bounds(fixed=[f"{WORK}/.git/hooks"], readable=["/data"], writable=["/other"]))
    hook = {"path": f"{WORK}/.git/hooks/pre-commit"}
    assert allows(text, "file-read-data", **hook)
    assert not allows(text, "file-write-create", **hook)
    assert allows(text, "file-read-data", path="/data/x")
    assert not allows(text, "file-write-data", path="/data/x")
    assert allows(text, "file-write-data", path="/other/x")
    assert not allows(text, "file-write-data", path="/others/x")


def test_the_judge_lets_the_last_rule_decide_and_denies_what_none_is_about():
    text = '(version 1)(deny default)(allow file* (subpath "/a"))(deny file-write* (literal "/a/b"))'
    tried = [("file-write-data", "/a/b"), ("file-read-data", "/a/b"), ("file-write-data", "/a/c"), ("sysctl", "/a/c")]
    assert [allows(text, operation, path=path) for operation, path in tried] == [False, True, True, False]


@given(st.text(min_size=1).filter(lambda name: "\0" not in name))
def test_no_name_of_a_folder_ends_a_rule(name):
    rules = parsed(profile(bounds(source=f"/x/{name}")))
    assert len(rules) == len(parsed(profile(bounds(source="/x/plain"))))
    (writing,) = [rule for rule in rules if rule[:2] == ["allow", "file-write*"]]
    assert writing[2] == ["subpath", Quoted(f"/x/{name}")]


def test_it_is_for_whom_asks_for_it_and_says_what_it_does_not_keep(tmp_path):
    assert chosen("seatbelt") == "seatbelt"
    assert chosen("auto") != "seatbelt"
    wall = Local(plan=Plan(kind="seatbelt", homes=tmp_path)).wall
    assert wall.name == "seatbelt"
    assert all(walls.says(text) for text in wall.missing)


@pytest.mark.skipif(sys.platform == "darwin", reason="there it is something else")
async def test_elsewhere_no_command_runs_without_it(tmp_path):
    place = await Local(plan=Plan(kind="seatbelt", homes=tmp_path / "homes")).open(str(tmp_path))
    with pytest.raises(ToolError, match="the wall of macOS"):
        await place.run(ExecRequest(argv=("touch", "made")))
    with pytest.raises(ToolError, match="the wall of macOS"):
        await place.start(ExecRequest(argv=("touch", "made")))
    await place.close()
    assert not (tmp_path / "made").exists()


async def test_each_command_goes_through_the_program_with_the_profile_of_its_folder(tmp_path, monkeypatch):
    program, work, said = tmp_path / "sandbox-exec", tmp_path / "work", tmp_path / "said"
    work.mkdir()
    program.write_text(f'#!/bin/sh\n[ "$1" = -p ] || exit 9\nprintf %s "$2" >{said}\nshift 2\nexec "$@"\n')
    program.chmod(0o755)
    monkeypatch.setattr(seatbelt, "PROGRAM", str(program))
    monkeypatch.setattr(seatbelt, "sys", SimpleNamespace(platform="darwin"))
    place = await Local(plan=Plan(kind="seatbelt", homes=tmp_path / "homes")).open(str(work))
    try:
        result = await place.run(ExecRequest(argv=("bash", "-c", "cd /; export KEPT=1; echo $HOME $TMPDIR")))
        home, scratch = result.output.decode().split()
        text = said.read_text()
        assert home.startswith(str(tmp_path / "homes")), "not the person's own"
        for writable in (str(work), home, scratch):
            assert allows(text, "file-write-create", path=f"{writable}/new")
        assert not allows(text, "file-write-create", path=str(Path(scratch).parent / "new"))
        said.unlink()
        result = await place.run(ExecRequest(argv=("bash", "-c", "pwd; echo $KEPT")))
        assert result.output == b"/\n1\n"
        assert said.exists()
        said.unlink()
        process = await place.start(ExecRequest(argv=("true",)))
        while await process.poll() is None:
            await process.read()
        assert said.exists()
        said.unlink()
        await place.run(ExecRequest(argv=("true",), wall=False))
        assert not said.exists(), "a person let this one out"
    finally:
        await place.close()
