"""What every tool promises: a function the model may call."""

import asyncio
import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from hermes_core.errors import ToolError
from hermes_core.kinds import Tool, Workspace
from hermes_core.testing.contract_base import PluginContract
from hermes_core.testing.fake_context import FakeToolContext
from hermes_core.testing.fake_turns import Ordered
from hermes_core.testing.fakes import FakeWorkspace
from hermes_core.testing.leftovers import Traces
from hermes_core.testing.witness import Witness
from hermes_core.types import JSON, Blob, Effect, Text

if TYPE_CHECKING:
    from hermes_core.context import PluginContext

__all__ = ["ToolContract"]

SCHEMA_KEYS = {"type", "properties", "required", "description", "default", "enum", "items", "anyOf"}
SCHEMA_KEYS |= {
    "additionalProperties",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "pattern",
}
TYPES = {"string", "integer", "number", "boolean", "array", "object", "null"}
WRONG: dict[str, JSON] = {"string": ["not text"], "integer": "not a number", "number": "not a number"}
WRONG |= {"boolean": "not a truth", "array": 7, "object": 7}


class ToolContract(PluginContract):
    """Inherit once for each tool; name your ``module`` and give ``tool`` when the plugin has several.

    ``arguments`` is a call that works. ``failing_arguments`` is a valid call that must fail (a file that is not there),
    ``greedy_arguments`` one that asks for as much output as can be had; without them these promises are not tested.
    ``workspace`` is a real folder by default, so commands and files in it work.
    """

    kind = "tool"
    arguments: ClassVar[Mapping[str, JSON]] = {}
    failing_arguments: ClassVar[Mapping[str, JSON] | None] = None
    greedy_arguments: ClassVar[Mapping[str, JSON] | None] = None
    largest: ClassVar[int] = 4_000_000  # characters a tool may hand to the kernel; the kernel spills what is too long

    @pytest.fixture
    def tool(self, contributed: Mapping[str, list[Any]]) -> Tool:
        """The tool under test; by default the first one the plugin contributes."""
        assert contributed.get("tools"), "the plugin contributes no tool; give a tool fixture"
        tool: Tool = contributed["tools"][0]
        return tool

    @pytest.fixture
    def workspace(self, tmp_path: Path) -> Workspace:
        """Where the tool works: a real, empty folder. Put there what ``arguments`` needs."""
        folder = tmp_path / "work"
        folder.mkdir()
        return FakeWorkspace(folder=folder)

    @pytest.fixture
    def tool_context(self, workspace: Workspace, contributed: Mapping[str, list[Any]]) -> FakeToolContext:
        """The context every call gets, with the plugin's resources; nobody is there to ask."""
        return FakeToolContext(workspace, resources=contributed.get("resources", ()))

    def test_it_is_described_for_a_model(self, tool: Tool) -> None:
        """A tool has a name that every provider accepts and a description that says what it does.

        If this fails: use letters, digits, _ and -, at most 64; the docstring of the function is what the model reads.
        """
        assert isinstance(tool, Tool), f"{tool!r} is not a Tool; make it with @tool"
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool.name), f"no provider accepts the name {tool.name!r}"
        assert len(tool.description.strip()) >= 10, f"{tool.name} does not say what it does: {tool.description!r}"
        assert tool.toolset.strip(), f"{tool.name} belongs to no toolset"

    def test_its_schema_is_valid_and_minimal(self, tool: Tool) -> None:
        """The parameters are a JSON Schema object with nothing in it that a model does not need.

        If this fails: keep to str, int, float, bool, Literal, list, dict and attrs classes. Every byte of a schema is
        paid for in every request. Of a ``schema`` that is given as it is, the shape is to be one that can be checked.
        """
        from hermes_core.agent.arguments import parse_arguments, tool_spec

        schema = tool_spec(tool).schema
        assert schema.get("type") == "object", f"the schema of {tool.name} is not an object: {schema}"
        if tool.schema is not None:
            odd: list[BaseException] = []
            parse_arguments(tool, self.arguments, lambda _, error: odd.append(error))
            assert not odd, f"{tool.name}: {odd[0]}"
            return
        problems = _schema_problems(schema, tool.name)
        assert not problems, "; ".join(problems)
        vague = [name for name, inner in schema["properties"].items() if not inner.keys() - {"description", "default"}]
        assert not vague, f"these arguments of {tool.name} may be anything: {', '.join(vague)}; give them a type"
        size = len(json.dumps(schema, ensure_ascii=False).encode())
        assert size <= 4_000, f"the schema of {tool.name} takes {size} bytes of every request; 4,000 is the most"

    def test_bad_arguments_never_reach_run(self, tool: Tool) -> None:
        """Unknown, missing and mistyped arguments are refused with a ToolError that lists every one of them.

        If this fails: declare the exact types in the parameter class, without converters. A validator that refuses
        raises ValueError.
        """
        from hermes_core.agent.arguments import parse_arguments, tool_spec

        schema = tool_spec(tool).schema
        properties, required = schema.get("properties", {}), schema.get("required", ())
        wrong = {name: value for name, inner in properties.items() if (value := _mistyped(inner)) is not None}
        bad = {name: value for name, value in wrong.items() if name not in required}
        if tool.schema is None or schema.get("additionalProperties") is False:
            bad["no_such_argument_"] = 1
        if bad or required:
            with pytest.raises(ToolError) as refused:
                parse_arguments(tool, bad)
            unsaid = [n for n in (*bad, *required) if n not in str(refused.value)]
            assert not unsaid, f"the refusal does not mention {', '.join(unsaid)}: {refused.value}"
        for name, value in wrong.items():
            with pytest.raises(ToolError):
                parse_arguments(tool, {**self.arguments, name: value})

    @pytest.mark.asyncio
    async def test_a_call_gives_text_or_parts(self, tool: Tool, tool_context: FakeToolContext) -> None:
        """A call with good arguments gives a str or a sequence of Text and Blob, not an endless one.

        If this fails: give ``arguments`` that work. Return text for the model, and spill what is long with
        ``context.spill``.
        """
        output = await _run(tool, tool_context, self.arguments)
        _check_output(tool, output, self.largest)

    @pytest.mark.asyncio
    async def test_its_output_is_bounded(self, tool: Tool, tool_context: FakeToolContext) -> None:
        """The most a call can be asked for still has an end that fits into memory.

        If this fails: stop reading at a limit and say that you did; spill the rest with ``context.spill``.
        """
        if self.greedy_arguments is None:
            pytest.skip("give `greedy_arguments` to have the longest output tested")
        _check_output(tool, await _run(tool, tool_context, self.greedy_arguments), self.largest)

    @pytest.mark.asyncio
    async def test_a_failure_is_text_a_model_can_act_on(self, tool: Tool, tool_context: FakeToolContext) -> None:
        """What goes wrong is a ToolError in a sentence or two, without a traceback.

        If this fails: catch what can happen (OSError, a status code) and raise ToolError: who, what, what now.
        """
        if self.failing_arguments is None:
            pytest.skip("give `failing_arguments` to have a failure tested")
        try:
            output = await _run(tool, tool_context, self.failing_arguments)
        except ToolError as error:
            text = str(error)
        except Exception as error:  # noqa: BLE001 - any other error is the finding
            pytest.fail(f"{tool.name} raised {type(error).__name__} instead of ToolError: {error}")
        else:
            pytest.fail(f"{tool.name} did not fail: {output!r}")
        assert len(text.strip()) >= 10, f"the message says too little: {text!r}"
        assert len(text) <= 2_000, f"the message is {len(text)} characters long"
        assert "Traceback (most recent call last)" not in text, "the message is a traceback"

    @pytest.mark.asyncio
    async def test_a_cancelled_call_leaves_nothing_behind(self, tool: Tool, tool_context: FakeToolContext) -> None:
        """A call that is cancelled ends what it started, and the next call works.

        If this fails: let CancelledError pass, and clean up in ``finally``: tasks, child processes, connections.
        """
        before = Traces.now()
        for ticks in (0, 1, 5):
            task = asyncio.ensure_future(_run(tool, tool_context, self.arguments))
            for _ in range(ticks):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled() or not task.exception(), f"a cancelled call raised {task.exception()!r}"
        left = await before.left()
        assert not left, f"after a cancelled call of {tool.name}: " + "; ".join(left)
        _check_output(tool, await _run(tool, tool_context, self.arguments), self.largest)

    @pytest.mark.asyncio
    async def test_it_does_only_what_its_effects_say(
        self, tool: Tool, tool_context: FakeToolContext, context: "PluginContext"
    ) -> None:
        """Its effects are Effects; a call connects, starts programs, changes files or delegates only if they say so.

        If this fails: add the effect. The policy point decides on effects alone; a tool that hides one goes unasked.
        What a tool does through ``context.workspace`` counts too; its plugin's own data and cache folders do not.
        """
        strange = [e for e in tool.effects if not isinstance(e, Effect)]
        assert not strange, f"{tool.name} declares effects that do not exist: {strange}"
        workspace = tool_context.workspace
        with Witness(strict=True) as witness:
            await _run(tool, tool_context, self.arguments)
        own = [os.path.realpath(folder) for folder in (context.paths.data, context.paths.cache)]
        ran = [r for r in getattr(workspace, "requests", []) if _obeys(r.argv, self.arguments)]
        wrote = [p for p in witness.written if not any(Path(p).is_relative_to(folder) for folder in own)]
        wrote += getattr(workspace, "written", [])
        found = {
            Effect.NETWORK: [f"connects to {h}" for h in witness.hosts],
            Effect.EXECUTE: [f"starts {p}" for p in witness.programs] + [f"runs {r.argv} as told" for r in ran],
            Effect.WRITE_FILES: [f"changes {p}" for p in wrote],
            Effect.DELEGATE: [f"hands {turn.text!r} to another agent" for turn in _ordered(context, tool_context)],
        }
        hidden = [f"{what[0]} without {e}" for e, what in found.items() if what and not _declared(tool, e)]
        assert not hidden, f"{tool.name} " + "; ".join(hidden)

    def test_its_resource_keys_are_text(self, tool: Tool, tool_context: FakeToolContext) -> None:
        """``touches`` names what a call works on in non-empty text, and ``needs`` gives a reason or None.

        If this fails: keys look like ``file:/abs/path``, ``host:example.org`` or ``process``; return a list of them.
        """
        from hermes_core.agent.arguments import parse_arguments

        if tool.touches is not None:
            keys = tool.touches(parse_arguments(tool, self.arguments))
            assert not isinstance(keys, str), f"touches gives one str, {keys!r}; give a list of keys"
            odd = [key for key in keys if not isinstance(key, str) or not key]
            assert not odd, f"touches gives keys that are no text: {odd}"
        if tool.needs is not None:
            reason = tool.needs(tool_context.session)
            assert reason is None or (isinstance(reason, str) and reason), f"needs gives {reason!r}"


