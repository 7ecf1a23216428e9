"""What is sent: messages, tools, options, and what a service wants to see again."""

import base64

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.types import Blob, Message, Reasoning, Request, Text, ToolCall, ToolResult, ToolSpec
from hermes_openai_wire.messages import Conversion, Written, encoded, to_messages
from hermes_provider_openai.entry import load_entry

END = 'data: {"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
PIXEL = b"\x89PNG pixel"
URL = "data:image/png;base64," + base64.b64encode(PIXEL).decode()


@pytest.fixture
def sent(service, at, ask, reply):
    """``await sent("deepseek", request, …)``: the body the service got."""

    async def send(name: str, request: Request, **fields: object) -> dict:
        service.always = reply.sse(END)
        await ask(at(name, **fields), request)
        return service.asked[-1].body

    return send


def talk(*messages: Message, **fields: object) -> Request:
    return Request(model=fields.pop("model", "m"), messages=messages, **fields)


def user(*parts: object) -> Message:
    return Message(role="user", parts=parts)


def called(call_id: str = "call_1", meta: dict | None = None, text: str = "", thought: str = "") -> list[Message]:
    parts = [Reasoning(text=thought)] if thought else []
    parts += [Text(text=text)] if text else []
    call = ToolCall(id=call_id, name="look", arguments={"at": "世界"})
    result = ToolResult(
        call_id=call_id, name="look", parts=(Text(text="seen"), Blob(media_type="image/png", data=PIXEL))
    )
    return [
        user(Text(text="go")),
        Message(role="assistant", parts=(*parts, call), meta=meta or {}),
        Message(role="tool", parts=(result,)),
    ]


async def test_a_conversation_has_the_shape_of_the_protocol(sent):
    spec = ToolSpec(name="look", description="Look.", schema={"type": "object", "properties": {}})
    system = Message(role="system", parts=(Text(text="Be kind."),))
    body = await sent("custom", talk(system, *called(), tools=(spec,)))
    assert body["messages"] == [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"at":"世界"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "seen"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Picture returned by look:"},
                {"type": "image_url", "image_url": {"url": URL}},
            ],
        },
    ]
    function = {"name": "look", "description": "Look.", "parameters": {"type": "object", "properties": {}}}
    assert body["tools"] == [{"type": "function", "function": function}]
    assert body["stream"] is True
    assert body["stream_options"] == {"include_usage": True}


async def test_pictures_and_files_are_sent_or_named(sent, tmp_path):
    picture = tmp_path / "p.png"
    picture.write_bytes(PIXEL)
    message = user(
        Text(text="see"),
        Blob(media_type="image/png", path=str(picture)),
        Blob(media_type="image/png", path=str(tmp_path / "gone.png")),
        Blob(media_type="application/pdf", data=b"x", name="a.pdf"),
    )
    content = (await sent("custom", talk(message)))["messages"][0]["content"]
    assert content[1] == {"type": "image_url", "image_url": {"url": URL}}
    assert "cannot be read" in content[2]["text"]
    assert "a.pdf" in content[3]["text"]


async def test_content_is_never_empty(sent):
    call, result = ToolCall(id="c", name="look", arguments={}), ToolResult(call_id="c", name="look", parts=())
    calling, told = Message(role="assistant", parts=(call,)), Message(role="tool", parts=(result,))
    body = await sent("custom", talk(user(), Message(role="assistant", parts=()), user(), calling, told))
    *said, asking, seen = body["messages"]
    assert all(message["content"] for message in (*said, seen))
    assert [message["role"] for message in said] == ["user", "assistant", "user"]
    assert asking["tool_calls"]


async def test_reasoning_goes_back_only_to_who_wrote_it_and_wants_it(sent):
    kept = {"deepseek": {"field": "reasoning_content"}}
    own = (await sent("deepseek", talk(*called(meta=kept, thought="hm"))))["messages"][1]
    assert own["reasoning_content"] == "hm"
    foreign = (await sent("deepseek", talk(*called(meta={"x": {"field": "reasoning"}}, thought="hm"))))["messages"][1]
    assert foreign["reasoning_content"] == " "
    assert "reasoning_content" not in (await sent("custom", talk(*called(meta=kept, thought="hm"))))["messages"][1]
    details = [{"type": "reasoning.text", "text": "hm", "signature": "S"}]
    routed = (await sent("openrouter", talk(*called(meta={"openrouter": {"reasoning_details": details}}))))["messages"]
    assert routed[1]["reasoning_details"] == details


async def test_what_a_reply_kept_comes_back_byte_for_byte(service, at, ask, reply):
    details = '[{"type":"reasoning.encrypted","data":"AbC=","index":0},{"type":"reasoning.encrypted","data":"DeF="}]'
    service.always = reply.sse(
        'data: {"choices":[{"index":0,"delta":{"content":"a","reasoning_details":' + details + "}}]}\n\n" + END
    )
    provider = at("openrouter")
    heard = await ask(provider)
    again = Message(role="assistant", parts=(Text(text=heard.text),), meta=heard.done[0].meta)
    await ask(provider, talk(user(Text(text="a")), again, user(Text(text="b"))))
    assert details.encode() in service.asked[-1].raw


async def test_signatures_of_calls_go_back(sent):
    go, calling, told = called()
    signed = evolve(calling.parts[-1], meta={"custom": {"extra_content": {"google": {"thought_signature": "S"}}}})
    body = await sent("custom", talk(go, evolve(calling, parts=(signed,)), told))
    assert body["messages"][1]["tool_calls"][0]["extra_content"] == {"google": {"thought_signature": "S"}}


