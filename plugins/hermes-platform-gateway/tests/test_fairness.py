"""One person's flood is theirs alone: turns, limits, slow mode and questions to admins, on a whole gateway."""

import asyncio
import json
import re
from contextlib import asynccontextmanager
from typing import Any

import pytest
from gateway_house import context_of

from hermes_core.codec import plain_text
from hermes_core.kinds import Provider
from hermes_core.testing import Bench, FakePlatform
from hermes_core.types import (
    Blob,
    Buttons,
    CallDelta,
    Chat,
    Done,
    Envelope,
    Feature,
    Message,
    Model,
    Principal,
    Sent,
    Text,
    TextDelta,
    ToolResult,
    Usage,
    UsageDelta,
)
from hermes_platform_gateway.gateway import Gateway

pytestmark = pytest.mark.long


class Obedient(Provider):
    """Says what it heard last; calls ``TOOL {arguments}`` before; waits at its gate for whoever says HOLD."""

    name = "obedient"
    priority = 50

    def __init__(self) -> None:
        self.gate, self.held, self.most = asyncio.Event(), 0, 0

    async def models(self):
        return [Model(name="obedient-1", context=128_000)]

    async def ready(self) -> bool:
        return True

    def at(self, endpoint):
        return self

    async def stream(self, request):
        last, heard = request.messages[-1], [m for m in request.messages if m.role == "user"][-1]
        text = plain_text(heard.parts).strip()
        if "HOLD" in text:
            self.held += 1
            self.most = max(self.most, self.held)
            try:
                await self.gate.wait()
            finally:
                self.held -= 1
        call = re.search(r"TOOL (\w+) ({.*})", text) if last.role == "user" else None
        if call:
            yield CallDelta(index=0, id="c1", name=call[1], arguments=call[2])
        else:
            got = " ".join(plain_text(p.parts) for p in last.parts if isinstance(p, ToolResult))[:200]
            yield TextDelta(text=f"You said: {text[-60:]} {got}".strip())
        yield UsageDelta(usage=Usage(input=1, output=1, calls=1))
        yield Done(reason="tools" if call else "stop")


class Phones(FakePlatform):
    """A chat service that can edit; ``got`` is what each chat shows, by message."""

    def __init__(self) -> None:
        super().__init__(name="room", features=(Feature.EDIT, Feature.BUTTONS))
        self.account, self.number = "bot", 0
        self.got: dict[str, dict[str, Message]] = {}
        self.acked: list[str] = []
        self.sent: list[str] = []

    def write(self, sender: str, *said: str | Blob, **more: Any) -> None:
        self.number += 1
        message = Message(role="user", parts=tuple(Text(text=one) if isinstance(one, str) else one for one in said))
        known = {"platform": "room", "account": "bot", "event_id": f"e{self.number}", "chat": sender, **more}
        self.service.bring(Envelope(sender=sender, sender_name=sender.title(), message=message, **known))

    async def ack(self, envelope: Envelope) -> None:
        self.acked.append(envelope.event_id)

    async def send(self, chat: Chat, message: Message, key: str) -> Sent:
        self.got.setdefault(chat.id, {})[key] = message
        self.sent.append(plain_text(message.parts))
        return Sent(chat=chat.id, message_id=key)

    async def edit(self, sent: Sent, message: Message) -> None:
        self.got.setdefault(sent.chat, {})[sent.message_id] = message

    def texts(self, chat: str, words: str = "") -> list[str]:
        shown = (plain_text(message.parts) for message in self.got.get(chat, {}).values())
        return [text for text in shown if words in text]

    async def until(self, chat: str, words: str, many: int = 1) -> str:
        """The last message with these words, once there are so many."""
        try:
            async with asyncio.timeout(30):
                while len(found := self.texts(chat, words)) < many:
                    await asyncio.sleep(0.01)
        except TimeoutError:
            raise AssertionError(f"{chat} has no {words!r}, but {self.texts(chat)}") from None
        return found[-1]

    def buttons(self, chat: str, words: str) -> list[str]:
        shown = [m for m in self.got[chat].values() if words in plain_text(m.parts)]
        return [b.says for part in shown[-1].parts if isinstance(part, Buttons) for b in part.buttons]


async def so(is_so: Any) -> None:
    async with asyncio.timeout(30):
        while not is_so():
            await asyncio.sleep(0.01)


