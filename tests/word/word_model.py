"""A model that does jobs with effects outside, distrusts what it is told of them, and minds every history.

A person says ``job 7: 2 steps of 0.2 s``. For each step it has a command append two lines to a file, a while between
them. Where a result does not show that a step was finished, it looks at the file and, if the step is not there, does it
again, as a model would that wants to be done. Then it says ``answer to job 7``.
"""

import asyncio
import json
import random
import re
from typing import Any

from word_loopback import Loopback

from hermes_core.testing.protocol_replies import Said, SaidCall, error_of, events_of, reply_of, stream_of
from hermes_core.testing.protocol_rules import refusal_of

JOB = re.compile(r"job (\S+): (\d+) steps of ([\d.]+) s")
EFFECTS = "effects"
EFFECT = "echo {step} begin >> effects; sleep {seconds}; echo {step} end >> effects; echo finished {step}"


def job(name: str, steps: int = 0, seconds: float = 0.1) -> str:
    """What a person says."""
    return f"job {name}: {steps} steps of {seconds} s"


def answer(name: str) -> str:
    """What comes of it."""
    return f"answer to job {name}."


class Model(Loopback):
    """Serves on loopback from a thread of its own; ``refused`` is what a service would have minded."""

    def __init__(self, *, slow: float = 0.0, seed: object = 0) -> None:
        self.refused: list[str] = []
        self.repeated: list[str] = []
        self.unheard: list[str] = []
        self.requests = 0
        self._slow, self._dice = slow, random.Random(str(seed))
        super().__init__()

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}/v1"

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                length = 0
                while (header := await reader.readline()) not in (b"\r\n", b""):
                    name, _, value = header.decode("latin-1").partition(":")
                    length = int(value) if name.lower() == "content-length" else length
                body = await reader.readexactly(length)
                if line.startswith(b"GET"):
                    _whole(writer, 200, {"object": "list", "data": [{"id": "word", "object": "model"}]})
                else:
                    self.heard(body)
                    await self._reply(json.loads(body), writer)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def heard(self, body: bytes) -> None:
        """Take note of a request as it was sent."""

    async def _reply(self, request: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        self.requests += 1
        if refusal := refusal_of("chat", request):
            self.refused.append(f"{refusal}: {request['messages']}")
            status, body, _ = error_of("chat", refusal)
            _whole(writer, status, body)
            return
        await asyncio.sleep(self._dice.random() * self._slow)
        said = self.said(request)
        if not request.get("stream"):
            _whole(writer, 200, reply_of("chat", said))
            return
        usage = bool((request.get("stream_options") or {}).get("include_usage"))
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        for event in [*events_of("chat", said, usage=usage), None]:
            data = stream_of("chat", [event])[: -len(b"data: [DONE]\n\n")] if event else b"data: [DONE]\n\n"
            writer.write(b"%x\r\n%s\r\n" % (len(data), data))
            await writer.drain()
            if self._slow:
                await asyncio.sleep(self._dice.random() * self._slow / 4)
        writer.write(b"0\r\n\r\n")

    def said(self, request: dict[str, Any]) -> Said:
        messages, known = request["messages"], {"model": request["model"]}
        at = max((at for at, m in enumerate(messages) if m["role"] == "user" and JOB.search(_text(m))), default=None)
        if at is None or not request.get("tools"):
            return Said(pieces=["A title"], **known)
        found = JOB.search(_text(messages[at]))
        assert found
        name, steps, seconds = found[1], int(found[2]), found[3]
        calls = {call["id"]: call["function"] for m in messages[at:] for call in m.get("tool_calls") or ()}
        results = [(calls[m["tool_call_id"]], _text(m)) for m in messages[at:] if m["role"] == "tool"]
        if any("terminal was not run" in told for _, told in results):
            self.unheard.append(name)  # somebody has to say yes, and nobody is there
            steps = 0
        for number in range(steps):
            if command := self._next(f"{name}.{number}", seconds, results):
                arguments = json.dumps({"command": command})
                return Said(calls=[SaidCall("terminal", arguments, f"call_{name}_{number}_{len(results)}")], **known)
        return Said(pieces=[*re.findall(r"\S+ ?", answer(name))], **known)

    def _next(self, step: str, seconds: str, results: list[tuple[dict[str, str], str]]) -> str:
        """The command that comes next for a step; empty when it is finished."""
        did = [(json.loads(call["arguments"])["command"], told) for call, told in results]
        mine = [(command, told) for command, told in did if f"{step} " in command]
        if not mine:
            return EFFECT.format(step=step, seconds=seconds)
        command, told = mine[-1]
        looked = command.startswith("grep")
        if f"finished {step}" in told or (looked and f"{step} end" in told):
            return ""
        if looked and ("exit 1" in told or f"{step} begin" in told):  # else that was cut, too: it looks again
            self.repeated.append(step)
            return EFFECT.format(step=step, seconds=seconds)
        return f"grep '^{step} ' {EFFECTS} # {len(mine)}"


def _text(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _whole(writer: asyncio.StreamWriter, status: int, body: object) -> None:
    data = json.dumps(body).encode()
    head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {len(data)}\r\n\r\n"
    writer.write(head.encode() + data)
