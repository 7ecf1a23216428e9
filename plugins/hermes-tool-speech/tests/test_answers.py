"""Answers as voice notes: where a chat wishes it, once, in order, also after a death; and what is said of a text."""

import pytest
from gateway_house import rows_of

from hermes_core.errors import UserError
from hermes_core.testing import Call, ScriptedProvider
from hermes_core.types import Blob, Envelope, Feature, MediaResponse, Message, Principal, Session, Text, Usage
from hermes_tool_speech.answering import Voices, voice_command
from hermes_tool_speech.spoken import spoken

ME = Principal()


class Mouth(ScriptedProvider):
    """Speaks; fails as often as ``fails`` says."""

    features = frozenset({Feature.SPEAK})

    def __init__(self, *steps):
        super().__init__(steps)
        self.said, self.fails = [], 0

    async def speak(self, request):
        if self.fails:
            self.fails -= 1
            raise UserError("It has no voice.") if self.fails > 5 else RuntimeError("hoarse")
        self.said += request.texts
        return MediaResponse(model="m", blobs=[Blob(media_type="audio/ogg", data=b"OggS")], usage=Usage(calls=1))


class House:
    """A chat on Telegram, its conversation, and the outbox."""

    def __init__(self, hermes, mouth):
        self.hermes, self.mouth, self._count = hermes, mouth, 0

    def ctx(self):
        return self.hermes.context("hermes_tool_speech")

    async def says(self, text, chat="42"):
        self._count += 1
        message = Message(role="user", parts=(Text(text=text),))
        envelope = Envelope(platform="telegram", account="bot", event_id=str(self._count), chat=chat, sender="1",
                            message=message)  # fmt: skip
        await rows_of(self.hermes).chats.remember_chat(ME, envelope)
        turns = self.hermes.runtime.turns
        async for _ in turns.run(message, session=f"s{chat}", origin="telegram", owner=ME, envelope=envelope):
            pass

    async def outbox(self):
        rows = await rows_of(self.hermes).outbox.outbox_of(None)
        return [(row.outgoing.chat.id, row.outgoing.message.parts) for row in reversed(rows)]


@pytest.fixture
def house(hermes):
    def made(*steps):
        mouth = Mouth(*steps)
        hermes.tmp_plugin(mouth)
        hermes.tmp_plugin("hermes_platform_gateway")
        hermes.tmp_plugin("hermes_tool_speech")
        return House(hermes, mouth)

    return made


async def session_of(house, chat="42"):
    store = await house.hermes.runtime.store()
    return await store.sessions.find(f"s{chat}", ME)


async def test_where_a_chat_wishes_it_answers_are_spoken_and_elsewhere_not(house):
    there = house("One.", "**Two** `x`.", "Three.", "Four.")
    await there.says("hello")
    voice = voice_command(there.ctx())
    session = await session_of(there)
    assert "It is off here" in await voice.run(session, "")
    assert "come as voice notes, too" in await voice.run(session, "on")
    await there.says("and now?")
    await there.says("elsewhere", chat="43")
    voices = Voices(there.ctx())
    await voices.once()
    await voices.once()
    assert there.mouth.said == ["Two x."]
    ((chat, (note,)),) = [row for row in await there.outbox() if isinstance(row[1][0], Blob)]
    assert (chat, note.media_type) == ("42", "audio/ogg")
    assert "as text" in await voice.run(session, "off")
    await there.says("quiet")
    await voices.once()
    assert len(there.mouth.said) == 1


async def test_a_wish_of_before_there_were_two_sorts_still_holds(house):
    there = house("One.")
    await there.says("hello")
    session, ctx = await session_of(there), there.ctx()
    (chat,) = await ctx.messages.find(ME, "origin", session)
    await ctx.documents.put("voice", [chat.address], owner=ME)
    voice = voice_command(ctx)
    assert "It is on here" in await voice.run(session, "")
    await voice.run(session, "only")
    assert (await ctx.documents.get("voice", owner=ME)).value == {chat.address: "only"}
    with pytest.raises(UserError, match="on, only, off, and not 'loud'"):
        await voice.run(session, "loud")


async def test_what_was_not_sent_is_sent_after_a_death_and_once(house):
    there = house("One.", "Two.")
    await there.says("hello")
    await voice_command(there.ctx()).run(await session_of(there), "on")
    await there.says("and now?")
    first, ctx = Voices(there.ctx()), there.ctx()

    async def killed(*_):
        raise KeyboardInterrupt

    first._note = killed
    with pytest.raises(KeyboardInterrupt):  # it was sent, and nothing says so
        await first.once()
    await Voices(ctx).once()
    assert len([row for row in await there.outbox() if isinstance(row[1][0], Blob)]) == 1
    assert not await ctx.documents.get("waiting")


async def test_who_cannot_speak_is_asked_three_times_and_told_in_health(house):
    there = house("One.", "Two.")
    await there.says("hello")
    await voice_command(there.ctx()).run(await session_of(there), "on")
    await there.says("and now?")
    there.mouth.fails, voices = 5, Voices(there.ctx())
    for _ in range(4):
        await voices.once()
    assert "an answer was not spoken" in voices.health()
    assert not await there.ctx().documents.get("waiting")
    assert not [row for row in await there.outbox() if isinstance(row[1][0], Blob)]


async def test_a_turn_that_ends_with_a_call_or_in_a_terminal_says_nothing(house, hermes):
    there = house("One.", [Call("nothing")], "Done here.")
    await there.says("hello")
    await voice_command(there.ctx()).run(await session_of(there), "on")
    async for _ in hermes.turn("go", session="local"):
        pass
    assert not await there.ctx().documents.get("waiting")
    with pytest.raises(UserError, match="spoken in chats"):
        await voice_command(there.ctx()).run(Session(id="x", origin="cli"), "on")


SAID = {
    "# Head\n\nSome **bold** and _slanted_ `code`.": "Head\nSome bold and slanted code.",
    "Run:\n```sh\nrm -rf x\n```\nDone.": "Run:\nDone.",
    "See [the page](https://a.example/b?c) or https://b.example/long/path.": "See the page or b.example",
    "- one\n- two\n1. three": "one\ntwo\nthree",
    "| a | b |\n|---|---|\n| 1 | 2 |": "a b\n1 2",
    "snake_case and 2*3*4": "snake_case and 2*3*4",
    "```\nonly code\n```": "",
    "MEDIA:/tmp/x.png": "",
    "": "",
}


@pytest.mark.parametrize("text", SAID)
def test_a_text_is_said_without_its_signs(text):
    assert spoken(text) == SAID[text]


def test_a_long_text_ends_with_a_sentence():
    text = spoken("This is a sentence. " * 500)
    assert len(text) <= 4_000
    assert text.endswith("sentence.")
