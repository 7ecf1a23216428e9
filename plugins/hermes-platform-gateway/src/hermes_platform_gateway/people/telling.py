"""Telling admins what only they can mend."""

import time

from hermes_core.context import PluginContext
from hermes_platform_gateway.messages import envelope_of
from hermes_platform_gateway.outward.outgoing import answer_to, said
from hermes_platform_gateway.people.admins import admin_chats
from hermes_platform_gateway.rows.kept import rows_of

__all__ = ["tell_admins"]


async def tell_admins(ctx: PluginContext, text: str) -> None:
    """Tell each of them something that only they can mend, once a day."""
    for chat in await admin_chats(ctx):
        key = f"mend:{time.strftime('%Y-%m-%d')}:{text[:60]}:{chat.owner.person}"
        told = f"{text} See: {ctx.program} doctor"
        await rows_of(ctx).outbox.send_later(answer_to(envelope_of(chat), chat.owner, said(told), key=key))
