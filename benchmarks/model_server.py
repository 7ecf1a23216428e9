"""A scripted model on loopback, played by model name; it answers as fast as the socket takes it.

``echo`` one short answer; ``tools-N`` N rounds of one tool call, then text; ``stream-N`` N one-word pieces; a suffix
``-lMS`` waits that many milliseconds first. ``paced-N-rR`` gives N words, R a second; ``markdown-K`` K kilobytes of
markdown in pieces of 40 characters. ``do`` calls the tools that the person's last message names, a line each
(``terminal {"command": "true"}``), all in one reply, then answers. It notes for each request when its body was in and
when the reply's last byte was handed over, on one clock, so that the gap between two requests can be read off.
"""

import asyncio
import json
import re
import sys
import time

from hermes_core.testing.protocol_replies import Said, SaidCall, error_of, events_of, reply_of
from hermes_core.testing.protocol_rules import refusal_of

NOTES: list[dict[str, float]] = []


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One connection, kept alive."""
    try:
        while line := await reader.readline():
            headers = {}
            while (header := await reader.readline()) not in (b"\r\n", b""):
                name, _, value = header.decode("latin-1").partition(":")
                headers[name.lower()] = value.strip()
            arrived = time.perf_counter()
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            path = line.split()[1].decode()
            if path == "/notes":
                _whole(writer, json.dumps(NOTES).encode())
                NOTES.clear()
            else:
                await answer(json.loads(body), len(body), arrived, writer)
            await writer.drain()
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def answer(request: dict, size: int, arrived: float, writer: asyncio.StreamWriter) -> None:
    """Play the script of the model's name; refuse what the service would refuse."""
    if refusal := refusal_of("chat", request):
        status, body, _ = error_of("chat", refusal)
        _whole(writer, json.dumps(body).encode(), status)
        return
    name = request["model"]
    if delay := re.search(r"-l(\d+)", name):
        await asyncio.sleep(int(delay[1]) / 1000)
    said = _said(name, request["messages"])
    if request.get("stream"):
        rate = re.search(r"-r(\d+)", name)
        usage = bool((request.get("stream_options") or {}).get("include_usage"))
        await _stream(writer, events_of("chat", said, usage=usage), 1 / int(rate[1]) if rate else 0.0)
    else:
        _whole(writer, json.dumps(reply_of("chat", said)).encode())
    await writer.drain()
    NOTES[:-10_000] = []
    NOTES.append({"start": arrived, "end": time.perf_counter(), "bytes": size})


def _said(name: str, messages: list[dict]) -> Said:
    """What a model of this name says to these messages."""
    kind, *rest = name.split("-")
    count = next((int(r) for r in rest if r.isdigit()), 1)
    known = {"model": name, "usage": {**Said().usage, "input": 10, "output": 1}}
    rounds = 0
    for message in reversed(messages):
        if message["role"] == "user":
            break
        rounds += message["role"] == "tool"
    sleep = re.search(r"-s(\d+)", name)
    command = f"sleep {int(sleep[1]) / 1000} && true" if sleep else "true"
    if kind == "do" and not rounds:
        asked = next(m["content"] for m in reversed(messages) if m["role"] == "user")
        lines = [line.split(" ", 1) for line in asked.splitlines()]
        return Said(calls=[SaidCall(tool, text, f"call_{at}") for at, (tool, text) in enumerate(lines)], **known)
    if (kind == "tools" and rounds < count) or (kind == "parallel" and not rounds):
        given = [json.dumps({"command": f"{command} {rounds}{at}"}) for at in range(count if kind == "parallel" else 1)]
        calls = [SaidCall("terminal", text, f"call_{rounds}_{at}") for at, text in enumerate(given)]
        return Said(calls=calls, **known)
    words = [f"word{at % 97} " for at in range(count if kind in ("stream", "paced") else 1)]
    if kind == "markdown":
        text = _markdown(count * 1024)
        words = [text[at : at + 40] for at in range(0, len(text), 40)]
    return Said(pieces=words, model=name, usage={**known["usage"], "output": len(words)})


def _markdown(size: int) -> str:
    """Text of every sort, with a last line that can be waited for."""
    parts, length, number = [], 0, 0
    while length < size:
        number += 1
        part = (
            f"## Part {number}\n\nSome **bold** words, `code` and a [link](https://example.org/{number}).\n\n"
            f"- one\n- two, with *stress*\n  - inner {number}\n\n```python\ndef f{number}(x: int) -> int:\n"
            f"    return x + {number}\n```\n\n| a | b |\n|---|---|\n| {number} | text |\n\n> a quote\n\n"
        )
        parts.append(part)
        length += len(part)
    return "".join(parts) + "This is the very end.\n"


async def _stream(writer: asyncio.StreamWriter, told: list[dict], pause: float) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
    events = [*map(json.dumps, told), "[DONE]"]
    step, due = 1 if pause else 64, time.perf_counter()
    for at in range(0, len(events), step):
        if writer.is_closing():
            return
        data = "".join(f"data: {e}\n\n" for e in events[at : at + step]).encode()
        writer.write(b"%x\r\n%s\r\n" % (len(data), data))
        if pause:
            due += pause
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
    writer.write(b"0\r\n\r\n")


def _whole(writer: asyncio.StreamWriter, data: bytes, status: int = 200) -> None:
    head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {len(data)}\r\n\r\n"
    writer.write(head.encode() + data)


async def main() -> None:
    """Listen on a free port and print it."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
