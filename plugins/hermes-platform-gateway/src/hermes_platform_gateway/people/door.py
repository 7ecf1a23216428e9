"""What is said at the door, before a message is anybody's: to who comes with an invitation, and to who is muted."""

import time

from hermes_core.context import PluginContext
from hermes_core.types import Envelope, Principal
from hermes_platform_gateway.outward.outgoing import answer_to, said
from hermes_platform_gateway.people.access import Access
from hermes_platform_gateway.people.invites import redeem, word_in
from hermes_platform_gateway.rows.kept import rows_of

__all__ = ["tell_kept", "welcomed"]


async def welcomed(ctx: PluginContext, envelope: Envelope, access: Access) -> bool:
    """Whether a message was an invitation that let its account in; they are told so.

    Who is somebody by name stays who they are, and who is kept out stays out.
    """
    account = f"{envelope.platform}:{envelope.sender}"
    if access.kept or not (word := word_in(envelope)):
        return False
    rows = rows_of(ctx)
    known = await redeem(rows, word, envelope, again=access.principal.person != account)
    if known is None:
        return False
    owner = Principal(profile=ctx.owner.profile, person=known.person)
    text = f"Welcome. You are {known.person} here, and may talk to me now. /help lists what you can ask of me."
    key = f"invited:{account}:{known.person}"
    await rows.outbox.send_later(answer_to(envelope, owner, said(text), key=key))
    return True


async def tell_kept(ctx: PluginContext, envelope: Envelope, access: Access) -> None:
    """Tell somebody once that they are muted, where they speak to the bot. Who is blocked hears nothing."""
    kept = access.kept
    if kept is None or kept.kind != "mute" or not (envelope.kind == "dm" or envelope.addressed):
        return
    until = time.strftime("%H:%M on %d %B", time.localtime(kept.until))
    text = f"You are muted until {until}; until then I read nothing of what you write."
    key = f"muted:{kept.subject}:{kept.since}:{envelope.platform}:{envelope.chat}"
    await rows_of(ctx).outbox.send_later(answer_to(envelope, access.principal, said(text), key=key))
