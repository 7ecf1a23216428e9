"""A gateway with one bot on a homeserver, a model that obeys all, and people who write from clients of their own."""

import asyncio
from contextlib import asynccontextmanager

from attrs import frozen
from gateway_house import context_of
from obeying import Obeying

from hermes_core.kinds import ToolContext, tool
from hermes_core.types import Effect, Question
from hermes_platform_gateway.gateway import Gateway


@frozen
class Words:
    text: str


_PLUGINS = ("hermes_tool_commands", "hermes_tool_recall", "hermes_tool_roles", "hermes_platform_gateway")


class Village:
    """A gateway with one bot; ``owner`` and others write to it from their own clients."""

    def __init__(self, hermes, stage):
        self.hermes, self.stage, self.model, self.posted = hermes, stage, Obeying(), []

        @tool(effects={Effect.SEND})
        async def post(wanted: Words) -> str:
            """Post it."""
            self.posted.append(wanted.text)
            return "posted"

        @tool(name="question", effects={Effect.ASK})
        async def ask(context: ToolContext, wanted: Words) -> str:
            """Ask."""
            asked = Question(id=f"q {wanted.text}", kind="choice", subject=wanted.text, choices=("left", "right"))
            return f"{wanted.text} {(await context.ask(asked)).choice}"

        for one in (self.model, post, ask, *_PLUGINS):
            hermes.tmp_plugin(one)

    @asynccontextmanager
    async def at_home(self, owner, *guests, **settings):
        self.hermes.configure(
            {
                "gateway.people": {"owner": [f"matrix:{owner.user}"]},
                "platforms.matrix.allowed_users": [one.user for one in guests],
                "gateway.streaming": False,
                "gateway.tool_progress": "off",
                "gateway.tell_groups": False,
                **settings,
            }
        )
        stop, bot = asyncio.Event(), self.stage.bot(peers=settings.get("platforms.matrix.peers", []))
        task = asyncio.create_task(Gateway(context_of(self.hermes), [bot]).run(stop))
        try:
            yield self
        finally:
            stop.set()
            await task

    async def room(self, person, *others):
        room = await person.room(self.stage.user, *(one.user for one in others), direct=not others)
        for one in others:
            await one.client.join(room)
            await one.sync()
        await person.joined(room, self.stage.user)
        return room

    async def says(self, person, room, text, **more):
        return await person.say(room, text, **{"m.mentions": {"user_ids": [self.stage.user]}, **more})

    async def hears(self, person, room, words, count=1):
        """The last message of the bot with these words, as somebody sees it."""

        def found():
            said = [m["content"]["body"] for m in person.heard(self.stage.user, room)]
            return [text for text in said if words in text]

        await person.until(lambda: len(found()) >= count, seconds=60)
        return found()[-1]

    @property
    def told(self):
        return [
            "".join(p.text for p in r.messages[-1].parts if hasattr(p, "text"))
            for r in self.model.requests
            if r.messages[-1].role == "user"
        ]
