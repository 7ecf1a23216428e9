"""The vendors' own clients, and a suite of rules for each protocol, against a server that runs."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hermes_core.testing import Call, Say
from hermes_core.types import Done, ReasoningDelta, Request, TextDelta, Usage, UsageDelta

KEY = "owners-key-0123456789"
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL: Any = {"name": "get_weather", "description": "The weather of a city.", "input_schema": SCHEMA}
THOUGHT: Any = [
    ReasoningDelta(text="They greet me."),
    TextDelta(text="Hello there, you."),
    UsageDelta(usage=Usage(input=10, output=6, reasoning=3, calls=1)),
    Done(reason="stop"),
]
pytestmark = pytest.mark.real


def anthropic(url: str, key: str = KEY) -> Any:
    """Anthropic's own client."""
    return pytest.importorskip("anthropic").AsyncAnthropic(base_url=url, api_key=key, max_retries=0)


async def test_anthropics_client_gets_answers_whole_and_streamed(serve: Any, scripted: Any) -> None:
    ask: dict[str, Any] = {"model": "hermes", "max_tokens": 99, "messages": [{"role": "user", "content": "Hi."}]}
    async with serve(scripted("Hello there.", "One two.")) as server, anthropic(server.url) as client:
        whole = await client.messages.create(**ask)
        assert (whole.content[0].text, whole.stop_reason, whole.usage.output_tokens) == ("Hello there.", "end_turn", 2)
        async with client.messages.stream(**ask) as stream:
            assert "".join([text async for text in stream.text_stream]) == "One two."
            last = await stream.get_final_message()
        assert (last.stop_reason, last.usage.output_tokens) == ("end_turn", 2)
        assert [(m.id, m.display_name, m.type) async for m in client.models.list()] == [("hermes", "hermes", "model")]
        del ask["max_tokens"]
        assert (await client.messages.count_tokens(**ask)).input_tokens > 0


@pytest.mark.parametrize("streamed", [False, True])
async def test_anthropics_client_runs_its_own_tools(serve: Any, scripted: Any, streamed: bool) -> None:
    model = scripted([Call("client_get_weather", {"city": c}) for c in ("Ulm", "Bonn")], "Wet.")
    messages: list[Any] = [{"role": "user", "content": "Weather?"}]
    ask: dict[str, Any] = {"model": "hermes", "max_tokens": 99, "messages": messages, "tools": [TOOL]}
    async with serve(model) as server, anthropic(server.url) as client:
        if streamed:
            async with client.messages.stream(**ask) as stream:
                first = await stream.get_final_message()
        else:
            first = await client.messages.create(**ask)
        assert first.stop_reason == "tool_use"
        assert [(b.name, b.input) for b in first.content] == [("get_weather", {"city": c}) for c in ("Ulm", "Bonn")]
        results = [{"type": "tool_result", "tool_use_id": b.id, "content": "Rain."} for b in first.content]
        messages += [{"role": "assistant", "content": first.content}, {"role": "user", "content": results}]
        last = await client.messages.create(**ask)
    assert (last.content[0].text, last.stop_reason) == ("Wet.", "end_turn")


