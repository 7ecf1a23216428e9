"""Where the admins of a Hermes can be reached, for what only they may answer."""

from hermes_core.config.gateway import listed
from hermes_core.config.settings import Settings
from hermes_platform_gateway.rows.values import KnownChat
from hermes_core.types import Principal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_platform_gateway.rows.kept import Rows

__all__ = ["admin_chats"]


async def admin_chats(rows: "Rows", settings: Settings) -> list[KnownChat]:
    """One private chat for each admin: their home on a platform, else where they wrote last. None in a group."""
    gateway = settings.config.gateway
    persons = {Principal().person, *listed(gateway.admins)}
    accounts = {name: person for person, names in gateway.people.items() for name in listed(names)}
    for platform in settings.raw.get("platforms") or ():
        for sender in listed(settings.platform(platform).admins):
            persons.add(accounts.get(f"{platform}:{sender}", f"{platform}:{sender}"))
    for one in await rows.people.people():
        account = f"{one.platform}:{one.sender}"
        if one.role == "admin":
            persons.add(accounts.get(account, one.person))
        elif settings.platform(one.platform).admins and one.sender in listed(settings.platform(one.platform).admins):
            persons.add(one.person)
    found: dict[str, KnownChat] = {}
    for chat in await rows.chats.list_chats(None):  # last used first
        whose = chat.owner
        if chat.kind != "dm" or chat.dead or whose.profile != settings.home.profile or whose.person not in persons:
            continue
        if whose.person not in found or (chat.home and not found[whose.person].home):
            found[whose.person] = chat
    return list(found.values())
