"""The gateway's side of a conversation keeps what every one promises to slash commands."""

import pytest
from gateway_house import context_of

from hermes_core.testing import Bench, HostSideContract
from hermes_core.types import Envelope, Message, Principal, Text
from hermes_platform_gateway.commands.in_chat import InChat
from hermes_platform_gateway.conversations import ChatConversation
from hermes_platform_gateway.people.access import Access
from hermes_platform_gateway.turns import Turns


class Queue:
    """Hands nothing out."""

    async def put(self, session_id: str, person: str = "") -> None:
        """Forget it."""


class TestInChat(HostSideContract):
    place = "chat"

    @pytest.fixture
    def side(self, hermes: Bench) -> InChat:
        ctx, anna = context_of(hermes), Principal(person="room:anna")
        said = Message(role="user", parts=(Text(text="/background"),))
        envelope = Envelope(platform="room", account="bot", event_id="1", chat="c", sender="anna", message=said)
        chat = ChatConversation(ctx, envelope, anna, "room:c", None)
        return InChat(
            ctx,
            Queue(),
            Turns(ctx, elsewhere=False),
            tuple,
            chat,
            Access(outcome="in", principal=anna, role="admin", by="a test"),
        )
