"""What was said has the shape that exports promise, and comes back from it."""

import json

from hypothesis import given
from hypothesis import strategies as st

from hermes_core.types import Blob, Location, Message, Reasoning, Text, ToolCall, ToolResult
from hermes_openai_shape.read import conversations
from hermes_openai_shape.write import shapes

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=40)
words = texts.filter(bool)
arguments = st.dictionaries(texts, st.none() | st.booleans() | st.integers() | texts, max_size=3)
called = st.builds(ToolCall, id=words, name=words, arguments=arguments)
users = st.builds(Message, role=st.just("user"), parts=st.builds(Text, text=words).map(lambda one: (one,)))
replies = st.builds(
    lambda thought, said, calls: Message(role="assistant", parts=(*thought, *said, *calls)),
    st.builds(Reasoning, text=words).map(lambda one: (one,)) | st.just(()),
    st.builds(Text, text=words).map(lambda one: (one,)),
    st.lists(called, max_size=2),
)
results = st.builds(
    lambda call, name, text: Message(
        role="tool", parts=(ToolResult(call_id=call, name=name, parts=(Text(text=text),)),), untrusted=True
    ),
    words,
    words,
    words,
)


@given(st.lists(users | replies | results, min_size=1, max_size=6))
def test_what_was_written_is_read_again(said: list[Message]) -> None:
    lines = [json.dumps(shape, ensure_ascii=False) for message in said for shape in shapes(message)]
    [read] = conversations(lines, "s")
    assert (read.about, list(read.messages), read.unread) == ({"id": "s"}, said, 0)


def test_calls_and_results_have_the_shape_that_exports_promise() -> None:
    call = ToolCall(id="c1", name="ls", arguments={"path": "/tmp"})
    result = ToolResult(call_id="c1", name="ls", parts=(Text(text="한글.txt"),))
    assert shapes(Message(role="assistant", parts=(Reasoning(text="hm"), call))) == [
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "hm",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"path":"/tmp"}'}}
            ],
        }
    ]
    assert shapes(Message(role="tool", parts=(result,))) == [
        {"role": "tool", "tool_call_id": "c1", "name": "ls", "content": "한글.txt"}
    ]


def test_a_picture_becomes_a_data_url_and_a_place_its_words() -> None:
    message = Message(role="user", parts=(Text(text="see"), Blob(media_type="image/png", data=b"\x89")))
    content = shapes(message)[0]["content"]
    assert content[1] == {"type": "image_url", "image_url": {"url": "data:image/png;base64,iQ=="}}
    place = Location(latitude=59.9, longitude=10.75, title="Oslo")
    assert shapes(Message(role="user", parts=(place,)))[0]["content"] == place.text


def test_what_cannot_be_read_is_counted() -> None:
    lines = ['{"role": "user", "content": "hi"}', "[1]", '{"role": ', "", '{"session": {"id": "b"}}', '{"role": "x"}']
    first, second = conversations(lines, "a")
    assert (first.about, len(first.messages), first.unread) == ({"id": "a"}, 1, 2)
    assert (second.about, list(second.messages)) == ({"id": "b"}, [])
