"""Does one thing to skills, killed before each of its steps in turn; what is there afterwards must be whole."""

import asyncio
import os
import shutil
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from conftest import Rig, skill_text
from hermes_core.testing.forks import serve
from hermes_tool_skills.pending import proposal, proposals

NEW = "# Do it\n\n1. Look twice.\n"
CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.unlink", "shutil.rmtree"}


def prepare(rig: Rig, what: str) -> None:
    source = rig.source("tidy", **{"a.md": "one", "gone.md": "x"})
    if what != "install":
        rig.run("install", str(source), "--yes")
        rig.run("enable", "tidy", "--yes")
    if what == "update":
        (source / "gone.md").unlink()
        rig.put(source, {"SKILL.md": skill_text("tidy", NEW), "b/c.md": "two"})
    if what in ("patch", "propose"):
        asyncio.run(rig.create("own"))


def work(rig: Rig, what: str) -> None:
    if what in ("install", "update"):
        rig.run("install", str(rig.folder / "sources" / "tidy"), "--yes")
    elif what == "remove":
        rig.run("remove", "tidy", "--yes")
    elif what == "disable":
        rig.run("disable", "tidy")
    else:
        rig.settings["approve"] = what == "propose"
        asyncio.run(rig.call("skill_manage", action="patch", name="own", old="Look", new="See"))


def look(rig: Rig) -> dict[str, Any]:
    """What a fresh process sees; raises when anything is half there."""
    states = rig.states()
    assert set(states.values()) <= {"ready", "disabled"}, states
    found: dict[str, Any] = {}
    for name, state in states.items():
        entry = rig.skill(name).entry
        tree = rig.library.live(name)
        assert rig.library.version(name, entry.version)[1] == tree, name
        found[name] = (state, tuple(sorted(tree.items())))
    assert rig.run("verify").exit_code == 0
    for one in proposals(rig.library):
        proposal(rig.library, one.id)
        found[one.id] = "waits"
    return found


def killed_at(number: int, rig: Rig, what: str) -> int:
    count = 0

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal count
        flags = arguments[2] if event == "open" and isinstance(arguments[2], int) else 0
        if event in CHANGES or flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            count += 1
            if count == number:
                os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    try:
        sys.addaudithook(hook)
        work(rig, what)
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(7)


def copied(start: Path, place: Path) -> Rig:
    shutil.copytree(start, place, symlinks=True)
    for found in (place / "home").rglob("skills.lock"):
        found.write_text(found.read_text().replace(str(start), str(place)))
    return Rig(place)


def play(what: str, folder: str) -> None:
    os.fsync = lambda _: None  # what was written outlives a process also when the disk was not waited for
    start = Path(folder) / "start"
    prepare(Rig(start), what)
    before, after, outcomes = look(Rig(start)), None, []
    work(copied(start, Path(folder) / "rehearsal"), what)  # nothing is left to import in what is killed
    for number in range(1, 400):
        place = Path(folder) / f"run{number}"
        rig = copied(start, place)
        status = killed_at(number, rig, what)
        assert status in (0, signal.SIGKILL), status
        seen = look(Rig(place))
        if status == 0:
            after = seen
            break
        outcomes.append(seen)
        shutil.rmtree(place)
    assert after is not None

    def called(seen: dict[str, Any]) -> str:
        same = seen == after or (what == "propose" and seen != before)  # a proposal has a new id each time
        return "before" if seen == before else "after" if same else "else"

    states = [called(seen) for seen in outcomes]
    assert states == sorted(states, key=["before", "after"].index), states
    print(len(outcomes), states.count("before"), states.count("after"))


if __name__ == "__main__":
    serve(play)
