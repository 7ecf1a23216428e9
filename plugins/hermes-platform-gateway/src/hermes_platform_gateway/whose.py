"""Who a message speaks for, and where they can be told something that only they should read."""

from hermes_core.context import PluginContext
from hermes_core.types import Envelope, Principal
from hermes_platform_gateway.people.access import admit, chat_principal, rules_of
from hermes_platform_gateway.rows.kept import rows_of
from hermes_platform_gateway.rows.values import KnownChat

__all__ = ["is_shared", "private_chat", "speaker"]


def is_shared(owner: Principal, envelope: Envelope) -> bool:
    """Whether a conversation belongs to all who are in its chat."""
    return envelope.kind != "dm" and owner == chat_principal(envelope, owner.profile)


async def speaker(ctx: PluginContext, envelope: Envelope, owner: Principal) -> Principal:
    """The person of a message in a conversation of ``owner``: in one that is shared, whoever wrote it.

    What nobody wrote, as what a plugin ordered there, is nobody's but the chat's.
    """
    if not is_shared(owner, envelope) or not envelope.event_id:
        return owner
    rules = rules_of(ctx, envelope.platform)
    known = await rows_of(ctx).people.person(envelope.platform, envelope.sender)
    return admit(envelope, rules, known).principal


async def private_chat(ctx: PluginContext, person: Principal, envelope: Envelope) -> KnownChat | None:
    """The chat of a person with the same bot, where nobody else reads; None where they have none."""
    chats = await rows_of(ctx).chats.list_chats(person, platform=envelope.platform)
    there = [chat for chat in chats if chat.kind == "dm" and not chat.dead and chat.account == envelope.account]
    own = [chat for chat in there if chat.sender == envelope.sender]  # one person may have several accounts
    return next(iter((*own, *there)), None)
