"""Two persons who write to one gateway: what one does changes no byte of what the other sees."""

import asyncio
import itertools
import json
import random
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from attrs import asdict
from gateway_house import context_of, rows_of
from obedient import Obedient, order
from test_two_persons import MODULES, WORDS, first_difference

from hermes_core import hookimpl
from hermes_core.testing import FakePlatform
from hermes_core.testing.bench import Bench
from hermes_core.types import Chat, Envelope, Message, Principal, Request, Sent, Session, Text
from hermes_platform_gateway.gateway import Gateway

pytestmark = pytest.mark.long

_CHANCE = re.compile(r"conversation-\d{3}|\b[0-9a-f]{12}\b|(?<=/)[0-9a-f]{8}(?=-)|\d\d:\d\d(?= )")
GROUP = "the-group"


def script(seed: int) -> list[tuple[str, str]]:
    """What a person writes, and in which chat: empty is their own."""
    dice = random.Random(seed)

    def line() -> str:
        word = dice.choice(WORDS)
        return dice.choice(
            [
                order("memory", text=f"{word} {dice.randrange(99)} matters."),
                order("memory", target="user", text=f"The person likes {word}."),
                order("recall", query=word),
                order("recall"),
                order("todo", todos=[{"id": "1", "content": f"buy {word}", "status": "pending"}]),
                order("write_file", path=f"{word}.txt", content=f"{word} {dice.randrange(99)}\n"),
                order("list_files", path="."),
                order("search_files", pattern=word),
                order("read_file", path=f"{word}.txt"),
                order("terminal", command=f"echo {word} > said.txt; cat *.txt"),
                order("terminal", command="git push --force origin main"),
                f"Tell me about the {word}.",
            ]
        )

    def command() -> str:
        word = dice.choice(WORDS)
        some = ["/sessions", "/usage", "/whoami", "/todo", "/help", "/permission", "/new"]
        return dice.choice([*some, f"/search {word}", f"/title {word} {dice.randrange(999)}"])

    def text() -> str:
        return "\n".join(line() for _ in range(dice.randrange(1, 3))) if dice.random() < 0.7 else command()

    return [(text(), dice.choice(["", "", GROUP])) for _ in range(9)]


class Service(FakePlatform):
    """A chat service on which people have private chats and share a group."""

    def __init__(self) -> None:
        super().__init__(name="room", features=())
        self.account = "bot"
        self.people: dict[str, Person] = {}

    def hear(self, envelope: Envelope) -> None:
        self.service.bring(envelope)

    async def send(self, chat: Chat, message: Message, key: str) -> Sent:
        text = "".join(part.text for part in message.parts if isinstance(part, Text))
        whose = chat.id if chat.id != GROUP else chat.reply_to.partition("-")[0]
        self.people[whose].gets(text)
        return Sent(chat=chat.id, message_id=key)


class Person:
    """Somebody on the service: asks one thing after another, and says yes or no when they are asked."""

    def __init__(self, service: Service, name: str, answer: str) -> None:
        self.service, self.name, self.answer = service, name, answer
        self.number, self.missing = 0, 0
        self.got: list[str] = []
        self.done = asyncio.Event()
        service.people[name] = self

    def writes(self, text: str, chat: str = "") -> None:
        self.number += 1
        self.missing += 1
        known = {"event_id": f"{self.name}-{self.number}", "message_id": f"{self.name}-{self.number}"}
        message = Message(role="user", parts=(Text(text=text),))
        self.service.hear(
            Envelope(
                platform="room",
                account="bot",
                chat=chat or self.name,
                kind="group" if chat else "dm",
                sender=self.name,
                message=message,
                **known,
            )
        )

    def gets(self, text: str) -> None:
        self.got.append(text)
        if asked := re.search(r"`/deny ([0-9a-f]+)`", text):
            self.writes(f"/{self.answer.replace('ID', asked[1])}")
        else:
            self.missing -= 1
        if not self.missing:
            self.done.set()

    async def says(self, text: str, chat: str) -> None:
        self.done.clear()
        self.writes(text, chat)
        async with asyncio.timeout(60):
            await self.done.wait()


