"""Questions are listed and answered from elsewhere, also after the process that asked is gone; each has an owner."""

import asyncio
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from hermes_agent.people import Asking, Cut, answer, interrupted, questions, resume, turn
from hermes_core.embed import Hermes
from hermes_core.errors import UnknownName, UserError
from hermes_core.types import Asked, Ended, Principal, Question

BOB = Principal(person="bob")
DYING = """
    import asyncio, sys
    from hermes_agent.people import turn
    from hermes_core.embed import Hermes
    from hermes_core.types import Principal

    async def main():
        async with Hermes(home=sys.argv[1], provider="offline") as hermes:
            async for event in turn(hermes, "run `rm -rf .git`", session="s"):
                pass

    asyncio.run(main())
"""


async def _outcome(hermes: Hermes) -> str:
    """What became of the call: a wall may keep `.git` also where a person says yes, and then it fails."""
    return (await hermes.sessions.tool_history(hermes.owner, "s"))[0].outcome


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [one for one in os.environ if one.startswith("HERMES_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


async def test_a_question_comes_as_an_event_and_is_answered_from_another_hermes(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    async with Hermes(home=tmp_path / "home", provider="offline") as one, Hermes(home=tmp_path / "home") as other:
        seen = []
        async for event in turn(one, "run `rm -rf .git`", session="s"):
            seen.append(event)
            if isinstance(event, Asking):
                assert (event.session, event.tool, event.owner) == ("s", "terminal", one.owner)
                assert event.arguments == {"command": "rm -rf .git"}
                assert await questions(other) == [event] == await questions(other, everyone=True)
                with pytest.raises(UserError, match="no choice here"):
                    await answer(other, event.id, "perhaps")
                with pytest.raises(UnknownName):
                    await answer(other, event.id, True, owner=BOB)
                await answer(other, event.id, "once", by="anna's phone")
                with pytest.raises(UnknownName):
                    await answer(other, event.id, True)
        [asked] = [event for event in seen if isinstance(event, Asked)]
        assert (asked.verdict.outcome, asked.verdict.by) == ("allow", "anna's phone")
        assert sum(isinstance(event, Asking) for event in seen) == 1
        assert isinstance(seen[-1], Ended)
        assert await _outcome(one) != "refused"
        assert await questions(other) == []


async def test_an_answer_waits_for_a_turn_whose_process_died(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    environ = {**os.environ, "HERMES_TESTING": "1", "HERMES_DIE_AT": "asked"}
    command = [sys.executable, "-c", textwrap.dedent(DYING), str(tmp_path / "home")]
    died = await asyncio.to_thread(subprocess.run, command, env=environ, cwd=tmp_path, check=False)
    assert died.returncode == -9
    async with Hermes(home=tmp_path / "home", provider="offline") as hermes:
        assert await interrupted(hermes) == [Cut(session="s", owner=hermes.owner)]
        [waiting] = await questions(hermes, everyone=True)
        await answer(hermes, waiting.id, True)
        events = [event async for event in resume(hermes, "s")]
        assert not [event for event in events if isinstance(event, Asking)]  # it is answered
        assert isinstance(events[-1], Ended)
        assert await _outcome(hermes) != "refused"
        assert await interrupted(hermes) == []


async def test_a_diff_shows_what_would_change(tmp_path: Path) -> None:
    from hermes_agent.people import _diff

    (tmp_path / "a.txt").write_text("one\ntwo\n")
    assert _diff(str(tmp_path), {"path": "a.txt", "old": "two", "new": "three"}).splitlines()[-2:] == ["-two", "+three"]
    assert _diff(str(tmp_path), {"path": "b.txt", "content": "x"}).splitlines()[-1] == "+x"
    (tmp_path / "link").symlink_to("/etc/hostname")
    for path in ("/etc/hostname", "../x", "link"):
        assert _diff(str(tmp_path), {"path": path, "content": "x"}) == ""
    assert _diff(str(tmp_path), {"command": "rm"}) == ""
    sly = {"path": "a.txt", "content": "one\r\n\x1b[2Jtwo\u202e\u2028three\n"}
    assert _diff(str(tmp_path), sly).splitlines()[-2:] == ["+one\\r", "+\\x1b[2Jtwo\\u202e\\u2028three"]
    assert _diff(str(tmp_path), {"path": "new\n+++ b/other", "content": "x"}) == ""
    (tmp_path / "big").write_text("x" * 1_000_001)
    for there in ("big", "."):  # no new file: what is lost is not seen, so nothing is shown
        assert _diff(str(tmp_path), {"path": there, "content": "x"}) == ""


async def test_who_leaves_leaves_no_question_behind(tmp_path: Path) -> None:
    async with Hermes(home=tmp_path / "home", provider="offline") as hermes:
        events = turn(hermes, "run `rm -rf .git`", session="s")
        async for event in events:
            if isinstance(event, Asking):
                break
        await events.aclose()
        assert await questions(hermes, everyone=True) == []
        assert await interrupted(hermes) == []


async def test_a_no_is_a_no_and_an_owner_may_be_named(tmp_path: Path) -> None:
    async with Hermes(home=tmp_path / "home", provider="offline") as hermes:
        async for event in turn(hermes, "run `rm -rf .git`", session="s"):
            if isinstance(event, Asking):
                assert await questions(hermes, owner=BOB) == []
                await answer(hermes, event.id, False, owner=hermes.owner)
        assert await _outcome(hermes) == "refused"


async def test_a_choice_is_one_that_was_offered_and_two_without_an_id_are_two(tmp_path: Path) -> None:
    from hermes_agent.people import _asked

    colours = Question(id="", kind="choice", subject="Which?", choices=("red", "blue"))
    said = {}
    async with Hermes(home=tmp_path / "home", provider="offline") as hermes:

        async def play(person: Principal, choice: str) -> None:
            async def begin(ask):
                said[person.person] = (await ask(colours)).choice
                yield

            async for event in _asked(hermes, begin, person):
                if isinstance(event, Asking):
                    ready.append(event)
                    while len(ready) < 2:
                        await asyncio.sleep(0)
                    for wrong in (True, "green"):
                        with pytest.raises(UserError, match="Choose from: red, blue"):
                            await answer(hermes, event.id, wrong, owner=person)
                    with pytest.raises(UnknownName):
                        await answer(hermes, event.id, choice, owner=Principal(person="eve"))
                    await answer(hermes, event.id, choice, owner=person)

        ready: list[Asking] = []
        await asyncio.gather(play(BOB, "red"), play(hermes.owner, "blue"))
    assert said == {"bob": "red", "owner": "blue"}
