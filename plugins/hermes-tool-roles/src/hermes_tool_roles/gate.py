"""What judges calls of people other than the owner: their own folder, and where their commands may run."""

import os
from collections.abc import Sequence
from pathlib import Path

from hermes_core.kinds import Workspace
from hermes_core.types import Effect, Feature, Principal, Session, Verdict
from hermes_tool_roles.rights import HomeRoles

__all__ = ["Gate"]

_FILES = frozenset({Effect.READ_FILES, Effect.WRITE_FILES})


class Gate:
    """Refuses what is not for guests on somebody else's machine. What tools a role has the kernel holds it to."""

    def __init__(self, roles: HomeRoles, host: Principal, people: Path) -> None:
        """``people`` holds the folders of all of them."""
        self._roles, self._host, self._people = roles, host, people

    def judge(
        self,
        session: Session,
        effects: frozenset[Effect],
        workspace: Workspace,
        *,
        walled: bool,
        opened: Sequence[str],
        touches: Sequence[str] | None,
        further: Sequence[tuple[str, bool]] = (),
    ) -> Verdict | None:
        """A deny, or nothing to say. ``further`` are folders that they reach besides, each with whether to write."""
        if session.owner == self._host and session.asker == self._host:
            return None
        opened = (*opened, *(folder for folder, _ in further))
        written = tuple(folder for folder, writes in further if writes)
        reason = self._refusal(
            session, effects, workspace, walled=walled, opened=opened, written=written, touches=touches
        )
        return Verdict(outcome="deny", reason=reason, by="roles") if reason else None

    def _refusal(
        self,
        session: Session,
        effects: frozenset[Effect],
        workspace: Workspace,
        *,
        walled: bool,
        opened: Sequence[str],
        written: Sequence[str],
        touches: Sequence[str] | None,
    ) -> str:
        if Effect.CONFIGURE in effects:
            return "only the owner of this Hermes changes its settings and tools"
        if Effect.EXECUTE in effects and (reason := self._no_command(session, workspace, walled=walled)):
            return reason
        if Feature.ISOLATED in workspace.features or Effect.EXECUTE in effects or effects.isdisjoint(_FILES):
            return ""
        if touches is None:
            return "it does not say which files it touches, and only files of your own folder may be"
        own = session.cwd if self._people in Path(session.cwd).parents else ""  # a place of anybody else is none
        roots = (own, *(written if Effect.WRITE_FILES in effects else opened))
        for place in (key[5:] for key in touches if key.startswith("file:")):
            path = os.path.join(workspace.cwd, os.path.expanduser(place))  # noqa: PTH111, PTH118 - as the tool reads it
            if not any(_inside(path, root) for root in roots if root):
                return f"{place} is outside of your own folder"
        return ""

    def _no_command(self, session: Session, workspace: Workspace, *, walled: bool) -> str:
        rights = self._roles.rights(session.owner, session.speaker)
        role = self._roles.role(rights.role)
        commands, features = self._roles.commands(session.owner, session.speaker, role), workspace.features
        if commands == "never":
            return f"the role {rights.role} runs no commands"
        if rights.bounds and rights.bounds.hosts is not None and not (walled or Feature.OFFLINE in features):
            return f"the role {rights.role} may reach some hosts only, and nothing here keeps a command to them"
        if Feature.ISOLATED in features or commands == "machine" or (commands == "walled" and walled):
            return ""
        if commands == "walled":
            return f"commands of the role {rights.role} stay behind the wall of this machine"
        return (
            "commands of people other than the owner run only in an isolated workspace, and the owner has set up none"
        )


def _inside(path: str, root: str) -> bool:
    """Whether a path leads to a folder, or into it, wherever links on the way lead."""
    real, within = os.path.realpath(path), os.path.realpath(root)
    return real == within or real.startswith(within.rstrip(os.sep) + os.sep)