async def _run(tool: Tool, context: FakeToolContext, arguments: Mapping[str, JSON]) -> Any:
    from hermes_core.agent.arguments import parse_arguments

    try:
        return await tool.run(context, parse_arguments(tool, arguments))
    finally:
        await context.close()


def _ordered(context: "PluginContext", call: FakeToolContext) -> list[Ordered]:
    return [turn for turn in getattr(context.turns, "ordered", ()) if turn.call is call]


def _check_output(tool: Tool, output: Any, largest: int) -> None:
    parts: Sequence[Any] = (Text(text=output),) if isinstance(output, str) else output
    assert isinstance(parts, list | tuple), f"{tool.name} gave {output!r}; give a str or a list of Text and Blob"
    odd = [p for p in parts if not isinstance(p, Text | Blob)]
    assert not odd, f"{tool.name} gave parts that are neither Text nor Blob: {odd}"
    size = sum(len(p.text) for p in parts if isinstance(p, Text))
    assert size <= largest, f"{tool.name} gave {size} characters; {largest} is the most"


def _obeys(argv: Sequence[str], arguments: Mapping[str, JSON]) -> bool:
    """Whether a command runs what the model wrote: as the program, or in a script for a shell."""
    script = argv[2] if len(argv) > 2 and Path(argv[0]).name.endswith("sh") and argv[1].startswith("-") else ""
    return any(isinstance(v, str) and v and (v == argv[0] or v in script) for v in arguments.values())


