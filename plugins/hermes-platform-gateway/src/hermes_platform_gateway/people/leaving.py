"""Leaving a group, and being put out of one: what is kept is told to who runs this Hermes, and to nobody else."""

import asyncio
import logging
import time

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.kinds import Platform
from hermes_core.types import Chat, Envelope, Feature
from hermes_platform_gateway.people.access import chat_principal
from hermes_platform_gateway.people.blocks import changed
from hermes_platform_gateway.people.telling import tell_admins
from hermes_platform_gateway.rows.kept import rows_of
from hermes_platform_gateway.rows.values import Restriction

__all__ = ["leave", "put_out"]

log = logging.getLogger(f"hermes.{__name__}")
_PATIENCE = 20.0  # seconds in which the last words there are sent
_LOOK = 0.2


async def leave(ctx: PluginContext, platform: Platform | None, envelope: Envelope, by: str) -> str:
    """Leave the group that an admin says it in; the last words there. From now on nobody there is heard.

    That is a row before the service is asked, so a death leaves the bot silent there at the least. Raises UserError.
    """
    if envelope.kind == "dm":
        raise UserError("This is our private chat. Say it in the group that I am to leave.")
    group = chat_principal(envelope, ctx.owner.profile).person
    await rows_of(ctx).restrictions.put(Restriction(subject=group, person=group, by=by), [])
    changed(ctx)
    name = f"{envelope.chat_name} ({group})" if envelope.chat_name else group
    told = f"{by} let me leave {name}. {_kept(ctx, group)}"
    await tell_admins(ctx, told, key=f"left:{envelope.event_id}")
    if platform is None or Feature.LEAVE not in platform.features:
        return "From now on I hear nothing here. I cannot leave by myself; whoever runs this group can put me out."
    ctx.state.setdefault("leaving", set()).add(asyncio.create_task(_gone(ctx, platform, envelope)))
    return "I leave. From now on I hear nothing here."


async def _gone(ctx: PluginContext, platform: Platform, envelope: Envelope) -> None:
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


async def put_out(ctx: PluginContext, platform: str, chat_id: str, why: str) -> None:
    """Tell the admins that nothing reaches a group any more, once a day: most often the bot was removed from it."""
    there = await rows_of(ctx).chats.list_chats(None, platform=platform)
    chat = next((one for one in there if one.chat == chat_id and one.kind in ("group", "channel")), None)
    if chat is None:
        return
    group = f"{chat.platform}#{chat.chat}"
    name = f"{chat.name} ({group})" if chat.name else group
    key = f"out:{group}:{time.strftime('%Y-%m-%d')}"
    await tell_admins(ctx, f"Nothing reaches {name} any more: {why} {_kept(ctx, group)}", key=key)


def _kept(ctx: PluginContext, group: str) -> str:
    return (
        f"What was said there is kept; to erase it: `{ctx.program} people erase '{group}'`. "
        f"To be heard there again: `/people unblock {group}`."
    )
