"""What requests and answers look like, as JSON Schema: checked by ``schema``, shown by ``openapi``."""

from typing import Any

__all__ = ["ANSWERS", "BODIES", "LIMITS", "TEXT"]

TEXT, ITEMS, LONG = 1_000_000, 1_000, 1_000_000
LIMITS = {"body_bytes": 10_000_000, "text_characters": TEXT, "list_items": ITEMS}
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")  # how hard a model may think, as Hermes names it
_ID = r"^[A-Za-z0-9][A-Za-z0-9._:@-]{0,99}$"

JsonSchema = dict[str, Any]


def _object(required: str = "", /, **properties: JsonSchema) -> JsonSchema:
    return {"type": "object", "properties": properties} | ({"required": required.split()} if required else {})


def _list(items: JsonSchema, least: int = 0) -> JsonSchema:
    return {"type": "array", "items": items, "maxItems": ITEMS} | ({"minItems": least} if least else {})


def _any(*schemas: JsonSchema) -> JsonSchema:
    return {"anyOf": list(schemas)}


def _maybe(schema: JsonSchema) -> JsonSchema:
    return {**schema, "type": [schema["type"], "null"]} if "type" in schema else _any(schema, {"type": "null"})


def _one(*values: object) -> JsonSchema:
    return {"enum": list(values)}


def _text(most: int = TEXT) -> JsonSchema:
    return {"type": "string", "maxLength": most}


_string, _count, _flag = {"type": "string"}, {"type": "integer", "minimum": 0}, {"type": "boolean"}
_words = {"type": "string", "minLength": 1, "maxLength": TEXT}
_name = {"type": "string", "minLength": 1, "maxLength": 200}
_id = {"type": "string", "pattern": _ID}
_title = {"type": "string", "maxLength": 100}
_metadata = _maybe({"type": "object", "additionalProperties": _text(512), "maxProperties": 16})
_data_url = r"^data:image/(png|jpeg|gif|webp);base64,"

# --- chat completions -------------------------------------------------------------------------------------------------

_image_url = _object("url", url={"type": "string", "pattern": _data_url}, detail=_maybe(_string))
_part = _any(
    _object("type text", type=_one("text"), text=_text()),
    _object("type image_url", type=_one("image_url"), image_url=_image_url),
)
_said = _object("type text", type=_one("text"), text=_text(LONG))
_call = _object(
    "id type function",
    id=_text(200),
    type=_one("function"),
    function=_object("name arguments", name=_text(200), arguments=_text(LONG)),
)
_system = _object(
    "role content",
    role=_one("system", "developer"),
    content=_any(_text(), _list(_object("type text", type=_one("text"), text=_text()), 1)),
)
_user = _object("role content", role=_one("user"), content=_any(_text(), _list(_part, 1)))
_assistant = _object(
    "role",
    role=_one("assistant"),
    content=_maybe(_any(_text(LONG), _list(_said))),
    tool_calls=_maybe(_list(_call)),
)
_result = _object(
    "role tool_call_id content",
    role=_one("tool"),
    tool_call_id=_text(200),
    content=_any(_text(LONG), _list(_said)),
)
_effort = _maybe(_one(*EFFORTS))
_nothing = _maybe({"type": "array", "maxItems": 0})
_tool_name = {"type": "string", "pattern": r"^[a-zA-Z0-9_-]{1,128}$"}
_schema = _object(type=_one("object"))
_parameters = _maybe(_schema)
_function = _object("name", name=_tool_name, description=_maybe(_text()), parameters=_parameters)
_picked = _object(name=_string, function=_object(name=_string))
_pick = {"tools": _list(_picked), "mode": _string}
_choice_of = _any(
    _one("none", "auto", "required"),
    _object(
        "type", type=_string, name=_string, function=_object(name=_string), allowed_tools=_object(**_pick), **_pick
    ),
)
_chat = _object(
    "model messages",
    model=_name,
    messages=_list(_any(_system, _user, _assistant, _result), 1),
    stream=_maybe(_flag),
    stream_options=_maybe(_object(include_usage=_maybe(_flag))),
    n=_maybe({"type": "integer", "minimum": 1, "maximum": 1}),
    tools=_maybe(_list(_object("type function", type=_one("function"), function=_function))),
    tool_choice=_maybe(_choice_of),
    parallel_tool_calls=_maybe(_flag),
    functions=_nothing,
    reasoning_effort=_effort,
    response_format=_maybe(_object("type", type=_one("text"))),
    modalities=_maybe(_list(_one("text"))),
    logprobs=_maybe(_one(False)),
    metadata=_metadata,
)

# --- responses --------------------------------------------------------------------------------------------------------

