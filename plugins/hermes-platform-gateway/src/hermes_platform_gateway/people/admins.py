"""Where the admins of a Hermes can be reached, for what only they may answer."""

from hermes_core.context import PluginContext
from hermes_core.options import listed
from hermes_core.types import Principal
from hermes_platform_gateway.config import gateway_settings, platform_settings
from hermes_platform_gateway.rows.kept import rows_of
from hermes_platform_gateway.rows.values import KnownChat

__all__ = ["admin_chats"]


async def admin_chats(ctx: PluginContext) -> list[KnownChat]:
    """One private chat for each admin: their home on a platform, else where they wrote last. None in a group."""
    gateway, rows = gateway_settings(ctx), rows_of(ctx)
    persons = {Principal().person, *listed(gateway.admins)}
    accounts = {name: person for person, names in gateway.people.items() for name in listed(names)}
    for platform in ctx.host.section("platforms"):
        for sender in listed(platform_settings(ctx, platform).admins):
            persons.add(accounts.get(f"{platform}:{sender}", f"{platform}:{sender}"))
    for one in await rows.people.people():
        account = f"{one.platform}:{one.sender}"
        if one.role == "admin":
            persons.add(accounts.get(account, one.person))
        elif one.sender in listed(platform_settings(ctx, one.platform).admins):
            persons.add(one.person)
    found: dict[str, KnownChat] = {}
    for chat in await rows.chats.list_chats(None):  # last used first
        whose = chat.owner
        if chat.kind != "dm" or chat.dead or whose.profile != ctx.owner.profile or whose.person not in persons:
            continue
        if whose.person not in found or (chat.home and not found[whose.person].home):
            found[whose.person] = chat
    return list(found.values())
