"""What a model is told of processes without asking: that one ended, what one was watched for, that Hermes died."""

from collections.abc import Sequence

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.types import Message, Request, Session, Text
from hermes_tool_terminal.processes import DIED, Table, said, table_of
from hermes_tool_terminal.records import LEFT, Record, keep

__all__ = ["HEAD", "QUOTED", "TAIL", "end_line", "heard", "left_line", "noted", "why"]

QUOTED = "the processes in the background"  # what their words are told as

HEAD, TAIL = "<processes>", "</processes>"


async def noted(ctx: PluginContext, session: Session, request: Request) -> Request | None:
    """Tell what there is to tell, once: what stands in the conversation already was told."""
    lines, outside = await _lines(ctx, table_of(ctx), session, _known(request.messages))
    if not lines:
        return None
    said = Text(text="\n".join([HEAD, *lines, TAIL]), quotes=QUOTED)
    added = Message(role="user", parts=(said,), untrusted=outside)
    return evolve(request, messages=(*request.messages, added))


async def heard(ctx: PluginContext, session: Session, request: Request) -> None:
    """Write down what a model was told: it has answered."""
    known, processes = _known(request.messages), table_of(ctx).sessions.get(session.id)
    for one in processes.known.values() if processes else ():
        if processes and one.ended and not one.record.told and end_line(one.record) in known:
            await processes.told(one)
    left = ctx.state.get(LEFT, {})
    for record in [one for one in left.get(session.id, ()) if left_line(one) in known]:
        ended = record.state == "ended"
        await keep(ctx, session, evolve(record, told=ended, lost=not ended))
        left[session.id] = [one for one in left[session.id] if one.id != record.id]


async def _lines(
    ctx: PluginContext, table: Table, session: Session, known: frozenset[str]
) -> tuple[Sequence[str], bool]:
    processes, lines, outside = table.sessions.get(session.id), list[str](), False
    if processes is None:
        return await _of_left(ctx, table, session, known), False
    ctx.state.get(LEFT, {}).pop(session.id, None)
    for one in processes.known.values():
        if one.ended and not one.record.told and not one.planned:
            if (line := end_line(one.record)) in known:
                await processes.told(one)
            else:
                lines.append(line)
        while one.news:
            lines.append(f"- {one.record.id} said: {one.news.pop(0)}")
            outside = outside or processes.outside
    return lines, outside


async def _of_left(ctx: PluginContext, table: Table, session: Session, known: frozenset[str]) -> list[str]:
    """Of those of an earlier Hermes, as far as it can be known without a look at the place where they ran."""
    lines, left = [], ctx.state.get(LEFT, {}).pop(session.id, ())
    for one in left:
        if one.state == "running":
            if one.lost or table.holder.lives(one):
                continue
            if not one.outlives:
                one = evolve(one, state="ended", how=DIED)  # noqa: PLW2901
        line = left_line(one)
        if line in known:
            await keep(ctx, session, evolve(one, told=one.state == "ended"))
        else:
            lines.append(line)
            if one.state == "ended":
                await keep(ctx, session, one)
            ctx.state[LEFT].setdefault(session.id, []).append(one)
    return lines


def why(message: Message) -> list[str]:
    """Say what a turn is for that processes began, a line for each; nothing for another one."""
    texts = [part.text for part in message.parts if isinstance(part, Text) and part.quotes == QUOTED]
    return [line[2:] for text in texts for line in text.split("\n") if line.startswith("- ")]


def left_line(one: Record) -> str:
    """Say in a line that the Hermes of one died, and what is known of it."""
    if one.state == "running":
        return f"- Hermes died while {one.id} ran, and it may still run; the tool process looks: {_short(one.command)}"
    return end_line(one)


def end_line(one: Record) -> str:
    """Say in a line how one ended."""
    return f"- {said(one)}. It was: {_short(one.command)}"


def _short(command: str) -> str:
    return " ".join(command.split())[:200]


def _known(messages: Sequence[Message]) -> frozenset[str]:
    texts = (part.text for one in messages if one.role == "user" for part in one.parts if isinstance(part, Text))
    return frozenset(line for text in texts if text.startswith(HEAD) for line in text.split("\n"))
