"""Processes of the tool in a container: kept, typed into, ended, and told of once Hermes was killed."""

import pytest

from hermes_core.testing import Call
from hermes_core.testing.bench import Bench
from hermes_core.testing.scripted import ScriptedProvider
from hermes_core.types import Returned, Text

pytestmark = pytest.mark.real


async def test_one_is_looked_at_typed_into_and_ended(daemon, tmp_path):
    made = Bench(tmp_path / "home")
    steps = (
        Call("terminal", {"command": "cd /tmp; export A=5"}),
        Call("terminal", {"command": 'echo "in $PWD $A"; cat', "background": "yes"}),
        Call("terminal", {"command": "hello", "background": "p1"}),
        Call("process", {"action": "kill", "id": "p1"}),
        Call("terminal", {"command": "true", "background": "tty"}),
        "done",
    )
    made.tmp_plugin(ScriptedProvider(steps))
    made.tmp_plugin("hermes_tool_terminal")
    made.tmp_plugin("hermes_backend_docker")
    place = {"image": "bash:test", "host": daemon.url, "lifetime_seconds": 600}
    made.configure(
        {
            "policy.mode": "off",
            "terminal.backend": "docker",
            "terminal.cwd": str(made.workspace.folder),
            **{f"backends.docker.{name}": value for name, value in place.items()},
        }
    )
    try:
        events = [event async for event in made.turn("go", session="s")]
    finally:
        await made.close()
    results = [one.result for one in events if isinstance(one, Returned)]
    _, began, typed, ended, bare = ["".join(p.text for p in one.parts if isinstance(p, Text)) for one in results]
    assert "in /tmp 5" in began
    assert "hello" in typed
    assert "p1 has ended" in ended
    assert "you ended it" in ended
    assert "No python3 or script here" in bare, "the image has neither"
