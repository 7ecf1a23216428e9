"""Leaving a group, and being put out of one: what is kept is told to who runs this Hermes, and to nobody else."""

import asyncio
import logging
import time
from typing import Protocol, runtime_checkable

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.kinds import Platform
from hermes_core.types import Chat, Envelope, Principal
from hermes_platform_gateway.outward.outgoing import said
from hermes_platform_gateway.people.access import chat_principal
from hermes_platform_gateway.people.admins import admin_chats
from hermes_platform_gateway.rows.kept import rows_of
from hermes_platform_gateway.rows.values import Outgoing, Restriction

__all__ = ["CanLeave", "leave", "put_out"]

log = logging.getLogger(f"hermes.{__name__}")
_PATIENCE = 20.0  # seconds in which the last words there are sent
_LOOK = 0.2


@runtime_checkable
class CanLeave(Protocol):
    """A platform whose bot can leave a chat by itself."""

    async def leave(self, chat: Chat) -> None:
        """Leave a group. Raises as ``Platform.send``."""


async def leave(ctx: PluginContext, platform: Platform | None, envelope: Envelope, by: str) -> str:
    """Leave the group that an admin says it in; the last words there. From now on nobody there is heard.

    That is a row before the service is asked, so a death leaves the bot silent there at the least. Raises UserError.
    """
    if envelope.kind == "dm":
        raise UserError("This is our private chat. Say it in the group that I am to leave.")
    group = chat_principal(envelope, ctx.owner.profile).person
    await rows_of(ctx).restrictions.put(Restriction(subject=group, person=group, by=by), [])
    name = f"{envelope.chat_name} ({group})" if envelope.chat_name else group
    await _tell_admins(ctx, f"left:{envelope.event_id}", f"{by} let me leave {name}. {_kept(ctx, group)}")
    if not isinstance(platform, CanLeave):
        return "From now on I hear nothing here. I cannot leave by myself; whoever runs this group can put me out."
    ctx.state.setdefault("leaving", set()).add(asyncio.create_task(_gone(ctx, platform, envelope)))
    return "I leave. From now on I hear nothing here."


async def _gone(ctx: PluginContext, platform: CanLeave, envelope: Envelope) -> None:
    """Leave once the last words are sent."""
    outbox, key = rows_of(ctx).outbox, f"{envelope.platform}:{envelope.account}:{envelope.event_id}:answer"
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        rows = await outbox.outbox_of(key=key)
        if rows and rows[0].state not in ("waiting", "sending"):
            break
        await asyncio.sleep(_LOOK)
    try:
        async with asyncio.timeout(_PATIENCE):
            await platform.leave(Chat(envelope.chat))
    except Exception as error:  # noqa: BLE001 - it is silent there all the same
        log.warning("the group %s could not be left: %s", envelope.chat, error)


async def put_out(ctx: PluginContext, outgoing: Outgoing, why: str) -> None:
    """Tell the admins that nothing reaches a group any more, once a day: most often the bot was removed from it."""
    there = await rows_of(ctx).chats.list_chats(outgoing.owner, platform=outgoing.platform)
    chat = next((one for one in there if one.chat == outgoing.chat.id and one.kind in ("group", "channel")), None)
    if chat is None:
        return
    group = f"{chat.platform}#{chat.chat}"
    name = f"{chat.name} ({group})" if chat.name else group
    key = f"out:{group}:{time.strftime('%Y-%m-%d')}"
    await _tell_admins(ctx, key, f"Nothing reaches {name} any more: {why} {_kept(ctx, group)}")


def _kept(ctx: PluginContext, group: str) -> str:
    return (
        f"What was said there is kept; to erase it: `{ctx.program} people erase '{group}'`. "
        f"To be heard there again: `/people unblock {group}`."
    )


async def _tell_admins(ctx: PluginContext, key: str, text: str) -> None:
    for chat in await admin_chats(ctx):
        notice = Outgoing(
            key=f"{key}:{chat.owner.person}",
            owner=Principal(profile=chat.owner.profile, person=chat.owner.person),
            platform=chat.platform,
            account=chat.account,
            chat=Chat(chat.chat, chat.thread),
            message=said(text),
            kind="notice",
            unasked=True,
        )
        await rows_of(ctx).outbox.send_later(notice)
