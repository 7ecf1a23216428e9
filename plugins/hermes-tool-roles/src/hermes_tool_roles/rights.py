"""What people may do: their role, in the terms of the kernel and in words."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import datetime

from attrs import evolve

from hermes_core.kinds import Roles
from hermes_core.options import listed
from hermes_core.types import Effect, Folder, Principal, Rights, Session, Speaker, TurnBounds
from hermes_tool_roles.config import BLOCKED, BUILT_IN, OWNER, Config, RoleSettings, whole
from hermes_tool_roles.hours import hours_of, within, zone_of

__all__ = ["HomeRoles"]

_BLOCKED = "Nothing is done for you here."
_NEVER = {
    "none": (Effect.READ_FILES, Effect.WRITE_FILES),
    "read": (Effect.WRITE_FILES,),
}
_COMMANDS = {
    "never": "none",
    "isolated": "in an isolated workspace",
    "walled": "on this machine, behind its wall",
    "machine": "on this machine",
}
_FILES = {"none": "none", "read": "those of your own folder, to read", "write": "those of your own folder"}


class HomeRoles(Roles):
    """The roles of one home. ``host`` is its owner."""

    name = "roles"

    def __init__(
        self,
        config: Config,
        *,
        host: Principal,
        now: Callable[[], datetime] = lambda: datetime.now().astimezone(),
        blocked: Callable[[Collection[str]], Awaitable[Collection[str]]] | None = None,
        opened: Callable[[Principal], Awaitable[Sequence[tuple[str, bool]]]] | None = None,
    ) -> None:
        """``blocked`` tells which of some people nobody hears any more, as they are kept elsewhere.

        ``opened`` tells which folders somebody reaches besides their own, each with whether they write there.
        """
        self.config, self.now = config, now
        self._blocked, self._out, self._opened = blocked, frozenset[str](), opened
        self._host = host
        self._whole: dict[str, RoleSettings] = {}

    async def look(self, owner: Principal, speaker: Speaker | None) -> None:
        """See Roles: who is blocked, by now."""
        asked = {owner.person, speaker.person if speaker else owner.person} - {self._host.person}
        if self._blocked and asked:
            self._out = (self._out - asked) | frozenset(await self._blocked(asked))

    async def folders(self, session: Session) -> Sequence[Folder]:
        """See Roles: what others share, as far as one's own role gives files at all; to read once others are heard.

        Where text from outside is in a conversation, its commands change nothing that is another's: a file tool, before
        which a person is asked, does. In a conversation of several people nobody's commands reach what is only theirs.
        """
        if self._opened is None or session.asker != session.owner:
            return ()
        bounds = self.rights(session.owner, session.speaker).bounds if session.owner != self._host else None
        never = bounds.never if bounds else ()
        if Effect.READ_FILES in never:
            return ()
        may = Effect.WRITE_FILES not in never and not session.untrusted
        return [Folder(path, writes=writes and may) for path, writes in await self._opened(session.owner)]

    def name_of(self, owner: Principal, speaker: Speaker | None) -> str:
        """The name of the role of who speaks in a session of ``owner``."""
        person = speaker.person if speaker else owner.person
        if person == self._host.person and owner.profile == self._host.profile:
            return OWNER
        said = speaker.role if speaker else ""
        if said == BLOCKED or not self._out.isdisjoint((person, owner.person)):
            return BLOCKED
        if person in self.config.people:
            return self.config.people[person]
        if said in self.config.define or said in BUILT_IN:
            return said
        return self.config.strangers if speaker and not speaker.named else self.config.default

    def role(self, name: str) -> RoleSettings:
        """A role by its name, whole. The owner, where somebody else's session is spoken in, has no limits there."""
        if name not in self._whole:
            self._whole[name] = whole("member", {}) if name == OWNER else whole(name, self.config.define)
        return self._whole[name]

    def moment(self, role: RoleSettings) -> datetime:
        """Now, where a role's days begin."""
        return self.now().astimezone(zone_of(role.zone))

    def commands(self, owner: Principal, speaker: Speaker | None, role: RoleSettings) -> str:
        """Where somebody's commands may run: a role's word, or that they are trusted by name."""
        trusted = listed(self.config.trusted_with_shell)
        known = {"*", owner.person, speaker.person if speaker else owner.person}
        return role.commands if role.commands == "never" or known.isdisjoint(trusted) else "machine"

    def rights(self, owner: Principal, speaker: Speaker | None) -> Rights:
        """See Roles."""
        name = self.name_of(owner, speaker)
        if name == BLOCKED:
            nothing = TurnBounds(tools=())
            return Rights(role=name, words=(_BLOCKED,), refused=_BLOCKED, silent=True, bounds=nothing, asks="admin")
        role = self.role(name)
        commands = self.commands(owner, speaker, role)
        never = (*_NEVER.get(role.files, ()), *((Effect.EXECUTE,) if commands == "never" else ()))
        bounds = TurnBounds(
            tools=_some(role.tools), without=tuple(role.without or ()), never=never, hosts=_some(role.hosts)
        )
        rights = Rights(
            role=name,
            refused=self._closed(name, role),
            bounds=bounds,
            models=_some(role.models),
            backend=role.backend or self.config.backend,
            walled=commands == "walled",
            asks="person" if (role.approvals or self.config.approvals) == "self" else "admin",
        )
        return evolve(rights, words=tuple(_words(rights, role, commands)))

    def _closed(self, name: str, role: RoleSettings) -> str:
        moment = self.moment(role)
        if within(hours_of(role.hours or ()), moment):
            return ""
        return (
            f"It is {moment:%H:%M} on {moment:%A}, and nothing is done then for the role {name}. "
            f"Its hours: {', '.join(role.hours or ())}{f' ({role.zone})' if role.zone else ''}."
        )


def _some(names: Sequence[str] | None) -> Sequence[str] | None:
    return None if names is None or "*" in names else tuple(names)


def _words(rights: Rights, role: RoleSettings, commands: str) -> list[str]:
    """What a role allows, a line each."""
    bounds = rights.bounds or TurnBounds()
    tools = "all that are there" if bounds.tools is None else ", ".join(bounds.tools) or "none"
    but = f", but {', '.join(bounds.without)}" if bounds.without else ""
    day = [
        *([f"{role.day.calls:,} model calls"] if role.day.calls else ()),
        *([f"{role.day.tokens:,} tokens"] if role.day.tokens else ()),
        *([f"${role.day.money:g}"] if role.day.money else ()),
    ]
    said = {
        "Tools": f"{tools}{but}",
        "Models": "any that is set up" if rights.models is None else ", ".join(rights.models),
        "Commands": _COMMANDS[commands],
        "Files": _FILES[role.files],
        "Hosts": "" if bounds.hosts is None else ", ".join(bounds.hosts) or "none",
        "Hours": ", ".join(role.hours or ()) + (f" ({role.zone})" if role.hours and role.zone else ""),
        "A day, in all places": ", ".join(day),
    }
    return [f"{what}: {how}." for what, how in said.items() if how]
