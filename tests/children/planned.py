# /// hermes
# api = 1
# name = "planned"
# kind = "provider"
# summary = "A model that does what its task says, and tools that note what they did."
# [contributes]
# providers = ["planned"]
# tools = ["note", "look", "page", "wait", "die", "noise", "print", "remember", "clarify", "hand", "shell"]
# [permissions]
# kernel = []
# ///
"""Read by a parent and its children alike. The task is JSON: a list of batches of calls, then the answer.

``{"note": {...}}`` is one batch of calls by name; a text is the answer. Tools write what happened into ``truth``.
"""

# ruff: noqa: ASYNC220, ASYNC230, PTH100, PTH109, PTH115, PTH118, PTH120, PTH123, SIM115
import asyncio
import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys

from attrs import field, frozen

from hermes_core import hookimpl
from hermes_core.errors import ProviderError
from hermes_core.kinds import Provider, ToolContext, tool
from hermes_core.types import (
    CallDelta,
    ChildTask,
    Done,
    Effect,
    Model,
    Question,
    TextDelta,
    Usage,
    UsageDelta,
)

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
    """Wait for ever, with a process of its own below; what ``stubborn`` waits for cannot be stopped."""
    if what.what == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    process = subprocess.Popen(["sleep", "600"], start_new_session=True)
    truth("waiting", os.getpid(), process.pid)
    try:
        if what.what in ("deaf", "blocked"):
            ctypes.CDLL(None).sleep(30) if what.what == "deaf" else __import__("time").sleep(30)
        await asyncio.sleep(600)
    finally:
        process.kill()
        process.wait()
    return ""


@tool(touches=lambda _: (), idempotent=True)
async def die(what: What) -> str:
    """End a process: ``me`` or ``parent``, the first time."""
    truth("die", what.what)
    if what.what.startswith("once") and sum(json.loads(line) == ["die", what.what] for line in open(TRUTH)) > 1:
        return "lived"
    print("the secret is", os.environ.get("NO_SUCH"), "sk-" + "very-secret-0001", file=sys.stderr, flush=True)
    for who in what.what.split()[-1].split("+"):
        os.kill(os.getppid() if who == "parent" else os.getpid(), signal.SIGKILL)
    await asyncio.sleep(30)
    return ""


@tool(touches=lambda _: ())
async def noise(what: What) -> str:
    """Say something on the pipe that is not its protocol."""
    for fd in range(3, 20):
        with contextlib.suppress(OSError):
            if "pipe" in os.readlink(f"/proc/self/fd/{fd}"):
                os.write(fd, b"x" * 600_000 if what.what == "flood" else what.what.encode() + b"\n")
    await asyncio.sleep(30)
    return ""


@tool(name="print", touches=lambda _: ())
async def say(what: What) -> str:
    """Print, as a careless plugin does, and show what it can see."""
    print(what.what, flush=True)
    sys.stdin.read()
    return json.dumps({"env": sorted(os.environ), "cwd": os.getcwd(), "argv": open("/proc/self/cmdline").read()})


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


@tool(toolset="delegation", effects={Effect.DELEGATE}, idempotent=True, touches=lambda _: (), seconds=60.0)
async def hand(context: ToolContext, wanted: Hand) -> str:
    """Hand goals to children, side by side."""
    wishes = {"toolsets": wanted.toolsets, "without": wanted.without, "calls": wanted.calls, "levels": wanted.levels}
    wishes |= {"tokens": wanted.tokens, "money": wanted.money, "seconds": wanted.seconds}
    if wanted.drop:
        works = [asyncio.ensure_future(context.child(ChildTask(goal=goal))) for goal in wanted.goals]
        while not truth_has("waiting"):
            await asyncio.sleep(0.01)
        return f"left {len(works)} alone"
    results = await asyncio.gather(*(context.child(ChildTask(goal=goal, **wishes)) for goal in wanted.goals))
    for result in results:
        truth(
            "result", result.status, result.answer, result.session_id, result.error, result.usage.calls, *result.trace
        )
    return json.dumps([[r.status, r.answer] for r in results])


@hookimpl
def register_providers():
    return [Planned()]


@hookimpl
def register_tools():
    return [note, look, page, wait, die, noise, say, remember, clarify, hand, shell]
