"""An agent for scripts, notebooks and tests: create it, give it functions as tools, run it, look at what it did.

agent = Agent(name="helper")
agent.register_tool(count_words, effects={Effect.READ_FILES})
print(agent.run("How many words are in README.md?"))
print(agent.state.tool_history)
"""

from hermes_agent.agent import Agent, AgentState
from hermes_agent.context import Context

__all__ = ["Agent", "AgentState", "Context"]
