"""A conversation with a kernel that answers by rote, for driving the real terminal. Run by the tests in tmux."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from hermes_core.testing import FakeConsole
from hermes_core.types import (
    Called,
    Chat,
    Ended,
    Event,
    Failed,
    Message,
    Progress,
    Question,
    Returned,
    Said,
    Session,
    SlashCommand,
    Started,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
)
from hermes_platform_cli.config import Config
from hermes_platform_cli.platform import Cli

ANSWER = """## What is here

Two things are worth **knowing** before you `rm` anything:

1. The folder holds 日本語.txt and a 👩‍👩‍👧 picture.
2. It is [documented](https://example.org/docs), more or less, in a text that is long enough to wrap at the border.

```python
def greet(name: str) -> str:
    # say hello
    return f"Hello, {name}!"
```

| file | size |
|---|---:|
| a.txt | 12 |
| 日本語.txt | 3,400 |
"""


async def _help(session: Session, rest: str) -> str:
    return "/help    what there is\n/model   who answers"


class RoteConsole(FakeConsole):
    def __init__(self) -> None:
        super().__init__()
        self.running: asyncio.Task[None] | None = None

    @property
    def commands(self) -> list[SlashCommand]:
        return [
            SlashCommand(name="help", summary="What there is.", run=_help),
            SlashCommand(name="model", summary="Show or choose who answers.", run=_help),
            SlashCommand(name="new", summary="Start a new conversation.", run=_help),
        ]

    def status(self, chat: str) -> dict[str, str]:
        return {"session": "s1", "provider": "rote", "model": "rote-1", "cwd": str(Path.cwd()), "mode": "ask"}

    async def interrupt(self, chat: str) -> bool:
        if self.running is None:
            return False
        self.running.cancel()
        return True


async def events(cli: Cli, text: str) -> AsyncIterator[Event]:
    yield Started(session_id="s1", turn_id="t1", provider="rote", model="rote-1")
    if text == "slow":
        for number in range(600):
            yield Said(text=f"word{number} ")
            await asyncio.sleep(0.05)
    if text == "stuck":
        yield Said(text="never mind you")
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(3600)
        await asyncio.sleep(3600)
    if text == "fail":
        yield Failed(kind="auth_error", text="OpenAI refused the key.", hint="Set it with: hermes config set …")
    if text == "ask":
        question = Question(
            id="q1", kind="approval", subject="terminal: rm -rf build\u202e\x1b[2J", risk="deletes files"
        )
        verdict = await cli.ask("main", question)
        yield Said(text=f"You said {verdict and verdict.choice}.")
    if text == "tools":
        yield Thinking(text="I should look at the folder first, then answer.")
        await asyncio.sleep(0.3)
        call = ToolCall(id="c1", name="terminal", arguments={"command": "ls -la"})
        yield Called(call=call)
        for number in range(12):
            yield Progress(call_id="c1", text=f"line {number}\n")
            await asyncio.sleep(0.03)
        await asyncio.sleep(float(sys.argv[2]) if len(sys.argv) > 2 else 0.3)
        output = "\n".join(f"-rw-r--r-- 1 me me {n} file{n}.txt" for n in range(9))
        yield Returned(
            call=call, result=ToolResult(call_id="c1", name="terminal", parts=[Text(text=output)]), seconds=0.2
        )
        bad = ToolCall(id="c2", name="read", arguments={"path": "/etc/shadow"})
        yield Called(call=bad)
        result = ToolResult(call_id="c2", name="read", parts=[Text(text="Permission denied.")], failed=True)
        yield Returned(call=bad, result=result, seconds=0.01)
    if text in ("tools", "hello"):
        for start in range(0, len(ANSWER), 7):
            yield Said(text=ANSWER[start : start + 7])
            await asyncio.sleep(0.005)


async def turn(cli: Cli, text: str) -> None:
    reason = "done"
    try:
        async for event in events(cli, text):
            await cli.show("main", event)
            if isinstance(event, Failed):
                reason = "failed"
    except asyncio.CancelledError:
        reason = "interrupted"
    usage = Usage(input=1834, output=211, cost=0.0042)
    await cli.show("main", Ended(session_id="s1", turn_id="t1", answer="", reason=reason, usage=usage))  # type: ignore[arg-type]


async def main(data: Path) -> None:
    console = RoteConsole()
    # The clock stands still: on a machine that pauses, the second Ctrl+C would come too late to be one.
    cli = Cli(Config(), data, clock=lambda: 0.0)
    try:
        await cli.open(console)
        async for envelope in cli.receive():
            text = envelope.message.parts[0].text  # type: ignore[union-attr]
            await cli.ack(envelope)
            if text.startswith("/"):
                await cli.send(Chat("main"), Message(role="assistant", parts=[Text(text=await _help(None, ""))]), "k")  # type: ignore[arg-type]
                continue
            console.running = asyncio.create_task(turn(cli, text))
            await console.running
            console.running = None
    finally:
        await cli.close()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main(Path(sys.argv[1])))
