"""The terminal's driver, and its side of a conversation, keep what every one promises."""

import pytest

from hermes_core.testing import Bench, ConsoleDriverContract, HostSideContract
from hermes_core.types import Session
from hermes_platform_cli.console.conversation import Conversation


class TestTerminal(ConsoleDriverContract):
    module = "hermes_platform_cli"


class TestConversation(HostSideContract):
    @pytest.fixture
    def side(self, hermes: Bench) -> Conversation:
        ctx = hermes.context("hermes_platform_cli")

        async def begin(_session: Session, text: str) -> str:
            return await ctx.turns.queue(text)

        return Conversation(ctx, "cli", begin)
