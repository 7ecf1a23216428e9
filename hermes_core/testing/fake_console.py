"""A console without a kernel behind it, for platforms under test."""

from collections.abc import Mapping, Sequence

from hermes_core.kinds import Console
from hermes_core.types import Choice, Job, Principal, Session, SlashCommand

__all__ = ["FakeConsole"]


class FakeConsole(Console):
    """Lays out what a test puts in: ``choices`` (by the start of a line), ``job_rows``, ``job_texts``.

    ``interrupted`` holds the chats that were interrupted, ``stopped`` the jobs that were stopped, ``opened`` the
    sessions that chats went on in.
    """

    def __init__(self, commands: Sequence[SlashCommand] = ()) -> None:
        super().__init__(commands)
        self.choices: dict[str, Sequence[Choice]] = {}
        self.job_rows: Sequence[Job] = ()
        self.job_texts: dict[str, str] = {}
        self.interrupted: list[str] = []
        self.stopped: list[str] = []
        self.opened: dict[str, str] = {}

    def status(self, chat: str) -> Mapping[str, str]:
        """A plausible chat."""
        known = {"provider": "scripted", "model": "scripted-1", "cwd": "/work", "mode": "ask", "notice": ""}
        return {"session": "test", "title": "A test", **known}

    async def open(self, chat: str, session: str) -> Session:
        """Note it; every session is there."""
        self.opened[chat] = session
        return Session(id=session, origin="fake", owner=Principal())

    async def complete(self, chat: str, line: str) -> Sequence[Choice]:
        """What a test put in for the longest start of the line."""
        found = max((start for start in self.choices if line.startswith(start)), key=len, default="")
        return self.choices.get(found, ())

    async def jobs(self, chat: str) -> Sequence[Job]:
        """Those that a test put in and nobody stopped."""
        return [job for job in self.job_rows if job.id not in self.stopped]

    async def job_output(self, chat: str, job: str) -> str:
        """What a test put in."""
        return self.job_texts.get(job, "")

    async def stop_job(self, chat: str, job: str) -> bool:
        """Stop it; False when it was stopped before."""
        running = job in [one.id for one in await self.jobs(chat)]
        self.stopped.append(job)
        return running

    async def interrupt(self, chat: str) -> bool:
        """Note the chat; nothing runs."""
        self.interrupted.append(chat)
        return False
