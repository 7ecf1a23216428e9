"""Killed between any two steps: a skill is what it was or what it was to become, and nothing in between is used."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

PROGRAM = """
import asyncio, os, shutil, signal, sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from conftest import Desk, skill_text
import hermes_tool_skills.deeds, hermes_tool_skills.past, hermes_tool_skills.changes, hermes_tool_skills.scan.structure

WHAT, FOLDER = sys.argv[1], Path(sys.argv[2])
NEW = "# Do it\\n\\n1. Look twice.\\n"

def prepare(desk):
    source = desk.source("tidy", **{{"a.md": "one", "gone.md": "x"}})
    if WHAT != "install":
        desk.run("install", str(source), "--yes")
        desk.run("enable", "tidy", "--yes")
    if WHAT == "update":
        (source / "gone.md").unlink()
        desk.put(source, {{"SKILL.md": skill_text("tidy", NEW), "b/c.md": "two"}})
    if WHAT in ("patch", "propose"):
        asyncio.run(desk.create("own"))

def work(desk):
    if WHAT in ("install", "update"):
        desk.run("install", str(desk.folder / "sources" / "tidy"), "--yes")
    elif WHAT == "remove":
        desk.run("remove", "tidy", "--yes")
    elif WHAT == "patch":
        asyncio.run(desk.call("skill_manage", action="patch", name="own", old="Look", new="See"))
    elif WHAT == "propose":
        desk.settings["approve"] = True
        asyncio.run(desk.call("skill_manage", action="patch", name="own", old="Look", new="See"))
    elif WHAT == "disable":
        desk.run("disable", "tidy")

def look(desk):
    "What a fresh process sees; raises when anything is half there."
    states = desk.states()
    assert set(states.values()) <= {{"ready", "disabled"}}, states
    found = {{}}
    for name, state in states.items():
        entry = desk.skill(name).entry
        tree = desk.library.live(name)
        assert desk.library.version(name, entry.version)[1] == tree, name
        found[name] = (state, tuple(sorted(tree.items())))
    assert desk.run("verify").exit_code == 0
    from hermes_tool_skills.pending import proposal, proposals
    for one in proposals(desk.library):
        proposal(desk.library, one.id)
        found[one.id] = "waits"
    return found

CHANGES = {{"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.unlink", "shutil.rmtree"}}
def killed_at(number, desk):
    count = 0
    def hook(event, arguments):
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
        work(desk)
        os._exit(0)
    except BaseException as error:
        import traceback; traceback.print_exc()
        os._exit(7)

start = FOLDER / "start"
prepare(Desk(start))
before = look(Desk(start))
after = None
outcomes = []
for number in range(1, 400):
    place = FOLDER / f"run{{number}}"
    shutil.copytree(start, place, symlinks=True)
    for found in (place / "home").rglob("skills.lock"):
        found.write_text(found.read_text().replace(str(start), str(place)))
    desk = Desk(place)
    status = killed_at(number, desk)
    assert status in (0, signal.SIGKILL), status
    seen = look(Desk(place))
    if status == 0:
        after = seen
        break
    outcomes.append((number, seen))
    shutil.rmtree(place)
assert after is not None
def called(seen):
    "A proposal has a new id each time."
    same = seen.keys() == after.keys() or WHAT == "propose"
    return "before" if seen == before else "after" if same else "else"
states = [called(seen) for _, seen in outcomes]
same = [seen for _, seen in outcomes if seen != before]
if WHAT != "propose":
    assert all(seen == after for seen in same), [s for s in same if s != after][:1]
assert states == sorted(states, key=["before", "after"].index), states
print(len(outcomes), states.count("before"), states.count("after"))
"""


@pytest.mark.parametrize("what", ["install", "update", "remove", "patch", "propose", "disable"])
def test_killed_at_every_step(tmp_path: Path, what: str) -> None:
    code = textwrap.dedent(PROGRAM.format(tests=str(Path(__file__).parent)))
    done = subprocess.run(
        [sys.executable, "-c", code, what, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    killed, _before, after = map(int, done.stdout.split()[-3:])
    assert killed >= 4
    assert after >= 1 or what in ("propose", "disable")
