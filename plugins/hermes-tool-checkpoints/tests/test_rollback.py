"""A conversation in which the model destroys things, and the person brings them back."""

import asyncio
import os
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from logging import getLogger
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from hermes_core import hookimpl
from hermes_core.kinds import tool
from hermes_core.testing import Call, FakePlatform, FakeWorkspace
from hermes_core.types import (
    Chat,
    Effect,
    Envelope,
    Message,
    Principal,
    Request,
    Sent,
    Session,
    Text,
    ToolCall,
    ToolResult,
    Verdict,
)
from hermes_tool_checkpoints.config import Config
from hermes_tool_checkpoints.git import Job
from hermes_tool_checkpoints.notes import Notes
from hermes_tool_checkpoints.snapshots import Snapshots
from hermes_tool_checkpoints.store import Store


@frozen(kw_only=True)
class Shell:
    """A command."""

    command: str


def shell(folder: Path) -> Any:
    @tool(name="shell", effects=[Effect.EXECUTE])
    async def run(wanted: Shell) -> str:
        """Run a command."""
        process = await asyncio.create_subprocess_shell(wanted.command, cwd=folder)
        return f"status {await process.wait()}"

    return run


@tool(name="peek", effects=[Effect.READ_FILES])
async def peek() -> str:
    """Look at something."""
    return "seen"


class Paced(FakePlatform):
    """A person who waits for each answer."""

    def __init__(self) -> None:
        super().__init__(features=())
        self.answered = asyncio.Event()

    async def receive(self) -> AsyncIterator[Envelope]:
        async for envelope in super().receive():
            self.answered.clear()
            yield envelope
            await self.answered.wait()

    async def send(self, chat: Chat, message: Message, key: str) -> Sent | None:
        sent = await super().send(chat, message, key)
        self.answered.set()
        return sent


class Scene:
    """A conversation over a folder; ``said`` is what the person saw."""

    def __init__(self, hermes: Any, scripted: Any, replies: list[Any], **config: Any) -> None:
        self.hermes, self.folder = hermes, hermes.workspace.folder
        self.requests: list[Request] = []
        requests = self.requests

        @hookimpl
        async def pre_llm_call(request: Request) -> None:
            requests.append(request)

        hermes.tmp_plugin(scripted(*replies))
        hermes.tmp_plugin(shell(self.folder), peek, pre_llm_call, name="zz")
        hermes.tmp_plugin("hermes_tool_checkpoints")
        options = {f"tools.checkpoints.{k}": v for k, v in config.items()}
        hermes.configure({"policy.mode": "off", "terminal.cwd": str(self.folder), **options})

    async def play(self, *lines: str, session: str = "") -> list[str]:
        platform = Paced()
        for line in lines:
            await platform.service.say(line)
        await platform.service.leave()
        await self.hermes.serve(platform, session)
        return list(await platform.service.seen())

    def told(self, number: int) -> str:
        """The last message of the ``number``-th request."""
        return "".join(p.text for p in self.requests[number].messages[-1].parts if isinstance(p, Text))


@pytest.fixture
def scene(hermes: Any, scripted: Any) -> Callable[..., Scene]:
    def make(replies: list[Any], **config: Any) -> Scene:
        return Scene(hermes, scripted, replies, **config)

    return make


def lay(folder: Path) -> dict[str, bytes]:
    files = {"a.txt": b"one\n", "src/b.py": b"x = 1\n", "data/c.bin": bytes(range(256))}
    for name, data in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)
    return files


