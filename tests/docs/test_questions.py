"""The question that the page on approvals shows is the one that a terminal shows."""

from pathlib import Path

from hermes_core.agent.policy.grants import Case, offer
from hermes_core.agent.policy.rules import words_of
from hermes_core.kinds import Tool
from hermes_core.testing import FakeWorkspace
from hermes_core.types import Effect, Protected, Question, ToolCall
from hermes_platform_kit.asking import lines_of
from hermes_tool_guard.gate import judge, look

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "approvals.md"


async def test_the_page_shows_the_question_as_it_is_asked(tmp_path: Path) -> None:
    call = ToolCall(id="1", name="terminal", arguments={"command": "git push origin main"})
    place = FakeWorkspace(folder=tmp_path)
    word = await look(call, place, Protected())
    verdict = await judge(call, place, str(tmp_path / "home"), Protected())
    assert verdict
    tool = Tool(name="terminal", description="x", params=object, run=lambda *_: None, effects={Effect.EXECUTE})
    case = Case(
        call=call, tool=tool, effects=tool.effects, keys=(), workspace=place, machine="local", own=lambda _: False,
        commands=word.commands or (), lasting=word.lasting, wall=None,
    )  # fmt: skip
    lasting = offer(case)
    question = Question(
        id="1", kind="approval", subject=words_of(call, runs=True), risk=verdict.reason, choices=lasting.choices,
        covers=lasting.words,
    )  # fmt: skip
    shown = PAGE.read_text("utf-8").partition("```text\n")[2].partition("```")[0].splitlines()
    asked = [line.replace(str(place.folder), "/home/me/project").strip() for line in lines_of(question)]
    assert [line.removeprefix("? ").strip() for line in shown] == asked
