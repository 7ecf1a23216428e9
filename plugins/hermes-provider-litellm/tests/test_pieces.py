"""Messages and chunks, without the library."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.errors import HermesError, Unavailable
from hermes_core.types import Blob, Message, Reasoning, Text, ToolCall, ToolResult, UsageDelta
from hermes_provider_litellm.decode import ChunkDecoder
from hermes_provider_litellm.messages import to_messages

FIELDS = [
    *("choices", "delta", "content", "tool_calls", "index", "function", "name", "arguments", "usage"),
    *("thinking_blocks", "finish_reason", "reasoning_content"),
]
JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(FIELDS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


def test_files_of_results_follow_all_results():
    picture = Blob(media_type="image/png", data=b"png")
    calls = tuple(ToolCall(id=one, name="see", arguments={}) for one in "ab")
    results = [ToolResult(call_id=one, name="see", parts=(Text(text="ok"), picture)) for one in "ab"]
    said = [Message(role="assistant", parts=calls), *(Message(role="tool", parts=(one,)) for one in results)]
    made = to_messages([*said, Message(role="user", parts=(Text(text="and?"),))], "litellm")
    assert [one["role"] for one in made] == ["assistant", "tool", "tool", "user", "user"]
    assert [part["type"] for part in made[3]["content"]] == ["image_url", "image_url"]


def test_only_own_thoughts_go_back():
    kept = {"type": "thinking", "thinking": "x", "signature": "s"}
    own = Reasoning(text="x", meta={"litellm": {"thinking_blocks": [kept]}})
    foreign = Reasoning(text="y", meta={"anthropic": {"blocks": [kept]}})
    [made] = to_messages([Message(role="assistant", parts=(foreign, own, Text(text="Hi.")))], "litellm")
    assert made == {"role": "assistant", "content": "Hi.", "thinking_blocks": [kept]}


def test_a_reply_without_an_end_is_an_error():
    decoder = ChunkDecoder("litellm")
    decoder.feed({"choices": [{"delta": {"content": "Half"}}]})
    with pytest.raises(Unavailable, match="cut"):
        decoder.end("Test")


def test_what_nobody_counted_is_guessed():
    decoder = ChunkDecoder("litellm", guess=7)
    decoder.feed({"choices": [{"delta": {"content": "x" * 40}, "finish_reason": "stop"}]})
    [usage] = [delta.usage for delta in decoder.end("Test") if isinstance(delta, UsageDelta)]
    assert (usage.input, usage.output) == (7, 10)


@given(st.lists(st.dictionaries(st.sampled_from(["choices", "usage"]), JSONS, max_size=2), max_size=4))
def test_whatever_comes_is_a_reply_or_an_error(chunks):
    decoder = ChunkDecoder("litellm")
    try:
        for chunk in chunks:
            decoder.feed(chunk)
        assert decoder.end("Test")
    except HermesError:
        pass