async def what_ben_sees(home: Path, seed: int, settings: dict[str, Any], *, beside: bool) -> list[str]:
    hermes, model, seen = Bench(home), Obedient(), list[str]()
    ben = Principal(person="room:ben")

    @hookimpl(trylast=True)
    async def pre_llm_call(session: Session, request: Request) -> None:
        if session.owner == ben:
            seen.append(json.dumps(asdict(request), default=str, ensure_ascii=False))

    # One after the other: of calls that run side by side, chance decides which ends first, with or without others.
    # A group is told at its first message whose history it shares, and who asks of themselves there is told in private:
    # who writes first would see one message more.
    quiet = {"gateway.tell_groups": False, "gateway.private_answers": False}
    hermes.configure({"agent.tool_workers": 1, "gateway.allow_all_users": True, **quiet, **settings})
    hermes.configure({"terminal.backend": "local", "terminal.cwd": str(hermes.workspace.folder)})
    for module in (*MODULES, "tool_commands"):
        hermes.tmp_plugin(f"hermes_{module}")
    hermes.tmp_plugin("hermes_tool_roles")
    hermes.tmp_plugin("hermes_platform_gateway")
    hermes.tmp_plugin(model)
    hermes.tmp_plugin(pre_llm_call)
    service, stop = Service(), asyncio.Event()
    me, other = Person(service, "ben", "deny ID"), Person(service, "anna", "approve ID always")
    async with hermes:
        running = asyncio.create_task(Gateway(context_of(hermes), [service]).run(stop))
        theirs = iter(script(seed + 1) if beside else [])
        for said in script(seed):
            both = [me.says(*said)]
            both += [other.says(*more)] if (more := next(theirs, None)) else []
            await asyncio.gather(*both)
        store, memory = await hermes.runtime.store(), hermes.runtime.memory.of()[1]
        seen += [f"{r.session.title} {r.preview} {r.usage}" for r in await store.sessions.list(ben)]
        for word in WORDS:
            seen += [hit.snippet for hit in await store.history.search(ben, word)]
            seen += [memo.text for memo in await memory.search(ben, word, 10)]
        seen += [f"{e.name} {e.outcome} {e.output}" for e in await store.history.tool_calls(ben, limit=500)]
        seen += [f"{a.subject} {a.state} {a.answered_by}" for a in await store.approvals.list(ben, closed=True)]
        seen += [grant.words for grant in await store.approvals.grants(ben, every=True)]
        seen += [f"{chat.address} {chat.name}" for chat in await rows_of(store).chats.list_chats(ben)]
        folder = hermes.runtime.guests.folder(ben)
        seen += [f"{path.relative_to(folder)} {path.read_text()}" for path in sorted(folder.rglob("*.txt"))]
        assert beside or not [*hermes.workspace.folder.rglob("*.txt")]  # what is Ben's lies in no other folder
        stop.set()
        await running
    return [*seen, *sorted(me.got)]


SETTINGS: dict[str, dict[str, Any]] = {
    "no commands": {},
    "commands that they are asked about": {
        "roles.trusted_with_shell": ["*"],
        "roles.approvals": "self",
        "roles.strangers": "member",
    },
    "beside the owner": {"gateway.people": {"owner": ["room:anna"]}, "policy.mode": "off"},
}


@pytest.mark.parametrize("settings", SETTINGS)
async def test_what_one_does_changes_no_byte_of_what_the_other_sees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, settings: str
) -> None:
    runs = []
    names = (f"conversation-{number:03}" for number in itertools.count())
    monkeypatch.setattr("hermes_core.agent.asking._LOOK", 0.01)  # an answer given in a chat is noticed at once
    for module in ("session_state", "turns"):
        monkeypatch.setattr(f"hermes_core.agent.{module}.new_session_id", lambda: next(names))
    house = tmp_path / "house"  # one and the same: how long its name is shows in what is cut
    for beside in (False, True):
        monkeypatch.setenv("HERMES_HOME", str(house / "home"))
        seen = await what_ben_sees(house / "home", seed, SETTINGS[settings], beside=beside)
        runs.append([_CHANCE.sub("", line) for line in seen])
        shutil.rmtree(house)
    for alone, together in zip(*runs, strict=False):
        assert first_difference(alone, together) == ""
    assert len(runs[0]) == len(runs[1]) > 10
