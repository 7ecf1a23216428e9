"""A desk without a kernel behind it, for platforms under test."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from itertools import count
from typing import Any

from attrs import evolve

from hermes_core.control import SettingsBroker
from hermes_core.errors import UnknownName, UserError
from hermes_core.kinds import Desk, SessionDesk
from hermes_core.kinds.desk import AskPerson
from hermes_core.testing.fake_settings import FakeSettings
from hermes_core.types import (
    Choice,
    Ended,
    Envelope,
    Event,
    Hit,
    Job,
    Message,
    ModelRow,
    PastTurn,
    Principal,
    ProviderRow,
    Said,
    Session,
    SessionRow,
    SlashCommand,
    Started,
    Text,
    Usage,
    UsageRow,
    Verdict,
)

__all__ = ["FakeDesk"]

_MODEL: dict[str, Any] = {"provider": "scripted", "model": "scripted-1"}


class _FakeSessions(SessionDesk):
    def __init__(self) -> None:
        self.known: dict[str, tuple[Session, list[Message]]] = {}
        self._ids = count(1)

    def find(self, session: str, person: str) -> tuple[Session, list[Message]]:
        found = self.known.get(session)
        if found is None or found[0].owner.person != (person or "owner"):
            raise UnknownName("session", session)
        return found

    async def list(self, person: str = "", *, limit: int = 20) -> Sequence[SessionRow]:
        mine = [found for found in self.known.values() if found[0].owner.person == (person or "owner")]
        zero: Any = {"tool_calls": 0, "updated": 0.0, "usage": Usage(), "preview": "", "state": "idle"}
        return [SessionRow(session=s, messages=len(m), **zero) for s, m in reversed(mine)][:limit]

    async def get(self, session: str, person: str = "") -> Session:
        return self.find(session, person)[0]

    async def create(self, person: str = "", *, session: str = "", title: str = "", system: str = "") -> Session:
        name = session or f"session-{next(self._ids)}"
        if name in self.known:
            raise UserError(f"The name {name} cannot be used here.")
        made = Session(id=name, origin="fake", owner=Principal(person=person or "owner"), title=title)
        self.known[name] = (made, [])
        return made

    async def rename(self, session: str, title: str, person: str = "") -> Session:
        known, messages = self.find(session, person)
        self.known[session] = (evolve(known, title=title), messages)
        return self.known[session][0]

    async def delete(self, session: str, person: str = "") -> None:
        self.find(session, person)
        del self.known[session]

    async def fork(self, session: str, person: str = "", *, upto: str = "", title: str = "") -> Session:
        _, messages = self.find(session, person)
        made = await self.create(person, title=title)
        self.known[made.id][1].extend(messages)
        return made

    async def search(self, words: str, person: str = "", *, limit: int = 20) -> Sequence[Hit]:
        hits = []
        for session, messages in self.known.values():
            for number, message in enumerate(messages, 1):
                text = "".join(part.text for part in message.parts if isinstance(part, Text))
                if session.owner.person == (person or "owner") and words.casefold() in text.casefold():
                    given: Any = {"session_id": session.id, "message_id": number, "title": session.title}
                    hits.append(Hit(**given, role=message.role, snippet=text, created=0.0))
        return hits[:limit]

    async def messages(
        self, session: str, person: str = "", *, around: int = 0, window: int = 10
    ) -> Sequence[tuple[int, Message]]:
        numbered = list(enumerate(self.find(session, person)[1], 1))
        return numbered[max(0, around - window - 1) : around + window] if around else numbered[-window:]


class FakeDesk(Desk):
    """Says back what it is told: ``You said: …``. ``interrupted`` holds the chats that were interrupted, ``turns`` the
    envelopes that were played. Sessions are kept while it lives; nobody is asked anything.

    What it lays out is what a test puts in: ``choices`` (by the start of a line), ``provider_rows``, ``model_rows``,
    ``usage_rows``, ``job_rows``, ``job_texts``, and ``fake_settings``. ``stopped`` holds the jobs that were stopped,
    ``opened`` the sessions that chats went on in.
    """

    def __init__(self, commands: Sequence[SlashCommand] = ()) -> None:
        self._commands = tuple(commands)
        self._past: dict[tuple[str, str], PastTurn] = {}
        self._fake = self.sessions = _FakeSessions()
        self.interrupted: list[str] = []
        self.turns: list[Envelope] = []
        self.choices: dict[str, Sequence[Choice]] = {}
        self.provider_rows: Sequence[ProviderRow] = (ProviderRow(name="scripted", ready=True, kind="hosted"),)
        self.model_rows: Sequence[ModelRow] = ()
        self.usage_rows: Sequence[UsageRow] = ()
        self.job_rows: Sequence[Job] = ()
        self.job_texts: dict[str, str] = {}
        self.fake_settings = FakeSettings()
        self.stopped: list[str] = []
        self.opened: dict[str, str] = {}

    @property
    def commands(self) -> Sequence[SlashCommand]:
        """The commands it was made with."""
        return self._commands

    def status(self, chat: str) -> Mapping[str, str]:
        """A plausible chat."""
        return {"session": "test", "title": "A test", **_MODEL, "cwd": "/work", "mode": "ask", "notice": ""}

    @property
    def settings(self) -> SettingsBroker:
        """Those that a test puts in."""
        return self.fake_settings

    async def prepare(self) -> None:
        """Nothing is needed."""

    async def open(self, chat: str, session: str) -> Session:
        """Note it. Raises UnknownName."""
        found = await self.sessions.get(session)
        self.opened[chat] = session
        return found

    async def complete(self, chat: str, line: str) -> Sequence[Choice]:
        """What a test put in for the longest start of the line."""
        found = max((start for start in self.choices if line.startswith(start)), key=len, default="")
        return self.choices.get(found, ())

    async def providers(self) -> Sequence[ProviderRow]:
        """Those that a test put in."""
        return self.provider_rows

    async def models(self, provider: str = "") -> Sequence[ModelRow]:
        """Those that a test put in, of one provider when that is named."""
        return [row for row in self.model_rows if provider in ("", row.provider)]

    async def usage(self, *, person: str = "", days: int = 30) -> Sequence[UsageRow]:
        """Those that a test put in."""
        return self.usage_rows

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

    async def turn(
        self,
        envelope: Envelope,
        *,
        person: str = "",
        session: str = "",
        history: Sequence[Message] = (),
        system: str = "",
        model: str = "",
        ask: AskPerson | None = None,
        stored: Callable[[], Awaitable[None]] | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Say back what the message says."""
        self.turns.append(envelope)
        if session not in self._fake.known:
            session = (await self._fake.create(person, session=session)).id
            self._fake.known[session][1].extend(history)
        said = "".join(p.text for p in envelope.message.parts if isinstance(p, Text))
        answer, turn = f"You said: {said}", f"turn-{len(self.turns)}"
        reply = Message(role="assistant", parts=(Text(text=answer),))
        self._fake.find(session, person)[1].extend([envelope.message, reply])
        usage = Usage(input=1, output=1, calls=1)
        ends: dict[str, Any] = {"session_id": session, "turn_id": turn, "answer": answer, "usage": usage}
        self._past[person, envelope.event_id] = PastTurn(**ends, **_MODEL, state="done", message=envelope.message)
        if stored:
            await stored()
        yield Started(session_id=session, turn_id=turn, **_MODEL)
        yield Said(text=answer)
        yield Ended(**ends, reason="done")

    async def resume(
        self, session: str, *, person: str = "", ask: AskPerson | None = None
    ) -> AsyncGenerator[Event, None]:
        """Nothing: its turns are never cut."""
        return
        yield

    async def past(self, event_id: str, *, person: str = "") -> PastTurn | None:
        """The turn it played for this event."""
        return self._past.get((person, event_id))

    async def forget(self, event_id: str, *, person: str = "") -> bool:
        """Forget the event."""
        return self._past.pop((person, event_id), None) is not None

    async def settle(self, question: str, verdict: Verdict, *, person: str = "") -> bool:
        """There is no question. Raises UnknownName."""
        raise UnknownName("approval", question)

    def toolsets(self) -> Mapping[str, Mapping[str, str]]:
        """A plausible one."""
        return {"files": {"read_file": "Read a file."}}

    async def ready(self) -> Mapping[str, str]:
        """Always."""
        return {"store": "ok", "model": "ok"}
