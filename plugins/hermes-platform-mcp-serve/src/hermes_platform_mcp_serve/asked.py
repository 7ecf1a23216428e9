"""Asking the person in front of a client while a call of theirs runs.

By 2025-11-25 the client is asked in between. By 2026-07-28 nobody can be: the call is answered with what it wants to
know, goes on waiting here, and ends with the answer to the next request, which names it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any
from uuid import uuid4

from hermes_core.errors import UserError
from hermes_core.kinds.console import AskPerson
from hermes_core.types import Question, Verdict
from hermes_platform_mcp_serve.desk import Desk

__all__ = ["attended"]

_BY = "the person in front of an MCP client"
_PATIENCE = 300.0  # seconds that a call waits for the answer
_MOST = 50  # calls that wait
_KEY = "approval"
_SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}


async def attended(desk: Desk, play: Callable[[AskPerson | None], Awaitable[Any]]) -> Any:
    """Play a call with its person to ask, if the client says that it can ask them. Raises as ``play``, UserError."""
    from mcp_types import ClientCapabilities, ElicitationCapability
    from mcp_types.version import MODERN_PROTOCOL_VERSIONS

    session = desk.request.session
    named = (desk.request.params or {}).get("requestState")
    if not named and not session.check_client_capability(ClientCapabilities(elicitation=ElicitationCapability())):
        return await play(None)
    if session.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return await play(partial(_between, desk))
    waiting: dict[str, _Waiting] = desk.ctx.state.setdefault("waiting", {})
    if named:
        call = waiting.pop(str(named), None)
        if call is None or call.owner != desk.owner:
            raise UserError("This call is over.", hint="Make it again.")
        call.answer((desk.request.params or {}).get("inputResponses"))
    elif len(waiting) >= _MOST:
        raise UserError(f"{_MOST} calls wait for an answer already.")
    else:
        call = _Waiting(desk, play)
    return await call.step(waiting)


def _text(desk: Desk, question: Question) -> str:
    words = ["Hermes wants to do this for the program that you use:", question.subject, question.risk]
    return str(desk.masked("\n".join(word for word in words if word)))


def _verdict(action: object) -> Verdict:
    return Verdict(outcome="allow", choice="once", by=_BY) if action == "accept" else Verdict.refused(_BY)


async def _between(desk: Desk, question: Question) -> Verdict | None:
    from mcp.shared.exceptions import MCPError, NoBackChannelError

    if question.kind != "approval" or not desk.request.session.can_send_request:
        return None
    try:
        answer = await desk.request.session.elicit_form(_text(desk, question), _SCHEMA, desk.request.request_id)
    except (MCPError, NoBackChannelError):
        return None
    return _verdict(answer.action)


class _Waiting:
    """A call that goes on from one request to the next. Whoever leaves in the middle of one interrupts it."""

    def __init__(self, desk: Desk, play: Callable[[AskPerson | None], Awaitable[Any]]) -> None:
        self.owner = desk.owner
        self._desk = desk
        self._name = uuid4().hex
        self._question: Question | None = None
        self._asked = asyncio.Event()
        self._answered: asyncio.Future[Verdict] = asyncio.get_running_loop().create_future()
        self._task = asyncio.ensure_future(play(self._ask))

    async def _ask(self, question: Question) -> Verdict | None:
        if question.kind != "approval":
            return None
        self._question, self._answered = question, asyncio.get_running_loop().create_future()
        self._asked.set()
        done, _ = await asyncio.wait([self._answered], timeout=_PATIENCE)
        return self._answered.result() if done else None

    def answer(self, given: object) -> None:
        """Take the answer, whatever it looks like: what is no yes is a no."""
        one = given.get(_KEY) if isinstance(given, dict) else None
        self._asked.clear()
        if not self._answered.done():
            self._answered.set_result(_verdict(one.get("action") if isinstance(one, dict) else None))

    async def step(self, waiting: "dict[str, _Waiting]") -> Any:
        """Go on until there is a result, or another question. Raises what the call raises."""
        from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

        asked = asyncio.ensure_future(self._asked.wait())
        try:
            await asyncio.wait({asked, self._task}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self._task.cancel()
            raise
        finally:
            asked.cancel()
        if self._task.done() or self._question is None:
            return await self._task
        waiting[self._name] = self
        self._task.add_done_callback(lambda _: waiting.pop(self._name, None))  # nobody answered in time
        params = ElicitRequestFormParams(message=_text(self._desk, self._question), requested_schema=_SCHEMA)
        return InputRequiredResult(input_requests={_KEY: ElicitRequest(params=params)}, request_state=self._name)
