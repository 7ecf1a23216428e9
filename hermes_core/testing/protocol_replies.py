"""What model services send: whole replies, events and errors with the fields that they really have.

One ``Said`` becomes a reply of OpenAI's chat completions or Responses, or of Anthropic's Messages.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import Factory

from hermes_core.testing.protocol_rules import Refusal
from hermes_core.values import frozen

__all__ = ["Said", "SaidCall", "error_of", "events_of", "reply_of", "stream_of"]

Event = dict[str, Any]
_CREATED = 1_767_225_600
_ERRORS = {
    400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
    413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 529: "overloaded_error",
}  # fmt: skip


@frozen
class SaidCall:
    """One call of a tool: its name, its arguments as JSON text, and the id that results name."""

    name: str
    arguments: str = "{}"
    id: str = "call_1"


@frozen
class Said:
    """What the model says: text in ``pieces`` as they are streamed, calls, or both; ``thinking`` comes first."""

    pieces: Sequence[str] = ()
    calls: Sequence[SaidCall] = ()
    thinking: str = ""
    model: str = "m"
    usage: Mapping[str, int] = Factory(lambda: {"input": 9, "output": 3, "cached": 0, "reasoning": 0})

    @property
    def text(self) -> str:
        """The text as a whole."""
        return "".join(self.pieces)


def reply_of(protocol: str, said: Said) -> Event:
    """The body of a reply that is not streamed."""
    return {"chat": _chat, "responses": _response, "messages": _message}[protocol](said)


def events_of(protocol: str, said: Said, *, usage: bool = True) -> list[Event]:
    """The events of a streamed reply; ``usage`` is whether the chat protocol was asked to tell it."""
    if protocol == "chat":
        return _chat_events(said, usage)
    return _response_events(said) if protocol == "responses" else _message_events(said)


def stream_of(protocol: str, events: Iterable[Any]) -> bytes:
    """Events as the protocol writes them; texts among them stay as they are."""
    made = []
    for event in events:
        if isinstance(event, str):
            made.append(event)
            continue
        name = f"event: {event.get('type')}\n" if protocol != "chat" and isinstance(event, dict) else ""
        made.append(f"{name}data: {json.dumps(event)}\n\n")
    return ("".join(made) + ("data: [DONE]\n\n" if protocol == "chat" else "")).encode("utf-8", "replace")


def error_of(protocol: str, refusal: Refusal, *, kind: str = "") -> tuple[int, Event, dict[str, str]]:
    """Status, body and headers of a refusal; ``kind`` is another ``type`` than the status has."""
    if protocol == "messages":
        held = {"type": kind or _ERRORS.get(refusal.status, "invalid_request_error"), "message": refusal.message}
        name = "req_011CFakeRequest"
        return refusal.status, {"type": "error", "error": held, "request_id": name}, {"request-id": name}
    held = {"message": refusal.message, "type": kind or "invalid_request_error"}
    body = {"error": {**held, "param": refusal.param, "code": refusal.code}}
    return refusal.status, body, {"x-request-id": "req_f4ke"}


# --- chat completions ---------------------------------------------------------------------------------------------


def _chat_usage(usage: Mapping[str, int]) -> Event:
    more = {"audio_tokens": 0, "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0}
    return {
        "prompt_tokens": usage["input"],
        "completion_tokens": usage["output"],
        "total_tokens": usage["input"] + usage["output"],
        "prompt_tokens_details": {"cached_tokens": usage["cached"], "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": usage["reasoning"], **more},
    }


def _chat_base(said: Said, kind: str) -> Event:
    base = {"id": "chatcmpl-f4ke", "object": kind, "created": _CREATED, "model": said.model}
    return {**base, "service_tier": "default", "system_fingerprint": "fp_f4ke"}


def _function(call: SaidCall) -> Event:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _chat(said: Said) -> Event:
    calls = [_function(call) for call in said.calls]
    message: Event = {
        "role": "assistant",
        "content": said.text or (None if calls else ""),
        "refusal": None,
        "annotations": [],
    }
    message |= {"tool_calls": calls} if calls else {}
    finish = "tool_calls" if calls else "stop"
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
    return {**_chat_base(said, "chat.completion"), "choices": [choice], "usage": _chat_usage(said.usage)}


def _chat_events(said: Said, usage: bool) -> list[Event]:
    base = _chat_base(said, "chat.completion.chunk")
    base |= {"usage": None} if usage else {}

    def event(delta: Event, finish: str | None = None) -> Event:
        return {**base, "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]}

    only_calls = bool(said.calls) and not said.pieces
    found = [event({"role": "assistant", "content": None if only_calls else "", "refusal": None})]
    found += [event({"content": piece}) for piece in said.pieces]
    for index, call in enumerate(said.calls):
        begin = _function(SaidCall(name=call.name, arguments="", id=call.id))
        found.append(event({"tool_calls": [{"index": index, **begin}]}))
        for piece in _halves(call.arguments):
            found.append(event({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}))
    found.append(event({}, "tool_calls" if said.calls else "stop"))
    return [*found, {**base, "choices": [], "usage": _chat_usage(said.usage)}] if usage else found


# --- responses ----------------------------------------------------------------------------------------------------


def _response(said: Said) -> Event:
    counts = said.usage
    usage = {
        "input_tokens": counts["input"],
        "input_tokens_details": {"cached_tokens": counts["cached"], "cache_write_tokens": 0},
        "output_tokens": counts["output"],
        "output_tokens_details": {"reasoning_tokens": counts["reasoning"]},
        "total_tokens": counts["input"] + counts["output"],
    }
    return {
        "id": "resp_f4ke", "object": "response", "created_at": _CREATED, "status": "completed", "background": False,
        "error": None, "incomplete_details": None, "instructions": None, "max_output_tokens": None,
        "max_tool_calls": None, "model": said.model, "output": _items(said), "parallel_tool_calls": True,
        "previous_response_id": None, "prompt_cache_key": None, "reasoning": {"effort": None, "summary": None},
        "safety_identifier": None, "service_tier": "default", "store": False, "temperature": 1.0,
        "text": {"format": {"type": "text"}, "verbosity": "medium"}, "tool_choice": "auto", "tools": [],
        "top_logprobs": 0, "top_p": 1.0, "truncation": "disabled", "usage": usage, "user": None, "metadata": {},
    }  # fmt: skip


def _items(said: Said) -> list[Event]:
    found: list[Event] = []
    if said.thinking:
        summary = [{"type": "summary_text", "text": said.thinking}]
        found.append({"id": "rs_f4ke", "type": "reasoning", "summary": summary, "encrypted_content": "ZmFrZQ=="})
    if said.pieces:
        part = {"type": "output_text", "text": said.text, "annotations": [], "logprobs": []}
        held = {"status": "completed", "content": [part], "role": "assistant"}
        found.append({"id": "msg_f4ke", "type": "message", **held})
    for number, call in enumerate(said.calls):
        held = {"name": call.name, "arguments": call.arguments, "call_id": call.id}
        found.append({"id": f"fc_f4ke{number}", "type": "function_call", "status": "completed", **held})
    return found


def _response_events(said: Said) -> list[Event]:
    whole = _response(said)
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    found: list[Event] = [{"type": f"response.{word}", "response": begun} for word in ("created", "in_progress")]
    for index, item in enumerate(whole["output"]):
        at = {"item_id": item["id"], "output_index": index}
        name, empty = {"reasoning": ("summary", []), "message": ("content", [])}.get(item["type"], ("arguments", ""))
        started = {**item, name: empty, **({"status": "in_progress"} if "status" in item else {})}
        found.append({"type": "response.output_item.added", "output_index": index, "item": started})
        inner = {"reasoning": _summarised, "message": _written, "function_call": _called}[item["type"]]
        found += [{"type": f"response.{kind}", **at, **more} for kind, more in inner(said, item)]
        found.append({"type": "response.output_item.done", "output_index": index, "item": item})
    found.append({"type": "response.completed", "response": whole})
    return [{**event, "sequence_number": number} for number, event in enumerate(found)]


def _summarised(said: Said, item: Event) -> list[tuple[str, Event]]:
    part, at = {"type": "summary_text", "text": said.thinking}, {"summary_index": 0}
    return [
        ("reasoning_summary_part.added", {**at, "part": {**part, "text": ""}}),
        ("reasoning_summary_text.delta", {**at, "delta": said.thinking}),
        ("reasoning_summary_text.done", {**at, "text": said.thinking}),
        ("reasoning_summary_part.done", {**at, "part": part}),
    ]


def _written(said: Said, item: Event) -> list[tuple[str, Event]]:
    [part], at = item["content"], {"content_index": 0}
    return [
        ("content_part.added", {**at, "part": {**part, "text": ""}}),
        *(("output_text.delta", {**at, "delta": piece, "logprobs": []}) for piece in said.pieces),
        ("output_text.done", {**at, "text": said.text, "logprobs": []}),
        ("content_part.done", {**at, "part": part}),
    ]


def _called(said: Said, item: Event) -> list[tuple[str, Event]]:
    pieces = [("function_call_arguments.delta", {"delta": piece}) for piece in _halves(item["arguments"])]
    return [*pieces, ("function_call_arguments.done", {"name": item["name"], "arguments": item["arguments"]})]


# --- Anthropic's messages -----------------------------------------------------------------------------------------


def _counts(said: Said, output: int) -> Event:
    cache = {"cache_creation_input_tokens": 0, "cache_read_input_tokens": said.usage["cached"]}
    return {"input_tokens": said.usage["input"], **cache, "output_tokens": output}


def _message(said: Said) -> Event:
    blocks: list[Event] = []
    if said.thinking:
        blocks.append({"type": "thinking", "thinking": said.thinking, "signature": "ZmFrZQ=="})
    if said.pieces:
        blocks.append({"type": "text", "text": said.text, "citations": None})
    used = ((call, json.loads(call.arguments)) for call in said.calls)
    blocks += [{"type": "tool_use", "id": call.id, "name": call.name, "input": given} for call, given in used]
    made = {"cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0}}
    usage = {**_counts(said, said.usage["output"]), **made, "service_tier": "standard"}
    stop = {"stop_reason": "tool_use" if said.calls else "end_turn", "stop_sequence": None}
    head = {"id": "msg_f4ke", "type": "message", "role": "assistant", "model": said.model}
    return {**head, "content": blocks, **stop, "usage": usage}


def _message_events(said: Said) -> list[Event]:
    whole = _message(said)
    begun = {**whole, "content": [], "stop_reason": None, "usage": {**whole["usage"], "output_tokens": 1}}
    found: list[Event] = [{"type": "message_start", "message": begun}]
    for index, block in enumerate(whole["content"]):
        start, deltas = _parts(said, block)
        found.append({"type": "content_block_start", "index": index, "content_block": start})
        found += [{"type": "ping"}] if not index else []
        found += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        found.append({"type": "content_block_stop", "index": index})
    end = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    found.append({"type": "message_delta", "delta": end, "usage": _counts(said, said.usage["output"])})
    return [*found, {"type": "message_stop"}]


def _parts(said: Said, block: Event) -> tuple[Event, list[Event]]:
    """How a block begins, and how the rest of it comes."""
    if block["type"] == "text":
        return {**block, "text": ""}, [{"type": "text_delta", "text": piece} for piece in said.pieces]
    if block["type"] == "thinking":
        spoken = {"type": "thinking_delta", "thinking": block["thinking"]}
        return {**block, "thinking": "", "signature": ""}, [
            spoken,
            {"type": "signature_delta", "signature": block["signature"]},
        ]
    arguments = next(call.arguments for call in said.calls if call.id == block["id"])
    pieces = ("", *_halves(arguments))
    return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]


def _halves(text: str) -> tuple[str, ...]:
    """Arguments come in more than one piece."""
    return (text[: len(text) // 2], text[len(text) // 2 :]) if len(text) > 1 else (text,)
