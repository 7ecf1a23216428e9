"""What a console driver promises to the people on a platform: that each is heard, once, and told what came of it."""

import asyncio
from collections.abc import AsyncIterator
from typing import ClassVar

import pytest

from hermes_core.errors import NotPermitted, Unavailable
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Console
from hermes_core.testing.bench import Bench
from hermes_core.testing.fakes import FakePlatform
from hermes_core.testing.scripted import Fail, ScriptedProvider
from hermes_core.types import Ended, Envelope, Feature, Session, SlashCommand

__all__ = ["ConsoleDriverContract"]


_SECONDS = 30.0  # for all that is said in a test


def _ends(platform: FakePlatform) -> int:
    """How many messages have had their end: one that was sent, or shown."""
    return len(platform.outbox) + sum(isinstance(event, Ended) for event in platform.events)


class _Closing(FakePlatform):
    """One that knows whether it is open, and may fall."""

    def __init__(self, *, falls: bool = False, live: bool = False) -> None:
        super().__init__(features=(Feature.LIVE,) if live else ())
        self.falls, self.told = falls, list[str]()

    async def open(self, console: Console) -> None:
        await super().open(console)
        self.told.append("opened")

    async def close(self) -> None:
        self.told.append("closed")

    async def receive(self) -> AsyncIterator[Envelope]:
        async for envelope in super().receive():
            yield envelope
        if self.falls:
            raise OSError("the line is gone")


class _Curious(_Closing):
    """One that wants to know what runs beside a chat."""

    got = ""

    async def open(self, console: Console) -> None:
        await super().open(console)
        try:
            jobs = await console.jobs("ada")
        except NotPermitted:
            self.got = "refused"
        else:
            self.got = "told" if jobs else "refused"


