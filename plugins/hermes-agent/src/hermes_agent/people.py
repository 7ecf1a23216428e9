"""People in the loop: what is asked of whom, for a program that has them elsewhere than at its terminal.

A question for a yes is stored before anybody is asked. So it can be listed and answered from any process of the same
home, also after the one that asked is gone: ``resume`` then asks the same question, and finds its answer.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Literal
from uuid import uuid4
from weakref import WeakKeyDictionary

import attrs

from hermes_core.embed import Hermes
from hermes_core.errors import UnknownName, UserError
from hermes_core.types import JSON, Approval, Event, Message, Principal, Question, Verdict

__all__ = ["Asking", "Cut", "Said", "answer", "interrupted", "questions", "resume", "turn"]

Said = Verdict | bool | str
_MOST = 1000  # questions and calls that are looked at
_FILE = 1_000_000  # bytes of a file that a diff is made of


@attrs.frozen(kw_only=True)
class Asking:
    """A question that waits for a person: the event when it is put, and what ``questions`` lists.

    ``kind`` is ``approval`` for a yes, else ``choice`` or ``text``: those are answered in the process that asks.
    ``tool`` and ``arguments`` are of the call that needs the yes, and ``diff`` is what it would change in a file, as a
    unified diff in which what does not print is escaped; empty where it changes none that can be seen. ``admin``: an
    admin has to answer, not the owner. ``asked`` is in seconds since 1970.
    """

    id: str
    owner: Principal
    session: str
    subject: str
    turn: str = ""
    kind: Literal["approval", "choice", "text"] = "approval"
    tool: str = ""
    arguments: Mapping[str, JSON] = attrs.field(factory=dict)
    diff: str = ""
    risk: str = ""
    covers: str = ""
    choices: Sequence[str] = ()
    admin: bool = False
    asked: float = 0.0


@attrs.frozen(kw_only=True)
class Cut:
    """A session in which a turn was cut off by the death of its process, and whose it is."""

    session: str
    owner: Principal


# What a person of this process answers by its id; no store has those.
_here: "WeakKeyDictionary[Hermes, dict[str, _Answer]]" = WeakKeyDictionary()


def turn(hermes: Hermes, message: str | Message, **how: Any) -> AsyncGenerator[Event | Asking, None]:
    """Answer one message as ``Hermes.turn`` does, with an ``Asking`` among the events when a question is put.

    The turn waits until somebody answers it, by ``answer``: here, or for a yes in any process. ``policy.ask_seconds``
    bounds how long. Closing the generator ends the turn.
    """
    return _asked(hermes, lambda ask: hermes.turn(message, **{**how, "ask": ask}), how.get("owner"))


def resume(
    hermes: Hermes, session: str, *, owner: Principal | None = None, **how: Any
) -> AsyncGenerator[Event | Asking, None]:
    """Finish a turn that a death cut, as ``Hermes.resume`` does, with its questions as of ``turn``."""
    return _asked(hermes, lambda ask: hermes.resume(session, owner=owner, **{**how, "ask": ask}), owner)


async def questions(hermes: Hermes, *, owner: Principal | None = None, everyone: bool = False) -> list[Asking]:
    """Return what waits for a yes, the newest first: of an owner, of whose Hermes it is, or of ``everyone``."""
    found: dict[str, Asking] = {}
    for whose in await hermes.sessions.people() if everyone else [owner or hermes.owner]:
        for row in await hermes.approvals.list(whose, limit=_MOST):
            if row.id not in found:
                found[row.id] = await _whole(hermes, row)
    return sorted(found.values(), key=lambda one: -one.asked)


async def answer(hermes: Hermes, question: str, verdict: Said, *, by: str = "", owner: Principal | None = None) -> None:
    """Answer a question by its id. The first answer counts.

    Args:
        hermes: One of the same home, in whichever process.
        question: ``Asking.id``.
        verdict: A Verdict; or whether it may be done; or a choice: ``once``, ``session``, ``always``, ``deny``, and for
            other kinds what was chosen or typed.
        by: Who says so, for the record.
        owner: Whose question it has to be: so a person of a web page answers no other's. Anybody's where none is named.

    Raises:
        UnknownName: there is none of that id, or it is another's.
        UserError: it is answered already, or the choice is none that was offered.
    """
    waiting = _here.get(hermes, {}).get(question)
    if waiting is not None:
        if owner is not None and owner != (hermes.owner if waiting.asked.admin else waiting.asked.owner):
            raise UnknownName("question", question)
        if waiting.done():
            raise UserError(f"{question} is answered already.", hint="The first answer counts.")
        waiting.set_result(_verdict(_offered(waiting.asked, verdict), by, free=True))
        return
    for one in await questions(hermes, owner=owner, everyone=owner is None):
        if one.id == question:
            await hermes.approvals.settle(one.owner, question, _verdict(_offered(one, verdict), by), admin=one.admin)
            return
    raise UnknownName("question", question, hint="It may be answered already, or its turn has ended.")


async def interrupted(hermes: Hermes, *, everyone: bool = True) -> list[Cut]:
    """Return the sessions with a turn that a death cut, and whose: of ``everyone``, or of the owner of this Hermes."""
    people = await hermes.sessions.people() if everyone else [hermes.owner]
    return [Cut(session=one, owner=owner) for owner in people for one in await hermes.interrupted(owner=owner)]


def _offered(asked: Asking, said: Said) -> Said:
    """Return what was said where a question offers it; a no always does. Raises UserError."""
    if asked.kind == "text" or isinstance(said, Verdict) or said is False:
        return said
    if said is True and asked.kind == "approval":
        return said
    if ("once" if said is True else said) not in asked.choices:
        raise UserError(f"{said!r} is no choice here.", hint=f"Choose from: {', '.join(asked.choices)}.")
    return said


def _verdict(said: Said, by: str, *, free: bool = False) -> Verdict:
    if isinstance(said, Verdict):
        return attrs.evolve(said, by=said.by or by)
    if isinstance(said, bool):
        return Verdict(outcome="allow" if said else "deny", choice="once" if said else "deny", by=by)
    return Verdict(outcome="deny" if said == "deny" and not free else "allow", choice=said, by=by)


class _Answer(asyncio.Future[Verdict]):
    asked: Asking


async def _asked(
    hermes: Hermes, begin: Callable[[Any], AsyncGenerator[Event, None]], owner: Principal | None
) -> AsyncGenerator[Event | Asking, None]:
    told: asyncio.Queue[Event | Asking | None] = asyncio.Queue()
    here = _here.setdefault(hermes, {})

    async def ask(question: Question) -> Verdict | None:
        if question.kind == "approval":
            whose = {owner or hermes.owner, hermes.owner}  # an admin's stand among those of whose Hermes it is
            found = {one.id: one for person in whose for one in await questions(hermes, owner=person)}
            if question.id in found:
                told.put_nowait(found[question.id])
            return await _Answer()  # nobody sets it: whoever settles the stored question ends this
        waiting = _Answer()
        waiting.asked = _unstored(question, owner or hermes.owner)
        here[waiting.asked.id] = waiting
        told.put_nowait(waiting.asked)
        try:
            return await waiting
        finally:
            del here[waiting.asked.id]

    async def play() -> None:
        try:
            async with aclosing(begin(ask)) as events:
                async for event in events:
                    told.put_nowait(event)
        finally:
            told.put_nowait(None)

    playing = asyncio.create_task(play())
    try:
        while (event := await told.get()) is not None:
            yield event
        await playing  # it raises what the turn raised
    finally:
        playing.cancel()
        await asyncio.gather(playing, return_exceptions=True)


def _unstored(question: Question, owner: Principal) -> Asking:
    return Asking(
        id=question.id or uuid4().hex, owner=owner, session="", kind=question.kind, subject=question.subject,
        risk=question.risk, choices=question.choices, covers=question.covers, admin=question.to == "admin",
        asked=time.time(),
    )  # fmt: skip


async def _whole(hermes: Hermes, row: Approval) -> Asking:
    history = await hermes.sessions.tool_history(row.owner, session_id=row.session_id, limit=_MOST)
    calls = [one for one in history if one.call_id == row.call_id and one.turn_id == row.turn_id]
    tool, arguments = (calls[0].name, calls[0].arguments) if calls else ("", {})
    session = await hermes.sessions.get(row.owner, row.session_id)
    diff = await asyncio.to_thread(_diff, session.cwd, arguments) if session.backend in ("", "local") else ""
    return Asking(
        id=row.id, owner=row.owner, session=row.session_id, turn=row.turn_id, tool=tool, arguments=arguments, diff=diff,
        subject=row.subject, risk=row.risk, choices=row.choices, covers=row.covers, admin=row.addressee == "admin",
        asked=row.asked,
    )  # fmt: skip


def _diff(folder: str, arguments: Mapping[str, JSON]) -> str:
    """Return what a call would change in a file of a folder, where its arguments are a path and a text, or two."""
    from difflib import unified_diff
    from pathlib import Path

    path, content = arguments.get("path"), arguments.get("content")
    old, new = arguments.get("old"), arguments.get("new")
    if not folder or not isinstance(path, str) or not path.isprintable():  # else a path could be more of a diff
        return ""
    file = Path(folder, path).resolve()
    if not file.is_relative_to(Path(folder).resolve()):
        return ""
    try:
        if file.exists() and not (file.is_file() and file.stat().st_size <= _FILE):
            return ""  # as a new file it would look as if nothing were lost
        before = file.read_text("utf-8") if file.exists() else ""
    except (OSError, UnicodeDecodeError):
        return ""
    if isinstance(content, str):
        after = content
    elif isinstance(old, str) and isinstance(new, str) and old and old in before:
        after = before.replace(old, new) if arguments.get("replace_all") else before.replace(old, new, 1)
    else:
        return ""
    return "\n".join(unified_diff(_lines(before), _lines(after), f"a/{path}", f"b/{path}", n=3, lineterm=""))


def _lines(text: str) -> list[str]:
    """Return lines as they are safe to show: what a model wrote must neither drive a terminal nor hide."""
    shown = "".join(
        one if one.isprintable() or one in "\n\t" else one.encode("unicode_escape").decode()
        for one in text.removesuffix("\n")
    )
    return shown.split("\n") if text else []
