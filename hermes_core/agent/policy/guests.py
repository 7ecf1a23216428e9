"""What holds for people other than the owner: a folder of their own, and as much as the plugin of roles says."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from hermes_core.kinds import Roles
from hermes_core.types import Folder, Principal, Rights, Session, Speaker, TurnBounds
from hermes_core.values import frozen

__all__ = ["Guests"]

_TALK = Rights(role="guest", words=("You may talk, and no more.",), bounds=TurnBounds(tools=()), asks="admin")
_UNREAD = "What people may do here cannot be read, so nobody but the owner may do anything. They have to mend that."


@frozen(kw_only=True)
class Guests:
    """Everybody but ``host``, whose machine this is. ``people`` holds a folder for each of the others.

    ``roles`` finds who says what they may do, None where nobody does: then they may talk. ``report`` is told why it
    could not be found, or failed.
    """

    host: Principal
    people: Path
    roles: Callable[[], Roles | None] = lambda: None
    report: Callable[[BaseException], None] = lambda _: None

    def is_guest(self, owner: Principal) -> bool:
        """Tell whether somebody is not the one whose machine this is."""
        return owner != self.host

    def folder(self, owner: Principal) -> Path:
        """Return where a guest's sessions work. Two persons never have one folder, whatever they are called."""
        import hashlib  # most who start one have no guests

        name = re.sub(r"[^a-z0-9]+", "-", owner.person.lower()).strip("-")[:40]
        digest = hashlib.sha256(f"{owner.profile}\0{owner.person}".encode("utf-8", "replace")).hexdigest()[:16]
        return self.people / f"{name}-{digest}".lstrip("-") / "work"

    def closed(self, owner: Principal) -> tuple[Path, ...]:
        """Return what belongs to guests, and is nothing for the tools of the host."""
        return () if self.is_guest(owner) else (self.people,)

    def rights(self, owner: Principal, speaker: Speaker | None = None) -> Rights:
        """Say what holds in sessions of ``owner`` for who speaks there. It fails closed, and never raises."""
        if self._is_host(owner, speaker):
            return Rights()
        try:
            given = roles.rights(owner, speaker) if (roles := self.roles()) else _TALK
            if not isinstance(given, Rights):
                raise TypeError(f"a {type(given).__name__} says nothing of what somebody may do")
        except Exception as error:  # noqa: BLE001 - of a plugin; what is not known is not allowed
            return self._unread(error)
        return given

    async def now(self, owner: Principal, speaker: Speaker | None = None) -> Rights:
        """Say what ``rights`` does, once what may have changed elsewhere is looked up."""
        try:
            if not self._is_host(owner, speaker) and (roles := self.roles()):
                await roles.look(owner, speaker)
        except Exception as error:  # noqa: BLE001 - as in ``rights``
            return self._unread(error)
        return self.rights(owner, speaker)

    async def further(self, session: Session) -> Sequence[Folder]:
        """Return which folders commands reach besides a session's own; none where that cannot be said."""
        try:
            return tuple(sorted(await roles.folders(session), key=str)) if (roles := self.roles()) else ()
        except Exception as error:  # noqa: BLE001 - as in ``rights``
            self.report(error)
            return ()

    def _is_host(self, owner: Principal, speaker: Speaker | None) -> bool:
        return owner == self.host and (speaker is None or speaker.person == owner.person)

    def _unread(self, error: Exception) -> Rights:
        self.report(error)
        return Rights(role="", refused=_UNREAD, bounds=_TALK.bounds, asks="admin")

    def of(self, session: Session) -> Rights:
        """Say what holds for who speaks in a session now."""
        return self.rights(session.owner, session.speaker)
