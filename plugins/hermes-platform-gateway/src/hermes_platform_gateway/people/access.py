"""Who may speak to Hermes, as whom, and what they may ask for. One decision; where nothing says yes it is no.

How a way in uses it::

    rules = rules_of(ctx, envelope.platform)
    speaker = await rows.people.speaker(envelope.platform, envelope.sender, *rules.names(envelope))
    access = admit(envelope, rules, *speaker)
    if access.outcome == "in": ...       # access.principal speaks, with access.role
    if access.outcome == "pair": ...     # a stranger in a direct message: pairing.code_for(...) makes the words
    if access.outcome == "silent": ...   # say nothing: not let in, or not spoken to in a group

It decides about the envelope as the service gave it, before a plugin changes it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from attrs import field

from hermes_core.options import listed
from hermes_core.platforms import PlatformSettings
from hermes_core.slash import Role
from hermes_core.types import Envelope, Principal, Speaker
from hermes_core.values import frozen
from hermes_platform_gateway.config import gateway_settings, platform_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.context import PluginContext
    from hermes_platform_gateway.rows.values import Person, Restriction

__all__ = ["OWNER", "Access", "AccessRules", "admit", "chat_principal", "rules_of"]

OWNER = Principal().person  # who the sessions of this machine's terminal belong to


@frozen(kw_only=True)
class Access:
    """What becomes of a message. ``principal`` is who speaks, ``role`` what they may ask for when they are let in.

    ``by`` says in words which rule decided, for logs. ``kept`` is what keeps who was let in from being heard.
    ``named``: the rule lets in this very person, and not only a place. ``word`` is what their row calls them, where
    that is more than a user.
    """

    outcome: Literal["in", "pair", "silent"]
    principal: Principal
    role: Role = "user"
    by: str = ""
    kept: "Restriction | None" = None
    named: bool = True
    word: str = ""

    @property
    def speaker(self) -> Speaker:
        """Who speaks, as the kernel and plugins know them."""
        role = "admin" if self.role == "admin" else self.word
        return Speaker(person=self.principal.person, role=role, named=self.named)

    def owner(self, envelope: Envelope, *, shared: bool) -> Principal:
        """Who the conversation belongs to: where everybody in a group shares one it is the group's, nobody's own."""
        return chat_principal(envelope, self.principal.profile) if shared else self.principal


@frozen(kw_only=True)
class AccessRules:
    """What the settings say about a platform. ``accounts`` leads from an account (``telegram:123``) to its person."""

    platform: str
    profile: str
    users: frozenset[str]
    chats: frozenset[str]
    roles: frozenset[str]
    free: frozenset[str]
    admins: frozenset[str]
    accounts: Mapping[str, str]
    admin_people: frozenset[str]
    everybody_here: bool
    everybody: bool
    mention: bool
    pairs: bool

    @classmethod
    def of(cls, ctx: "PluginContext", platform: str) -> "AccessRules":
        """The rules for one platform. Raises ConfigError."""
        here, gateway = platform_settings(ctx, platform), gateway_settings(ctx)
        accounts = {name: person for person, names in gateway.people.items() for name in listed(names)}
        named = [name.partition(":") for name in listed(gateway.allowed_users)]
        users = {sender if colon else name for name, colon, sender in named if not colon or name == platform}
        return cls(
            platform=platform,
            profile=ctx.owner.profile,
            users=frozenset((*listed(here.allowed_users), *users)),
            chats=frozenset(listed(here.allowed_chats)),
            roles=frozenset(listed(here.allowed_roles)),
            free=frozenset(listed(here.free_response_chats)),
            admins=frozenset(listed(here.admins)),
            accounts=accounts,
            admin_people=frozenset(listed(gateway.admins)),
            everybody_here=here.allow_all_users,
            everybody=gateway.allow_all_users,
            mention=here.require_mention,
            pairs=_pairs(here, here.unknown or gateway.unknown, (*gateway.allowed_users, *accounts)),
        )

    def names(self, envelope: Envelope) -> Sequence[str]:
        """What a sender is called besides their account: the person of the settings, and the group they write in."""
        group = chat_principal(envelope, self.profile).person if envelope.kind != "dm" or not envelope.sender else ""
        return [name for name in (self.accounts.get(f"{envelope.platform}:{envelope.sender}", ""), group) if name]


def rules_of(ctx: "PluginContext", platform: str) -> AccessRules:
    """The rules for one platform, read once. Raises ConfigError."""
    known: dict[str, AccessRules] = ctx.state.setdefault("access", {})
    if platform not in known:
        known[platform] = AccessRules.of(ctx, platform)
    return known[platform]


def _kept(kept: "Restriction", by: str) -> str:
    """Why nobody is heard whom a rule lets in."""
    how = "muted" if kept.kind == "mute" else "blocked"
    return f"{how} by {kept.by or 'somebody'}" + (f", though {by} lets them in" if by else "")


def _pairs(here: PlatformSettings, said: str, elsewhere: Iterable[str]) -> bool:
    """Whether strangers get a code: where nobody said so, unless somebody is named in a list."""
    lists = (*here.allowed_users, *here.allowed_chats, *here.allowed_roles, *here.admins, *elsewhere)
    return said == "pair" if said else not any(listed(lists))


def admit(
    envelope: Envelope, rules: AccessRules, known: "Person | None" = None, kept: "Restriction | None" = None
) -> Access:
    """Whether a message is let in, and who speaks. ``known`` is the row of a sender who was paired.

    An envelope of another platform, or a row of another account, lets nobody in. Who is ``kept`` from being heard is
    not, whatever lets them in; that never holds for the owner.
    """
    account = f"{envelope.platform}:{envelope.sender}"
    if known is not None and (known.platform, known.sender) != (envelope.platform, envelope.sender):
        known = None
    speaker = _Speaker(rules.accounts.get(account, ""), known)
    by = _rule(envelope, rules, speaker) if envelope.platform == rules.platform else ""
    person = speaker.person or account
    principal = Principal(profile=rules.profile, person=person)
    if not envelope.sender:  # a channel, or somebody who hides behind a group
        principal = chat_principal(envelope, rules.profile)
    if kept and person != OWNER:
        return Access(outcome="silent", principal=principal, by=_kept(kept, by), kept=kept)
    if not by:
        direct = envelope.kind == "dm" and bool(envelope.sender) and envelope.platform == rules.platform
        outcome: Literal["pair", "silent"] = "pair" if direct and rules.pairs else "silent"
        return Access(outcome=outcome, principal=principal, by="no rule lets them in")
    admin = bool(envelope.sender) and (
        person == OWNER or envelope.sender in rules.admins or person in rules.admin_people or speaker.is_admin
    )
    heard = envelope.kind == "dm" or envelope.addressed or not rules.mention or _in(rules.free, envelope.chat)
    word = known.role if known else ""
    return Access(
        outcome="in" if heard else "silent",
        principal=principal,
        role="admin" if admin else "user",
        by=by if heard else f"{by}, but it does not speak to the bot",
        named=bool(speaker.person) or (bool(envelope.sender) and envelope.sender in rules.users | rules.admins),
        word=word if word != "user" else "",
    )


@frozen
class _Speaker:
    """What is known of a sender; the settings count for more than the row."""

    named: str
    row: "Person | None"
    person: str = field(init=False)

    @person.default
    def _person(self) -> str:
        return self.named or (self.row.person if self.row else "")

    @property
    def is_admin(self) -> bool:
        return self.row is not None and self.row.role == "admin"


def _rule(envelope: Envelope, rules: AccessRules, speaker: _Speaker) -> str:
    """Which rule lets a message in; empty: none."""
    sender = envelope.sender
    if rules.everybody_here:
        return f"platforms.{rules.platform}.allow_all_users"
    if "*" in rules.users or (sender and sender in rules.users):
        return "allowed_users"
    if sender and sender in rules.admins:
        return "admins"
    if sender and speaker.named:
        return "gateway.people"
    if envelope.kind != "dm" and _in(rules.chats, envelope.chat):
        return "allowed_chats"
    if sender and not rules.roles.isdisjoint(envelope.roles):
        return "allowed_roles"
    if sender and speaker.row:
        return "paired"
    return "gateway.allow_all_users" if rules.everybody else ""


def _in(names: frozenset[str], chat: str) -> bool:
    return "*" in names or (bool(chat) and chat in names)


def chat_principal(envelope: Envelope, profile: str) -> Principal:
    """Who owns what a group says and hears together. No account's name has its form, so it is nobody's own."""
    return Principal(profile=profile, person=f"{envelope.platform}#{envelope.chat}")
