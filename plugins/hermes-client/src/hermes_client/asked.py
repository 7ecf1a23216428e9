"""What requests hold. Made of the API's OpenAPI document by generate.py."""

# ruff: noqa: D101 - their fields say what they are

from typing import Any, Literal, NotRequired, TypedDict

__all__ = [
    "ApprovalRequest",
    "ChatCompletionRequest",
    "ChatCompletionRequestMessagesAssistant",
    "ChatCompletionRequestMessagesAssistantToolCalls",
    "ChatCompletionRequestMessagesAssistantToolCallsFunction",
    "ChatCompletionRequestMessagesSystem",
    "ChatCompletionRequestMessagesSystemContent",
    "ChatCompletionRequestMessagesTool",
    "ChatCompletionRequestMessagesUser",
    "ChatCompletionRequestMessagesUserContentImageUrl",
    "ChatCompletionRequestMessagesUserContentImageUrlImageUrl",
    "ChatCompletionRequestResponseFormat",
    "ChatCompletionRequestStreamOptions",
    "ChatCompletionRequestToolChoice2AllowedTools",
    "ChatCompletionRequestToolChoice2AllowedToolsTools",
    "ChatCompletionRequestToolChoice2Function",
    "ChatCompletionRequestTools",
    "ChatCompletionRequestToolsFunction",
    "ChatCompletionRequestToolsFunctionParameters",
    "CommandRequest",
    "CountRequest",
    "ForkRequest",
    "MessageRequest",
    "MessageRequestMessages",
    "MessageRequestMessagesContentImage",
    "MessageRequestMessagesContentImageSource",
    "MessageRequestMessagesContentThinking",
    "MessageRequestMessagesContentToolResult",
    "MessageRequestMessagesContentToolUse",
    "MessageRequestOutputConfig",
    "MessageRequestThinking",
    "MessageRequestToolChoice",
    "MessageRequestTools",
    "ResponseRequest",
    "ResponseRequestInputAssistant",
    "ResponseRequestInputAssistantContent",
    "ResponseRequestInputFunctionCall",
    "ResponseRequestInputFunctionCallOutput",
    "ResponseRequestInputReasoning",
    "ResponseRequestInputUser",
    "ResponseRequestInputUserContentInputImage",
    "ResponseRequestInputUserContentInputText",
    "ResponseRequestReasoning",
    "ResponseRequestText",
    "ResponseRequestTools",
    "RunRequest",
    "SessionChatRequest",
    "SessionPatch",
    "SessionRequest",
]


class ChatCompletionRequestMessagesSystemContent(TypedDict):
    type: Literal["text"]
    text: str


class ChatCompletionRequestMessagesSystem(TypedDict):
    role: Literal["system", "developer"]
    content: str | list[ChatCompletionRequestMessagesSystemContent]


class ChatCompletionRequestMessagesUserContentImageUrlImageUrl(TypedDict):
    url: str
    detail: NotRequired[str | None]


class ChatCompletionRequestMessagesUserContentImageUrl(TypedDict):
    type: Literal["image_url"]
    image_url: ChatCompletionRequestMessagesUserContentImageUrlImageUrl


class ChatCompletionRequestMessagesUser(TypedDict):
    role: Literal["user"]
    content: str | list[ChatCompletionRequestMessagesSystemContent | ChatCompletionRequestMessagesUserContentImageUrl]


class ChatCompletionRequestMessagesAssistantToolCallsFunction(TypedDict):
    name: str
    arguments: str


class ChatCompletionRequestMessagesAssistantToolCalls(TypedDict):
    id: str
    type: Literal["function"]
    function: ChatCompletionRequestMessagesAssistantToolCallsFunction


class ChatCompletionRequestMessagesAssistant(TypedDict):
    role: Literal["assistant"]
    content: NotRequired[str | list[ChatCompletionRequestMessagesSystemContent] | None]
    tool_calls: NotRequired[list[ChatCompletionRequestMessagesAssistantToolCalls] | None]


class ChatCompletionRequestMessagesTool(TypedDict):
    role: Literal["tool"]
    tool_call_id: str
    content: str | list[ChatCompletionRequestMessagesSystemContent]


class ChatCompletionRequestStreamOptions(TypedDict):
    include_usage: NotRequired[bool | None]


class ChatCompletionRequestToolsFunctionParameters(TypedDict):
    type: NotRequired[Literal["object"]]


class ChatCompletionRequestToolsFunction(TypedDict):
    name: str
    description: NotRequired[str | None]
    parameters: NotRequired[ChatCompletionRequestToolsFunctionParameters | None]