def there(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


async def test_a_model_that_deletes_everything_is_undone(scene: Callable[..., Scene]) -> None:
    s = scene([[Call("shell", {"command": "rm -rf *"})], "All gone.", "I will look again.", "Fine."])
    files = lay(s.folder)
    seen = await s.play("tidy up", "/rollback 1", "what now?", "and now?")
    assert there(s.folder) == files
    assert seen[0] == "All gone."
    assert seen[1].startswith("Brought back to ")
    assert "3 files restored, 0 files deleted." in seen[1]
    assert seen[1].endswith("To undo this: /rollback 1")
    assert s.told(2).startswith("what now?\n\n[Note from Hermes: the person brought files in ")
    assert "Changed: a.txt, data/c.bin, src/b.py." in s.told(2)
    assert s.told(3) == "and now?"
    assert s.requests[3].messages[: len(s.requests[2].messages)] == s.requests[2].messages


async def test_the_list_the_difference_one_file_and_the_undo(scene: Callable[..., Scene]) -> None:
    s = scene([[Call("shell", {"command": "rm src/b.py; echo two >a.txt"})], "Done."])
    files = lay(s.folder)
    seen = await s.play(
        "go", "/rollback", "/rollback diff 1", "/rollback 1 src/b.py", "/rollback 2", "/rollback 1", "/rollback"
    )
    assert seen[1].splitlines()[0] == f"Snapshots of {s.folder}, newest first, and what changed after each:"
    assert "before shell  2 files changed, 1 insertion(+), 2 deletions(-)" in seen[1]
    assert "-x = 1" in seen[2]
    assert "+two" in seen[2]
    assert "1 file restored, 0 files deleted" in seen[3]
    assert "restored  a.txt" in seen[4]
    assert "restored  a.txt" in seen[5]
    assert "before a rollback" in seen[6]
    assert there(s.folder) == {**files, "a.txt": b"two\n"}


async def test_one_turn_has_one_snapshot_however_many_calls(scene: Callable[..., Scene]) -> None:
    calls = [Call("shell", {"command": f"echo {n} >n{n}"}) for n in range(3)]
    s = scene([calls, [Call("shell", {"command": "echo 9 >n9"})], "Done.", calls[:1], "Again."])
    seen = await s.play("go", "go on", "/rollback", "/rollback 2")
    assert [line.split()[0] for line in seen[2].splitlines()[1:-1]] == ["1", "2"]
    assert there(s.folder) == {}


async def test_looking_takes_no_snapshot(scene: Callable[..., Scene]) -> None:
    s = scene([[Call("peek")], "Seen."])
    seen = await s.play("look", "/rollback")
    assert seen[1].startswith("There is no snapshot of ")


async def test_turned_off_it_does_nothing_and_says_how_to_turn_it_on(
    scene: Callable[..., Scene], tmp_path: Path
) -> None:
    s = scene([[Call("shell", {"command": "touch x"})], "Done."], enabled=False)
    seen = await s.play("go", "/rollback")
    assert seen[1] == "Snapshots are off. To turn them on: hermes config set tools.checkpoints.enabled true"
    assert not (tmp_path / "home" / "data" / "tool-checkpoints").exists()


async def test_where_tools_work_elsewhere_nothing_of_this_machine_is_kept(scene: Callable[..., Scene]) -> None:
    s = scene([[Call("shell", {"command": "true"})], "Done."])
    s.hermes.workspace.features = frozenset()
    assert (await s.play("go", "/rollback"))[1].startswith("There is no snapshot of ")


async def test_a_folder_that_is_too_large_is_told_once_and_the_call_runs(
    scene: Callable[..., Scene], tmp_path: Path
) -> None:
    call = [Call("shell", {"command": "touch made"})]
    s = scene([call, call, "Done.", call, "Done again."], max_files=2)
    lay(s.folder)
    await s.play("go", "again")
    assert (s.folder / "made").exists()
    results = [p for m in s.requests[-1].messages for p in m.parts if isinstance(p, ToolResult)]
    notes = [part.text for r in results for part in r.parts if isinstance(part, Text) and "snapshot" in part.text]
    assert notes == [
        "No snapshot was taken before this call (the folder has 3 files, 2 is the most); /rollback cannot undo it."
    ]
    home = tmp_path / "home"
    elsewhere = Store(home / "data" / "tool-checkpoints", Config(max_files=2), closed=home)
    assert elsewhere.refused(s.folder) == "the folder has 3 files, 2 is the most"


async def test_a_person_is_asked_where_they_want_it(scene: Callable[..., Scene]) -> None:
    s = scene([[Call("shell", {"command": "touch made"})], "Done."], max_files=2, on_failure="ask")
    s.hermes.configure({"policy.mode": "ask"})
    lay(s.folder)
    asked = []

    async def ask(question: Any) -> Verdict:
        asked.append(question.risk)
        return Verdict(outcome="allow")

    s.hermes._ask = ask
    await s.hermes.run("go")
    assert asked == ["changes files that /rollback cannot bring back (the folder has 3 files, 2 is the most)"]


async def test_a_slow_disk_costs_the_snapshot_and_not_the_call(
    scene: Callable[..., Scene], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = [Call("shell", {"command": "touch made"})]
    s = scene([call, "Done."], wait_seconds=0.2)
    files = lay(s.folder)
    gate = tmp_path / "go-on"
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    real = next(p for p in os.environ["PATH"].split(":") if (Path(p) / "git").exists()) + "/git"
    slow.write_text(
        f'#!/bin/sh\n[ "$1" != update-index ] || while [ ! -e "{gate}" ]; do sleep 0.01; done\nexec {real} "$@"\n'
    )
    slow.chmod(stat.S_IRWXU)
    with monkeypatch.context() as patched:
        patched.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
        await s.play("go")
    assert (s.folder / "made").exists()
    results = [p for m in s.requests[1].messages for p in m.parts if isinstance(p, ToolResult)]
    assert "it took longer than 0.2 s" in str(results)
    gate.touch()
    if reading := [t for t in asyncio.all_tasks() if "to_thread" in repr(t.get_coro())]:
        await asyncio.wait(reading)
    seen = await s.play("/rollback")
    assert seen[0].startswith("There is no snapshot of ")  # what came too late was not kept
    assert set(there(s.folder)) == {*files, "made"}


async def test_a_session_that_ends_stops_what_still_reads(
    scene: Callable[..., Scene], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    s = scene([[Call("shell", {"command": "true"})], "Done."], wait_seconds=0.1)
    lay(s.folder)
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 600\n")
    slow.chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    await s.play("go")
    await s.hermes.close()
    assert not [t for t in asyncio.all_tasks() if "to_thread" in repr(t.get_coro())]


def test_a_tidying_that_takes_long_ends_with_the_program_and_is_no_fault(tmp_path: Path) -> None:
    git, slow, home = shutil.which("git"), tmp_path / "bin" / "git", tmp_path / "home"
    slow.parent.mkdir()
    slow.write_text(
        f'#!/bin/sh\ncase "$*" in *prune*) touch "{tmp_path}/tidying"; exec sleep 600;; esac\nexec {git} "$@"\n'
    )
    slow.chmod(stat.S_IRWXU)
    (tmp_path / "work").mkdir()
    env = {"HERMES_HOME": str(home), "HOME": str(tmp_path), "PATH": f"{slow.parent}:{os.environ['PATH']}"}
    words = [sys.executable, "-m", "hermes_core", "--provider", "offline", "--yolo", "-z", "run `touch made`"]
    done = subprocess.run(words, cwd=tmp_path / "work", env=env, capture_output=True, text=True, check=False)
    assert (tmp_path / "work" / "made").exists()
    assert (tmp_path / "tidying").exists()
    assert (done.returncode, "failed" in done.stderr) == (0, False), done.stderr


async def test_a_session_that_ends_leaves_the_work_of_others_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    lay(folder)
    began, go_on = threading.Event(), threading.Event()
    whole = Store.take

    def take(*a: Any) -> Any:
        began.set()
        go_on.wait(60)
        return whole(*a)

    monkeypatch.setattr(Store, "take", take)
    store = Store(tmp_path / "data", Config(), closed=tmp_path / "home")
    snapshots = Snapshots(store, Notes(tmp_path / "notes"), getLogger())
    owner = Principal(profile="p", person="x")
    one, other = (Session(id=name, owner=owner, origin="cli", turn="t") for name in ("one", "other"))
    call = ToolCall(id="1", name="shell", arguments={})
    snapshot = asyncio.create_task(snapshots.before(one, call, FakeWorkspace(folder=folder)))
    await asyncio.to_thread(began.wait, 60)
    await snapshots.end(other)
    go_on.set()
    assert await snapshot is None
    assert len(store.snapshots(folder, Job(60))) == 1
    await snapshots.end(one)


async def test_wrong_words_are_answered(scene: Callable[..., Scene]) -> None:
    s = scene([[Call("shell", {"command": "touch x"})], "Done."])
    seen = await s.play(
        "/rollback 1", "go", "/rollback two", "/rollback 7", "/rollback 1 /etc/passwd", "/rollback diff 9"
    )
    assert seen[0].startswith("There is no snapshot of ")
    assert seen[2].startswith("'two' is not the number of a snapshot.")
    assert "there are 1 to 1" in seen[3]
    assert "is not inside" in seen[4]
    assert "There is no snapshot 9" in seen[5]


async def test_the_note_survives_a_restart_until_a_reply_is_stored(scene: Callable[..., Scene], tmp_path: Path) -> None:
    from hermes_tool_checkpoints.notes import Notes

    def envelope() -> Envelope:
        said = Message(role="user", parts=(Text(text="hi"),))
        return Envelope(platform="p", account="", event_id="1", chat="c", sender="s", message=said)

    notes = Notes(tmp_path / "notes")
    notes.leave(["s1", ""], "first")
    assert Notes(tmp_path / "notes").add("s1", envelope())
    again = Notes(tmp_path / "notes")
    changed = again.add("s1", envelope())
    assert changed
    assert [p.text for p in changed.message.parts if isinstance(p, Text)] == ["hi", "\n\n[first]"]
    again.leave(["s1"], "second")
    again.answered("s1")
    left = again.add("s1", envelope())
    assert left
    assert isinstance(left.message.parts[-1], Text)
    assert left.message.parts[-1].text == "\n\n[second]"
    again.answered("s1")
    assert again.add("s1", envelope()) is None
    assert again.add("s2", envelope()) is None
