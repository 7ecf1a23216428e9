"""What is said to a running turn, after it, once more, or beside it."""

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import Job, Message, Session
from hermes_tool_commands.words import cut, short


async def stop(ctx: PluginContext, session: Session, _rest: str) -> str:
    """Stop the running turn; between two turns, what orders them in this conversation, such as a goal."""
    here = ctx.conversation(session)
    if not await here.turn.interrupt():
        own = [one for one in await here.jobs.list() if one.session_id == session.id and one.state == "running"]
        stopped = [_title(one) for one in own if await here.jobs.stop(one.id)]
        return "\n".join(f"{one} is stopped." for one in stopped) or "Nothing runs."
    return "Stopped." if here.place == "chat" else ""  # in a terminal the turn itself says so


async def steer(ctx: PluginContext, session: Session, rest: str) -> str | Message:
    """Say something to the running turn."""
    if not rest:
        raise UserError("Say what the model should hear: /steer TEXT")
    return await ctx.conversation(session).turn.steer(rest)


async def queue(ctx: PluginContext, session: Session, rest: str) -> str | Message:
    """Say something after it; show what waits, or give it up."""
    here = ctx.conversation(session)
    if rest == "clear":
        return f"Given up: {await here.queue.clear()} waiting."
    if rest:
        return await here.queue.add(rest)
    return "\n".join(f"    {mode}: {short(message)}" for mode, message in await here.queue.list()) or "Nothing waits."


async def retry(ctx: PluginContext, session: Session, _rest: str) -> str | Message:
    """Ask the last question again."""
    return await ctx.conversation(session).last_said() or "There is no question to ask again."


async def background(ctx: PluginContext, session: Session, rest: str) -> str:
    """Have something done beside the conversation."""
    if not rest:
        raise UserError("Say what is to be done: /background TEXT")
    here = ctx.conversation(session)
    name = await here.turn.beside(rest)
    if here.place == "chat":
        return f"Begun beside this conversation, in {name}. The answer comes here."
    return f"Begun beside this conversation. The answer comes here; /resume {name} goes on with it."


async def jobs(ctx: PluginContext, session: Session, rest: str) -> str:
    """Show what runs or is open beside the conversation, or stop one of it."""
    here = ctx.conversation(session)
    word, _, job = rest.partition(" ")
    if word == "stop" and job.strip():
        return (
            f"{job} is stopped." if await here.jobs.stop(job.strip()) else f"{job} does not run; /jobs lists what does."
        )
    if rest:
        raise UserError("Say what to stop by its id: /jobs stop ID")
    shown = [f"    {one.id}  {one.state}  {_title(one)}" for one in await here.jobs.list()]
    return "\n".join(shown) or "Nothing runs beside this conversation."


def _title(job: Job) -> str:
    return cut(job.title, 120)
