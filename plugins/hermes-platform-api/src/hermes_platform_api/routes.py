"""Every route, once: what serves it, and what the OpenAPI document says of it."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from starlette.requests import Request
from starlette.responses import Response

from hermes_core.values import frozen
from hermes_platform_api import about, chat, commands, messages, responses, runs, sessions
from hermes_platform_api.service import Service

__all__ = ["OPEN", "ROUTES", "Handler", "Route"]

Handler: TypeAlias = Callable[[Service, Request], Awaitable[Response]]


@frozen
class Route:
    """``body`` and ``answer`` name shapes; ``streams``: always, or if the body says so, it answers with events."""

    method: str
    path: str
    handler: Handler
    name: str
    answer: str = ""
    body: str = ""
    status: int = 200
    streams: bool = False
    turns: bool = False
    query: Sequence[tuple[str, int, int]] = ()  # name, least, most


_MESSAGES = (("limit", 1, 1000), ("around", 0, 2**53))
ROUTES: Sequence[Route] = (
    Route("POST", "/v1/chat/completions", chat.complete, "createChatCompletion", "ChatCompletion", "ChatCompletionRequest", 200, True, True),  # noqa: E501
    Route("POST", "/v1/responses", responses.create, "createResponse", "Response", "ResponseRequest", 200, True, True),
    Route("GET", "/v1/responses/{id}", responses.read, "getResponse", "Response"),
    Route("GET", "/v1/responses/{id}/input_items", responses.input_items, "listInputItems", "InputItems"),
    Route("DELETE", "/v1/responses/{id}", responses.delete, "deleteResponse", "Deleted"),
    Route("POST", "/v1/messages", messages.create, "createMessage", "MessageAnswer", "MessageRequest", 200, True, True),
    Route("POST", "/v1/messages/count_tokens", messages.count, "countTokens", "Counted", "CountRequest"),
    Route("POST", "/v1/runs", runs.begin, "createRun", "RunStarted", "RunRequest", 202, False, True),
    Route("GET", "/v1/runs/{id}", runs.read, "getRun", "Run"),
    Route("GET", "/v1/runs/{id}/events", runs.events, "getRunEvents", streams=True),
    Route("POST", "/v1/runs/{id}/approval", runs.settle, "settleRunApproval", "Settled", "ApprovalRequest"),
    Route("POST", "/v1/runs/{id}/stop", runs.stop, "stopRun", "RunStarted"),
    Route("GET", "/api/sessions", sessions.list_all, "listSessions", "Sessions", query=_MESSAGES[:1]),
    Route("POST", "/api/sessions", sessions.create, "createSession", "Session", "SessionRequest", 201),
    Route("GET", "/api/sessions/{id}", sessions.read, "getSession", "Session"),
    Route("PATCH", "/api/sessions/{id}", sessions.rename, "renameSession", "Session", "SessionPatch"),
    Route("DELETE", "/api/sessions/{id}", sessions.delete, "deleteSession", "Deleted"),
    Route("GET", "/api/sessions/{id}/messages", sessions.messages, "getSessionMessages", "Messages", query=_MESSAGES),
    Route("POST", "/api/sessions/{id}/fork", sessions.fork, "forkSession", "Session", "ForkRequest", 201),
    Route("POST", "/api/sessions/{id}/chat", sessions.chat, "chatInSession", "SessionAnswer", "SessionChatRequest", 200, False, True),  # noqa: E501
    Route("POST", "/api/sessions/{id}/chat/stream", sessions.chat_stream, "streamInSession", "", "SessionChatRequest", 200, True, True),  # noqa: E501
    Route("POST", "/api/sessions/{id}/commands", commands.run, "runCommand", "CommandAnswer", "CommandRequest", 200, False, True),  # noqa: E501
    Route("GET", "/v1/models", about.models, "listModels", "Models"),
    Route("GET", "/v1/models/{id}", about.model, "getModel", "Model"),
    Route("GET", "/v1/capabilities", about.capabilities, "getCapabilities", "Capabilities"),
    Route("GET", "/v1/skills", about.skills, "listSkills", "Named"),
    Route("GET", "/v1/toolsets", about.toolsets, "listToolsets", "Toolsets"),
    Route("GET", "/health/detailed", about.detailed, "getHealthDetails", "Health"),
    Route("GET", "/health", about.health, "getHealth", "Health"),
    Route("GET", "/v1/health", about.health, "getHealthV1", "Health"),
)  # fmt: skip
OPEN = frozenset({"/health", "/v1/health", "/openapi.json"})  # what is answered without a key
