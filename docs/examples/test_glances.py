"""A guard in a whole kernel: what it knows runs, and of all else a person hears each time."""

from attrs import frozen

from hermes_core import hookimpl
from hermes_core.kinds import tool
from hermes_core.testing import Call
from hermes_core.types import CommandPart, Effect, Verdict


@frozen
class Line:
    """A command."""

    command: str


@tool(effects=[Effect.EXECUTE])
async def shell(line: Line) -> str:
    """Run a command."""
    return f"ran {line.command}"


@hookimpl
async def judge_command(call):
    if call.arguments["command"] == "date":
        effects = frozenset({Effect.READ_FILES})
        return Verdict(outcome="allow", effects=effects, commands=[CommandPart(text="date")])
    return None


async def test_what_no_guard_knows_needs_a_person(hermes, scripted):
    model = scripted([Call("shell", {"command": "date"}), Call("shell", {"command": "make"})], "Done.")
    hermes.tmp_plugin(model, shell)
    hermes.tmp_plugin(judge_command, name="glances")
    hermes.configure({"policy.allow": ["shell"]})
    await hermes.run("Look, then make.")
    date, make = (part for message in model.requests[1].messages[-2:] for part in message.parts)
    assert date.parts[0].text == "ran date"
    assert "no plugin says what commands do" in make.parts[0].text
