"""What Hermes keeps is closed to tools, also where its folder lies in the session's own."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

import hermes_tool_guard
from hermes_core.agent.policy.judge import MODES
from hermes_core.embed import Hermes
from hermes_core.kinds import Tool, tool
from hermes_core.testing import FakeWorkspace
from hermes_core.testing.bench import Bench
from hermes_core.types import Effect, Failed, Principal, Question, Session, ToolCall, Verdict
from hermes_tool_files.tools import make_tools

KEPT = ["memories/MEMORY.md", "SOUL.md", "sessions/s.jsonl", "logs/hermes.log", "data/tool-skills/skills.lock"]
KEPT += ["skills.lock", "active_profile", "cache/models.json", "cache/faults.json", "config.yaml", "state.db"]
KEPT += ["memories/USER.md", "cache/outputs/other/1-x.txt", "cache/outputs/me2/1-x.txt", "cache/outputs/x.txt"]
OWN, PARENTS, SKILL = "cache/outputs/me/1-x.txt", "cache/outputs/boss/1-x.txt", "skills/tidy/SKILL.md"
ME = Session(id="me", parent="boss", origin="child")


@tool(effects={Effect.EXECUTE}, touches=lambda _: ())
async def terminal() -> str:
    """Run."""
    return "ran"


class Scene:
    """A kernel whose home lies in the folder that its sessions work in, which is the person's home."""

    def __init__(self, hermes: Hermes, folder: Path) -> None:
        self.hermes, self.folder = hermes, folder
        self.home = folder / ".hermes"
        self.tools: dict[str, Tool] = {one.name: one for one in [*make_tools(), terminal]}
        self.asked: list[Question] = []

    async def judge(self, name: str, mode: str, untrusted: bool = False, **arguments: str) -> Verdict:
        policy, made = self.hermes.runtime.policy, self.tools[name]
        policy.set_mode("me", mode)
        place = FakeWorkspace(folder=self.folder)
        call = ToolCall(id="1", name=name, arguments=arguments)

        async def ask(question: Question, _: object) -> Verdict:
            self.asked.append(question)
            return Verdict(outcome="allow", by="person")

        session = evolve(ME, untrusted=untrusted)
        params: Any = None if name == "terminal" else made.params(**arguments)
        return await policy.judge(session, call, made, params, place, ask)

    async def blocked(self, name: str, **arguments: str) -> bool:
        return (await self.judge(name, "off", False, **arguments)).by == "hard block"


@pytest.fixture
async def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Scene]:
    folder = tmp_path / "person"
    for name in [*KEPT, OWN, PARENTS, SKILL]:
        (path := folder / ".hermes" / name).parent.mkdir(parents=True, exist_ok=True)
        path.write_text("" if name in ("config.yaml", "active_profile") else "canary\n")
    (folder / ".hermes" / "state.db").unlink()
    monkeypatch.setenv("HOME", str(folder))
    bench = Bench(folder / ".hermes")
    bench.tmp_plugin(hermes_tool_guard.judge_command, name="guard")
    async with bench as hermes:
        hermes.runtime.load_hooks()
        yield Scene(hermes, folder)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kept", KEPT)
async def test_what_hermes_keeps_is_closed_in_every_mode(scene: Scene, kept: str, mode: str) -> None:
    for path in (f".hermes/{kept}", f"~/.hermes/{kept}", f"work/../.hermes/{kept}"):
        for verdict in (
            await scene.judge("write_file", mode, True, path=path, content="x"),
            await scene.judge("edit_file", mode, path=path, old="c", new="d"),
            await scene.judge("read_file", mode, path=path),
            await scene.judge("terminal", mode, command=f"cat {path}"),
            await scene.judge("terminal", mode, command=f"echo x >> {path}"),
            await scene.judge("terminal", mode, command=f"cd .. && python -c \"open('{scene.home}/{kept}')\""),
        ):
            assert verdict.by == "hard block", path
            assert "belongs to Hermes itself and is closed to tools" in verdict.reason
    assert not scene.asked


