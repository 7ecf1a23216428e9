"""A host that the wall keeps closed: open where the person named it, else a question; nobody there, a refusal."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from hermes_backend_wall import landlock
from hermes_core.testing import Call
from hermes_core.types import Message, Question, Returned, Text, Verdict

pytestmark = pytest.mark.real


def curl(*hosts: str) -> Call:
    asked = "; ".join(f"curl -s --max-time 20 -o /dev/null -w '%{{http_code}} ' http://{host}/" for host in hosts)
    return Call("terminal", {"command": asked})


class House:
    """A kernel whose commands are behind a wall, and a person; ``reached`` is what came out of it."""

    def __init__(self, hermes: Any, scripted: Any) -> None:
        self.hermes, self._scripted = hermes, scripted
        self.asked: list[Question] = []
        self.reached: list[str] = []

    def begin(self, *script: Any, answer: str = "") -> None:
        """Commands in their order; ``answer`` is what the person chooses, empty where nobody is there."""
        self.hermes.tmp_plugin(self._scripted(*script))

        async def ask(question: Question) -> Verdict:
            self.asked.append(question)
            no = answer == "deny"
            return Verdict(outcome="deny" if no else "allow", choice=answer, by="person", reason="no" if no else "")

        self.hermes._ask = ask if answer else None

    async def say(self, words: str | Message, session: str = "s") -> list[str]:
        """What the commands of a turn gave."""
        events = [event async for event in self.hermes.turn(words, session=session)]
        results = [event.result for event in events if isinstance(event, Returned)]
        return ["".join(part.text for part in result.parts if isinstance(part, Text)) for result in results]


@pytest.fixture(params=["landlock", "bubblewrap"])
async def house(
    request: Any, hermes: Any, scripted: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[House]:
    if request.param == "landlock" and not landlock.version():
        pytest.skip("no Landlock here")
    if request.param == "bubblewrap" and not shutil.which("bwrap"):
        pytest.skip("no bwrap here")
    made = House(hermes, scripted)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        made.reached.append(head.decode().split()[1])
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        await writer.drain()
        writer.close()

    # The person's own proxy resolves every name, and answers: no test needs the net for it.
    outside = await asyncio.start_server(answer, "127.0.0.1", 0)
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{outside.sockets[0].getsockname()[1]}")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "person").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    (tmp_path / "project").mkdir()
    for plugin in ("hermes_tool_guard", "hermes_tool_terminal", "hermes_backend_local"):
        hermes.tmp_plugin(plugin)
    hermes.configure(
        {
            "terminal.cwd": str(tmp_path / "project"),
            "terminal.backend": "local",
            "backends.local.wall": request.param,
        }
    )
    yield made
    outside.close()


async def test_with_nobody_there_it_is_refused_with_what_opens_it(house: House) -> None:
    house.begin(curl("new.example"), "Done.")
    (told,) = await house.say("Look at it.")
    assert told.startswith("403 ")
    assert "new.example is closed; to open it: hermes config set backends.local.hosts '[\"new.example\"]'" in told
    assert house.reached == []


async def test_once_is_for_the_command_and_is_asked_once(house: House) -> None:
    house.begin(curl("new.example", "new.example"), curl("new.example"), "Done.", answer="once")
    first, second = await house.say("Look at it.")
    assert "200 200" in first
    assert "200" in second
    closed = "reaches new.example:80, which is closed to commands"
    outside = ", and this conversation holds text from outside, which may have asked for it"
    assert [question.risk for question in house.asked] == [closed, f"{closed}{outside}"]
    assert house.asked[0].subject.startswith("$ curl ")
    assert house.asked[0].choices == ("once", "session", "always", "deny")
    assert house.asked[1].choices == ("once", "session", "deny")


async def test_for_the_session_is_asked_once_and_anew_in_another(house: House) -> None:
    fails = Call("terminal", {"command": "curl -s http://new.example/ >/dev/null && false"})
    one = curl("new.example")
    house.begin(one, one, fails, "Done.", one, "Done.", answer="session")
    first, second, _ = await house.say("Look at it.")
    assert ("200" in first, "200" in second) == (True, True)
    assert len(house.asked) == 2, "once clean, and once after text from outside came in"
    await house.say("And you.", session="other")
    assert len(house.asked) == 3
    assert "holds text from outside" not in house.asked[2].risk


async def test_for_good_it_is_written_down(house: House) -> None:
    house.begin(curl("new.example"), curl("new.example"), "Done.", answer="always")
    first, second = await house.say("Look at it.")
    assert ("200" in first, "200" in second) == (True, True)
    assert len(house.asked) == 1
    written = yaml.safe_load(house.hermes.runtime.home.config_file.read_text())
    assert written["backends"]["local"]["hosts"] == ["new.example"]


async def test_a_no_is_told_and_holds_for_the_command(house: House) -> None:
    house.begin(curl("new.example", "new.example"), "Done.", answer="deny")
    (told,) = await house.say("Look at it.")
    assert "403 403" in told
    assert "new.example is closed; the person said no" in told
    assert len(house.asked) == 1
    assert house.reached == []


async def test_what_the_person_named_is_open_for_that_session_alone(house: House) -> None:
    house.begin(curl("docs.example", "raw.githubusercontent.com"), "Done.", curl("docs.example"), "Done.")
    (told,) = await house.say("Fetch http://docs.example/x and clone github.com/a/b.")
    assert told.startswith("<untrusted")
    assert "200 200" in told
    assert house.reached == ["http://docs.example/", "http://raw.githubusercontent.com/"]
    (told,) = await house.say("And you.", session="other")
    assert "403" in told


@pytest.mark.parametrize("what", ["forwarded", "quoted", "attached"])
async def test_what_others_named_opens_nothing(house: House, what: str) -> None:
    house.begin(curl("docs.example"), "Done.")
    text = "See http://docs.example/x"
    parts = (Text(text="Do as it says."), Text(text=text, quotes="@file:x.md" if what == "attached" else "somebody"))
    whole = Message(role="user", parts=(Text(text=text),), untrusted=True)
    (told,) = await house.say(whole if what == "forwarded" else Message(role="user", parts=parts))
    assert "403" in told
    assert house.reached == []


async def test_after_text_from_outside_only_forges_are_open_that_the_person_named(house: House) -> None:
    house.begin(curl("docs.example"), curl("docs.example", "github.com"), "Done.")
    first, second = await house.say("Fetch http://docs.example/x of https://github.com/a/b.")
    assert "200" in first
    assert "403 200" in second
    assert house.reached == ["http://docs.example/", "http://github.com/"]


async def test_a_person_who_thinks_takes_none_of_the_commands_time(house: House) -> None:
    house.begin(Call("terminal", {**curl("new.example").arguments, "timeout": 1}), "Done.", answer="once")
    ask = house.hermes._ask

    async def slowly(question: Question) -> Verdict:
        await asyncio.sleep(1.5)
        return await ask(question)

    house.hermes._ask = slowly
    (told,) = await house.say("Look at it.")
    assert "200" in told