@asynccontextmanager
async def serving(hermes: Any, model: Provider, **settings: Any):
    people = {"owner": ["room:olga"], "anna": ["room:anna"], "ben": ["room:ben"]}
    hermes.configure({"gateway.people": people, "gateway.streaming": False, **settings})
    hermes.tmp_plugin(model)
    phones, stop = Phones(), asyncio.Event()
    task = asyncio.create_task(Gateway(context_of(hermes), [phones]).run(stop))
    try:
        yield phones
    finally:
        stop.set()
        await task


def with_a_shell(hermes: Any) -> dict[str, Any]:
    for name in ("hermes_tool_terminal", "hermes_backend_local"):
        hermes.tmp_plugin(name)
    return {"roles.trusted_with_shell": ["anna"], "terminal.backend": "local"}


# --- turns ------------------------------------------------------------------------------------------------------------


async def test_many_jobs_of_one_person_let_nobody_wait_and_all_are_done(hermes):
    model = Obedient()
    async with serving(hermes, model, **{"gateway.limits.turns": 3, "workers.count": 5}) as phones:
        for number in range(12):
            phones.write("anna", f"/background HOLD {number}")
        await so(lambda: model.held == 3)
        phones.write("anna", "HOLD me too")
        phones.write("ben", "Hello.")
        await phones.until("ben", "You said: Hello.")
        phones.write("olga", "Hello.")
        await phones.until("olga", "You said: Hello.")
        assert not phones.texts("anna", "You said")
        model.gate.set()
        await phones.until("anna", "You said", many=13)
        assert model.most == 3


async def test_one_place_is_left_however_few_there_are(hermes):
    model = Obedient()
    async with serving(hermes, model, **{"gateway.limits.turns": 0, "workers.count": 2}) as phones:
        for number in range(3):
            phones.write("anna", f"/background HOLD {number}")
        await so(lambda: model.held == 1)
        phones.write("ben", "Hello.")
        await phones.until("ben", "You said: Hello.")
        model.gate.set()
        await phones.until("anna", "You said", many=3)
        assert model.most == 1


async def test_who_speaks_in_a_group_counts_and_not_the_group(hermes):
    model, shared = Obedient(), {"gateway.group_sessions_per_user": False}
    async with serving(hermes, model, **shared, **{"gateway.limits.turns": 1}) as phones:
        phones.write("anna", "HOLD here", chat="g1", kind="group")
        await so(lambda: model.held == 1)
        phones.write("anna", "/background HOLD there")
        phones.write("ben", "Hello.", chat="g2", kind="group")
        await phones.until("g2", "You said: ")
        assert model.held == 1
        model.gate.set()
        await phones.until("anna", "You said: ")
        assert model.most == 1


async def test_a_long_row_of_messages_gives_its_place_up_between_two_of_them(hermes):
    model = Obedient()
    async with serving(hermes, model, **{"gateway.limits.turns": 1}) as phones:
        phones.write("anna", "HOLD 1")
        await so(lambda: model.held == 1)
        for number in range(2, 5):
            phones.write("anna", f"plain {number}")
        phones.write("anna", "/background beside them")
        await phones.until("anna", "Queued", many=3)
        model.gate.set()
        await phones.until("anna", "plain 4")
        said = phones.texts("anna", "You said")
        assert [text[-1] for text in said if "plain" in text] == ["2", "3", "4"]
        assert next(n for n, text in enumerate(said) if "beside" in text) < len(said) - 1


# --- limits -----------------------------------------------------------------------------------------------------------


async def test_who_has_too_much_waiting_is_told_once_and_may_write_again_later(hermes, monkeypatch):
    monkeypatch.setattr("hermes_platform_gateway.limits._COUNTED", 0.0)
    model = Obedient()
    limits = {"gateway.limits.turns": 1, "gateway.limits.waiting": 3, "agent.busy": "queue"}
    async with serving(hermes, model, **limits) as phones:
        phones.write("anna", "HOLD 0")
        await so(lambda: model.held == 1)
        for number in range(1, 9):
            phones.write("anna", f"{'/background ' if number % 2 else ''}more {number}")
        told = await phones.until("anna", "3 messages of yours wait for their turn")
        assert "Write again when some of them are answered." in told
        await so(lambda: len(phones.acked) == 9)
        phones.write("olga", "Hello.")
        await phones.until("olga", "You said: Hello.")
        model.gate.set()
        await phones.until("anna", "You said", many=4)
        phones.write("anna", "And now?")
        await phones.until("anna", "You said: And now?")
        assert len(phones.texts("anna", "messages of yours wait")) == 1
        assert len(phones.texts("anna", "You said")) == 5


