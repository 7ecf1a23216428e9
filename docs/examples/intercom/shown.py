"""What people see of a turn and of a command."""

from hermes_core.types import Ended, Failed, Feature, Message, Text


async def carry(platform, chat, turn):
    """Show a turn, or send what it came to; whether one was played."""
    failure, played = "", False
    async for event in turn:
        if Feature.LIVE in platform.features:
            await platform.show(chat, event)
        elif isinstance(event, Failed):
            failure = event.text
        elif isinstance(event, Ended):
            await say(platform, chat, event.answer or failure, f"{event.turn_id}:answer")
        played = isinstance(event, Ended) and bool(event.turn_id)
    return played


async def say(platform, chat, answer, key):
    if isinstance(answer, str):
        answer = Message(role="assistant", parts=(Text(text=answer),))
    await platform.send(chat, answer, key)
