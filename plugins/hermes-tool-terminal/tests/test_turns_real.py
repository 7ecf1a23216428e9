"""Processes in whole turns: with the kernel, its store, and commands of this machine."""

import asyncio

import pytest

from hermes_core.testing import Call
from hermes_core.types import Ended, Noticed, Returned, Text

pytestmark = pytest.mark.real


@pytest.fixture(params=["none", "local", "bubblewrap"])
def play(hermes, scripted, request):
    """Plays turns with scripted replies; gives what the tools answered. Its ``provider`` knows what it was asked."""
    hermes.tmp_plugin("hermes_tool_terminal")
    if request.param != "bubblewrap":
        hermes.tmp_plugin("hermes_backend_local")
    else:
        hermes.tmp_plugin("hermes_backend_bubblewrap")
    hermes.configure(
        {
            "policy.mode": "off",
            "terminal.backend": "local" if request.param != "bubblewrap" else "bubblewrap",
            "terminal.cwd": str(hermes.workspace.folder),
            **({"backends.local.wall": "none"} if request.param == "none" else {}),
        }
    )

    def script(*steps):
        play.provider = scripted(*steps)
        hermes.tmp_plugin(play.provider)

    async def play():
        events = [event async for event in hermes.turn("go", session="s")]
        results = [one.result for one in events if isinstance(one, Returned)]
        return ["".join(p.text for p in one.parts if isinstance(p, Text)) for one in results]

    play.script, play.where = script, request.param
    return play


def names(request):
    return [spec.name for spec in request.tools]


async def test_one_lives_on_from_turn_to_turn_and_its_tool_comes_with_it(play):
    play.script(
        Call("terminal", {"command": "echo up; sleep 2; echo bye; exit 5", "background": "yes"}),
        Call("terminal", {"command": "", "background": "p1"}),
        "started",
        Call("process", {"action": "wait", "id": "p1"}),
        "ended",
    )
    first, second = await play()
    assert "p1 runs" in first
    assert "up" in first
    assert "p1 runs" in second
    assert [names(one) for one in play.provider.requests] == [["terminal"]] * 3
    (ended,) = await play()
    assert names(play.provider.requests[-1]) == ["terminal", "process"]
    assert "p1 has ended with exit 5\nbye" in ended


async def test_its_end_is_told_in_the_next_turn(play):
    play.script(
        Call("terminal", {"command": "sleep 1.5; exit 5", "background": "yes"}), "started", "I see", "as I said"
    )
    await play()
    await asyncio.sleep(2)
    await play()
    assert "p1 has ended with exit 5" in "".join(p.text for p in play.provider.requests[-1].messages[-1].parts)
    await play()
    said = [p.text for m in play.provider.requests[-1].messages for p in m.parts if isinstance(p, Text)]
    assert sum("p1 has ended" in text for text in said) == 1


async def test_a_terminal_is_typed_into(play):
    play.script(
        Call("terminal", {"command": "python3 -q", "background": "tty"}),
        Call("terminal", {"command": "print(6 * 7)", "background": "p1"}),
        "started",
        Call("process", {"action": "write", "id": "p1", "data": "exit()\r"}),
        "ended",
    )
    began, typed = await play()
    assert ">>>" in began
    assert "\n42" in typed
    *_, ended = await play()
    assert "p1 has ended" in ended


async def test_an_end_begins_a_turn_that_whoever_hosts_plays(play, hermes):
    play.script(
        Call("terminal", {"command": "sleep 1.5; echo built; exit 5", "background": "yes"}),
        "started",
        "so be it",
        "and so",
    )
    await play()
    async with asyncio.timeout(30):
        while "s" not in await hermes.interrupted():
            await asyncio.sleep(0.1)
    events = [event async for event in hermes.runtime.turns.follow("s")]
    assert isinstance(events[-1], Ended)
    assert events[-1].answer == "so be it"
    assert any("p1 has ended with exit 5" in one.text for one in events if isinstance(one, Noticed))
    said = play.provider.requests[-1].messages[-1]
    text = "".join(p.text for p in said.parts)
    assert "p1 has ended with exit 5" in text
    assert "  | built" in text
    await asyncio.sleep(2)
    assert "s" not in await hermes.interrupted()
    await play()
    said = [p.text for m in play.provider.requests[-1].messages for p in m.parts if isinstance(p, Text)]
    assert sum("p1 has ended" in text for text in said) == 1


async def test_a_hard_block_is_not_typed_piece_by_piece(play, hermes):
    hermes.tmp_plugin("hermes_tool_guard")
    home = hermes.workspace.folder.with_name("home")
    own = home / "config.yaml"  # closed to tools in every mode
    home.mkdir(exist_ok=True)
    own.write_text("{}\n")
    keys = [
        Call("process", {"action": "write", "id": "p1", "data": piece})
        for piece in ("rm -f ", f"{home}/conf", "ig.yaml\r", "\x15")
    ]
    play.script(Call("terminal", {"command": "bash --norc", "background": "tty"}), "begun", *keys, "so not")
    await play()
    said = await play()
    if play.where != "bubblewrap":  # in there, the wall itself keeps it
        assert any("never allowed" in one for one in said), said
    assert own.exists()
