"""What answers hold. Made of the API's OpenAPI document by generate.py."""

# ruff: noqa: D101 - their fields say what they are

from typing import Any, Literal, NotRequired, TypedDict

__all__ = [
    "Capabilities",
    "ChatCompletion",
    "ChatCompletionChoices",
    "ChatCompletionChoicesMessage",
    "ChatCompletionChoicesMessageToolCalls",
    "ChatCompletionChoicesMessageToolCallsFunction",
    "ChatCompletionUsage",
    "CommandAnswer",
    "CommandAnswerChoices",
    "Counted",
    "Deleted",
    "Error",
    "ErrorError",
    "Health",
    "InputItems",
    "MessageAnswer",
    "MessageAnswerContent",
    "MessageAnswerUsage",
    "MessageError",
    "MessageErrorError",
    "Messages",
    "MessagesData",
    "MessagesDataContent",
    "Model",
    "Models",
    "Named",
    "NamedData",
    "OpenApi",
    "Response",
    "ResponseError",
    "ResponseOutput",
    "ResponseUsage",
    "Run",
    "RunApprovals",
    "RunError",
    "RunStarted",
    "Session",
    "SessionAnswer",
    "Sessions",
    "Settled",
    "Toolsets",
    "ToolsetsData",
    "ToolsetsDataTools",
]


class ErrorError(TypedDict):
    message: str
    type: str
    param: str | None
    code: str | None


class Error(TypedDict):
    error: ErrorError


class ChatCompletionChoicesMessageToolCallsFunction(TypedDict):
    name: str
    arguments: str


class ChatCompletionChoicesMessageToolCalls(TypedDict):
    id: str
    type: Literal["function"]
    function: ChatCompletionChoicesMessageToolCallsFunction


class ChatCompletionChoicesMessage(TypedDict):
    role: Literal["assistant"]
    content: str | None
    reasoning_content: NotRequired[str]
    refusal: NotRequired[str | None]
    tool_calls: NotRequired[list[ChatCompletionChoicesMessageToolCalls]]


class ChatCompletionChoices(TypedDict):
    index: int
    message: ChatCompletionChoicesMessage
    finish_reason: str


class ChatCompletionUsage(TypedDict):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ChatCompletion(TypedDict):
    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[ChatCompletionChoices]
    usage: ChatCompletionUsage


class ResponseOutput(TypedDict):
    type: str
    id: str


class ResponseUsage(TypedDict):
    input_tokens: int
    output_tokens: int
    total_tokens: int


class ResponseError(TypedDict):
    code: str
    message: str


class Response(TypedDict):
    id: str
    object: Literal["response"]
    created_at: float
    status: Literal["in_progress", "completed", "failed", "incomplete", "cancelled"]
    model: str
    output: list[ResponseOutput]
    usage: NotRequired[ResponseUsage | None]
    error: NotRequired[ResponseError | None]


class InputItems(TypedDict):
    object: Literal["list"]
    data: list[ResponseOutput]
    first_id: str | None
    last_id: str | None
    has_more: bool


class MessageAnswerContent(TypedDict):
    type: Literal["thinking", "text", "tool_use"]


class MessageAnswerUsage(TypedDict):
    input_tokens: int
    output_tokens: int


class MessageAnswer(TypedDict):
    id: str
    type: Literal["message"]
    role: Literal["assistant"]
    model: str
    content: list[MessageAnswerContent]
    stop_reason: Literal["end_turn", "tool_use", "max_tokens"]
    usage: MessageAnswerUsage


class MessageErrorError(TypedDict):
    type: str
    message: str


class MessageError(TypedDict):
    type: Literal["error"]
    error: MessageErrorError


class Counted(TypedDict):
    input_tokens: int


class Deleted(TypedDict):
    id: str
    object: str
    deleted: bool


class RunError(TypedDict):
    message: str
    code: str


class RunApprovals(TypedDict):
    id: str
    subject: str
    choices: list[str]


class Run(TypedDict):
    object: Literal["hermes.run"]
    run_id: str
    status: Literal["queued", "running", "waiting_for_approval", "completed", "failed", "cancelled", "interrupted"]
    created_at: float
    session_id: str | None
    model: NotRequired[str]
    output: str | None
    usage: ResponseUsage | None
    error: RunError | None
    approvals: NotRequired[list[RunApprovals]]


class RunStarted(TypedDict):
    run_id: str
    status: str
    session_id: NotRequired[str | None]


class Settled(TypedDict):
    run_id: str
    approval_id: str
    settled: bool


class Session(TypedDict):
    id: str
    object: Literal["hermes.session"]
    title: str
    origin: str
    created_at: float
    updated_at: NotRequired[float]
    model: str
    messages: NotRequired[int]
    preview: NotRequired[str]
    state: NotRequired[str]


class Sessions(TypedDict):
    object: Literal["list"]
    data: list[Session]


class MessagesDataContent(TypedDict):
    type: str


class MessagesData(TypedDict):
    id: int
    role: str
    content: list[MessagesDataContent]


class Messages(TypedDict):
    object: Literal["list"]
    data: list[MessagesData]


class SessionAnswer(TypedDict):
    session_id: str
    message: ChatCompletionChoicesMessage
    usage: ResponseUsage
    note: NotRequired[str]


class CommandAnswerChoices(TypedDict):
    label: str
    command: str


class CommandAnswer(TypedDict):
    object: Literal["hermes.command"]
    session_id: str
    text: str
    choices: list[CommandAnswerChoices]
    usage: NotRequired[ResponseUsage]


class Model(TypedDict):
    id: str
    object: Literal["model"]
    created: int
    owned_by: str


class Models(TypedDict):
    object: Literal["list"]
    data: list[Model]


class NamedData(TypedDict):
    name: str
    description: str


class Named(TypedDict):
    object: Literal["list"]
    data: list[NamedData]


class ToolsetsDataTools(TypedDict):
    name: str


class ToolsetsData(TypedDict):
    name: str
    tools: list[ToolsetsDataTools]


class Toolsets(TypedDict):
    object: Literal["list"]
    data: list[ToolsetsData]


class Capabilities(TypedDict):
    object: str
    features: dict[str, Any]
    limits: dict[str, Any]


class Health(TypedDict):
    status: str


class OpenApi(TypedDict):
    openapi: str
    info: dict[str, Any]
    paths: dict[str, Any]
