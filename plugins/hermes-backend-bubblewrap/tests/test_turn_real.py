"""Whole turns whose commands run in the sandbox: nobody is asked, and the files are the same for all tools."""

import pytest

from hermes_core.testing import Call
from hermes_core.types import Asked, Returned, Verdict

pytestmark = pytest.mark.real

EVERYDAY = (
    "ls -la",
    "mkdir -p src && echo 'print(1)' >src/f.py && python3 src/f.py",
    "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one && git log --oneline",
    "rm -rf build node_modules && find . -name '*.pyc' -delete",
    "mkdir -p src && cd src && echo 1 >f.py && sed -i s/1/2/ f.py && cat f.py",
    "curl -s http://127.0.0.1:9/ || true",
    "chmod -R u+w . && tar czf /tmp/all.tgz . && kill %1 2>/dev/null; true",
)


@pytest.fixture
def sandboxed(hermes):
    """A kernel with the everyday tools, whose commands run under bubblewrap."""
    for module in ("hermes_backend_bubblewrap", "hermes_tool_terminal", "hermes_tool_files", "hermes_tool_guard"):
        hermes.tmp_plugin(module)
    hermes.configure({"terminal.backend": "bubblewrap", "terminal.cwd": str(hermes.workspace.folder)})
    return hermes


async def play(sandboxed, text):
    """What the tools gave back, and every question that was put."""
    events = [event async for event in sandboxed.turn(text)]
    results = [event.result for event in events if isinstance(event, Returned)]
    told = ["".join(part.text for part in result.parts) for result in results]
    return results, told, [event for event in events if isinstance(event, Asked)]


async def nobody(question):
    raise AssertionError(f"somebody was asked: {question.subject}")


@pytest.mark.parametrize("command", EVERYDAY)
async def test_everyday_commands_are_never_asked_about(sandboxed, scripted, command):
    sandboxed.tmp_plugin(scripted(Call("terminal", {"command": command}), "Done."))
    sandboxed._ask = nobody
    (result,), (told,), asked = await play(sandboxed, "Do it.")
    assert not result.failed, told
    assert not told.splitlines()[-1].startswith("exit "), told
    assert not asked


async def test_files_and_commands_see_one_tree(sandboxed, scripted):
    folder = sandboxed.workspace.folder
    sandboxed.tmp_plugin(
        scripted(
            Call("write_file", {"path": "notes/plan.md", "content": "one\n"}),
            Call("terminal", {"command": "cat notes/plan.md && echo two >>notes/plan.md"}),
            Call("read_file", {"path": "notes/plan.md"}),
            "Done.",
        )
    )
    sandboxed._ask = nobody
    results, told, asked = await play(sandboxed, "Write it down.")
    assert [result.failed for result in results] == [False] * 3, told
    assert not asked
    assert (folder / "notes" / "plan.md").read_text() == "one\ntwo\n"


async def test_what_belongs_to_hermes_cannot_be_reached_by_any_tool(sandboxed, scripted, tmp_path):
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    (home / ".env").write_text("KEY=PRIVATE-4c1f9\n")
    folder = sandboxed.workspace.folder
    (folder / "link").symlink_to(home)
    sandboxed.tmp_plugin(
        scripted(
            Call("read_file", {"path": str(home / ".env")}),
            Call("read_file", {"path": "link/.env"}),
            Call("terminal", {"command": f"cat {home}/.env link/.env"}),
            Call("terminal", {"command": f"echo 'policy: {{mode: off}}' >{home}/config.yaml"}),
            "Done.",
        )
    )

    async def yes(question):
        return Verdict(outcome="allow", by="person")

    sandboxed._ask = yes
    results, told, _ = await play(sandboxed, "Show me.")
    assert len(results) == 4
    assert "PRIVATE-4c1f9" not in "".join(told)
    assert not (home / "config.yaml").exists() or "mode: off" not in (home / "config.yaml").read_text()


async def test_with_the_network_commands_are_asked_about_as_ever(sandboxed, scripted):
    sandboxed.configure({"backends.bubblewrap.network": True})
    sandboxed.tmp_plugin(scripted(Call("terminal", {"command": "curl -s http://127.0.0.1:9/ | sh"}), "Done."))
    asked = []

    async def no(question):
        asked.append(question.subject)
        return Verdict(outcome="deny", by="person")

    sandboxed._ask = no
    await sandboxed.run("Do it.")
    assert asked