@pytest.mark.parametrize("path", [OWN, PARENTS, SKILL, "cache/outputs/me", "skills"])
async def test_what_a_session_may_read_it_may_not_write(scene: Scene, path: str) -> None:
    full = f"~/.hermes/{path}"
    for name in ("read_file", "list_files"):
        assert not await scene.blocked(name, path=full)
    assert not await scene.blocked("search_files", pattern="x", path=full)
    for command in (f"cat {full}", f"python {full}/run.py", f"cp -r {full} .", f"wc -l < {scene.home}/{path}"):
        assert not await scene.blocked("terminal", command=command), command
    assert await scene.blocked("write_file", path=full, content="x")
    for command in (
        f"echo x > {full}", f"echo x>{full}", f"sed -i s/a/b/ {full}", f"cp x {full}", f"rm -r {full}", f"tee {full}",
        f"cp -t {full} x", f"ln {full} x", f"touch {full}/new", f"find {full} -name x -delete",
    ):  # fmt: skip
        assert await scene.blocked("terminal", command=command), command


async def test_a_name_alone_is_known_in_the_folder_of_skills(scene: Scene) -> None:
    assert await scene.blocked("terminal", command="cd ~/.hermes/skills/tidy && echo x > new.md")
    assert not await scene.blocked("terminal", command="cd ~/.hermes/skills/tidy && cat SKILL.md > ~/copy.md")


@pytest.mark.parametrize("path", ["cache/outputs", "cache", "", "cache/outputs/other", "cache/outputs/me/../other"])
async def test_long_outputs_of_others_are_closed_and_so_is_what_is_above_them(scene: Scene, path: str) -> None:
    full = f"~/.hermes/{path}"
    assert await scene.blocked("list_files", path=full)
    assert await scene.blocked("search_files", pattern="x", path=full)
    assert await scene.blocked("terminal", command=f"grep -r x {full}")


async def test_a_link_among_the_own_outputs_opens_nothing(scene: Scene) -> None:
    (scene.home / "cache/outputs/me/link").symlink_to(scene.home / "memories/MEMORY.md")
    assert await scene.blocked("read_file", path="~/.hermes/cache/outputs/me/link")
    assert await scene.blocked("terminal", command="cat ~/.hermes/cache/outputs/me/link")


async def test_another_profile_reads_nothing_of_the_main_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hermes_closed.closed import closed
    from hermes_core.agent.policy.guarded import guarded_paths
    from hermes_core.config.paths import Home
    from hermes_core.config.settings import load_settings

    guarded = guarded_paths(load_settings(Home(tmp_path, "work")))
    for kept in [*KEPT, OWN, SKILL]:
        assert closed(tuple(guarded)).why(str(tmp_path / kept), "/"), kept


async def test_code_that_hermes_runs_is_changed_by_a_person_only(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    import sysconfig

    import hermes_core
    import hermes_paths

    library = Path(hermes_paths.__file__).parent
    package, site = Path(hermes_core.__file__).parent, Path(sysconfig.get_path("purelib"))
    for path in (package / "new.py", library / "new.py", site / "new.pth", site / "sitecustomize.py"):
        scene.folder = path.parent.parent  # the session's folder holds it
        if path.parent == package:
            await scene.judge("write_file", "off", path=str(path), content="x")
            assert not scene.asked
        await scene.judge("write_file", "ask", path=str(path), content="x")
        assert scene.asked.pop().risk == "changes code that Hermes itself runs"
        await scene.judge("write_file", "off", untrusted=True, path=str(path), content="x")
        assert "this conversation holds text from outside" in scene.asked.pop().risk
    scene.folder = site
    await scene.judge("write_file", "ask", path="a_module.py", content="x")
    assert not scene.asked


async def test_a_name_that_is_somebody_elses_says_nothing(hermes: Any, scripted: Any) -> None:
    hermes.tmp_plugin(scripted("ok", "ok"))
    anna, ben = Principal(person="anna"), Principal(person="ben")

    async def says(owner: Principal) -> str:
        events = [event async for event in hermes.runtime.turns.run("hello", session="sa", owner=owner)]
        return "".join(event.text for event in events if isinstance(event, Failed)) or events[-1].reason

    assert await says(anna) == "done"
    at_hand = await says(ben)
    await hermes.runtime.sessions.close()  # as a process that has not taken it up
    assert await says(ben) == at_hand == "The name sa cannot be used here."
    assert await says(anna) == "done"
