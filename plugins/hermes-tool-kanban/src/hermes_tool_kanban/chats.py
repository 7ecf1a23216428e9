"""The boards of a chat that several people are in: whose they are, and what each of these people may do there.

A chat's boards are the chat's, as its conversation is: nobody sees them elsewhere, and nobody sees their own boards in
it, where others would read them. Who is let in by name works on them. A guest, who is heard only because of the place
they speak in, and who may do less than the chat's own agents, sees them and remarks on tasks, as text from outside:
whatever else they wrote would be done with rights that are not theirs.
"""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import Principal, Rights, Session, Speaker, TurnBounds
from hermes_tool_kanban.actions import Door
from hermes_tool_kanban.values import ALIVE, HAND, Task
from hermes_tool_kit.used import mark_used

__all__ = ["ChatDoor", "door_at", "is_shared"]

_LOOKS = ("", "list", "board", "boards", "show")
_GUESTS = (*_LOOKS, "comment")
_ADMINS = ("archive", "switch")
_ENDS = ("release", "done", "complete", "block")
_LESS = "So it is for whoever may do less than agents of this chat: see hermes roles."
_REMARKS = 20  # of guests on one task


class ChatDoor(Door):
    """What somebody does in a chat: the boards are its own, the ``speaker`` is who wrote. ``admin``: they govern it."""

    def __init__(
        self, ctx: PluginContext, owner: Principal, session: Session, speaker: Speaker, *, admin: bool
    ) -> None:
        super().__init__(ctx, owner, session, written=True, author=speaker.person)
        self.speaker, self.admin, self.guest = speaker, admin, False

    async def admit(self) -> None:
        """Let in who is heard in this chat, and see whether they are a guest. Raises UserError."""
        mark_used(self.ctx)
        person = Principal(profile=self.owner.profile, person=self.speaker.person)
        rights = await self.ctx.host.rights(person, self.speaker)
        if rights.refused or rights.silent or rights.role in ("", "blocked"):
            raise UserError(rights.refused or "Nobody knows you here.")
        agents = await self.ctx.host.rights(self.owner)
        self.guest = (
            "guest" in (rights.role, self.speaker.role) or not self.speaker.named or not _covers(rights, agents)
        )
        if self.guest:  # what they write is not the words of a person of ours
            self.written, self.outside = False, True

    async def allow(self, verb: str, task: Task | None = None) -> None:
        """Refuse what this person may not do here, with a ``task`` where it is about one. Raises UserError."""
        if self.guest and verb not in _GUESTS:
            raise UserError("Guests see the boards of this chat and remark on tasks: they move none.", hint=_LESS)
        if self.guest and verb == "comment" and task:
            theirs = [one for one in await self.rows.tasks.comments(task.id) if one.outside]
            if len(theirs) >= _REMARKS:
                raise UserError(f"Guests remarked {_REMARKS} times on {task.id}: that is the most.")
        if verb in _ADMINS and not (self.admin or (task and task.maker == self.author)):
            raise UserError("Whoever governs this chat does that, or who made the task.")
        if verb in _ENDS and task and not self.admin and (who := await self._claimed_by(task)) not in ("", self.author):
            raise UserError(f"{who} works on {task.id}: they say how it ends, or who governs this chat.")

    async def _claimed_by(self, task: Task) -> str:
        """Return the person who claimed a task by hand and has it; empty where nobody has."""
        runs = [one for one in await self.rows.tasks.runs(task.id, limit=1) if one.id == task.run]
        return next((one.worker for one in runs if one.holder == HAND and one.state in ALIVE), "")


def _covers(mine: Rights, agents: Rights) -> bool:
    """Whether somebody may do by themselves whatever agents of the chat may."""
    own, their = mine.bounds or TurnBounds(), agents.bounds or TurnBounds()
    return (
        all(_holds(*two) for two in ((own.tools, their.tools), (own.hosts, their.hosts), (mine.models, agents.models)))
        and {*own.without, *own.never} <= {*their.without, *their.never}
        and (agents.walled or not mine.walled)
    )


def _holds(mine: Sequence[str] | None, theirs: Sequence[str] | None) -> bool:
    return mine is None or (theirs is not None and set(theirs) <= set(mine))


def door_at(ctx: PluginContext, session: Session) -> Door:
    """Return the door of where a command was typed: of its chat, where others read it. Raises UserError."""
    try:
        here = ctx.conversation(session)
    except UserError:  # none was typed: it is done by a program
        return Door.of(ctx, session, written=True)
    came = here.envelope
    if came is None or came.kind == "dm":
        return Door.of(ctx, session, written=True)
    chat = Principal(profile=session.owner.profile, person=f"{came.platform}#{came.chat}")  # nobody's own
    speaker = came.speaker or Speaker(person=session.asker.person, named=False)
    return ChatDoor(ctx, chat, session, speaker, admin=here.role == "admin")


async def is_shared(ctx: PluginContext, session: Session) -> bool:
    """Whether others read what is said in a session: it was asked in a chat that is not private."""
    came = await ctx.sessions.asked_from(session.id, session.owner)
    return came is not None and came.kind != "dm"
