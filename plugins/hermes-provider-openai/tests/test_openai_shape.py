"""Who can hold a model to a schema is told it, all others are not."""

from hermes_core.types import Message, Request, Text, ToolSpec
from hermes_openai_wire.body import chat_body
from hermes_provider_openai.entry import load_entry

SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
TOLD = [("openai", "gpt-5-mini", True), ("openai", "gpt-4-turbo", False), ("deepseek", "deepseek-chat", False)]
LOCAL = [("vllm", "qwen", True), ("custom", "qwen", False)]


def body(service: str, model: str, tools: bool = False) -> dict:
    said = (Message(role="user", parts=(Text(text="hi"),)),)
    spec = ToolSpec(name="t", description="T.", schema={"type": "object", "properties": {}})
    request = Request(model=model, messages=said, options={"schema": SCHEMA}, tools=(spec,) if tools else ())
    return chat_body(load_entry(service), "k", request, model, {})


def test_services_that_can_are_told_the_schema():
    for service, model, told in [*TOLD, *LOCAL]:
        assert ("response_format" in body(service, model)) is told, (service, model)
    made = body("openai", "gpt-5-mini", tools=True)["response_format"]
    assert made["json_schema"] == {
        "name": "answer",
        "strict": True,
        "schema": {**SCHEMA, "additionalProperties": False},
    }


def test_a_server_of_ones_own_is_not_while_tools_may_be_called():
    assert "response_format" not in body("vllm", "qwen", tools=True)
