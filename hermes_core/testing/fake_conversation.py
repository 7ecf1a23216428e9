"""A conversation without a kernel behind it, for slash commands under test."""

from collections.abc import Mapping, Sequence
from typing import Literal

from attrs import evolve

from hermes_core.errors import UnknownName, UserError
from hermes_core.kinds import Conversation
from hermes_core.types import (
    ConversationState,
    Envelope,
    Job,
    Message,
    Session,
    Text,
    ToolRow,
)

__all__ = ["FakeConversation"]


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
    ) -> None:
        self.place = "chat" if envelope else "terminal"
        self.done: list[tuple[str, ...]] = []
        self.said = list(said)
        self.queued: list[tuple[Literal["queue", "steer"], Message]] = []
        self.chosen = {"model": "fake:model", "effort": "", "mode": "ask", "busy": "queue"}
        self.written: dict[str, str] = {}
        self._session = session or Session(id="test", origin="cli")
        self._role, self._envelope, self._by_tool = role, envelope, by_tool
        self._tools, self._jobs = tools, list(jobs)

    @property
    def session(self) -> Session:
        """The one it was made with."""
        return self._session

    @property
    def role(self) -> Literal["admin", "user"]:
        """What it was made with."""
        return self._role

    @property
    def who(self) -> str:
        """The name of the session's owner."""
        return self._session.owner.person

    @property
    def envelope(self) -> Envelope | None:
        """What it was made with."""
        return self._envelope

    def need_person(self, *, admin: bool = False) -> None:
        """Refuse as the kernel does."""
        if self._by_tool or (admin and self._role != "admin"):
            raise UserError("Only a person who may changes this.")

    async def state(self) -> ConversationState:
        """Idle, with what was chosen."""
        provider, model = await self.model()
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
        return evolve(self._session, id=session_id or "new", title="")

    async def branch(self, title: str = "") -> Session:
        """Say so in ``done``."""
        if not self.said:
            raise UnknownName("session", self._session.id)
        self.done.append(("branch", title))
        return evolve(self._session, id="copy", title=title)

    async def rename(self, title: str) -> Session:
        """Say so in ``done``."""
        self.done.append(("rename", title))
        return evolve(self._session, title=title)

    async def undo(self, exchanges: int = 1) -> Sequence[Message]:
        """Forget the last of what was ``said``."""
        gone, self.said = self.said[-exchanges:], self.said[:-exchanges]
        return [_said(text) for text in gone]

    async def last_said(self) -> Message | None:
        """The last of what was ``said``."""
        return _said(self.said[-1]) if self.said else None

    async def interrupt(self) -> bool:
        """Nothing runs."""
        return False

    async def steer(self, text: str) -> str | Message:
        """Keep it among what waits."""
        self.queued.append(("steer", _said(text)))
        return ""

    async def queue(self, text: str) -> str | Message:
        """Keep it among what waits."""
        self.queued.append(("queue", _said(text)))
        return ""

    async def waiting(self) -> Sequence[tuple[Literal["queue", "steer"], Message]]:
        """What was steered and queued."""
        return list(self.queued)

    async def drop_waiting(self) -> int:
        """Forget it."""
        count = len(self.queued)
        self.queued.clear()
        return count

    async def beside(self, text: str) -> str:
        """Say so in ``done``."""
        self.done.append(("beside", text))
        return "beside"

    async def jobs(self) -> Sequence[Job]:
        """What it was made with, less what was stopped."""
        return list(self._jobs)

    async def stop_job(self, job: str) -> bool:
        """Take it from the list."""
        before = len(self._jobs)
        self._jobs = [one for one in self._jobs if one.id != job]
        return len(self._jobs) < before

    async def model(
        self, wanted: str = "", *, span: Literal["session", "once", "global"] = "session"
    ) -> tuple[str, str]:
        """Keep it in ``chosen``; every model is there."""
        if wanted and span == "session":
            self.chosen["model"] = wanted if ":" in wanted else f"fake:{wanted}"
        provider, _, model = self.chosen["model"].partition(":")
        return provider, model

    async def effort(self, wanted: str = "") -> str:
        """Keep it in ``chosen``."""
        self.chosen["effort"] = wanted or self.chosen["effort"]
        return self.chosen["effort"]

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
