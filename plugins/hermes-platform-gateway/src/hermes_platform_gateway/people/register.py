"""Everybody whom this Hermes knows: their accounts, what lets them in, what they spend. Never what they say."""

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import Factory

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_core.options import listed
from hermes_core.types import Principal, Usage
from hermes_core.values import frozen
from hermes_platform_gateway.config import gateway_settings, platform_settings
from hermes_platform_gateway.people.access import OWNER
from hermes_platform_gateway.rows.kept import rows_of
from hermes_platform_gateway.rows.values import KnownChat, Person, Restriction

__all__ = ["Entry", "Register", "Spending", "open_keys", "spending"]

_MOST = 100_000  # sessions of one person that are counted
_INVITED = "an invitation that waits"


@frozen(kw_only=True)
class Entry:
    """A person, or a group that shares a conversation. ``let_in`` says by which settings or rows they come in."""

    person: str
    accounts: Sequence[str] = ()
    names: Sequence[str] = ()
    role: str = "user"
    let_in: Sequence[str] = ()
    kept: Restriction | None = None
    seen: float = 0.0
    group: bool = False

    @property
    def title(self) -> str:
        """The name that a service gave them last; not to be trusted for who they are."""
        return next(iter(self.names), "")


@frozen(kw_only=True)
class Spending:
    """What somebody used today and in this month, on the days of this machine, and how many sessions they have."""

    today: Usage = Factory(Usage)
    month: Usage = Factory(Usage)
    unpriced: int = 0
    unpriced_today: int = 0
    sessions: int = 0
    seen: float = 0.0


class Register:
    """Who there is, read once. Whoever lists or restricts people goes by it."""

    def __init__(self, ctx: PluginContext, entries: Mapping[str, Entry]) -> None:
        self._ctx, self._entries = ctx, entries

    @classmethod
    async def of(cls, ctx: PluginContext) -> "Register":
        """Everybody who is named in the settings, was let in, wrote, or has something stored."""
        rows = rows_of(ctx)
        known, chats, kept = (
            await rows.people.people(),
            await rows.chats.list_chats(None),
            await rows.restrictions.all(),
        )
        stored = [one.person for one in await ctx.sessions.people() if _is_somebody(ctx, one)]
        chats = [chat for chat in chats if chat.owner.profile == ctx.owner.profile]
        invited = [one.person for one in await rows.invites.waiting()]
        return cls(ctx, _entries(ctx, known, chats, kept, stored, invited))

    @property
    def entries(self) -> Sequence[Entry]:
        """All of them: the owner first, then persons, then groups, each by name."""
        return sorted(self._entries.values(), key=lambda one: (one.person != OWNER, one.group, one.person))

    def find(self, words: str) -> Entry:
        """Who is meant: by the person's name, an account (``telegram:123``), its bare id, a service's name or a key's.

        Raises UnknownName, and UserError where a name could be several.
        """
        words = words.strip()
        for entry in self._entries.values():
            if words in entry.accounts:
                return entry
        if words in self._entries:
            return self._entries[words]
        bare = [one for one in self._entries.values() if any(a.partition(":")[2] == words for a in one.accounts)]
        called = [one for one in self._entries.values() if words.casefold().lstrip("@") in map(_folded, one.names)]
        for found in (bare, called):
            if len(found) > 1:
                shown = ", ".join(one.person for one in found[:10])
                raise UserError(f"{words!r} could be {len(found)} people.", hint=f"Say which: {shown}")
            if found:
                return found[0]
        if open_keys(self._ctx, words):  # somebody who has a key of their own, and never used it
            return Entry(person=words)
        raise UnknownName(
            "person", words, [*self._entries, *(a for one in self._entries.values() for a in one.accounts)]
        )

    def has(self, person: str) -> bool:
        """Whether somebody is, or was, that person; not yet, while all there is of them is an invitation."""
        entry = self._entries.get(person)
        return entry is not None and (entry.let_in != (_INVITED,) or bool(entry.accounts or entry.seen))


async def spending(ctx: PluginContext, person: str) -> Spending:
    """What one person used, and how much they have; nothing of what it was about."""
    owner = Principal(profile=ctx.owner.profile, person=person)
    day = time.localtime().tm_mday
    rows = await ctx.sessions.usage(owner, days=day)
    today, month = time.strftime("%Y-%m-%d"), time.strftime("%Y-%m")
    sessions = await ctx.sessions.rows(owner, limit=_MOST)
    this_day = [row for row in rows if row.day == today]
    this_month = [row for row in rows if row.day.startswith(month)]
    return Spending(
        today=_sum(row.usage for row in this_day),
        month=_sum(row.usage for row in this_month),
        unpriced=sum(row.unpriced for row in this_month),
        unpriced_today=sum(row.unpriced for row in this_day),
        sessions=len(sessions),
        seen=max((row.updated for row in sessions), default=0.0),
    )


