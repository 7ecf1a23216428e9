"""Telling admins what is theirs to know, or to mend."""

from hermes_core.context import PluginContext
from hermes_platform_gateway.outward.outgoing import answer_to, envelope_of, said
from hermes_platform_gateway.people.admins import admin_chats
from hermes_platform_gateway.rows.kept import rows_of

__all__ = ["tell_admins"]


async def tell_admins(ctx: PluginContext, text: str, *, key: str) -> None:
    """Tell each of them something that nobody asked for, in private; what has one ``key`` once."""
    for chat in await admin_chats(ctx):
        address, whose = envelope_of(chat), chat.owner
        notice = answer_to(address, whose, said(text), key=f"{key}:{whose.person}", unasked=True)
        await rows_of(ctx).outbox.send_later(notice)
