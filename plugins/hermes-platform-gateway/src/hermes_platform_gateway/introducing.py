"""What a group is told once: whose history a conversation there knows."""

from collections.abc import Callable

from hermes_core import trace
from hermes_core.context import PluginContext
from hermes_core.types import Envelope, Principal
from hermes_platform_gateway.config import gateway_settings
from hermes_platform_gateway.outward.outgoing import answer_to, said
from hermes_platform_gateway.rows.kept import rows_of
from hermes_platform_gateway.whose import is_shared

__all__ = ["introduce"]

_OWN = (
    "In this group everybody has a conversation of their own with me. Yours knows what you told me elsewhere to "
    "remember, and all who are here read my answers. Past conversations are looked up among those of this group only."
)
_SHARED = (
    "All who write here share one conversation with me. It knows what is said here, and nothing that anybody told me "
    "elsewhere."
)


async def introduce(ctx: PluginContext, envelope: Envelope, owner: Principal, wake: Callable[[Envelope], None]) -> None:
    """Tell a group at its first message whose history a conversation there knows; its threads are told once too."""
    if envelope.kind == "dm" or not gateway_settings(ctx).tell_groups:
        return
    if await rows_of(ctx).chats.is_known(envelope):
        return
    text = _SHARED if is_shared(owner, envelope) else _OWN
    where = f"{envelope.platform}:{envelope.account}:{envelope.chat}:{'threads' if envelope.thread else 'chat'}"
    message = answer_to(envelope, owner, said(text), key=f"{where}:whose", trace=trace.current())
    await rows_of(ctx).outbox.send_later(message)
    wake(envelope)