async def test_slow_mode_of_an_admin_is_one_message_of_a_person_in_a_while(hermes):
    model, group = Obedient(), {"chat": "g1", "kind": "group"}
    async with serving(hermes, model, **{"gateway.group_sessions_per_user": True}) as phones:
        phones.write("anna", "/slow 60", **group)
        phones.write("olga", "/slow 60", **group)
        await phones.until("g1", "one message of a person every 60 seconds")
        for number in (1, 2, 3):
            phones.write("anna", f"anna {number}", **group)
            phones.write("olga", f"olga {number}", **group)
        phones.write("ben", "ben 1", **group)
        await phones.until("g1", "olga 3")
        await phones.until("g1", "ben 1")
        told = await phones.until("g1", "Slow mode: one message every 60 seconds here")
        assert re.search(r"Write again in (59|60) seconds\.", told)
        assert len(phones.texts("g1", "You said")) == 5
        assert len(phones.texts("g1", "Write again in")) == 1
        phones.write("anna", "elsewhere")
        await phones.until("anna", "You said: elsewhere")
        phones.write("olga", "/slow off", **group)
        await phones.until("g1", "Slow mode is off here.")
        phones.write("anna", "anna 4", **group)
        await phones.until("g1", "anna 4")


async def test_files_of_one_person_are_bounded_by_number_and_size(hermes):
    model, limits = Obedient(), {"gateway.limits.files": 2, "gateway.limits.files_mb": 1}
    async with serving(hermes, model, **limits) as phones:
        phones.write("anna", "first", Blob(media_type="text/plain", name="a.txt", data=b"x"))
        phones.write("anna", "large", Blob(media_type="text/plain", name="b.txt", data=b"x" * 1_100_000))
        await phones.until("anna", "1 MB of files in an hour are the most here")
        phones.write("anna", "second", Blob(media_type="text/plain", name="c.txt", data=b"x"))
        await phones.until("anna", "You said", many=2)
        for _ in range(3):
            phones.write("anna", "third", Blob(media_type="text/plain", name="d.txt", data=b"x"))
        told = await phones.until("anna", "2 files in an hour are the most here")
        assert re.search(r"Send more in (59|60) minutes\.", told)
        phones.write("olga", *(Blob(media_type="text/plain", name="e.txt", data=b"x") for _ in range(5)))
        await phones.until("olga", "You said")
        assert len(phones.texts("anna", "the most here")) == 2


async def test_a_flood_of_presses_is_bounded_and_told_once(hermes):
    async with serving(hermes, Obedient(), **{"gateway.drain_seconds": 0.0}) as phones:
        for number in range(2_000):
            phones.write("anna", f"/approve {number:012x} always")
        phones.write("ben", "Hello.")
        await phones.until("ben", "You said: Hello.")
        await phones.until("anna", "That was too much at once.")
        await so(lambda: len(phones.acked) > 1_400)  # those above the bound; the others are taken in one by one
        assert len(phones.texts("anna", "That was too much")) == 1
        assert len(phones.texts("anna", "no approval")) < 600


# --- questions to admins ----------------------------------------------------------------------------------------------


async def test_twelve_calls_are_one_message_to_an_admin_and_one_to_their_person(hermes):
    model, settings = Obedient(), with_a_shell(hermes)
    async with serving(hermes, model, **settings, **{"gateway.limits.turns": 12}) as phones:
        phones.write("olga", "Here I am.")
        await phones.until("olga", "You said")
        for number in range(12):
            phones.write("anna", f'/background TOOL terminal {{"command": "touch made{number}"}}')
        asked = await phones.until("olga", "for 12 calls:")
        assert [f"touch made{number}" in asked for number in range(12)] == [True] * 12
        said = phones.buttons("olga", "for 12 calls:")
        assert len(said) == 26
        assert len(set(said)) == 26
        assert phones.texts("olga")[1:] == [asked]
        line = await phones.until("anna", "12 calls need the yes of an admin")
        assert phones.texts("anna", "yes of an admin") == [line]
        folder = hermes.runtime.guests.folder(Principal(person="anna"))
        phones.write("olga", said[0])
        await so(lambda: "1 allowed, 11 open" in phones.texts("anna", "12 calls")[0])
        assert "1. allowed: `$ touch made" in phones.texts("olga", "12 calls")[0]
        assert len(phones.buttons("olga", "for 12 calls:")) == 24
        phones.write("olga", said[3])
        await so(lambda: "1 denied" in phones.texts("anna", "12 calls")[0])
        phones.write("ben", said[-2])
        phones.write("anna", said[-2])
        await phones.until("ben", "There is no")
        await phones.until("anna", "There is no")
        assert len(list(folder.iterdir())) <= 1
        phones.write("olga", said[-2])
        await so(lambda: "11 allowed" in phones.texts("anna", "12 calls")[0])
        await phones.until("anna", "You said", many=12)
        assert len(list(folder.iterdir())) == 11
        assert phones.buttons("olga", "for 12 calls:") == []
        assert len(phones.texts("olga")) == 2
        phones.write("olga", said[-1])
        await phones.until("olga", "All of them are settled already.")


