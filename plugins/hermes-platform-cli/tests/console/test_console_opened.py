"""An earlier conversation that is opened is taken up though nobody says anything: what goes on by itself goes on."""

import asyncio

from hermes_core.hooks import hookimpl
from hermes_core.testing import FakePlatform


class Opened(FakePlatform):
    """Shows at once how its only chat is."""

    async def open(self, console):
        await super().open(console)
        console.status("")


async def test_an_earlier_conversation_that_is_opened_is_taken_up(hermes, scripted):
    seen = []

    @hookimpl
    async def on_session_start(session):
        seen.append(session.id)

    platform = Opened()
    hermes.tmp_plugin(scripted("Hi."))
    hermes.tmp_plugin(on_session_start)
    hermes.tmp_plugin(platform)
    async for _ in hermes.turn("Hello.", session="before"):
        pass
    await hermes.runtime.sessions.forget("before")
    seen.clear()
    serving = asyncio.create_task(hermes.serve(platform, session="before"))
    async with asyncio.timeout(20):
        while not seen:
            await asyncio.sleep(0.02)
    await platform.service.leave()
    await serving
    assert seen == ["before"]


async def test_a_new_conversation_is_taken_up_when_something_is_said(hermes, scripted):
    seen = []

    @hookimpl
    async def on_session_start(session):
        seen.append(session.id)

    platform = Opened()
    hermes.tmp_plugin(scripted())
    hermes.tmp_plugin(on_session_start)
    hermes.tmp_plugin(platform)
    serving = asyncio.create_task(hermes.serve(platform))
    await asyncio.sleep(1.5)  # longer than between two looks
    await platform.service.leave()
    await serving
    assert seen == []
