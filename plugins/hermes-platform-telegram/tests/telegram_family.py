"""A family on one bot: its owner, two guests, a stranger, a group with topics, and a model that does what it reads."""

import asyncio
from contextlib import asynccontextmanager

from attrs import field, frozen
from gateway_house import context_of
from obeying import Obeying
from telegram_service import NAME, number

from hermes_core.kinds import ToolContext, tool
from hermes_core.types import Effect, Question
from hermes_platform_gateway.gateway import Gateway

GROUP = {"id": -1001, "type": "supergroup", "title": "Family", "is_forum": True}
FAR = {"id": -1002, "type": "supergroup", "title": "Club"}
OWNER, ANNA, BEN, STRANGER = "olga", "anna", "ben", "stan"


@frozen
class Posted:
    text: str


@frozen
class Clarified:
    question: str
    choices: list[str] = field(factory=list)


class Family:
    def __init__(self, hermes, service, platform):
        self.hermes, self.service, self.platform = hermes, service, platform
        self.model, self.posted = Obeying(), []

        @tool(effects={Effect.SEND})
        async def post(wanted: Posted) -> str:
            """Post it."""
            self.posted.append(wanted.text)
            return "posted"

        @tool(name="question", effects={Effect.ASK})
        async def ask(context: ToolContext, wanted: Clarified) -> str:
            """Ask."""
            kind = "choice" if wanted.choices else "text"
            asked = Question(id=f"q {wanted.question}", kind=kind, subject=wanted.question, choices=wanted.choices)
            verdict = await context.ask(asked)
            return f"{wanted.question} {verdict.outcome} {verdict.choice}"

        for one in (
            self.model,
            post,
            ask,
            "hermes_tool_commands",
            "hermes_tool_recall",
            "hermes_tool_roles",
            "hermes_platform_gateway",
        ):
            hermes.tmp_plugin(one)
        guests = [number(ANNA), number(BEN)]
        hermes.configure(
            {
                "gateway.people": {"owner": [f"telegram:{number(OWNER)}"]},
                "platforms.telegram.allowed_users": [str(one) for one in guests],
                "platforms.telegram.allowed_chats": ["-1001"],
                "gateway.streaming": False,
                "gateway.tool_progress": "off",
                "gateway.tell_groups": False,
            }
        )

    @asynccontextmanager
    async def at_home(self, **settings):
        """Serve."""
        self.hermes.configure(settings)
        stop = asyncio.Event()
        task = asyncio.create_task(Gateway(context_of(self.hermes), [self.platform]).run(stop))
        try:
            yield self
        finally:
            stop.set()
            await task

    def says(self, who, text, chat=None, *, topic=0, named=True, **more):
        """Somebody writes; in a group to the bot. The message as others see it."""
        fields = dict(more)
        if chat and named and not text.startswith("/"):
            mention = f"@{NAME}"
            text = f"{mention} {text}"
            fields["entities"] = [{"type": "mention", "offset": 0, "length": len(mention)}, *more.get("entities", ())]
        elif text.startswith("/"):
            length = len(text.split(maxsplit=1)[0])
            fields["entities"] = [{"type": "bot_command", "offset": 0, "length": length}, *more.get("entities", ())]
        if topic:
            fields |= {"message_thread_id": topic, "is_topic_message": True}
        message = self.service.message(sender=who, chat=chat, text=text, **fields)
        self.service.post("message", message)
        return message

    def texts(self, chat):
        """What the bot said in a chat: of a person, or a group."""
        there = self.service.chats[chat["id"] if isinstance(chat, dict) else number(chat)]
        return [m for m in there.values() if m.get("text")]

    async def hears(self, chat, words, count=1):
        """The last message of the bot in a chat with these words, once there are so many."""
        async with asyncio.timeout(30):
            while len(found := [m for m in self.texts(chat) if words in m["text"]]) < count:
                await asyncio.sleep(0.01)
        return dict(found[-1])

    def press(self, who, message, label):
        """Somebody presses the button of a message that is called so."""
        keys = [key for row in message["reply_markup"]["inline_keyboard"] for key in row]
        [data] = [key["callback_data"] for key in keys if key["text"] == label]
        self.service.press(data, message=message, sender=who)
        return data

    async def loses_buttons(self, chat, message):
        """Wait until a message has no buttons any more; its text then."""
        there = self.service.chats[chat["id"] if isinstance(chat, dict) else number(chat)]
        async with asyncio.timeout(30):
            while there[message["message_id"]].get("reply_markup", {}).get("inline_keyboard"):
                await asyncio.sleep(0.01)
        return there[message["message_id"]]["text"]

    @property
    def told(self):
        """The last message of each request that a person's made."""
        return [
            "".join(p.text for p in r.messages[-1].parts if hasattr(p, "text"))
            for r in self.model.requests
            if r.messages[-1].role == "user"
        ]