async def test_what_was_put_together_is_not_put_again_after_a_death(hermes, tmp_path):
    settings = with_a_shell(hermes)
    async with serving(hermes, Obedient(), **settings, **{"gateway.drain_seconds": 0.0}) as phones:
        phones.write("olga", "Here I am.")
        await phones.until("olga", "You said")
        for number in range(3):
            phones.write("anna", f'/background TOOL terminal {{"command": "touch made{number}"}}')
        await phones.until("olga", "for 3 calls:")
        said = phones.buttons("olga", "for 3 calls:")
    await hermes.close()
    again = Bench(tmp_path / "home")
    again.tmp_plugin("hermes_tool_commands")
    again.tmp_plugin("hermes_tool_roles")
    settings = with_a_shell(again)
    async with serving(again, Obedient(), **settings) as phones:
        phones.number = 100
        phones.write("olga", "Are they asked again?")
        await phones.until("olga", "You said")
        phones.write("olga", said[-2])
        await phones.until("anna", "You said", many=3)
        assert not [text for text in phones.sent if "asks on" in text or "yes of an admin" in text]
    await again.close()


async def test_open_questions_of_one_person_are_bounded(hermes):
    model, settings = Obedient(), with_a_shell(hermes)
    async with serving(hermes, model, **settings, **{"gateway.limits.questions": 2}) as phones:
        phones.write("olga", "Here I am.")
        await phones.until("olga", "You said")
        for number in range(4):
            phones.write("anna", f'/background TOOL terminal {{"command": "touch made{number}"}}')
        await phones.until("olga", "for 2 calls:")
        await phones.until("anna", "You said", many=2)
        await phones.until("anna", "nothing more is asked until then.")
        assert sum(text.startswith("2 questions of yours wait for an answer") for text in phones.texts("anna")) == 1
        phones.write("olga", phones.buttons("olga", "for 2 calls:")[-2])
        await phones.until("anna", "You said", many=4)
        assert len(list(hermes.runtime.guests.folder(Principal(person="anna")).iterdir())) == 2


# --- a guest's own files ----------------------------------------------------------------------------------------------


def write_file(path: str, text: str) -> str:
    return f"TOOL write_file {json.dumps({'path': path, 'content': text})}"


async def test_a_guest_takes_back_what_was_done_to_their_own_files_and_to_no_others(hermes):
    for name in ("hermes_tool_files", "hermes_tool_checkpoints", "hermes_backend_local"):
        hermes.tmp_plugin(name)
    async with serving(hermes, Obedient(), **{"terminal.backend": "local"}) as phones:
        folders = {who: hermes.runtime.guests.folder(Principal(person=who)) for who in ("anna", "ben")}
        for who in folders:
            phones.write(who, write_file("note.txt", f"first of {who}"))
            await phones.until(who, "You said", many=1)
            phones.write(who, write_file("note.txt", f"second of {who}"))
            await phones.until(who, "You said", many=2)
        phones.write("anna", "/rollback")
        assert "people" not in await phones.until("anna", "Snapshots of your folder")
        phones.write("anna", f"/rollback 1 {folders['ben'] / 'note.txt'}")
        await phones.until("anna", "Name a file or folder in it.")
        phones.write("anna", "/rollback 1")
        await phones.until("anna", "Brought back to")
        assert (folders["anna"] / "note.txt").read_text() == "first of anna"
        assert (folders["ben"] / "note.txt").read_text() == "second of ben"
        assert not phones.texts("anna", "belongs to Hermes itself")
