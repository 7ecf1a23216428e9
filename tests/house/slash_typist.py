"""A person who types slash commands, for the tests of the registry and of what commands do."""

import asyncio
from collections.abc import Sequence
from typing import Any

from hermes_core.testing import FakePlatform
from hermes_core.types import Ended, Feature, SlashCommand, Verdict

__all__ = ["Typist", "asked"]


class Typist(FakePlatform):
    """A person who waits for each answer; with ``live`` one who can be asked at once."""

    def __init__(
        self, *, live: bool = False, verdicts: Sequence[Verdict] = (), own: Sequence[SlashCommand] = ()
    ) -> None:
        super().__init__(name="desk", features=(Feature.LIVE,) if live else (), verdicts=verdicts)
        self.own = own

    def commands(self) -> Sequence[SlashCommand]:
        return self.own

    async def types(self, hermes: Any, *lines: str) -> list[str]:
        """Type lines, each after the answer to the one before; the answers to commands, and whole answers."""
        serving = asyncio.create_task(hermes.serve(self))
        for line in lines:
            before = self.heard
            await self.service.say(line)
            async with asyncio.timeout(20):
                while self.heard == before and not serving.done():
                    await asyncio.sleep(0.001)
        await self.service.leave()
        await serving
        return [*await self.service.seen()]

    @property
    def heard(self) -> int:
        ended = [e for e in self.events if isinstance(e, Ended) and e.turn_id]
        return len(self.outbox) + len(ended)


def asked(provider: Any, number: int = -1) -> list[str]:
    """What the person said, in a request."""
    return [p.text for m in provider.requests[number].messages if m.role == "user" for p in m.parts]