def open_keys(ctx: PluginContext, person: str) -> list[str]:
    """The settings of platforms that hand a person a key of their own: who has it is let in there all the same."""
    found = []
    for platform, section in dict(ctx.host.section("platforms")).items():
        for name, there in (section or {}).items():
            if isinstance(there, dict):
                found += [f"platforms.{platform}.{name}.{key}" for key, whose in there.items() if whose == person]
    return found


def _sum(of: Iterable[Usage]) -> Usage:
    there = list(of)
    names = ("input", "output", "cache_read", "cache_write", "reasoning", "calls", "cost")
    return Usage(**{name: sum(getattr(one, name) for one in there) for name in names})


def _is_somebody(ctx: PluginContext, of: Principal) -> bool:
    """Whether it is a person of this profile; what is in brackets is the figures of people who were erased."""
    return of.profile == ctx.owner.profile and not of.person.startswith("(")


def _folded(name: str) -> str:
    return name.casefold().lstrip("@")


def _entries(
    ctx: PluginContext,
    known: Sequence[Person],
    chats: Sequence[KnownChat],
    kept: Sequence[Restriction],
    stored: Sequence[str],
    invited: Sequence[str],
) -> Mapping[str, Entry]:
    settings = gateway_settings(ctx)
    named = {account: person for person, accounts in settings.people.items() for account in listed(accounts)}
    paired = {f"{one.platform}:{one.sender}": one for one in known}
    whose = {account: one.person for account, one in paired.items()} | named
    found: dict[str, dict[str, Any]] = defaultdict(lambda: {"accounts": {}, "names": {}, "let_in": {}, "admin": False})

    def account(of: str, why: str = "", *, admin: bool = False) -> None:
        entry = found[whose.get(of, of)]
        entry["accounts"][of] = None
        entry["admin"] |= admin
        if why:
            entry["let_in"][why] = None

    found[OWNER]["admin"] = True
    for person in (*stored, *settings.people, *listed(settings.admins)):
        found[person]["admin"] |= person in listed(settings.admins)
    for of in named:
        account(of, "gateway.people")
    for of, one in paired.items():
        how = f"{'invited' if one.by.startswith('invited') else 'paired'} ({one.by})" if one.by else "paired"
        account(of, how, admin=one.role == "admin")
        found[whose[of]]["names"].setdefault(one.name)
    _named_by_platforms(ctx, account)
    for chat in reversed(chats):  # last used first: what was seen last stands in the end
        person = chat.owner.person
        entry = found[person]
        entry["seen"] = max(chat.seen, entry.get("seen", 0.0))
        entry["group"] = "#" in person
        sender = f"{chat.platform}:{chat.sender}" if chat.sender else ""
        if sender and whose.get(sender, sender) == person:  # not one that is somebody else by now
            entry["accounts"][sender] = None
        if chat.name and (chat.kind == "dm" or entry["group"]):
            entry["names"] = {chat.name: None} | entry["names"]
    for person in invited:
        found[person]["let_in"][_INVITED] = None
    for subject, person in ((one.subject, one.person or one.subject) for one in kept if one.subject not in whose):
        found[person]["accounts"] |= {subject: None} if ":" in subject and "#" not in subject else {}
    of_all = {one.subject: one for one in kept} | {one.person: one for one in kept if one.person}
    return {
        person: Entry(
            person=person,
            accounts=tuple(entry["accounts"]),
            names=tuple(filter(None, entry["names"])),
            role="owner" if person == OWNER else "admin" if entry["admin"] else "group" if "#" in person else "user",
            let_in=tuple(entry["let_in"]),
            kept=next((of_all[name] for name in (person, *entry["accounts"]) if name in of_all), None),
            seen=entry.get("seen", 0.0),
            group="#" in person,
        )
        for person, entry in found.items()
    }


def _named_by_platforms(ctx: PluginContext, account: Any) -> None:
    """The accounts that settings name: for a platform, or with it in ``gateway.allowed_users``."""
    for platform in ctx.host.section("platforms"):
        here = platform_settings(ctx, platform)
        for sender in listed(here.allowed_users):
            if sender != "*":
                account(f"{platform}:{sender}", f"platforms.{platform}.allowed_users")
        for sender in listed(here.admins):
            account(f"{platform}:{sender}", f"platforms.{platform}.admins", admin=True)
    for name in listed(gateway_settings(ctx).allowed_users):
        if ":" in name and name.partition(":")[0] in ctx.host.section("platforms"):
            account(name, "gateway.allowed_users")