class ConsoleDriverContract:
    """Inherit in ``tests``, and name the ``module`` of the plugin whose driver it is."""

    module: ClassVar[str] = ""

    async def _served(self, hermes: Bench, platform: FakePlatform, *said: tuple[str, str], session: str = "") -> None:
        """Serve a platform on which people say things, each when the one before was answered, and leave."""
        serving = asyncio.ensure_future(hermes.serve(platform, session, self.module))
        try:
            async with asyncio.timeout(_SECONDS):
                for number, (sender, text) in enumerate(said, 1):
                    await platform.service.say(text, sender=sender, event_id=f"e{number}")
                    while _ends(platform) < number and not serving.done():
                        await asyncio.wait({serving}, timeout=0.01)
                await platform.service.leave()
                await serving
        finally:
            serving.cancel()

    async def test_who_says_something_is_answered(self, hermes: Bench) -> None:
        """An answer is sent where no turn is shown, and every message is acknowledged.

        If this fails: play what ``receive`` gives by ``ctx.turns.run``, ``ack`` it when ``stored`` is called, and send
        the answer of the Ended event.
        """
        hermes.tmp_plugin(ScriptedProvider(["Hello Ada.", "And again."]))
        platform = _Closing()
        await self._served(hermes, platform, ("ada", "I am Ada."), ("ada", "Who am I?"))
        assert list(await platform.service.seen()) == ["Hello Ada.", "And again."]
        assert platform.acked == ["e1", "e2"]

    async def test_a_turn_is_shown_where_it_can_be(self, hermes: Bench) -> None:
        """With Feature.LIVE the events of a turn are shown, an Ended last, and the answer is not sent again.

        If this fails: ``show`` each event; ``send`` is for platforms that show none, and for slash commands.
        """
        hermes.tmp_plugin(ScriptedProvider(["Hello."]))
        platform = _Closing(live=True)
        await self._served(hermes, platform, ("ada", "Hi."))
        ends = [event for event in platform.events if isinstance(event, Ended)]
        assert [end.answer for end in ends] == ["Hello."]
        assert not platform.outbox, "the answer was shown, and sent as well"

    async def test_chats_are_conversations_of_their_own(self, hermes: Bench) -> None:
        """What is said in one chat is not known in another.

        If this fails: keep a session for each ``envelope.chat``.
        """
        provider = ScriptedProvider(["One.", "Two."])
        hermes.tmp_plugin(provider)
        await self._served(hermes, _Closing(), ("ada", "The word is lamp."), ("ben", "Which word?"))
        requests = {str(request.messages) for request in provider.requests}
        assert not [one for one in requests if "lamp" in one and "Which word?" in one], "they are in one session"

    async def test_a_message_that_comes_again_is_answered_once(self, hermes: Bench) -> None:
        """A service may deliver a message again; its event is known then.

        If this fails: give ``ctx.turns.run`` the Envelope as it came.
        """
        provider = ScriptedProvider(["Answered.", "Answered."])
        hermes.tmp_plugin(provider)
        platform = _Closing()
        for _ in range(2):
            await platform.service.say("Hi.", sender="ada", event_id="same")
        await self._served(hermes, platform)
        assert [text for text in await platform.service.seen() if text == "Answered."] == ["Answered."]
        assert len(provider.requests) == 1, "the model was asked twice"

    async def test_a_slash_command_is_run_and_no_model_is_asked(self, hermes: Bench) -> None:
        """What begins with a slash is a command, whose answer is sent; one that is not there is told, too.

        If this fails: give it to ``ctx.slash.commands("terminal").run``, and send the words of a HermesError.
        """

        async def greet(_session: Session, rest: str) -> str:
            return f"Good day, {rest}."

        @hookimpl
        def register_slash_commands() -> list[SlashCommand]:
            return [SlashCommand(name="greet", summary="Greet somebody.", run=greet)]

        provider = ScriptedProvider([])
        hermes.tmp_plugin(provider)
        hermes.tmp_plugin(register_slash_commands, name="greeter", manifest={"contributes": {"slash": ["greet"]}})
        platform = _Closing()
        await self._served(hermes, platform, ("ada", "/greet Ada"), ("ada", "/nonsense"))
        greeted, refused = await platform.service.seen()
        assert greeted == "Good day, Ada."
        assert "/nonsense" in refused
        assert (provider.requests, platform.acked) == ([], ["e1", "e2"])

    @pytest.mark.parametrize("live", [False, True], ids=["sent", "shown"])
    async def test_a_turn_that_fails_is_told_and_the_next_is_played(self, hermes: Bench, *, live: bool) -> None:
        """A failure costs its turn: its words are told, and the next message is answered.

        If this fails: look at the Failed event before the end; where none came, send the words of the error.
        """
        hermes.tmp_plugin(ScriptedProvider([Fail(Unavailable("It is down.")), "Well again."]))
        hermes.configure({"agent.model_tries": 1})
        platform = _Closing(live=live)
        await self._served(hermes, platform, ("ada", "One."), ("ada", "Two."))
        if live:
            ends = [event for event in platform.events if isinstance(event, Ended)]
            assert [end.reason for end in ends] == ["failed", "done"]
        else:
            failed, answered = await platform.service.seen()
            assert failed.strip()
            assert answered == "Well again."

    async def test_an_earlier_session_is_gone_on_with(self, hermes: Bench) -> None:
        """The first chat goes on in the ``session`` that ``serve`` is given.

        If this fails: ``ctx.turns.take_up`` it by its id for the first chat.
        """
        provider = ScriptedProvider(["Noted.", "Lamp."])
        hermes.tmp_plugin(provider)
        await hermes.run("The word is lamp.", session="earlier")
        await self._served(hermes, _Closing(live=True), ("ada", "Which word?"), session="earlier")
        assert "The word is lamp." in str(provider.requests[-1].messages)

    async def test_a_platform_is_closed_however_it_ends(self, hermes: Bench) -> None:
        """It is opened once and closed once: when people leave, and when it falls.

        If this fails: close it in ``finally``, and let the error through.
        """
        hermes.tmp_plugin(ScriptedProvider([]))
        platform, fallen = _Closing(), _Closing(falls=True)
        await self._served(hermes, platform)
        with pytest.raises(OSError, match="the line is gone"):
            await self._served(hermes, fallen)
        assert (platform.told, fallen.told) == (["opened", "closed"], ["opened", "closed"])

    async def test_what_the_platforms_plugin_may_not_is_refused(self, hermes: Bench) -> None:
        """What a Console does that needs a permission is done for the platform's plugin, which must have it.

        If this fails: call ``require(permission, did)`` before, as the methods of Console say; or leave them as they
        are, which offer nothing.
        """
        hermes.tmp_plugin(ScriptedProvider([]))

        platform = _Curious()
        await self._served(hermes, platform)  # it belongs to no plugin, so nothing was granted to it
        assert platform.got == "refused"
