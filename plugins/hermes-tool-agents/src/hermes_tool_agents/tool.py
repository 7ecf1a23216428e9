"""The tool ``agent``."""

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError
from hermes_core.kinds import Tool, ToolContext
from hermes_core.options import option, settings
from hermes_core.types import Effect, Feature, Session
from hermes_tool_agents.jobs import Worker, at_work

if TYPE_CHECKING:
    from hermes_tool_agents.config import AgentSettings, Config

__all__ = ["agent_tool"]

_MARGIN = 60.0


@settings
class Task:
    """What is to be done."""

    agent: str = option("which")
    task: str = option("whole; it knows nothing else")
    fresh: bool = option("forget its earlier tasks here", default=False)
    wall: bool = option("false: outside the wall, asks", default=True)


def agent_tool(ctx: PluginContext) -> Tool:
    """Make the tool over the agents of the settings."""
    from hermes_tool_agents.config import Config

    config: Config = ctx.config or Config()
    names = ", ".join(sorted(config.known))

    def needs(_session: Session) -> str | None:
        return None if config.known else f"no agent is set up: {ctx.program} config edit, tools.agents.known"

    return Tool(
        name="agent",
        description=f"Have another agent do a task in this folder. It goes on where it was. Agents: {names or 'none'}.",
        params=Task,
        toolset="agents",
        effects=frozenset({Effect.EXECUTE, Effect.ASK}),
        run=partial(_run, ctx, config),
        left=partial(_left, ctx),
        untrusted=True,
        needs=needs,
        seconds=config.seconds + _MARGIN,
    )


async def _left(ctx: PluginContext, context: ToolContext, wanted: Task) -> str:
    """Say what a death left: the agent ended with the place it ran in, and its session is kept."""
    return f"{wanted.agent} was cut off while it worked. Look what it did; call again, and it goes on where it was."


async def _run(ctx: PluginContext, config: "Config", context: ToolContext, wanted: Task) -> str:
    agent = config.known.get(wanted.agent)
    if agent is None:
        known = ", ".join(sorted(config.known)) or "none is set up"
        raise ToolError(f"There is no agent {wanted.agent[:80]!r}: {known}.", retry=False)
    if not wanted.task.strip():
        raise ToolError("Say the whole task.")
    if Feature.BACKGROUND not in context.workspace.features:
        raise ToolError("Commands run where nothing can be talked to, so no agent can work there.", retry=False)
    workers = at_work(ctx.state)
    worker = workers.begin(wanted.agent, wanted.task, context.session)
    worker.work = work = asyncio.create_task(_work(ctx, config, agent, context, wanted, worker))
    try:
        return await work
    except asyncio.CancelledError:
        if worker.stopped:
            raise ToolError(f"The person stopped {wanted.agent}.", retry=False) from None
        work.cancel()
        await asyncio.wait({work})
        raise
    finally:
        workers.end(worker)


async def _work(
    ctx: PluginContext, config: "Config", agent: "AgentSettings", context: ToolContext, wanted: Task, worker: Worker
) -> str:
    from hermes_tool_agents.child import child

    env = {name: ctx.secrets.resolve(value) for name, value in agent.env.items()}
    owner, here, name = context.session.owner, context.session.id, f"session:{wanted.agent}"
    found = None if wanted.fresh else await ctx.documents.get(name, owner=owner, session_id=here)
    async with child(context, wanted.agent, agent, env, worker, config.seconds, wanted.wall) as one:
        await one.greet()
        try:
            async with asyncio.timeout(config.seconds):
                session = await one.open(str(found.value) if found else "")
                # before it does anything: a death finds it again
                await ctx.documents.put(name, session, owner=owner, session_id=here)
                reason = await one.work(wanted.task)
        except TimeoutError:
            told = f"{wanted.agent} was still at work after {config.seconds:g} s and was stopped"
            raise ToolError(f"{told} (tools.agents.seconds).", retry=False) from None
        text = one.text.strip() or "(It said nothing.)"
        return text if reason == "end_turn" else f"{text}\n\n[{wanted.agent} stopped: {reason[:80]}]"
