"""What turns are heard of: which answers are to be said, in chats and in a conversation that is spoken."""

from typing import TYPE_CHECKING

from attrs import evolve

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.types import Envelope, Request, Response, Session, Text, TurnEnd

if TYPE_CHECKING:
    from hermes_tool_speech.conversing import Talk

__all__ = ["on_session_end", "on_turn_end", "on_turn_start", "on_words", "post_llm_call", "with_notes"]


@hookimpl
async def on_turn_start(ctx: PluginContext, session: Session) -> None:
    """Be silent while a turn runs, and show what was said to it."""
    if (talk := _talk(ctx)) is None:
        return
    if talk.of(session.id):
        await talk.rest()
        if said := talk.said:
            talk.said = ""
            ctx.tell(f"You said: {said}")
    elif why := talk.ended(session.id):
        ctx.tell(f"The spoken conversation has ended: {why}")


@hookimpl
async def on_words(ctx: PluginContext, session: Session, request: Request, text: str) -> None:
    """Say what has come of an answer, where its conversation is spoken."""
    if (talk := _talk(ctx)) and talk.of(session.id):
        talk.words(session, text, outside=_outside(session, request))


@hookimpl
async def post_llm_call(ctx: PluginContext, session: Session, request: Request, response: Response) -> None:
    """Hear what may be the answer."""
    from hermes_tool_speech.answering import heard

    heard(ctx, session, response)
    if (talk := _talk(ctx)) and talk.of(session.id):
        text = "\n".join(part.text for part in response.message.parts if isinstance(part, Text))
        talk.words(session, text, outside=_outside(session, request), whole=True)


@hookimpl
async def on_turn_end(ctx: PluginContext, session: Session, end: TurnEnd) -> None:
    """Have the answer spoken, where its chat wishes that, or its conversation is spoken."""
    from hermes_tool_speech.answering import over

    await over(ctx, session, end)
    if (talk := _talk(ctx)) and talk.of(session.id):
        talk.turn_over(session, done=end.reason == "done")


@hookimpl
async def on_session_end(ctx: PluginContext, session: Session) -> None:
    """Nothing of a conversation that rests is said or heard."""
    if (talk := _talk(ctx)) and talk.of(session.id):
        await talk.end()


async def with_notes(ctx: PluginContext, envelope: Envelope, session_id: str) -> Envelope | None:
    """Be silent as a person's message comes to a conversation that is spoken, and say where its answer was cut."""
    if (talk := _talk(ctx)) is None or not talk.of(session_id):
        return None
    if "/" not in envelope.platform:  # what plugins order waits until it is played
        await talk.rest()
    elif not talk.said:
        return None
    if not (notes := talk.notes()):
        return None
    return evolve(envelope, message=evolve(envelope.message, parts=(*envelope.message.parts, *notes)))


def _outside(session: Session, request: Request) -> bool:
    """Whether an answer may repeat what is from outside."""
    return session.untrusted or any(one.untrusted for one in request.messages)


def _talk(ctx: PluginContext) -> "Talk | None":
    """The spoken conversation, where there was one: nothing is imported before."""
    talk: Talk | None = ctx.state.get("talk")
    return talk
