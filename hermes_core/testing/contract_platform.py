"""What every platform promises: a message service that people write on."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from uuid import uuid4

import pytest

from hermes_core.errors import HermesError, UserError
from hermes_core.kinds import Platform
from hermes_core.testing.contract_groups import GroupsContract
from hermes_core.testing.fake_console import FakeConsole
from hermes_core.testing.fakes import FakeService
from hermes_core.testing.inbox import Inbox, opened
from hermes_core.types import (
    Blob,
    Chat,
    Ended,
    Failed,
    Feature,
    Location,
    Message,
    Poll,
    Said,
    Sent,
    Started,
    Text,
    Usage,
)
from hermes_core.values import frozen

__all__ = ["PlatformContract"]


@frozen
class FromTheFuture:
    """A message part, or an event, of a later kernel."""

    novelty: str = "scent"


class PlatformContract(GroupsContract):
    """Inherit, name your ``module``, and give ``service``: a FakeService that plays the far end.

    ``patience`` is how long the slowest step of your service may take, in seconds.
    """

    kind = "platform"
    patience: ClassVar[float] = 10.0

    @pytest.fixture
    def platform(self, contributed: Mapping[str, list[Any]]) -> Platform:
        """The platform under test, talking to ``service``; by default the first one the plugin contributes."""
        assert contributed.get("platforms"), "the plugin contributes no platform; give a platform fixture"
        platform: Platform = contributed["platforms"][0]
        return platform

    @pytest.fixture
    def service(self) -> FakeService:
        """The far end; every platform test needs one."""
        pytest.fail("give a `service` fixture: a FakeService through which the test writes and sees what was sent")

    @pytest.fixture
    def subject(self, platform: Platform, service: FakeService) -> Any:
        """The platform, its service up."""
        return platform

    async def exercise(self, subject: Any) -> None:
        """Open, listen, close."""
        async with opened(subject, self.patience):
            pass

    @pytest.mark.asyncio
    async def test_what_a_person_writes_is_received(self, platform: Platform, service: FakeService) -> None:
        """Messages come in order, whole, each with an event id of its own and a return address.

        If this fails: fill the Envelope from the service's own ids. An event id that repeats makes the kernel drop the
        message as a duplicate, also after a restart; a counter that starts at 1 each time repeats.
        """
        async with opened(platform, self.patience) as inbox:
            texts = ["Hello there.", "두 번째 메시지 🦊"]
            envelopes = []
            for text in texts:
                await service.say(text)
                envelopes.append(await inbox.next())
        assert [_text(e.message) for e in envelopes] == texts
        for envelope in envelopes:
            assert envelope.platform == platform.name, f"the envelope says platform {envelope.platform!r}"
            assert envelope.message.role == "user", f"the message has the role {envelope.message.role!r}"
            missing = [n for n in ("account", "event_id", "chat", "sender") if not getattr(envelope, n)]
            assert not missing, f"the envelope has no {', '.join(missing)}"
        assert envelopes[0].event_id != envelopes[1].event_id, "two messages have one event id"
        assert envelopes[0].chat == envelopes[1].chat, "two messages of one person are in two chats"

    @pytest.mark.asyncio
    async def test_an_answer_reaches_the_person(self, platform: Platform, service: FakeService) -> None:
        """What is sent to the chat of an envelope is seen there, with every character.

        Where markdown is shown as what it means, its marks may be gone, and they alone.

        If this fails: send to ``chat`` as it was received; escape what the service takes for markup.
        """
        answers = ["Good morning!", "Grüße, 안녕 <b>&amp; *italic* _x_ `code`", "two\nlines"]
        shown = [answers[0], "Grüße, 안녕 <b>&amp; italic x code", answers[2]]
        async with opened(platform, self.patience) as inbox:
            chat = await inbox.greeted(service)
            for answer in answers:
                sent = await platform.send(Chat(chat), _said(answer), uuid4().hex)
                assert sent is None or (isinstance(sent, Sent) and sent.message_id), f"send gave {sent!r}"
            await service.say("Thanks.")  # a round trip: what was sent before has arrived
            await inbox.next()
            seen = await service.seen()
        assert [s.strip() for s in seen] in (answers, shown)

    @pytest.mark.asyncio
    async def test_long_messages_are_whole_or_refused(self, platform: Platform, service: FakeService) -> None:
        """A message at the limit arrives whole; one beyond it arrives whole in pieces or is refused, never cut.

        If this fails: ``limit`` is what the service takes in one message, in characters. The kernel splits by it;
        what is too long all the same must raise UserError.
        """
        if not platform.limit:
            pytest.skip("the platform has no limit")
        async with opened(platform, self.patience) as inbox:
            await service.say("Tell me everything.")
            chat = (await inbox.next()).chat
            fits = "".join(chr(97 + i % 26) for i in range(platform.limit))
            await platform.send(Chat(chat), _said(fits), uuid4().hex)
            seen = await service.seen()
            assert seen == [fits], f"a message of {platform.limit} characters arrived as {[len(s) for s in seen]}"
            try:
                await platform.send(Chat(chat), _said(f"{fits}!"), uuid4().hex)
            except HermesError:
                assert await service.seen() == [fits], "a refused message was sent in part"
                return
            pieces = list(await service.seen())[1:]
        assert "".join(pieces) == f"{fits}!", "a message beyond the limit lost characters"
        assert all(len(p) <= platform.limit for p in pieces), f"pieces of {[len(p) for p in pieces]} characters"

    @pytest.mark.asyncio
    async def test_strangers_are_let_through_to_the_kernel(self, platform: Platform, service: FakeService) -> None:
        """A message of somebody unknown becomes an envelope like any other.

        If this fails: who may come in is decided by the kernel's ``admit`` gates, in one place. Filter nothing.
        """
        async with opened(platform, self.patience) as inbox:
            await service.say("You do not know me.", sender="stranger")
            assert _text((await inbox.next()).message) == "You do not know me."

    @pytest.mark.asyncio
    async def test_it_never_answers_itself(self, platform: Platform, service: FakeService) -> None:
        """The bot's own messages do not come back as envelopes.

        If this fails: services deliver a bot its own words. Compare the sender with your own account and drop it;
        otherwise two lines of text talk to each other all night.
        """
        async with opened(platform, self.patience) as inbox:
            chat = await inbox.greeted(service)
            await platform.send(Chat(chat), _said("I am the bot."), uuid4().hex)
            await service.say_as_bot("I am the bot.")
            await service.say("Still me.")
            assert _text((await inbox.next()).message) == "Still me.", "the bot's own message came in"

    @pytest.mark.asyncio
    async def test_receive_ends_on_close(self, platform: Platform, service: FakeService) -> None:
        """After close, receive ends by itself, without an error, also while it waits for the next message.

        If this fails: do not wait where close cannot reach, such as a blocking read in a thread.
        """
        await platform.open(FakeConsole())
        inbox = Inbox(platform, self.patience)
        await service.say("Hi.")
        await inbox.next()
        await platform.close()
        assert await inbox.ended(), f"receive still waits {self.patience} s after close"

    @pytest.mark.asyncio
    async def test_it_comes_back_after_a_lost_connection(self, platform: Platform, service: FakeService) -> None:
        """When the connection is cut and the service is up, the next message is received all the same.

        If this fails: connect again inside receive, with growing pauses; ending receive means that the person left.
        """
        async with opened(platform, self.patience) as inbox:
            await service.say("Before.")
            await inbox.next()
            if not await service.drop():
                pytest.skip("give the service a `drop` to have lost connections tested")
            await service.say("After.")
            assert _text((await inbox.next()).message) == "After."

    @pytest.mark.asyncio
    async def test_editing_is_real_or_refused(self, platform: Platform, service: FakeService) -> None:
        """With Feature.EDIT a sent message changes where people see it; without, edit raises UserError.

        If this fails: claim EDIT only when ``send`` gives a Sent that ``edit`` can find again.
        """
        async with opened(platform, self.patience) as inbox:
            chat = await inbox.greeted(service)
            sent = await platform.send(Chat(chat), _said("Wait …"), uuid4().hex)
            if Feature.EDIT not in platform.features:
                with pytest.raises(UserError):
                    await platform.edit(sent or Sent(chat=chat, message_id="1"), _said("Done."))
                return
            assert sent is not None, "send gave no Sent, and EDIT is claimed"
            await platform.edit(sent, _said("Done."))
            assert [s.strip() for s in await service.seen()] == ["Done."]

    @pytest.mark.asyncio
    async def test_deleting_is_real_or_refused(self, platform: Platform, service: FakeService) -> None:
        """With Feature.DELETE a sent message is gone where people see it, and to delete it again is quiet.

        If this fails: take the service's "no such message" for done. Without the feature, delete raises UserError.
        """
        async with opened(platform, self.patience) as inbox:
            chat = await inbox.greeted(service)
            sent = await platform.send(Chat(chat), _said("Wait …"), uuid4().hex)
            if Feature.DELETE not in platform.features:
                with pytest.raises(UserError):
                    await platform.delete(sent or Sent(chat=chat, message_id="1"))
                return
            assert sent is not None, "send gave no Sent, and DELETE is claimed"
            await platform.send(Chat(chat), _said("Done."), uuid4().hex)
            for _ in range(2):
                await platform.delete(sent)
                assert [s.strip() for s in await service.seen()] == ["Done."]

    @pytest.mark.asyncio
    async def test_typing_is_seen_if_claimed(self, platform: Platform, service: FakeService) -> None:
        """With Feature.TYPING people see that a turn has begun.

        If this fails: show the service's typing sign when ``show`` gets Started; or do not claim it.
        """
        if Feature.TYPING not in platform.features:
            pytest.skip("the platform does not claim TYPING")
        async with opened(platform, self.patience) as inbox:
            chat = await inbox.greeted(service)
            await platform.show(Chat(chat), Started(session_id="s", turn_id="t", provider="p", model="m"))
            assert await service.typing() > 0, "nobody saw that the bot is typing"

    @pytest.mark.asyncio
    async def test_files_arrive_if_claimed(self, platform: Platform, service: FakeService) -> None:
        """With Feature.MEDIA a Blob arrives byte for byte; without, the text beside it still does.

        If this fails: send bytes or the file at ``path``; a platform without files sends the texts of a message.
        """
        blob = Blob(media_type="application/octet-stream", data=bytes(range(256)), name="bytes.bin")
        async with opened(platform, self.patience) as inbox:
            await service.say("Send it.")
            chat = (await inbox.next()).chat
            await platform.send(Chat(chat), Message(role="assistant", parts=(Text(text="Here."), blob)), uuid4().hex)
            if Feature.MEDIA in platform.features:
                assert blob.data in await service.media(), "the file did not arrive as it was sent"
            assert any("Here." in s for s in await service.seen()), "the text beside a file did not arrive"

    @pytest.mark.asyncio
    async def test_polls_and_places_arrive_or_are_told(self, platform: Platform, service: FakeService) -> None:
        """With Feature.POLLS and LOCATIONS they arrive as such; without, as the words that they are.

        If this fails: give ``service`` a ``polls`` and ``places`` that say what people see; or do not claim them.
        """
        poll = Poll(question="Which day?", choices=["Monday", "Friday"], several=True)
        place = Location(latitude=59.913868, longitude=10.752245, title="Oslo")
        async with opened(platform, self.patience) as inbox:
            await service.say("When and where?")
            chat = (await inbox.next()).chat
            short = [part for part in (poll, place) if not 0 < platform.limit < platform.length(part.text)]
            for part in short:
                await platform.send(Chat(chat), Message(role="assistant", parts=(part,)), uuid4().hex)
            seen = "\n".join(await service.seen())
            if Feature.POLLS in platform.features:
                assert ("Which day?", ("Monday", "Friday")) in await service.polls(), "the poll did not arrive"
            else:
                assert all(word in seen for word in ("Which day?", "Monday", "Friday")), (
                    f"the poll is not told: {seen!r}"
                )
            if Feature.LOCATIONS in platform.features:
                near = [abs(a - 59.913868) + abs(b - 10.752245) < 0.001 for a, b in await service.places()]
                assert any(near), "the place did not arrive"
            elif place in short:
                assert "59.913868" in seen, f"the place is not told: {seen!r}"

    @pytest.mark.asyncio
    async def test_a_thread_is_begun_or_refused(self, platform: Platform, service: FakeService) -> None:
        """What is sent to a thread that was begun arrives; where none can be, a UserError says so.

        If this fails: give the Chat that ``send`` needs to get there; take "not here" of the service for a UserError.
        """
        async with opened(platform, self.patience) as inbox:
            await service.say("Let us talk apart.")
            chat = Chat((await inbox.next()).chat)
            try:
                thread = await platform.make_thread(chat, "Apart")
            except UserError:
                return
            assert Feature.THREADS in platform.features, "a thread was begun, and THREADS is not claimed"
            assert thread.id, f"make_thread gave {thread}"
            assert thread != chat, "a thread is not the chat that it is in"
            await platform.send(thread, _said("Here we are."), uuid4().hex)
            assert any("Here we are." in one for one in await service.seen())

    @pytest.mark.asyncio
    async def test_members_are_told_if_claimed(self, platform: Platform, service: FakeService) -> None:
        """With Feature.MEMBERS who writes is found by the sender of their message, and a stranger is not.

        If this fails: ``sender`` is an id as envelopes have it. One that the service does not know is nobody, no error.
        """
        async with opened(platform, self.patience) as inbox:
            await service.say("Who is here?")
            came = await inbox.next()
            if Feature.MEMBERS not in platform.features:
                with pytest.raises(UserError):
                    await platform.members(Chat(came.chat))
                return
            (found,) = await platform.members(Chat(came.chat), came.sender)
            assert found.id == came.sender
            assert isinstance(await platform.members(Chat(came.chat)), Sequence)
            assert not await platform.members(Chat(came.chat), "nobody:of-this-name")

    @pytest.mark.asyncio
    async def test_what_it_does_not_know_is_tolerated(self, platform: Platform, service: FakeService) -> None:
        """Message parts and events of a later kernel are skipped, and every event of a turn can be shown.

        If this fails: match what you know and ignore the rest.
        """
        odd: Any = FromTheFuture()
        async with opened(platform, self.patience) as inbox:
            chat = await inbox.greeted(service)
            await platform.send(Chat(chat), Message(role="assistant", parts=(odd, Text(text="Hello."))), uuid4().hex)
            assert any("Hello." in s for s in await service.seen()), "the known part did not arrive"
            for event in (*_turn(), odd):
                await platform.show(Chat(chat), event)
        if Feature.LIVE in platform.features:
            assert type(platform).show is not Platform.show, "LIVE is claimed, and there is no show"


def _said(text: str) -> Message:
    return Message(role="assistant", parts=(Text(text=text),))


def _text(message: Message) -> str:
    return "".join(p.text for p in message.parts if isinstance(p, Text))


def _turn() -> Sequence[Any]:
    return (
        Started(session_id="s", turn_id="t", provider="p", model="m"),
        Said(text="Hello."),
        Failed(kind="unavailable", text="The model is away.", hint="Try again."),
        Ended(session_id="s", turn_id="t", answer="Hello.", reason="done", usage=Usage()),
    )