async def test_anthropics_client_knows_our_errors(serve: Any, scripted: Any) -> None:
    sdk = pytest.importorskip("anthropic")
    ask: dict[str, Any] = {"model": "claude", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi."}]}
    async with serve(scripted()) as server:
        async with anthropic(server.url) as client:
            with pytest.raises(sdk.NotFoundError, match="no model"):
                await client.messages.create(**ask)
        async with anthropic(server.url, "wrong-key-0123456789") as client:
            with pytest.raises(sdk.AuthenticationError):
                await client.messages.create(**ask)


async def test_openais_client_runs_a_loop_with_its_own_tools(serve: Any, scripted: Any) -> None:
    """Three rounds, as an agent of a client's own makes them."""
    rounds = [Call("client_get_weather", {"city": city}) for city in ("Ulm", "Bonn", "Kiel")]
    function = {"name": "get_weather", "parameters": SCHEMA}
    messages: list[Any] = [{"role": "user", "content": "Weather?"}]
    cities = []
    async with serve(scripted(*rounds, "Wet.")) as server, server.client() as client:
        while True:
            tools: Any = [{"type": "function", "function": function}]
            whole = await client.chat.completions.create(model="hermes", messages=messages, tools=tools)
            message = whole.choices[0].message
            messages.append(message)
            if not message.tool_calls:
                break
            for call in message.tool_calls:
                cities.append(json.loads(call.function.arguments)["city"])
                messages.append({"role": "tool", "tool_call_id": call.id, "content": "Rain."})
    assert cities == ["Ulm", "Bonn", "Kiel"]
    assert message.content == "Wet."


async def test_the_clients_show_what_a_model_thinks(serve: Any, scripted: Any) -> None:
    said = [{"role": "user", "content": "Hi."}]
    ask: dict[str, Any] = {"model": "hermes", "max_tokens": 99, "messages": said, "thinking": {"type": "adaptive"}}
    thinking = Say("Yes.", thinking="Is it? It is.")
    async with serve(scripted(*[thinking] * 3)) as server, anthropic(server.url) as client, server.client() as other:
        async with client.messages.stream(**ask) as stream:
            kinds = [event.type async for event in stream]
            last = await stream.get_final_message()
        assert [(b.type, getattr(b, "thinking", "")) for b in last.content] == [
            ("thinking", "Is it? It is."),
            ("text", ""),
        ]
        assert last.content[1].text == "Yes."
        assert {"thinking", "signature", "text"} <= {*kinds}
        again = await client.messages.create(
            **{**ask, "messages": [*said, {"role": "assistant", "content": last.content}, *said]}
        )
        assert again.content[-1].text == "Yes."
        whole = await other.responses.create(
            model="hermes", input="Hi.", reasoning={"effort": "low", "summary": "auto"}
        )
    assert whole.output[0].summary[0].text == "Is it? It is."


@pytest.mark.filterwarnings("ignore:jsonschema.RefResolver")
async def test_the_events_of_thoughts_are_those_of_open_responses(serve: Any, scripted: Any) -> None:
    """Each event, and the response at the end, fits the schema that the specification gives it."""
    schema = pytest.importorskip("llm_comply.schema")
    spec = schema.SpecLoader(str(Path(schema.__file__).with_name("specs") / "openresponses.json"))
    named = {kind: name for name in spec.schema_names for kind in kinds_of(spec.get_schema(name))}
    events: list[dict[str, Any]] = []
    async with serve(scripted(*[Say("Yes.", thinking="Is it?")] * 2)) as server, server.http() as http:
        for summary in (None, "auto"):
            ask = {"model": "hermes", "input": "Hi.", "stream": True, "reasoning": {"summary": summary}}
            lines = (await http.post("/v1/responses", json=ask)).text.splitlines()
            events += [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: {")]
    assert [(event, wrong) for event in events if (wrong := spec.validate(event, named[event["type"]]))] == []
    assert {"response.reasoning.delta", "response.reasoning_summary_text.delta"} <= {event["type"] for event in events}


def kinds_of(schema: Any) -> list[str]:
    """The types of events that a schema describes."""
    return (
        list(schema.get("properties", {}).get("type", {}).get("enum", ())) if "sequence_number" in str(schema) else []
    )


@pytest.mark.parametrize(
    ("protocol", "model_name", "passed"),
    [("openai-chat", "gpt-5", 9), ("open-responses", "gpt-5", 13), ("anthropic", "claude-sonnet-4", 9)],
)
async def test_the_rules_of_each_protocol_are_kept(
    serve: Any, scripted: Any, protocol: str, model_name: str, passed: int
) -> None:
    """llm-comply finds nothing and skips nothing: by its name it takes the model for one that thinks."""
    pytest.importorskip("llm_comply")

    def step(request: Request) -> Any:
        """Call the client's tool where there is one, as what asks for it demands that."""
        offered = any(spec.name == "client_get_weather" for spec in request.tools)
        return Call("client_get_weather", {"location": "San Francisco"}) if offered else THOUGHT

    model = scripted()
    model.check = lambda: None
    model.add(*[step] * 20)
    async with serve(model, {"platforms.api.model_name": model_name}) as server:
        command = [sys.executable, "-m", "llm_comply.cli", "-u", f"{server.url}/v1", "-k", KEY, "-m", model_name]
        done = await asyncio.to_thread(
            subprocess.run, [*command, "--format", protocol, "--json"], capture_output=True, text=True, check=False
        )
    found = json.loads(done.stdout)
    warned = [one["id"] for one in found["results"] if one.get("warnings")]
    assert not {*warned} - {"compact-response"}, done.stdout  # there is no such route here, and need not be
    assert [one for one in found["results"] if one["status"] != "passed"] == [], done.stdout
    assert len(found["results"]) == passed, done.stdout