def _mistyped(schema: Any) -> JSON:
    """A value of another type than a schema asks for; None where it asks for no one type."""
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    return WRONG.get(kind) if isinstance(kind, str) else None


def _declared(tool: Tool, effect: Effect) -> bool:
    """Whether the effects cover this one: who runs programs may do anything, and sending needs a connection."""
    covers = {Effect.WRITE_FILES: {Effect.EXECUTE, Effect.REMEMBER, Effect.SCHEDULE, Effect.CONFIGURE}}
    covers[Effect.NETWORK] = {Effect.EXECUTE, Effect.SEND}
    return bool(tool.effects & ({effect} | covers.get(effect, set())))


def _schema_problems(schema: Any, path: str) -> list[str]:
    """What is wrong with a schema, by the part of JSON Schema that every provider understands."""
    if not isinstance(schema, Mapping):
        return [f"{path} is not a schema: {schema!r}"]
    problems = [f"{path} says {key!r}, which costs tokens and says nothing" for key in schema.keys() - SCHEMA_KEYS]
    if "type" in schema and schema["type"] not in TYPES:
        problems.append(f"{path} has the type {schema['type']!r}")
    if unknown := set(schema.get("required", ())) - set(schema.get("properties", ())):
        problems.append(f"{path} requires {', '.join(sorted(unknown))}, which it does not have")
    for name, inner in schema.get("properties", {}).items():
        problems += _schema_problems(inner, f"{path}.{name}")
    if "items" in schema:
        problems += _schema_problems(schema["items"], f"{path}[]")
    for number, inner in enumerate(schema.get("anyOf", ())):
        problems += _schema_problems(inner, f"{path}|{number}")
    return problems
