"""Invitations are handed to who sends messages: when they are made, or later where a death or no chat was between."""

import asyncio

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.kinds import Service
from hermes_core.types import Button, Buttons, Message, Principal, Text
from hermes_tool_shared.people import plain, shared_of
from hermes_tool_shared.values import Member, Share

__all__ = ["Sharing", "tell", "words_of"]

_ROUND = 30.0  # seconds between two looks for invitations that nobody was told of
_LOOK = 2.0  # and for folders that somebody has no longer: by another program, a role or a block


def words_of(share: Share, *, writes: bool = False, full: bool = False) -> str:
    """Say what is shared, in words; of a folder of people the place on this machine only where it is ``full``."""
    if share.kind == "memory":
        return f"the memory {share.name}"
    name = share.folder if full else share.name
    return f"the folder {name} ({'to read and write' if writes else 'to read'})"


async def tell(ctx: PluginContext, share: Share, member: Member) -> bool:
    """Ask somebody in their private chat, once; False where they have none by now."""
    whom = Principal(profile=ctx.owner.profile, person=member.person)
    text = (
        f"{plain(share.person)} would share {words_of(share, writes=bool(member.writes))} with you. "
        f"`/shared accept {share.id}` or `/shared decline {share.id}`"
    )
    buttons = Buttons(
        buttons=(
            Button(label="Accept", says=f"/shared accept {share.id}"),
            Button(label="Decline", says=f"/shared decline {share.id}"),
        )
    )
    try:
        chats = [one for one in await ctx.messages.targets(whom) if one.kind == "dm" and not one.dead]
        if not chats:
            return False
        message = Message(role="assistant", parts=(Text(text=text), buttons))
        key = f"share:{share.id}:{member.person}:{member.since:.6f}"
        await ctx.messages.send(whom, chats[0].address, message, key=key)
    except HermesError as error:
        ctx.log.info("an invitation could not be handed on: %s", error)
        return False
    await shared_of(ctx).told(member)
    return True


class Sharing(Service):
    """Tells of invitations that wait, and says which folders of others somebody reaches.

    It is no reason to begin a gateway. On several machines each looks: what has one key is sent once.
    """

    name = "shared"
    local = True

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx = ctx

    async def run(self) -> None:
        """Look for invitations that nobody was told of, every now and then; and for what was taken back elsewhere."""
        from hermes_tool_shared.closing import close_lost

        while True:
            for share in await shared_of(self._ctx).all():
                for member in share.members:
                    if member.state == "asked" and not member.told:
                        await tell(self._ctx, share, member)
            for _ in range(round(_ROUND / _LOOK)):
                await close_lost(self._ctx)
                await asyncio.sleep(_LOOK)

    async def opened(self, owner: Principal) -> "list[tuple[str, bool]]":
        """Return the folders of others that somebody reaches, each with whether they write there.

        Who keeps people to their folder, and says what commands reach, asks it of services that ``roles.opens`` names.
        """
        from hermes_tool_shared.folders import folders_of

        there = await folders_of(self._ctx, owner)
        return [(one.path, one.writes) for one in there if one.whose != owner.person]
