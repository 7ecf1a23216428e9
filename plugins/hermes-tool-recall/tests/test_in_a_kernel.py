"""Recall in a real kernel: what was said in whatever writing is found by its words, and a phrase by its order."""

from typing import Any

import pytest

from hermes_core.testing import Call


@pytest.mark.parametrize(
    ("said", "query"),
    [
        ("我喜欢吃苹果和香蕉", "苹果"),
        ("今日は東京タワーに行きました", "東京タワー"),
        ("우리나라 대한민국만세", "나라 만세"),
        ("the quick brown fox", '"quick brown"'),
        ("버그 bug고쳤다", '"버그 bug고쳤다"'),
    ],
)
async def test_what_was_said_is_found_by_words_and_phrases(hermes: Any, scripted: Any, said: str, query: str) -> None:
    provider = scripted("Noted.", "Noted.", Call("recall", {"query": query}), "There.")
    hermes.tmp_plugin(provider)
    hermes.tmp_plugin("hermes_tool_recall")
    for session, text in (("a", said), ("b", "brown and quick, something else"), ("c", "What was it?")):
        async for _ in hermes.turn(text, session=session):
            pass
    [told] = [p.text for m in provider.requests[-1].messages if m.role == "tool" for p in m.parts[0].parts]
    assert said in told
    assert "something else" not in told, "a phrase is in its order"
