"""What a conversation that is opened again shows of its messages."""

from types import SimpleNamespace
from typing import Any

import pytest

from hermes_core.types import Blob, Message, Text
from hermes_platform_tui.transcript.history import History

ENDED = Text(text="<processes>\n- p1 has ended\n</processes>", quotes="the processes in the background")
PICTURE = Blob(media_type="image/png", data=b"x", name="a.png")


@pytest.mark.parametrize(
    ("parts", "shown"),
    [
        ((Text(text="hello"),), "Speech"),
        ((ENDED,), "Remark"),
        ((ENDED, Text(text="what is that?")), "Speech"),
        ((ENDED, PICTURE), "Speech"),
    ],
)
async def test_what_no_person_wrote_is_not_shown_as_theirs(parts: Any, shown: str) -> None:
    async def read(*_: object, **__: object) -> list[tuple[int, Message]]:
        return [(1, Message(role="user", parts=parts))]

    ctx: Any = SimpleNamespace(sessions=SimpleNamespace(read=read), owner=None)
    entries = await History(ctx, "s").newest(9)
    assert {type(one).__name__ for one in entries} == {shown}
