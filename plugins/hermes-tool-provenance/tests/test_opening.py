"""Whether a folder is known, asked once where a conversation begins in one with notes for agents."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hermes_core.testing import FakePlatform
from hermes_core.types import Noticed, Question, Verdict
from hermes_tool_kit.provenance.ledger import Ledger

NO, RUN, GOOD = "No", "Yes, in this run", "Yes, for good"


@pytest.fixture
def project(hermes: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HERMES_TRUST", "")
    for plugin in ("hermes_tool_provenance", "hermes_tool_context_files"):
        hermes.tmp_plugin(plugin)
    folder = Path(hermes.workspace.folder)
    hermes.configure({"terminal.cwd": str(folder)})
    return folder


@pytest.fixture
def begin(hermes: Any) -> Any:
    """A conversation begins and its person says something to the question; what they were asked, and told."""

    async def begun(choice: str | None, session: str = "") -> tuple[Sequence[Question], list[str]]:
        said = [] if choice is None else [Verdict(outcome="allow" if choice else "deny", choice=choice or "deny")]
        platform = FakePlatform(verdicts=said)
        await platform.service.leave()
        await hermes.serve(platform, session)
        shown = [message.parts for message in platform.outbox.values()]
        return platform.questions, ["".join(part.text for part in parts) for parts in shown]

    return begun


async def prompted(hermes: Any, session: str) -> tuple[list[str], bool]:
    """The notices of a turn, and whether the project's notes stand in the prompt of its session."""
    told = [
        event.text async for event in hermes.turn("Hi.", session=session, origin="cli") if isinstance(event, Noticed)
    ]
    stored = await (await hermes.runtime.store()).sessions.load_prompt(session)
    return told, "Use tabs." in stored[0]


async def test_it_says_what_would_be_followed_and_is_asked_once(
    hermes: Any, scripted: Any, project: Path, begin: Any
) -> None:
    hermes.tmp_plugin(scripted("Hello."))
    (project / "AGENTS.md").write_text("Use tabs.")
    (project / "CLAUDE.md").write_text("AGENTS.md goes before it.")
    (project / "sub").mkdir()
    (project / "sub" / "CLAUDE.md").write_bytes(b"x" * 2345)
    (project / "way-out").symlink_to("/etc")
    (project / ".agents" / "skills" / "release").mkdir(parents=True)
    (project / ".agents" / "skills" / "release" / "SKILL.md").write_text("---")
    (question,), told = await begin(NO)
    assert question.choices == (NO, RUN, GOOD)
    assert f"{project} is not known. Is it yours?" in question.subject
    assert [line.split() for line in question.subject.splitlines() if line.startswith("  ")] == [
        ["AGENTS.md", "9", "bytes"],
        ["sub/CLAUDE.md", "2.3", "kB"],
        [".agents/skills/release/SKILL.md", "3", "bytes"],
    ]
    assert told == [f"Nothing of {project} is followed. It is not asked again. /trust says yes."]
    assert await prompted(hermes, "a") == ([], False), "told once, and not followed"
    assert (await begin(GOOD))[0] == []
    assert "(a person said no)" in await hermes.command("trust list")


async def test_a_yes_for_good_lasts(hermes: Any, scripted: Any, project: Path, begin: Any) -> None:
    hermes.tmp_plugin(scripted("Hello."))
    (project / "AGENTS.md").write_text("Use tabs.")
    _, told = await begin(GOOD)
    assert told == [f"{project} is known. Followed from now on, in new sessions: AGENTS.md."]
    assert await prompted(hermes, "a") == ([], True)
    assert (await begin(NO))[0] == []
    assert f"{project}  (a person)" in await hermes.command("trust list")


async def test_a_yes_for_this_run_is_written_nowhere_and_means_no_other_folder(
    hermes: Any, scripted: Any, project: Path, begin: Any, tmp_path: Path
) -> None:
    hermes.tmp_plugin(scripted("Hello."))
    (project / "AGENTS.md").write_text("Use tabs.")
    _, told = await begin(RUN)
    assert told == [f"{project} is known in this run."]
    assert await prompted(hermes, "a") == ([], True)
    assert await hermes.command("trust list") == ""
    (other := tmp_path / "other").mkdir()
    ledger = Ledger(tmp_path / "home")
    assert ledger.of(str(project)).known(project)
    assert not ledger.of(str(other)).known(other)
    ledger.close()


async def test_escape_is_a_no_that_is_not_kept(hermes: Any, project: Path, begin: Any) -> None:
    (project / "AGENTS.md").write_text("Use tabs.")
    _, told = await begin("")
    assert told == [f"Nothing of {project} is followed. /trust says yes."]
    assert len((await begin(""))[0]) == 1


async def test_where_nobody_is_there_one_line_says_it(hermes: Any, scripted: Any, project: Path, begin: Any) -> None:
    hermes.tmp_plugin(scripted("Hello."))
    (project / "AGENTS.md").write_text("Use tabs.")
    assert (await begin(None))[1] == []
    (line,), followed = await prompted(hermes, "a")
    assert "AGENTS.md is not followed" in line
    assert not followed


@pytest.mark.parametrize("inside", [(), ("main.py",)])
async def test_where_nothing_would_be_followed_nothing_is_asked(
    hermes: Any, scripted: Any, project: Path, begin: Any, inside: tuple[str, ...]
) -> None:
    hermes.tmp_plugin(scripted("Hello."))
    for name in inside:
        (project / name).write_text("x = 1\n")
    assert await begin(GOOD) == ([], [])
    told, _ = await prompted(hermes, "a")
    assert len(told) == len(inside), "an empty folder is not worth a word"


async def test_the_whole_repository_is_meant(hermes: Any, scripted: Any, project: Path, begin: Any) -> None:
    hermes.tmp_plugin(scripted("Hello."))
    (project / ".git").mkdir()
    (project / "AGENTS.md").write_text("Use tabs.")
    (inner := project / "inner").mkdir()
    hermes.configure({"terminal.cwd": str(inner)})
    (question,), _ = await begin(GOOD)
    assert question.subject.startswith(f"{project} is not known.")
    assert (await prompted(hermes, "a"))[1]


async def test_an_earlier_conversation_goes_on_unasked(hermes: Any, scripted: Any, project: Path, begin: Any) -> None:
    hermes.tmp_plugin(scripted("Hello."))
    (project / "AGENTS.md").write_text("Use tabs.")
    await prompted(hermes, "a")
    assert (await begin(GOOD, "a"))[0] == []


async def test_a_declined_folder_is_asked_about_again_when_that_is_forgotten(
    hermes: Any, project: Path, begin: Any
) -> None:
    (project / "AGENTS.md").write_text("Use tabs.")
    await begin(NO)
    await hermes.command("trust forget", str(project))
    assert len((await begin(NO))[0]) == 1