_input_part = _any(
    _object("type text", type=_one("input_text", "text"), text=_text()),
    _object("type image_url", type=_one("input_image"), image_url={"type": "string", "pattern": _data_url}),
)
_output_part = _object("type text", type=_one("output_text", "text"), text=_text(LONG))
_item = _any(
    _object(
        "role content",
        type=_one("message"),
        role=_one("user", "system", "developer"),
        content=_any(_text(), _list(_input_part, 1)),
    ),
    _object(
        "role content",
        type=_one("message"),
        role=_one("assistant"),
        content=_any(_text(LONG), _list(_output_part)),
    ),
    _object(
        "type call_id name arguments",
        type=_one("function_call"),
        call_id=_text(200),
        name=_text(200),
        arguments=_text(LONG),
    ),
    _object(
        "type call_id output",
        type=_one("function_call_output"),
        call_id=_text(200),
        output=_any(_text(LONG), _list(_input_part)),
    ),
    _object("type", type=_one("reasoning")),
)
_response = _object(
    "model input",
    model=_name,
    input=_any(_words, _list(_item, 1)),
    instructions=_maybe(_text()),
    previous_response_id=_maybe(_name),
    conversation=_maybe(_any(_id, _object("id", id=_id))),
    store=_maybe(_flag),
    stream=_maybe(_flag),
    background=_maybe(_one(False)),
    include=_maybe(_list(_string)),
    tools=_maybe(
        _list(
            _object(
                "type name",
                type=_one("function"),
                name=_tool_name,
                description=_maybe(_text()),
                parameters=_parameters,
            )
        )
    ),
    tool_choice=_maybe(_choice_of),
    parallel_tool_calls=_maybe(_flag),
    text=_maybe(_object(format=_maybe(_object("type", type=_one("text"))))),
    reasoning=_maybe(_object(effort=_effort, summary=_maybe(_one("auto", "concise", "detailed")))),
    metadata=_metadata,
)

# --- messages ---------------------------------------------------------------------------------------------------------

_block_text = _object("type text", type=_one("text"), text=_text(LONG))
_source = _object(
    "type media_type data",
    type=_one("base64"),
    media_type=_one("image/png", "image/jpeg", "image/gif", "image/webp"),
    data=_string,
)
_block_image = _object("type source", type=_one("image"), source=_source)
_block = _any(
    _block_text,
    _block_image,
    _object("type id name input", type=_one("tool_use"), id=_text(200), name=_text(200), input={"type": "object"}),
    _object(
        "type tool_use_id",
        type=_one("tool_result"),
        tool_use_id=_text(200),
        content=_maybe(_any(_text(LONG), _list(_any(_block_text, _block_image)))),
        is_error=_maybe(_flag),
    ),
    _object("type", type=_one("thinking", "redacted_thinking")),
)
_counted = {
    "model": _name,
    "messages": _list(_object("role content", role=_one("user", "assistant"), content=_any(_text(), _list(_block))), 1),
    "system": _maybe(_any(_text(), _list(_block_text))),
    "tools": _maybe(
        _list(
            _object(
                "name input_schema",
                type=_maybe(_one("custom")),
                name=_tool_name,
                description=_maybe(_text()),
                input_schema=_schema,
            )
        )
    ),
    "tool_choice": _maybe(
        _object("type", type=_one("auto", "any", "tool", "none"), name=_string, disable_parallel_tool_use=_flag)
    ),
}
_message_request = _object(
    "model messages max_tokens",
    **_counted,
    max_tokens={"type": "integer", "minimum": 1},
    stream=_maybe(_flag),
    thinking=_maybe(
        _object(
            "type",
            type=_one("enabled", "adaptive", "between_tools", "disabled"),
            budget_tokens={"type": "integer", "minimum": 1},
            display=_maybe(_one("summarized", "omitted")),
        )
    ),
    output_config=_maybe(_object(effort=_effort)),
)

# --- runs and sessions ------------------------------------------------------------------------------------------------

_input = _any(_words, _list(_input_part, 1))
_run = _object(
    "input",
    input=_input,
    model=_maybe(_name),
    instructions=_maybe(_text()),
    session_id=_maybe(_id),
    previous_response_id=_maybe(_name),
    conversation_history=_maybe(_list(_any(_user, _assistant))),
    metadata=_metadata,
)
_approval = _object(
    "choice", choice=_one("once", "session", "always", "deny"), approval_id=_maybe(_name), reason=_maybe(_text(1000))
)
_session = _object(id=_maybe(_id), title=_maybe(_title), system=_maybe(_text()))
_retitle = _object("title", title=_title)
_fork = _object(title=_maybe(_title))
_say = _object("input", input=_input, system=_maybe(_text()), model=_maybe(_name))

BODIES: dict[str, JsonSchema] = {
    "ChatCompletionRequest": _chat,
    "ResponseRequest": _response,
    "MessageRequest": _message_request,
    "CountRequest": _object("model messages", **_counted),
    "RunRequest": _run,
    "ApprovalRequest": _approval,
    "SessionRequest": _session,
    "SessionPatch": _retitle,
    "ForkRequest": _fork,
    "SessionChatRequest": _say,
    "CommandRequest": _object("command", command={"type": "string", "pattern": r"^\s*/\S", "maxLength": 65536}),
}

# --- answers ----------------------------------------------------------------------------------------------------------

