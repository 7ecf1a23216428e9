"""Asking the person in front of a client while a call of theirs runs.

By 2025-11-25 the client is asked in between. By 2026-07-28 nobody can be: the call is answered with what it wants to
know, goes on waiting here, and ends with the answer to the next request, which names it. One that takes long becomes a
task, for a client that knows these.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from hermes_core.errors import UserError
from hermes_core.kinds.console import AskPerson
from hermes_core.types import Question, Verdict
from hermes_platform_mcp_serve.desk import Desk
from hermes_platform_mcp_serve.failing import told
from hermes_platform_mcp_serve.ongoing import Ongoing
from hermes_platform_mcp_serve.tasks import Tasks, knows_tasks

__all__ = ["Play", "attended"]

Play = Callable[[AskPerson | None, str], Awaitable[Any]]  # whom it asks, and the name it is found by after a death

_BY = "the person in front of an MCP client"
_MOST = 50  # calls that wait
_GRACE = 2.0  # seconds that a call has until it becomes a task
_KEY = "approval"
_SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}


async def attended(desk: Desk, play: Play, *, asks: bool) -> Any:
    """Play a call with its person to ask, if ``asks`` and the client says that it can ask them.

    Raises as ``play``, UserError.
    """
    from mcp_types import ClientCapabilities, ElicitationCapability
    from mcp_types.version import MODERN_PROTOCOL_VERSIONS

    session = desk.request.session
    named = (desk.request.params or {}).get("requestState")
    can = asks and session.check_client_capability(ClientCapabilities(elicitation=ElicitationCapability()))
    if session.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return await play(partial(_between, desk) if can else None, "")
    tasks = desk.tasks if knows_tasks(desk.request) else None
    waiting: dict[str, Ongoing] = desk.ctx.state.setdefault("waiting", {})
    if named:
        call = waiting.pop(str(named), None)
        if call is None or call.owner != desk.owner:
            raise UserError("This call is over.", hint="Make it again.")
        call.answer((desk.request.params or {}).get("inputResponses"))
    elif not can and tasks is None:
        return await play(None, "")
    elif len(waiting) >= _MOST:
        raise UserError(f"{_MOST} calls wait for an answer already.")
    else:
        call = Ongoing(desk.owner, partial(_played, desk, play, can=can))
    return await _gone_on(call, waiting, tasks)


async def _gone_on(call: Ongoing, waiting: dict[str, Ongoing], tasks: Tasks | None) -> Any:
    """Go on until there is a result, a question, or too much time has gone. Raises what the call raises."""
    from mcp_types import InputRequiredResult

    await call.step(None if tasks is None else _GRACE)
    if call.open:
        waiting[call.name] = call
        call.task.add_done_callback(lambda _: waiting.pop(call.name, None))  # nobody answered in time
        return InputRequiredResult(input_requests=dict(call.open), request_state=call.name)
    if tasks is None or call.task.done():
        return await call.task
    return tasks.take(call)


async def _played(desk: Desk, play: Play, call: Ongoing, *, can: bool) -> Any:
    """Play a call; what goes wrong is its result, since nobody may wait for it by then."""
    from mcp_types import ElicitRequest, ElicitRequestFormParams

    asked = 0

    async def ask(question: Question) -> Verdict | None:
        nonlocal asked
        if question.kind != "approval":
            return None
        asked += 1
        params = ElicitRequestFormParams(message=_text(desk, question), requested_schema=_SCHEMA)
        given = await call.ask(_KEY if asked == 1 else f"{_KEY}-{asked}", ElicitRequest(params=params))
        return None if given is None else _verdict(_action(given))

    return await told(desk.ctx, "a call of a client", play(ask if can else None, call.name))


def _action(given: object) -> object:
    """Return what a person did, as a client says it; what is no yes is a no."""
    return given.get("action") if isinstance(given, dict) else None


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