class ChatCompletionRequestTools(TypedDict):
    type: Literal["function"]
    function: ChatCompletionRequestToolsFunction


class ChatCompletionRequestToolChoice2Function(TypedDict):
    name: NotRequired[str]


class ChatCompletionRequestToolChoice2AllowedToolsTools(TypedDict):
    name: NotRequired[str]
    function: NotRequired[ChatCompletionRequestToolChoice2Function]


class ChatCompletionRequestToolChoice2AllowedTools(TypedDict):
    tools: NotRequired[list[ChatCompletionRequestToolChoice2AllowedToolsTools]]
    mode: NotRequired[str]


class ChatCompletionRequestToolChoice2(TypedDict):
    type: str
    name: NotRequired[str]
    function: NotRequired[ChatCompletionRequestToolChoice2Function]
    allowed_tools: NotRequired[ChatCompletionRequestToolChoice2AllowedTools]
    tools: NotRequired[list[ChatCompletionRequestToolChoice2AllowedToolsTools]]
    mode: NotRequired[str]


class ChatCompletionRequestResponseFormat(TypedDict):
    type: Literal["text"]


class ChatCompletionRequest(TypedDict):
    model: str
    messages: list[
        ChatCompletionRequestMessagesSystem
        | ChatCompletionRequestMessagesUser
        | ChatCompletionRequestMessagesAssistant
        | ChatCompletionRequestMessagesTool
    ]
    stream: NotRequired[bool | None]
    stream_options: NotRequired[ChatCompletionRequestStreamOptions | None]
    n: NotRequired[int | None]
    tools: NotRequired[list[ChatCompletionRequestTools] | None]
    tool_choice: NotRequired[Literal["none", "auto", "required"] | ChatCompletionRequestToolChoice2 | None]
    parallel_tool_calls: NotRequired[bool | None]
    functions: NotRequired[list[Any] | None]
    reasoning_effort: NotRequired[Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None]
    response_format: NotRequired[ChatCompletionRequestResponseFormat | None]
    modalities: NotRequired[list[Literal["text"]] | None]
    logprobs: NotRequired[Literal[False] | None]
    metadata: NotRequired[dict[str, str] | None]


class ResponseRequestInputUserContentInputText(TypedDict):
    type: Literal["input_text", "text"]
    text: str


class ResponseRequestInputUserContentInputImage(TypedDict):
    type: Literal["input_image"]
    image_url: str


class ResponseRequestInputUser(TypedDict):
    type: NotRequired[Literal["message"]]
    role: Literal["user", "system", "developer"]
    content: str | list[ResponseRequestInputUserContentInputText | ResponseRequestInputUserContentInputImage]


class ResponseRequestInputAssistantContent(TypedDict):
    type: Literal["output_text", "text"]
    text: str


class ResponseRequestInputAssistant(TypedDict):
    type: NotRequired[Literal["message"]]
    role: Literal["assistant"]
    content: str | list[ResponseRequestInputAssistantContent]


class ResponseRequestInputFunctionCall(TypedDict):
    type: Literal["function_call"]
    call_id: str
    name: str
    arguments: str


class ResponseRequestInputFunctionCallOutput(TypedDict):
    type: Literal["function_call_output"]
    call_id: str
    output: str | list[ResponseRequestInputUserContentInputText | ResponseRequestInputUserContentInputImage]


class ResponseRequestInputReasoning(TypedDict):
    type: Literal["reasoning"]


class ResponseRequestConversation2(TypedDict):
    id: str


class ResponseRequestTools(TypedDict):
    type: Literal["function"]
    name: str
    description: NotRequired[str | None]
    parameters: NotRequired[ChatCompletionRequestToolsFunctionParameters | None]


class ResponseRequestText(TypedDict):
    format: NotRequired[ChatCompletionRequestResponseFormat | None]


class ResponseRequestReasoning(TypedDict):
    effort: NotRequired[Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None]
    summary: NotRequired[Literal["auto", "concise", "detailed"] | None]


