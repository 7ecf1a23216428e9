"""What every platform promises of groups and buttons: leaving, being put out, a press."""

from typing import ClassVar
from uuid import uuid4

import pytest

from hermes_core.errors import UserError
from hermes_core.kinds import Platform
from hermes_core.testing.contract_base import PluginContract
from hermes_core.testing.fakes import FakeService
from hermes_core.testing.inbox import opened
from hermes_core.types import Button, Buttons, Chat, Feature, Message, Text

__all__ = ["GroupsContract"]


class GroupsContract(PluginContract):
    """Part of PlatformContract. ``patience`` is how long the slowest step of the service may take, in seconds."""

    patience: ClassVar[float] = 10.0

    @pytest.mark.asyncio
    async def test_a_group_is_left_or_that_is_refused(self, platform: Platform, service: FakeService) -> None:
        """With Feature.LEAVE the bot leaves a group, twice is no error, and nothing says that it was put out.

        If this fails: leave the chat as it was received. One that the bot is not in any more is left.
        """
        async with opened(platform, self.patience) as inbox:
            if Feature.LEAVE not in platform.features:
                with pytest.raises(UserError):
                    await platform.leave(Chat("anywhere"))
                return
            chat = await service.gather()
            while (await inbox.next()).chat != chat:
                pass
            assert await service.inside(chat)
            await platform.leave(Chat(chat))
            assert not await service.inside(chat)
            await platform.leave(Chat(chat))
            await service.say("Are you there?")  # after all that the service told of the group
            came = await inbox.next()
        assert (came.what, _text(came.message)) == ("message", "Are you there?")

    @pytest.mark.asyncio
    async def test_being_put_out_of_a_group_is_told_if_claimed(self, platform: Platform, service: FakeService) -> None:
        """With Feature.LEAVE an envelope without words says who put the bot out of which group.

        If this fails: give an Envelope whose ``what`` is ``removed``, with the service's id for what happened.
        """
        async with opened(platform, self.patience) as inbox:
            if Feature.LEAVE not in platform.features:
                return
            chat = await service.gather()
            while (await inbox.next()).chat != chat:
                pass
            await service.put_out(chat)
            came = await inbox.next()
        assert (came.what, came.chat, came.kind != "dm") == ("removed", chat, True)
        assert came.event_id, "it has no event id, so it is told again after each restart"
        assert came.sender, "nobody did it"
        assert came.sender != came.account, "it was not the bot"
        assert not came.message.parts, "nobody said anything"

    @pytest.mark.asyncio
    async def test_a_press_says_that_it_is_one(self, platform: Platform, service: FakeService) -> None:
        """With Feature.BUTTONS a press is an envelope whose ``what`` is ``press``; who types its words said them.

        If this fails: only what the service tells as the press of a button below your message is one.
        """
        async with opened(platform, self.patience) as inbox:
            chat = await inbox.greeted(service)
            if Feature.BUTTONS not in platform.features:
                return
            parts = (Text(text="Tea?"), Buttons(buttons=(Button(label="Yes", says="tea-1 yes"),)))
            await platform.send(Chat(chat), Message(role="assistant", parts=parts), uuid4().hex)
            await service.press_first()
            pressed = await inbox.next()
            await service.say("tea-1 yes")
            typed = await inbox.next()
        assert (pressed.what, _text(pressed.message)) == ("press", "tea-1 yes")
        assert (typed.what, _text(typed.message)) == ("message", "tea-1 yes")


def _text(message: Message) -> str:
    return "".join(p.text for p in message.parts if isinstance(p, Text))