async def test_options_are_spelled_as_each_service_wants_them(sent):
    asked = {"max_tokens": 100_000, "temperature": 0.5, "effort": "max"}
    hello = user(Text(text="hi"))
    openai = await sent("openai", talk(hello, model="gpt-5", options=asked))
    assert (openai["max_completion_tokens"], openai["reasoning_effort"]) == (100_000, "xhigh")
    assert "temperature" not in openai
    kimi = await sent("kimi", talk(hello, options=asked))
    assert (kimi["max_tokens"], kimi["thinking"], "temperature" in kimi) == (32_000, {"type": "enabled"}, False)
    router = await sent("openrouter", talk(hello, options=asked))
    assert (router["reasoning"], router["temperature"]) == ({"effort": "max"}, 0.5)
    custom = await sent("custom", talk(hello, options=asked))
    assert custom["max_tokens"] == 65_536
    assert "max_tokens" not in await sent("custom", talk(hello))


async def test_reasoning_models_of_openai_get_the_developer_role(sent):
    system = Message(role="system", parts=(Text(text="s"),))
    for model, role in (("gpt-5-mini", "developer"), ("o3", "developer"), ("gpt-4.1", "system")):
        assert (await sent("openai", talk(system, model=model)))["messages"][0]["role"] == role


async def test_mistral_gets_ids_of_nine_and_pictures_in_place(sent):
    body = await sent("mistral", talk(*called("call_abcdefghijkl")))
    short = body["messages"][1]["tool_calls"][0]["id"]
    assert len(short) == 9
    assert short.isalnum()
    assert body["messages"][2]["tool_call_id"] == short
    assert body["messages"][2]["content"][1]["type"] == "image_url"


async def test_the_users_headers_and_extra_body_win(service, sent):
    body = await sent(
        "custom",
        talk(user(Text(text="a"))),
        headers={"X-Team": "7", "Authorization": "Token t"},
        extra_body={"stream_options": None, "top_k": 5},
    )
    assert body["top_k"] == 5
    assert "stream_options" not in body
    assert service.asked[-1].headers["x-team"] == "7"
    assert service.asked[-1].headers["authorization"] == "Token t"


async def test_lone_surrogates_do_not_stop_a_request(sent):
    assert (await sent("custom", talk(user(Text(text="a\ud83d")))))["messages"][0]["content"] == "a?"


async def test_a_name_of_the_users_own_keeps_its_own_meta(service, named, ask, reply):
    from hermes_core.types import Endpoint

    service.always = reply.sse('data: {"choices":[{"index":0,"delta":{"reasoning":"r"}}]}\n\n' + END)
    provider = named("custom").at(Endpoint(name="lab", base_url=service.url))
    assert provider.name == "lab"
    assert (await ask(provider)).done[0].meta == {"lab": {"field": "reasoning"}}
    await provider.close()


SAID = st.sampled_from([
    user(Text(text="go \u4e16 \ud800 \"'\\")),
    Message(role="assistant", parts=(Text(text="a\u0000b"), ToolCall(id="1", name="l k", arguments={"x": [1, "世"]}))),
    Message(role="assistant", parts=(Reasoning(text="hm"),)),
    Message(role="tool", parts=(ToolResult(call_id="1", name="look", parts=(Text(text="</x>"),)),)),
    Message(role="tool", parts=()),
    Message(role="system", parts=(Text(text="Be kind."),)),
])  # fmt: skip
ENTRY = load_entry("custom")


@given(st.lists(st.tuples(st.lists(SAID, max_size=6), st.integers(0, 4), st.sampled_from(["system", "developer"]))))
def test_what_was_sent_before_is_sent_again_byte_for_byte_as_if_it_were_written_anew(requests):
    """Each request goes on from a part of the last one, as steps of a turn do, or after a compaction does not."""
    written, messages = Written(), list[Message]()
    for more, kept, role in requests:
        messages = [*messages[: len(messages) - kept if kept < 4 else 0], *more]
        how = Conversion(entry=ENTRY, key="custom", system_role=role)
        assert written.messages(messages, how) == encoded(to_messages(messages, how))


async def test_steps_of_a_turn_send_the_same_bytes_as_one_request_of_them_all(service, at, ask, reply):
    service.always = reply.sse(END)
    spec = ToolSpec(name="look", description="Look.", schema={"type": "object", "properties": {}})
    messages, one = [user(Text(text="go"))], at("custom")
    for step in range(4):
        call = ToolCall(id=f"c{step}", name="look", arguments={"at": step})
        result = ToolResult(call_id=call.id, name="look", parts=(Text(text="seen"),))
        messages += [Message(role="assistant", parts=(call,)), Message(role="tool", parts=(result,))]
        await ask(one, talk(*messages, tools=(spec,)))
    stepped = service.asked[-1].body
    await ask(at("custom"), talk(*messages, tools=(spec,)))
    assert service.asked[-1].body == stepped
    assert len(stepped["messages"]) == 9


async def test_a_file_that_changes_between_two_steps_is_read_again(sent, service, at, ask, reply, tmp_path):
    picture, one = tmp_path / "a.png", at("custom")
    picture.write_bytes(PIXEL)
    service.always = reply.sse(END)
    message = user(Text(text="look"), Blob(media_type="image/png", path=str(picture)))
    await ask(one, talk(message))
    picture.write_bytes(b"\x89PNG other")
    await ask(one, talk(message))
    first, second = (asked.body["messages"] for asked in service.asked[-2:])
    assert first != second
