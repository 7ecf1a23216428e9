"""A conversation without a kernel behind it, for slash commands under test."""

from collections.abc import Mapping, Sequence
from typing import Literal

from attrs import evolve

from hermes_core.errors import UnknownName, UserError
from hermes_core.kinds import (
    Conversation,
    ConversationJobs,
    ConversationModel,
    ConversationQueue,
    ConversationTurn,
)
from hermes_core.types import ConversationState, Envelope, Job, Message, Rights, Session, SlashCommand, Text, ToolRow

__all__ = ["FakeConversation"]


class _Turn(ConversationTurn):
    """None runs; what is said to one waits."""

    def __init__(self, here: "FakeConversation") -> None:
        self._here = here

    async def interrupt(self) -> bool:
        return False

    async def steer(self, text: str) -> str | Message:
        self._here.queued.append(("steer", _said(text)))
        return ""

    async def beside(self, text: str) -> str:
        self._here.done.append(("beside", text))
        return "beside"


class _Queue(ConversationQueue):
    """What was steered and queued."""

    def __init__(self, here: "FakeConversation") -> None:
        self._here = here

    async def add(self, text: str) -> str | Message:
        self._here.queued.append(("queue", _said(text)))
        return ""

    async def list(self) -> Sequence[tuple[Literal["queue", "steer"], Message]]:
        return tuple(self._here.queued)

    async def clear(self) -> int:
        count = len(self._here.queued)
        self._here.queued.clear()
        return count


class _Model(ConversationModel):
    """Every model is there; a choice is kept in ``chosen``."""

    def __init__(self, chosen: dict[str, str]) -> None:
        self._chosen = chosen

    async def current(self) -> tuple[str, str]:
        provider, _, model = self._chosen["model"].partition(":")
        return provider, model

    async def choose(self, wanted: str, *, span: Literal["session", "once", "global"] = "session") -> tuple[str, str]:
        if wanted and span == "session":
            self._chosen["model"] = wanted if ":" in wanted else f"fake:{wanted}"
        return await self.current()

    async def effort(self, wanted: str = "") -> str:
        self._chosen["effort"] = wanted or self._chosen["effort"]
        return self._chosen["effort"]


class _Jobs(ConversationJobs):
    """What it was made with, less what was stopped."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._jobs = {job.id: job for job in jobs}

    async def list(self) -> Sequence[Job]:
        return tuple(self._jobs.values())

    async def stop(self, job: str) -> bool:
        return self._jobs.pop(job, None) is not None

    async def output(self, job: str) -> str:
        return ""


class FakeConversation(Conversation):
    """A terminal, or with an ``envelope`` a chat, in which commands are typed; what they do is kept in ``done``.

    ``said`` is what the person said so far. Of a ``role`` that is no admin, or with ``by_tool``, it refuses what the
    kernel refuses. ``chosen`` holds what was chosen for it, ``written`` the settings that were set.
    """

    def __init__(
        self,
        session: Session | None = None,
        *,
        said: Sequence[str] = (),
        role: Literal["admin", "user"] = "admin",
        envelope: Envelope | None = None,
        by_tool: bool = False,
        tools: Sequence[ToolRow] = (),
        jobs: Sequence[Job] = (),
        commands: Sequence[SlashCommand] = (),
    ) -> None:
        self.place = "chat" if envelope else "terminal"
        self.done: list[tuple[str, ...]] = []
        self.said = list(said)
        self.queued: list[tuple[Literal["queue", "steer"], Message]] = []
        self.chosen = {"model": "fake:model", "effort": "", "mode": "ask", "busy": "queue"}
        self.written: dict[str, str] = {}
        self.session = session or Session(id="test", origin="cli")
        self.role, self.who, self.envelope = role, self.session.owner.person, envelope
        self.turn, self.queue, self.model, self.jobs = _Turn(self), _Queue(self), _Model(self.chosen), _Jobs(jobs)
        self._by_tool, self._tools, self._commands = by_tool, tools, commands

    def rights(self) -> Rights:
        """Those of the owner."""
        return Rights()

    def need_person(self, *, admin: bool = False) -> None:
        """Refuse as the kernel does."""
        if self._by_tool or (admin and self.role != "admin"):
            raise UserError("Only a person who may changes this.")

    async def state(self) -> ConversationState:
        """Idle, with what was chosen."""
        provider, model = await self.model.current()
        return ConversationState(
            provider=provider,
            model=model,
            effort=self.chosen["effort"],
            mode=self.chosen["mode"],
            working=False,
            waiting=len(self.queued),
            endpoint="",
            window=0,
            store="memory",
        )

    async def switch(self, session_id: str = "") -> Session:
        """Say so in ``done``, and give a session of that name."""
        self.done.append(("switch", session_id))
        return evolve(self.session, id=session_id or "new", title="")

    async def branch(self, title: str = "") -> Session:
        """Say so in ``done``."""
        if not self.said:
            raise UnknownName("session", self.session.id)
        self.done.append(("branch", title))
        return evolve(self.session, id="copy", title=title)

    async def rename(self, title: str) -> Session:
        """Say so in ``done``."""
        self.done.append(("rename", title))
        return evolve(self.session, title=title)

    async def undo(self, exchanges: int = 1) -> Sequence[Message]:
        """Forget the last of what was ``said``."""
        gone, self.said = self.said[-exchanges:], self.said[:-exchanges]
        return [_said(text) for text in gone]

    async def last_said(self) -> Message | None:
        """The last of what was ``said``."""
        return _said(self.said[-1]) if self.said else None

    def mode(self, wanted: str = "") -> str:
        """Keep it in ``chosen``."""
        if wanted:
            self.need_person()
        self.chosen["mode"] = wanted or self.chosen["mode"]
        return self.chosen["mode"]

    def busy(self, wanted: str = "") -> str:
        """Keep it in ``chosen``."""
        self.chosen["busy"] = wanted or self.chosen["busy"]
        return self.chosen["busy"]

    def commands(self) -> Mapping[str, SlashCommand]:
        """What it was made with."""
        return {command.name: command for command in self._commands}

    async def tools(self) -> Sequence[ToolRow]:
        """What it was made with."""
        return self._tools

    async def configure(self, key: str, text: str) -> str:
        """Keep it in ``written``."""
        self.need_person(admin=True)
        self.written[key] = text
        return f"{key} is {text}, from now on."

    def reload(self) -> Sequence[str]:
        """Nothing needs a new start."""
        self.need_person(admin=True)
        return ()

    async def budget(self) -> Mapping[str, float]:
        """No budget binds."""
        return {}


def _said(text: str) -> Message:
    return Message(role="user", parts=(Text(text=text),))
