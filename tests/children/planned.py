# /// hermes
# api = 1
# name = "planned"
# kind = "provider"
# summary = "A model that does what its task says, and tools that note what they did."
# [contributes]
# providers = ["planned"]
# tools = ["note", "look", "page", "wait", "die", "blow", "remember", "clarify", "hand", "shell"]
# [permissions]
# kernel = ["turns.run", "sessions.read"]
# ///
"""What a parent and its children do. The task is JSON: a list of batches of calls, then the answer.

``{"note": {...}}`` is one batch of calls by name; a text is the answer. Tools write what happened into ``truth``.
"""

# ruff: noqa: ASYNC220, ASYNC230, PTH100, PTH118, PTH120, PTH123, SIM115
import asyncio
import json
import os
import signal
import subprocess

from attrs import field, frozen

from hermes_core import hookimpl
from hermes_core.errors import ProviderError
from hermes_core.kinds import Provider, ToolContext, tool
from hermes_core.types import (
    CallDelta,
    Done,
    Effect,
    Model,
    Question,
    TextDelta,
    Usage,
    UsageDelta,
)
from hermes_tool_delegate.child import ChildTask, work

TRUTH = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "truth")


def truth(*words):
    handle = os.open(TRUTH, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(handle, (json.dumps(words) + "\n").encode())
    os.close(handle)


def truth_has(what):
    with open(TRUTH) as lines:
        return any(json.loads(line)[0] == what for line in lines)


class Planned(Provider):
    name = "planned"
    default_model = "planned-1"

    async def models(self):
        return [Model(name="planned-1", context=100_000)]

    async def ready(self):
        return True

    def at(self, endpoint):
        return self

    async def stream(self, request):
        said = max(i for i, m in enumerate(request.messages) if m.role == "user" and m.parts[0].text.startswith("["))
        text = request.messages[said].parts[0].text.partition("\n\nWhat you should know")[0]
        step = sum(m.role == "assistant" for m in request.messages[said:])
        plan = json.loads(text)
        truth("request", plan[-1], step, sorted(t.name for t in request.tools))
        now = plan[min(step, len(plan) - 1)] if request.tools else "out of steps"
        if now == "broken":
            raise ProviderError("The model is broken.")
        if isinstance(now, str):
            if now == "results":
                now = json.dumps([m.parts[0].parts[0].text for m in request.messages[said:] if m.role == "tool"])
            yield TextDelta(text=now)
        else:
            for index, (name, arguments) in enumerate(now if isinstance(now, list) else now.items()):
                yield CallDelta(index=index, id=f"{step}-{index}", name=name, arguments=json.dumps(arguments))
        yield UsageDelta(usage=Usage(input=100, output=10, calls=1, cost=0.01))
        yield Done(reason="stop" if isinstance(now, str) else "tools")


@frozen
class What:
    what: str = ""


@tool(touches=lambda _: ())
async def note(what: What) -> str:
    """Do something that must not happen twice."""
    truth("effect", what.what)
    return f"noted {what.what}"


@tool(toolset="risky", effects={Effect.WRITE_FILES}, touches=lambda _: ())
async def look(what: What) -> str:
    """Do something that a person is asked about."""
    truth("effect", what.what)
    return f"looked {what.what}"


@tool(toolset="shell", effects={Effect.EXECUTE}, touches=lambda _: ())
async def shell(what: What) -> str:
    """Run a command."""
    truth("effect", what.what)
    return f"ran {what.what}"


@tool(untrusted=True, touches=lambda _: ())
async def page(what: What) -> str:
    """Read what somebody else wrote."""
    return f"a page about {what.what}"


@tool(touches=lambda _: ())
async def wait(what: What) -> str:
    """Wait for ever, with a process of its own below; what is ``stubborn`` does not end when it is asked to."""
    process = subprocess.Popen(["sleep", "600"], start_new_session=True)
    truth("waiting", process.pid)
    try:
        await asyncio.sleep(600)
    finally:
        process.kill()
        process.wait()
        if what.what == "stubborn":
            await asyncio.sleep(30)
    return ""


@tool(touches=lambda _: ())
async def blow(what: What) -> str:
    """Raise what no tool should."""
    raise SystemExit(3) if what.what == "exits" else RuntimeError("blown")


@tool(touches=lambda _: (), idempotent=True)
async def die(what: What) -> str:
    """End the process, the first time."""
    truth("die", what.what)
    if sum(json.loads(line) == ["die", what.what] for line in open(TRUTH)) > 1:
        return "lived"
    os.kill(os.getpid(), signal.SIGKILL)
    return ""


@tool(toolset="memory", effects={Effect.REMEMBER})
async def remember() -> str:
    """Never a child's."""
    return ""


@tool(toolset="people", effects={Effect.ASK})
async def clarify(context: ToolContext) -> str:
    """Ask a person."""
    return (await context.ask(Question(id="q", kind="text", subject="?"))).choice


@frozen(kw_only=True)
class Hand:
    goals: list[str]
    toolsets: list[str] = field(factory=list)
    without: list[str] = field(factory=list)
    calls: int = 0
    tokens: int = 0
    money: float = 0.0
    seconds: float = 0.0
    levels: int = 0
    drop: bool = False


def hand_tool(ctx):
    @tool(toolset="delegation", effects={Effect.DELEGATE}, idempotent=True, touches=lambda _: (), seconds=60.0)
    async def hand(context: ToolContext, wanted: Hand) -> str:
        """Hand goals to children, side by side."""
        options = {"toolsets": wanted.toolsets, "without": wanted.without, "calls": wanted.calls}
        options |= {"tokens": wanted.tokens, "money": wanted.money, "seconds": wanted.seconds, "levels": wanted.levels}
        options["on_step"] = lambda _session, text: context.progress(f"{text}\n")
        children = [work(ctx, context, ChildTask(goal=g, number=n, **options)) for n, g in enumerate(wanted.goals)]
        if wanted.drop:
            left = [asyncio.ensure_future(child) for child in children]
            while not truth_has("waiting"):
                await asyncio.sleep(0.01)
            return f"left {len(left)} alone"
        results = await asyncio.gather(*children)
        for r in results:
            truth("result", r.status, r.answer, r.session_id, r.error, r.usage.calls, *r.trace)
        return json.dumps([[r.status, r.answer] for r in results])

    return hand


@hookimpl
def register_providers():
    return [Planned()]


@hookimpl
def register_tools(ctx):
    return [note, look, page, wait, die, blow, remember, clarify, hand_tool(ctx), shell]
