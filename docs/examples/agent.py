"""An agent in ten lines: a function becomes a tool, and every call is written down."""

from pathlib import Path

from hermes_agent import Agent
from hermes_core.types import Effect


def count_words(path: str) -> str:
    """Count the words of a text file."""
    return f"{len(Path(path).read_text(encoding='utf-8').split())} words"


with Agent(name="helper", home="state", provider="offline") as agent:
    agent.register_tool(count_words, effects={Effect.READ_FILES})
    print(agent.run("use the tool count_words with path=notes.md"))
    for call in agent.state.tool_history:
        print(call.name, dict(call.arguments), call.outcome)
