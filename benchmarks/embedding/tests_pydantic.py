"""A program's test, without a model. Arguments: the model's URL and a folder, which it does not need."""

import sys

import pytest

TEST = '''
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel


def test_the_model_is_told_what_the_tool_said():
    seen = []

    def model(messages, info):
        seen.append(messages)
        return ModelResponse(parts=[ToolCallPart("weather", {}) if len(seen) == 1 else TextPart("Take an umbrella.")])

    agent = Agent(FunctionModel(model))

    @agent.tool_plain
    def weather() -> str:
        """Say what the weather is."""
        return "Rain."

    assert agent.run_sync("Do I need an umbrella?").output == "Take an umbrella."
    assert seen[1][-1].parts[0].content == "Rain."
'''
file = f"{sys.argv[2]}/test_it.py"
with open(file, "w") as out:  # noqa: PTH123 - as short as the other one
    out.write(TEST)
raise SystemExit(pytest.main(["-q", "-p", "no:cacheprovider", "--rootdir", sys.argv[2], file]))
