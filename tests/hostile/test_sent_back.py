"""What a model once said wrongly is sent back in a way that its own and other services take."""

from hostile_dialects import check

from hermes_core.types import Message, Request, Text, ToolCall, ToolResult
from hermes_openai_wire.body import chat_body
from hermes_provider_anthropic.messages import Conversion, to_messages
from hermes_provider_openai.entry import load_entry


def said(text: str) -> Message:
    return Message(role="user", parts=(Text(text=text),))


def asked(name: str, call_id: str) -> list[Message]:
    """A call and its result."""
    call = ToolCall(id=call_id, name=name, arguments={})
    result = ToolResult(call_id=call_id, name=name, parts=(Text(text=f"result of {name}"),))
    return [Message(role="assistant", parts=(call,)), Message(role="tool", parts=(result,))]


def test_ids_that_began_anew_with_every_reply_are_each_used_once():
    history = [said("go"), *asked("one", "call_0"), *asked("two", "call_0"), said("on"), *asked("three", "call_0")]
    messages = to_messages([*history, said("end")], Conversion(key="x"))
    assert not check("/v1/messages", {"model": "m", "max_tokens": 9, "messages": messages})
    blocks = [block for message in messages for block in message["content"]]
    names = {block["id"]: block["name"] for block in blocks if block["type"] == "tool_use"}
    told = {b["tool_use_id"]: b["content"][0]["text"] for b in blocks if b["type"] == "tool_result"}
    assert told == {call_id: f"result of {name}" for call_id, name in names.items()}
    assert len(names) == 3
    shorter = to_messages([*history[:5], said("end")], Conversion(key="x"))
    assert shorter[:4] == messages[:4]  # what was sent before does not change


def test_names_that_services_refuse_are_not_sent_back():
    history = [said("go")]
    for number, name in enumerate(["", "two words", "名前", "x" * 300, "functions.run", "a\nb"]):
        history += asked(name, f"c{number}")
    body = chat_body(load_entry("custom"), "custom", Request(model="m", messages=(*history, said("on"))), "m", {})
    assert not check("/chat/completions", body)
