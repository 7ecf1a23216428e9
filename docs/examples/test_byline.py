"""What is only added to is shown as it comes; what becomes another text waits until it is whole."""

import byline
import pytest

from hermes_core.types import Ended, Said


@pytest.mark.parametrize("title", ["", "Hello!"])
async def test_only_what_is_replaced_waits(hermes, scripted, monkeypatch, title):
    monkeypatch.setattr(byline, "loud", lambda _: bool(title))
    hermes.tmp_plugin(scripted("one two three"))
    hermes.tmp_plugin(byline.may_stream, byline.transform_outgoing)
    events = [event async for event in hermes.turn("Count.")]
    said = [event.text for event in events if isinstance(event, Said)]
    assert isinstance(events[-1], Ended)
    assert "".join(said) == events[-1].answer
    assert said == ["ONE TWO THREE"] if title else said[-1].endswith("said so.)")
