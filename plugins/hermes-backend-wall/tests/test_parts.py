"""Parts that need no wall: the filter's text, settings of git, what a home shows."""

import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_autorun.autorun import runs_by_itself
from hermes_backend_wall import repository, seccomp, toolchains
from hermes_backend_wall.home import Own
from hermes_backend_wall.protected import Protected
from hermes_backend_wall.system import inside

ALLOW, KILL, EPERM, NOTIFY = 0x7FFF0000, 0x80000000, 0x00050001, 0x7FC00000
X86 = 0xC000003E


def judged(program, number, *words, audit=X86):
    """What the kernel would answer: a classic BPF machine, as far as the filter uses it."""
    data = struct.pack("=iIQ6Q", number, audit, 0, *(*words, 0, 0, 0, 0, 0, 0)[:6])
    lines = list(struct.iter_unpack("=HBBI", program))
    at = held = 0
    while True:
        code, yes, no, value = lines[at]
        at += 1
        if code == 0x06:
            return value
        if code == 0x20:
            (held,) = struct.unpack_from("=I", data, value)
        elif code == 0x54:
            held &= value
        else:
            at += yes if {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[code] else no


@pytest.mark.parametrize("landlock", [0, 1, 7])
def test_ordinary_calls_pass_and_those_of_other_machines_kill(landlock):
    program = seccomp.program("x86_64", landlock=landlock)
    for number in (0, 1, 2, 59, 257, 61, 435 + 1000):
        assert judged(program, number) == ALLOW
    assert judged(program, 0, audit=0x40000003) == KILL
    assert judged(program, 165) == EPERM
    assert judged(program, 56, 0x10000000 | 17) == EPERM


def test_behind_landlock_only_streams_are_made_and_addresses_are_asked_about():
    program = seccomp.program("x86_64", landlock=7)
    stream, datagram, raw, seqpacket, flags = 1, 2, 3, 5, 0o2004000
    for family, kind, protocol in ((1, stream, 0), (1, seqpacket, 0), (2, stream, 0), (10, stream, 6), (16, raw, 0)):
        assert judged(program, 41, family, kind | flags, protocol) == ALLOW
    for family, kind, protocol in ((1, datagram, 0), (1, raw, 0), (2, datagram, 0), (2, raw, 1), (2, stream, 262)):
        assert judged(program, 41, family, kind | flags, protocol) & 0xFFFF0000 == 0x00050000
    assert judged(program, 53, 1, datagram) & 0xFFFF0000 == 0x00050000
    for number, name in seccomp.supervised("x86_64").items():
        assert judged(program, number, 77, 77) == NOTIFY
        if name.startswith("sched_"):
            assert judged(program, number, 0, 77) == ALLOW
    for number, kind in ((141, 0), (251, 1)):
        assert [judged(program, number, *words) for words in ((kind, 0), (kind, 7), (kind + 1, 0))] == [
            *(ALLOW, NOTIFY, NOTIFY)
        ]
    assert judged(program, 44, 3, 0, 0, 0x20000000) & 0xFFFF0000 == 0x00050000
    assert judged(program, 44, 3, 0, 0, 0x4000) == ALLOW
    assert judged(program, 302, 0) == ALLOW
    assert judged(program, 302, 77) == EPERM


def test_before_landlock_knew_of_truncating_the_filter_closes_it():
    assert judged(seccomp.program("x86_64", landlock=2), 76) == EPERM
    assert judged(seccomp.program("x86_64", landlock=3), 76) == ALLOW


def test_in_a_sandbox_files_get_no_foreign_rights():
    program = seccomp.program("x86_64")
    assert judged(program, 90, 0, 0o4755) == EPERM
    assert judged(program, 90, 0, 0o2755) == ALLOW
    assert judged(program, 268, 0, 0, 0o6755) == EPERM


@pytest.mark.parametrize(
    ("text", "bad"),
    [
        ("[user]\n\tname = x\n", []),
        ('[remote "o"]\n\turl = https://example.org/x.git\n\tfetch = +refs/heads/*:refs/remotes/o/*\n', []),
        ('[remote "o"]\n\turl = git@example.org:x.git\n[branch "main"]\n\tremote = o\n\tmerge = refs/heads/main\n', []),
        ('[remote "o"]\n\turl = ext::sh -c evil\n', ["remote.o.url"]),
        ('[remote "o"]\n\tuploadpack = evil\n', ["remote.o.uploadpack"]),
        ('[branch "main"]\n\tremote = ext::sh\n', ["branch.main.remote"]),
        ("[core]\n\tbare = false\n\tsshCommand = evil\n\tfsmonitor = evil\n", ["core.fsmonitor", "core.sshcommand"]),
        ("[include]\n\tpath = evil\n", ["include.path"]),
        ('[filter "x"]\n\tclean = evil\n', ["filter.x.clean"]),
        ("[alias]\n\tst = !evil\n[credential]\n\thelper = evil\n", ["alias.st", "credential.helper"]),
        ('[url "https://evil/"]\n\tinsteadOf = https://example.org/\n', ["url.https://evil/.insteadof"]),
    ],
)
def test_settings_of_git_that_run_something_are_named(text, bad):
    new = repository.settings(text.encode())
    assert repository.harmful({}, new) == bad
    assert repository.harmful(new, new) == []


@pytest.mark.parametrize(
    ("text", "bad"),
    [
        ('[remote "o"]\n\turl = ./evil.git\n', ["remote.o.url"]),
        ('[remote "o"]\n\turl = /work/project/evil.git\n', ["remote.o.url"]),
        ('[remote "o"]\n\turl = /tmp/evil.git\n', ["remote.o.url"]),
        ('[remote "o"]\n\turl = ~/evil.git\n', ["remote.o.url"]),
        ('[remote "o"]\n\turl = /srv/real.git\n', []),
        ('[remote "origin"]\n\turl = https://elsewhere.example/x.git\n', ["remote.origin.url"]),
        ('[remote "origin"]\n\turl = https://example.org/x.git\n\tmirror = true\n', ["remote.origin.mirror"]),
        ('[branch "main"]\n\tpushRemote = evil.git\n', ["branch.main.pushremote"]),
        ('[branch "main"]\n\tremote = .\n\tmerge = refs/heads/x\n', []),
    ],
)
def test_where_a_push_goes_is_not_a_commands_to_say(text, bad):
    """What lies where commands write has hooks of theirs; what the person's remotes are called leads where it led."""
    first = {"remote.origin.url": ["https://example.org/x.git"]}
    new = repository.settings(text.encode())
    assert repository.harmful({}, new, first=first, root="/work/project", reach=["/tmp"]) == bad


def test_settings_that_cannot_be_read_are_harmful():
    assert repository.harmful({}, repository.settings(b"[core\nx = 1"))


def test_of_the_persons_git_who_they_are_is_kept_and_nothing_that_runs(tmp_path, monkeypatch):
    person = tmp_path / "person"
    (person / "work").mkdir(parents=True)
    words = {"user.name": 'Ann "A" B', "user.email": "a@b", "alias.st": "status", "core.autocrlf": "input"}
    bad = {"alias.x": "!evil", "core.hooksPath": "/evil", "credential.helper": "store", "commit.gpgsign": "true"}
    for name, value in {**words, **bad, "include.path": "evil", "core.pager": "evil"}.items():
        subprocess.run(["git", "config", "--file", person / ".gitconfig", name, value], check=True)
    own = Own(tmp_path / "homes", str(person / "work"), str(person))
    own.open()
    try:
        listed = subprocess.run(
            ["git", "config", "--file", f"{own.home}/.gitconfig", "--list"], check=True, capture_output=True, text=True
        ).stdout.splitlines()
        assert sorted(listed) == sorted(f"{name}={value}" for name, value in words.items())
        assert Path(own.scratch).stat().st_mode & 0o777 == 0o700
    finally:
        own.close()
    assert not own.scratch


def test_tools_in_the_home_are_shown_and_the_home_is_not(tmp_path):
    person = tmp_path / "person"
    for name in (".pyenv/shims", ".cargo/bin", ".ssh", ".config/tool", "bin"):
        (person / name).mkdir(parents=True)
    path = f"{person}/.pyenv/shims:{person}/bin:{person}:/usr/bin:/bin:/:relative"
    shown = toolchains.found(str(person), {"PATH": path})
    assert {f"{person}/.pyenv", f"{person}/.cargo/bin", f"{person}/bin"} <= set(shown)
    assert not [path for path in shown if inside(str(person), path) or inside(f"{person}/.ssh", path)]


@given(st.lists(st.sampled_from(["AGENTS.md", "a.txt", ".vscode/tasks.json", ".github/workflows/x.yml", ".npmrc"])))
def test_after_any_changes_what_runs_by_itself_is_as_it_was(tmp_path_factory, names):
    folder = tmp_path_factory.mktemp("work")
    (folder / "AGENTS.md").write_text("mine")
    protected = Protected(str(folder), tmp_path_factory.mktemp("kept"), tmp_path_factory.mktemp("records") / "one")
    protected.begin()
    for number, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if number % 3 == 2:
            (folder / name).unlink(missing_ok=True)
        else:
            (folder / name).write_text(f"evil {number}")
    protected.end()
    assert (folder / "AGENTS.md").read_text() == "mine"
    there = [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]
    assert [name for name in there if runs_by_itself(f"/x/{name}")] == ["AGENTS.md"]


def test_who_gives_up_the_network_keeps_sockets_of_unix_alone():
    program = seccomp.offline("x86_64")
    for number in (41, 53):
        assert judged(program, number, 1, 1) == ALLOW
        assert [judged(program, number, family, 1) for family in (2, 10, 16, 40)] == [0x0005000D] * 4
    assert judged(program, 59) == ALLOW
    assert judged(program, 425) == EPERM
    assert seccomp.offline("another") == b""