class ResponseRequest(TypedDict):
    model: str
    input: (
        str
        | list[
            ResponseRequestInputUser
            | ResponseRequestInputAssistant
            | ResponseRequestInputFunctionCall
            | ResponseRequestInputFunctionCallOutput
            | ResponseRequestInputReasoning
        ]
    )
    instructions: NotRequired[str | None]
    previous_response_id: NotRequired[str | None]
    conversation: NotRequired[str | ResponseRequestConversation2 | None]
    store: NotRequired[bool | None]
    stream: NotRequired[bool | None]
    background: NotRequired[Literal[False] | None]
    include: NotRequired[list[str] | None]
    tools: NotRequired[list[ResponseRequestTools] | None]
    tool_choice: NotRequired[Literal["none", "auto", "required"] | ChatCompletionRequestToolChoice2 | None]
    parallel_tool_calls: NotRequired[bool | None]
    text: NotRequired[ResponseRequestText | None]
    reasoning: NotRequired[ResponseRequestReasoning | None]
    metadata: NotRequired[dict[str, str] | None]


class MessageRequestMessagesContentImageSource(TypedDict):
    type: Literal["base64"]
    media_type: Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
    data: str


class MessageRequestMessagesContentImage(TypedDict):
    type: Literal["image"]
    source: MessageRequestMessagesContentImageSource


class MessageRequestMessagesContentToolUse(TypedDict):
    type: Literal["tool_use"]
    id: str
    name: str
    input: dict[str, Any]


class MessageRequestMessagesContentToolResult(TypedDict):
    type: Literal["tool_result"]
    tool_use_id: str
    content: NotRequired[
        str | list[ChatCompletionRequestMessagesSystemContent | MessageRequestMessagesContentImage] | None
    ]
    is_error: NotRequired[bool | None]


class MessageRequestMessagesContentThinking(TypedDict):
    type: Literal["thinking", "redacted_thinking"]


class MessageRequestMessages(TypedDict):
    role: Literal["user", "assistant"]
    content: (
        str
        | list[
            ChatCompletionRequestMessagesSystemContent
            | MessageRequestMessagesContentImage
            | MessageRequestMessagesContentToolUse
            | MessageRequestMessagesContentToolResult
            | MessageRequestMessagesContentThinking
        ]
    )


class MessageRequestTools(TypedDict):
    type: NotRequired[Literal["custom"] | None]
    name: str
    description: NotRequired[str | None]
    input_schema: ChatCompletionRequestToolsFunctionParameters


class MessageRequestToolChoice(TypedDict):
    type: Literal["auto", "any", "tool", "none"]
    name: NotRequired[str]
    disable_parallel_tool_use: NotRequired[bool]


class MessageRequestThinking(TypedDict):
    type: Literal["enabled", "adaptive", "between_tools", "disabled"]
    budget_tokens: NotRequired[int]
    display: NotRequired[Literal["summarized", "omitted"] | None]


class MessageRequestOutputConfig(TypedDict):
    effort: NotRequired[Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None]


class MessageRequest(TypedDict):
    model: str
    messages: list[MessageRequestMessages]
    system: NotRequired[str | list[ChatCompletionRequestMessagesSystemContent] | None]
    tools: NotRequired[list[MessageRequestTools] | None]
    tool_choice: NotRequired[MessageRequestToolChoice | None]
    max_tokens: int
    stream: NotRequired[bool | None]
    thinking: NotRequired[MessageRequestThinking | None]
    output_config: NotRequired[MessageRequestOutputConfig | None]


class CountRequest(TypedDict):
    model: str
    messages: list[MessageRequestMessages]
    system: NotRequired[str | list[ChatCompletionRequestMessagesSystemContent] | None]
    tools: NotRequired[list[MessageRequestTools] | None]
    tool_choice: NotRequired[MessageRequestToolChoice | None]


class RunRequest(TypedDict):
    input: str | list[ResponseRequestInputUserContentInputText | ResponseRequestInputUserContentInputImage]
    model: NotRequired[str | None]
    instructions: NotRequired[str | None]
    session_id: NotRequired[str | None]
    previous_response_id: NotRequired[str | None]
    conversation_history: NotRequired[
        list[ChatCompletionRequestMessagesUser | ChatCompletionRequestMessagesAssistant] | None
    ]
    metadata: NotRequired[dict[str, str] | None]


class ApprovalRequest(TypedDict):
    choice: Literal["once", "session", "always", "deny"]
    approval_id: NotRequired[str | None]
    reason: NotRequired[str | None]


class SessionRequest(TypedDict):
    id: NotRequired[str | None]
    title: NotRequired[str | None]
    system: NotRequired[str | None]


class SessionPatch(TypedDict):
    title: str


class ForkRequest(TypedDict):
    title: NotRequired[str | None]


class SessionChatRequest(TypedDict):
    input: str | list[ResponseRequestInputUserContentInputText | ResponseRequestInputUserContentInputImage]
    system: NotRequired[str | None]
    model: NotRequired[str | None]


class CommandRequest(TypedDict):
    command: str