_number = {"type": "number"}
_usage = _object(
    "prompt_tokens completion_tokens total_tokens", prompt_tokens=_count, completion_tokens=_count, total_tokens=_count
)
_tokens = _object(
    "input_tokens output_tokens total_tokens", input_tokens=_count, output_tokens=_count, total_tokens=_count
)
_error = _object("message type param code", message=_string, type=_string, param=_maybe(_string), code=_maybe(_string))
_answered = _object(
    "role content",
    role=_one("assistant"),
    content=_maybe(_string),
    reasoning_content=_string,
    refusal=_maybe(_string),
    tool_calls=_list(_call),
)
_choice = _object("index message finish_reason", index=_count, message=_answered, finish_reason=_string)
_described = _object(
    "id object title origin created_at model",
    id=_string,
    object=_one("hermes.session"),
    title=_string,
    origin=_string,
    created_at=_number,
    updated_at=_number,
    model=_string,
    messages=_count,
    preview=_string,
    state=_string,
)
_message = _object("id role content", id=_count, role=_string, content=_list(_object("type", type=_string)))
_about_run = _object(
    "object run_id status created_at session_id output usage error",
    object=_one("hermes.run"),
    run_id=_string,
    status=_one("queued", "running", "waiting_for_approval", "completed", "failed", "cancelled", "interrupted"),
    created_at=_number,
    session_id=_maybe(_string),
    model=_string,
    output=_maybe(_string),
    usage=_maybe(_tokens),
    error=_maybe(_object("message code", message=_string, code=_string)),
    approvals=_list(_object("id subject choices", id=_string, subject=_string, choices=_list(_string))),
)

_model = _object("id object created owned_by", id=_string, object=_one("model"), created=_count, owned_by=_string)


def _listed(one: JsonSchema) -> JsonSchema:
    return _object("object data", object=_one("list"), data={"type": "array", "items": one})


ANSWERS: dict[str, JsonSchema] = {
    "Error": _object("error", error=_error),
    "Event": _object("data", data=_string, event=_string),  # of a stream: `data` is JSON, or [DONE]
    "ChatCompletion": _object(
        "id object created model choices usage",
        id=_string,
        object=_one("chat.completion"),
        created=_count,
        model=_string,
        choices={"type": "array", "items": _choice},
        usage=_usage,
    ),
    "Response": _object(
        "id object created_at status model output",
        id=_string,
        object=_one("response"),
        created_at=_number,
        status=_one("in_progress", "completed", "failed", "incomplete", "cancelled"),
        model=_string,
        output={"type": "array", "items": _object("type id", type=_string, id=_string)},
        usage=_maybe(_tokens),
        error=_maybe(_object("code message", code=_string, message=_string)),
    ),
    "InputItems": _object(
        "object data first_id last_id has_more",
        object=_one("list"),
        data={"type": "array", "items": _object("type id", type=_string, id=_string)},
        first_id=_maybe(_string),
        last_id=_maybe(_string),
        has_more=_flag,
    ),
    "MessageAnswer": _object(
        "id type role model content stop_reason usage",
        id=_string,
        type=_one("message"),
        role=_one("assistant"),
        model=_string,
        content={"type": "array", "items": _object("type", type=_one("thinking", "text", "tool_use"))},
        stop_reason=_one("end_turn", "tool_use", "max_tokens"),
        usage=_object("input_tokens output_tokens", input_tokens=_count, output_tokens=_count),
    ),
    "MessageError": _object(
        "type error",
        type=_one("error"),
        error=_object("type message", type=_string, message=_string),
    ),
    "Counted": _object("input_tokens", input_tokens=_count),
    "Deleted": _object("id object deleted", id=_string, object=_string, deleted=_flag),
    "Run": _about_run,
    "RunStarted": _object("run_id status", run_id=_string, status=_string, session_id=_maybe(_string)),
    "Settled": _object("run_id approval_id settled", run_id=_string, approval_id=_string, settled=_flag),
    "Session": _described,
    "Sessions": _listed(_described),
    "Messages": _listed(_message),
    "SessionAnswer": _object(
        "session_id message usage", session_id=_string, message=_answered, usage=_tokens, note=_string
    ),
    "CommandAnswer": _object(
        "object session_id text choices",
        object=_one("hermes.command"),
        session_id=_string,
        text=_string,
        choices=_list(_object("label command", label=_string, command=_string)),
        usage=_tokens,
    ),
    "Model": _model,
    "Models": _listed(_model),
    "Named": _listed(_object("name description", name=_string, description=_string)),
    "Toolsets": _listed(
        _object("name tools", name=_string, tools=_listed(_object("name", name=_string))["properties"]["data"])
    ),
    "Capabilities": _object(
        "object features limits", object=_string, features={"type": "object"}, limits={"type": "object"}
    ),
    "Health": _object("status", status=_string),
    "OpenApi": _object("openapi info paths", openapi=_string, info={"type": "object"}, paths={"type": "object"}),
}
