"""What holds for people other than the owner: a folder of their own, and nothing of the owner's machine beside it."""

import hashlib
import os
import re
from collections.abc import Sequence
from pathlib import Path

from hermes_core.kinds import Tool, Workspace
from hermes_core.types import Effect, Feature, Principal, Session
from hermes_core.values import frozen

__all__ = ["Guests"]

_FILES = frozenset({Effect.READ_FILES, Effect.WRITE_FILES})


@frozen(kw_only=True)
class Guests:
    """The rules for everybody but ``host``, whose machine this is. ``people`` holds a folder for each of the others.

    ``trusted`` are the persons who may run commands where they reach the machine; with ``asks_admin`` an admin says yes
    to these.
    """

    host: Principal
    people: Path
    trusted: Sequence[str] = ()
    asks_admin: bool = True

    def is_guest(self, owner: Principal) -> bool:
        """Tell whether somebody is not the one whose machine this is."""
        return owner != self.host

    def folder(self, owner: Principal) -> Path:
        """Return where a guest's sessions work. Two persons never have one folder, whatever they are called."""
        name = re.sub(r"[^a-z0-9]+", "-", owner.person.lower()).strip("-")[:40]
        digest = hashlib.sha256(f"{owner.profile}\0{owner.person}".encode("utf-8", "replace")).hexdigest()[:16]
        return self.people / f"{name}-{digest}".lstrip("-") / "work"

    def closed(self, owner: Principal) -> tuple[Path, ...]:
        """Return what belongs to guests, and is nothing for the tools of the host."""
        return () if self.is_guest(owner) else (self.people,)

    def refusal(
        self, session: Session, tool: Tool, keys: Sequence[str] | None, workspace: Workspace, opened: Sequence[str]
    ) -> str:
        """Say why a guest's call may not run, or nothing. ``keys`` is what it touches, None: that cannot be told.

        ``opened`` are folders of the house that the session may read. What it says of a gate counts for nothing here:
        a command that only looks still looks at the machine.
        """
        from hermes_core.agent.policy.risks import inside

        if not self.is_guest(session.owner):
            return ""
        if Effect.CONFIGURE in tool.effects:
            return "only the owner of this Hermes changes its settings and tools"
        if Feature.ISOLATED in workspace.features:
            return ""
        if Effect.EXECUTE in tool.effects:
            known = {session.owner.person, "*"}
            return _no_shell(session.owner.person) if known.isdisjoint(self.trusted) else ""
        if tool.effects.isdisjoint(_FILES):
            return ""
        if keys is None:
            return f"{tool.name} does not say which files it touches, and only files of your own folder may be"
        folder = str(self.folder(session.owner))
        allowed = (folder,) if Effect.WRITE_FILES in tool.effects else (folder, *opened)
        for place in (key[5:] for key in keys if key.startswith("file:")):
            path = os.path.join(workspace.cwd, os.path.expanduser(place))  # noqa: PTH111, PTH118 - as the tool reads it
            if not any(inside(path, root) for root in allowed):
                return f"{place} is outside of your own folder"
        return ""


def _no_shell(person: str) -> str:
    return (
        "commands of people other than the owner run only in an isolated workspace. The owner can set gateway.backend "
        f"to bubblewrap or docker, or name {person} in gateway.trusted_with_shell"
    )
