"""Slash commands over HTTP: a request of its own runs one. What is said to a model is never taken for a command.

Programs say what others wrote, and texts that begin with a slash are texts to them. So a command is what a client sends
as one, in a session of the person whose key it has. Nobody is an admin here: what holds beyond one's own conversations,
and what says what needs a yes, is left to terminals and chats.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from hermes_core.errors import UserError
from hermes_core.slash import STEERED, HostSide, SlashCommands
from hermes_core.types import Buttons, Message, Session, Text
from hermes_platform_api.past import CHOSEN, chosen_in
from hermes_platform_api.service import Service, TurnSummary, read_body, tokens
from hermes_platform_api.sse import json_answer, unless_gone
from hermes_platform_api.turn_request import TurnRequest, person_of

__all__ = ["run"]

_UNSAID = "No turn runs in this session."


async def run(service: Service, request: Request) -> Response:
    """Run a slash command in a session."""
    body = await read_body(request, "CommandRequest")
    person, owner = person_of(request), service.owner(request)
    session = await service.ctx.sessions.get(owner, request.path_params["id"])
    side = _Side(service, person, session, await chosen_in(service.ctx.documents, owner, session.id))
    name, _, rest = body["command"].strip().removeprefix("/").partition(" ")
    said = await _commands(service).run(side, name, rest.strip())
    if isinstance(said, Message) and said.role == "user":  # what the person said with it is for the model
        return json_answer(await _answered(service, request, side, said))
    return json_answer(_told(service, side, said))


def _commands(service: Service) -> SlashCommands:
    made: SlashCommands = service.ctx.state.get("commands") or service.ctx.slash.commands("api")
    service.ctx.state["commands"] = made
    return made


class _Side(HostSide):
    """One session of one person, for the time of a command."""

    place, role = "api", "user"

    def __init__(self, service: Service, person: str, session: Session, chosen: Mapping[str, str]) -> None:
        self._service, self._person, self.session = service, person, session
        self.chosen = dict(chosen)

    @property
    def who(self) -> str:
        return f"{self.session.owner.person} of profile {self.session.owner.profile}, over the API"

    async def take_up(self) -> Session:
        return self.session

    async def switch(self, session_id: str = "") -> Session:
        """The session to go on in is told; which one a client names next is its own affair."""
        sessions, owner = self._service.ctx.sessions, self.session.owner
        self.session = await (sessions.get(owner, session_id) if session_id else sessions.create(owner))
        return self.session

    def renamed(self, session: Session) -> None:
        self.session = session

    async def interrupt(self, session: Session) -> bool:
        await self._service.turns.give_up(session.id)
        return await self._service.ctx.turns.interrupt(session.id, owner=session.owner)

    async def working(self, session: Session) -> bool:
        return await self._service.ctx.turns.busy(session.id, owner=session.owner)

    async def steer(self, session: Session, text: str) -> str:
        if not await self.working(session):
            raise UserError(_UNSAID, hint="Say it as a message.")
        await self._service.ctx.turns.steer(session.id, text, owner=session.owner)
        return STEERED

    async def queue(self, session: Session, text: str) -> str:
        raise UserError("Nothing waits here: send it as a message when the turn has ended.")

    async def beside(self, session: Session, text: str) -> str:
        new = await self._service.ctx.sessions.create(session.owner)
        await self._service.turns.keep(_wanted(self._person, new.id, _words(text)))
        return new.id

    async def choose(self, **chosen: str) -> None:
        self.chosen = {key: one for key, one in {**(self.chosen or {}), **chosen}.items() if one}
        owner, documents = self.session.owner, self._service.ctx.documents
        kept = dict(self.chosen)
        await documents.change(CHOSEN, lambda _: kept or None, owner=owner, session_id=self.session.id)


async def _answered(service: Service, request: Request, side: _Side, said: Message) -> dict[str, Any]:
    answer = TurnSummary()
    async with aclosing(service.turns.play(_wanted(person_of(request), side.session.id, said))) as turn:
        await unless_gone(request, answer.all(turn))
    return {**_told(service, side, answer.final), "usage": tokens(answer.usage)}


def _told(service: Service, side: _Side, said: str | Message) -> dict[str, Any]:
    parts: Sequence[Any] = said.parts if isinstance(said, Message) else (Text(text=said),)
    text = "\n".join(part.text for part in parts if isinstance(part, Text))
    buttons = [one for part in parts if isinstance(part, Buttons) for one in part.buttons]
    return {
        "object": "hermes.command",
        "session_id": side.session.id,
        "text": service.ctx.masks.text(text),
        "choices": [{"label": one.label, "command": one.says} for one in buttons if one.says],
    }


def _wanted(person: str, session: str, message: Message) -> TurnRequest:
    return TurnRequest(person=person, event=os.urandom(16).hex(), message=message, session=session)


def _words(text: str) -> Message:
    return Message(role="user", parts=(Text(text=text),))
