"""Replies of providers, spoiled: true ones of each protocol, changed by a seeded chance in every layer.

A case is made from its number alone, so a number that a test names can be played again.
"""

import gzip
import json
import random
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

from attrs import frozen
from hostile_server import STALL, http

from hermes_core.testing.protocol_replies import Said, SaidCall, events_of, reply_of, stream_of

WIRES = ("chat", "responses", "messages")
Event = dict[str, Any]
COMMANDS = [f"true 0{i}" for i in range(4)]  # what the four calls of the parallel replies say
CALLS = [SaidCall("probe", json.dumps({"command": said}), f"call_{at}") for at, said in enumerate(COMMANDS)]
SAID = {
    "echo": Said(pieces=("echo: ", "hello")),
    "parallel-4": Said(calls=CALLS),
    "stream-10": Said(pieces=[f"word{at} " for at in range(10)]),
    "tools-1": Said(calls=CALLS[:1]),
}

DEEP = 10_000
STRANGE = "\u202e\u2066 \x1b[2J\x1b]0;x\x07 \u200b 👩\u200d👩\u200d👧 \ufeff"


@frozen(kw_only=True)
class Case:
    """``answers`` are given to the first requests, one each; the calls with the commands ``must_run`` are good."""

    number: int
    protocol: str
    kind: str
    answers: Sequence[Sequence[bytes]]
    must_run: frozenset[str] = frozenset()


def body_of(protocol: str, name: str) -> bytes:
    """The bytes of a streamed reply."""
    return stream_of(protocol, events_of(protocol, SAID[name]))


def make(number: int, seed: int = 5) -> Case:
    """The case with this number."""
    chance = random.Random(f"{seed}:{number}")
    protocol = WIRES[number % len(WIRES)]
    kind = chance.choices(list(KINDS), [weight for _, weight in KINDS.values()])[0]
    answer, must_run = KINDS[kind][0](chance, protocol)
    times = 1 if must_run else chance.choice((1, 1, 1, 2, 3, 6))
    return Case(number=number, protocol=protocol, kind=kind, answers=[answer] * times, must_run=frozenset(must_run))


# --- one bad call among good ones ---------------------------------------------------------------------------------


def _spoilt_arguments(chance: random.Random) -> Any:
    big = chance.choice((200_000, 1_000_000))
    return chance.choice(
        (
            '{"command": "x', "{", "}", "[1, 2]", '"just text"', "null", "true", "7", "", "   ", "{}", "[]",
            '{"command": 5}', '{"command": null}', '{"command": ["a"]}', '{"command": {"a": {}}}', '{"other": 1}',
            '{"command": "x", "command": "y"}', '{"command": NaN}', '{"command": "x", "n": 1e999}', '{"n": -Infinity}',
            '{"command": "x", "number": 1e999}', f'{{"command": "x", "number": {"9" * 400}}}',
            f'{{"command": "x", "n": {"9" * 5000}}}', '{"command": "\\ud800"}', '{"command": "a\\u0000b"}',
            '{"\\udfff": 1, "command": "x"}', json.dumps({"command": STRANGE}), json.dumps('{"command": "twice"}'),
            json.dumps(json.dumps('{"command": "thrice"}')), "[" * DEEP, "[" * DEEP + "]" * DEEP,
            '{"command":' * DEEP + "1" + "}" * DEEP, '{"command": "x", "extra": ' + "[" * 900 + "]" * 900 + "}",
            '{"command": "x", "extra": ' + '{"a":' * 190 + "1" + "}" * 190 + "}", json.dumps({"command": "{" * big}),
            json.dumps({f"k{i}": i for i in range(5000)}), "{'command': 'x'}", '{"command": "x",}', "```json\n{}\n```",
            '{"command": "x"} {"command": "y"}', "\ufeff{}", "<html>", '{"command": "' + "y" * big + '"}', "\x00", "\\",
            {"command": "an object"}, ["an", "array"], 7, None, True, {"command": 5}, [], {}, {"a": [{}] * 50},
        )
    )  # fmt: skip


def _spoilt_name(chance: random.Random) -> Any:
    return chance.choice(
        (
            "", " ", "probe ", "PROBE", "functions.probe", "probe\x00", "\ud800", "prob", "x" * 100_000, "no such tool",
            "probe<|end|>", STRANGE, 7, None, True, ["probe"], {}, "../../etc/passwd", "probe\n", "名前", "__class__",
        )
    )  # fmt: skip


def _spoilt_id(chance: random.Random) -> Any:
    return chance.choice(
        (
            "", " ", None, 7, True, [], {}, "x" * 100_000, "a\x00b", "a", "\ud800", "id with spaces", STRANGE, "é" * 30,
            "call_0", "call_0\x00", "x" * 70,
        )
    )  # fmt: skip


def _told(event: Event) -> list[Event]:
    """What an event of the chat protocol says of calls."""
    return [call for choice in event["choices"] for call in choice["delta"].get("tool_calls", ())]


class _Calls:
    """The four calls of a reply, to be changed in place."""

    def __init__(self, protocol: str) -> None:
        self.protocol, self.events = protocol, events_of(protocol, SAID["parallel-4"])
        if protocol == "chat":
            told = [call for e in self.events for call in _told(e)]
            self._found = [call for call in told if "id" in call]
            self._pieces = [[call for call in told if call["index"] == at] for at in range(4)]
        elif protocol == "responses":
            self._found = [e["item"] for e in self.events if e["type"] == "response.output_item.done"]
        else:
            self._found = [e for e in self.events if e["type"] == "content_block_start"]

    def arguments(self, at: int, value: Any) -> None:
        if self.protocol == "chat":  # all in the first piece, as some services send them
            rest = self._pieces[at][1:]
            self.events[:] = [e for e in self.events if not any(call in rest for call in _told(e))]
            self._found[at]["function"]["arguments"] = value
        elif self.protocol == "responses":
            self._found[at]["arguments"] = value
        else:
            index = self._found[at]["index"]
            deltas = [e for e in self.events if e["type"] == "content_block_delta" and e["index"] == index]
            self.events[:] = [e for e in self.events if e not in deltas[1:]]
            if isinstance(value, str):
                deltas[0]["delta"]["partial_json"] = value
            else:
                self.events.remove(deltas[0])
                self._found[at]["content_block"]["input"] = value

    def name(self, at: int, value: Any) -> None:
        holder = {"chat": lambda c: c["function"], "messages": lambda c: c["content_block"]}
        holder.get(self.protocol, lambda c: c)(self._found[at])["name"] = value

    def id(self, at: int, value: Any) -> None:
        holder = self._found[at]["content_block"] if self.protocol == "messages" else self._found[at]
        holder["call_id" if self.protocol == "responses" else "id"] = value

    def index(self, at: int, value: Any) -> None:
        if self.protocol == "chat":
            for piece in self._pieces[at]:
                piece["index"] = value
        else:
            self._found[at]["output_index"] = value


def _sibling(chance: random.Random, protocol: str) -> tuple[Sequence[bytes], set[str]]:
    calls = _Calls(protocol)
    spoilt = chance.sample(range(4), chance.choice((1, 1, 2, 3)))
    same = _spoilt_id(chance)
    for at in spoilt:
        what = chance.choice(("arguments", "arguments", "arguments", "name", "id", "same id", "index"))
        if what == "arguments":
            calls.arguments(at, _spoilt_arguments(chance))
        elif what == "name":
            calls.name(at, _spoilt_name(chance))
        elif what == "id":
            calls.id(at, _spoilt_id(chance))
        elif what == "same id":
            calls.id(at, same)
        else:
            calls.index(at, chance.choice((None, "3", 10**30, -1, 99, "x", 1.5, True)))
    return [http(stream_of(protocol, calls.events))], {c for i, c in enumerate(COMMANDS) if i not in spoilt}


# --- any place in any event ---------------------------------------------------------------------------------------


def _odd_value(chance: random.Random) -> Any:
    return chance.choice(
        (
            None, True, False, 0, -1, 2**31, 2**63, 10**400, 1e308, float("nan"), float("inf"), -0.0, "", " ", "null",
            "\x00", "\ud83d", "\ude00", STRANGE, "x" * 70_000, [], {}, [None], [[]], {"": ""}, [1, "a", {}], "system",
            "assistant", "tool", "error", "stop", "length", "content_filter", "tool_use", "refusal", "[DONE]",
            {"text": "x"}, [{"type": "text", "text": "part"}], {"error": {"message": "inner"}}, "2", 1.5,
            json.loads("[" * 500 + "]" * 500), json.loads('{"a":' * 300 + "1" + "}" * 300),
        )
    )  # fmt: skip


def _places(value: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Every container with each of its keys or indices."""
    keys: Any = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in list(keys):
        found.append((value, key))
        if len(found) < 2000:
            _places(value[key], found)
    return found


def _change(chance: random.Random, value: Any) -> None:
    places = _places(value, [])
    if not places:
        return
    holder, key = chance.choice(places)
    what = chance.random()
    if what < 0.25:
        del holder[key]
    elif what < 0.35 and isinstance(holder, list):
        holder.insert(key, deepcopy(holder[key]))
    elif what < 0.45 and isinstance(holder, dict):
        holder[chance.choice(("error", "usage", "role", "type", "content", "id", "tool_calls", "refusal"))] = (
            _odd_value(chance)
        )
    else:
        holder[key] = _odd_value(chance)


def _any_base(chance: random.Random, protocol: str) -> list[Event]:
    return events_of(protocol, SAID[chance.choice(list(SAID))])


def _values(chance: random.Random, protocol: str) -> tuple[Sequence[bytes], set[str]]:
    events = _any_base(chance, protocol)
    for _ in range(chance.choice((1, 1, 2, 4))):
        _change(chance, chance.choice(events))
    return [http(stream_of(protocol, events))], set()


def _junk(chance: random.Random) -> str:
    return chance.choice(
        (
            "data: [DONE]\n\n", ": comment\n\n", "event: ping\ndata: {}\n\n", "data: {\n\n", "data: null\n\n",
            'data: {"error": {"message": "upstream died", "code": 502}}\n\n', "data: []\n\n", "data: 1\n\n",
            'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}\n\n',
            "<html><body>502</body></html>\n\n", "data: " + "[" * DEEP + "\n\n", "id: 1\nretry: 10\n\n", "data:\n\n",
            'data: {"type": "no.such.event", "delta": {}}\n\n', "data: {}\n\n", "\r\n\r\n\r\n", "data: ping\n\n",
            'data: {"choices": []}\n\n', 'data: {"choices": [null]}\n\n', "data: NaN\n\n", 'data: "\\ud800"\n\n',
            "event: message_stop\n\n", "data: " + json.dumps({"x": "y" * 100_000}) + "\n\n", "event: \ud800\n\n",
            "data: " + '{"a":' * DEEP + "1" + "}" * DEEP + "\n\n", '{"choices": [{"delta": {"content": "bare"}}]}\n',
        )
    )  # fmt: skip


def _order(chance: random.Random, protocol: str) -> tuple[Sequence[bytes], set[str]]:
    events: list[Any] = list(_any_base(chance, protocol))
    for _ in range(chance.choice((1, 1, 2, 5))):
        what, at = chance.randrange(7), chance.randrange(len(events) + 1)
        if what == 0 and at < len(events):
            del events[at]
        elif what == 1 and at < len(events):
            events[at:at] = [events[at]] * chance.choice((1, 2, 50))
        elif what == 2:
            chance.shuffle(events)
        elif what == 3:
            other = _any_base(chance, protocol)
            events = [e for pair in zip(events, other, strict=False) for e in pair]
        elif what == 4:
            events.insert(at, _junk(chance))
        elif what == 5:
            events = events[:at]
        else:
            events = [*events, *_any_base(chance, chance.choice(WIRES))]
    return [http(stream_of(protocol, events))], set()


# --- bytes and HTTP -----------------------------------------------------------------------------------------------


def _body(chance: random.Random, protocol: str) -> bytes:
    return body_of(protocol, chance.choice(list(SAID)))


def flipped(chance: random.Random, data: bytes) -> bytes:
    """The bytes with some flipped, lost, doubled or moved."""
    made = bytearray(data)
    for _ in range(chance.choice((1, 2, 5, 30))):
        at, size = chance.randrange(len(made) + 1), chance.choice((1, 1, 4, 100))
        what = chance.randrange(5)
        if what == 0:
            del made[at : at + size]
        elif what == 1:
            made[at:at] = made[at : at + size]
        elif what == 2:
            made[at:at] = chance.randbytes(size)
        elif what == 3:
            made[at:at] = chance.choice((b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r", b"\n\n", b'"'))
        elif made:
            made[at : at + size] = bytes(reversed(made[at : at + size]))
    return bytes(made)


def _bytes(chance: random.Random, protocol: str) -> tuple[Sequence[bytes], set[str]]:
    return [http(flipped(chance, _body(chance, protocol)))], set()


def _whole(chance: random.Random, protocol: str) -> tuple[Sequence[bytes], set[str]]:
    """A reply as one JSON object, although a stream was asked for."""
    if protocol == "responses":
        body: Any = events_of(protocol, SAID["parallel-4"])[-1]["response"]
    else:
        body = reply_of(protocol, SAID[chance.choice(("echo", "parallel-4", "tools-1"))])
    if chance.random() < 0.8:
        for _ in range(chance.choice((1, 2, 3))):
            _change(chance, body)
    text = json.dumps(body).encode()
    if chance.random() < 0.3:
        text = flipped(chance, text)
    return [http(text, chance.choice(("application/json", "text/event-stream", "text/html", "")))], set()


def _garbled_chunks(chance: random.Random, body: bytes) -> bytes:
    chunks, at = [], 0
    while at < len(body):
        size = chance.choice((1, 7, 100, 5000))
        piece = body[at : at + size]
        said = f"{len(piece):x}" if chance.random() < 0.95 else chance.choice(("zz", "-1", "ffffffffffffffff", "", "0"))
        chunks.append(said.encode() + b"\r\n" + piece + (b"\r\n" if chance.random() < 0.97 else b""))
        at += size
    return b"".join(chunks) + chance.choice((b"0\r\n\r\n", b"0\r\nx: y\r\n\r\n", b"", b"0\r\n"))


def _http(chance: random.Random, protocol: str) -> tuple[Sequence[bytes], set[str]]:
    body, kind = _body(chance, protocol), b"content-type: text/event-stream\r\n"
    good = http(body)
    ok, cut = b"HTTP/1.1 200 OK\r\n", chance.randrange(len(good))
    chunked = ok + kind + b"transfer-encoding: chunked\r\n\r\n"
    packed = gzip.compress(body)
    choices: list[Sequence[bytes]] = [
        [good[:cut]], [good[:cut], STALL], [], [b""], [STALL], [b"\x00" * 100], [chance.randbytes(300)],
        [ok + kind + f"content-length: {len(body) + 50}\r\n\r\n".encode() + body],
        [ok + kind + f"content-length: {len(body) // 2}\r\n\r\n".encode() + body],
        [ok + kind + b"content-length: -5\r\n\r\n" + body], [ok + kind + b"content-length: many\r\n\r\n" + body],
        [ok + kind + b"content-length: 5\r\ncontent-length: 7\r\n\r\n" + body],
        [ok + kind + b"connection: close\r\n\r\n" + body], [ok + kind + b"\r\n" + body[: chance.randrange(len(body))]],
        [chunked + _garbled_chunks(chance, body)], [chunked + _garbled_chunks(chance, body)], [chunked],
        [ok + kind + b"content-encoding: gzip\r\n\r\n" + body],
        [ok + kind + b"content-encoding: gzip\r\n\r\n" + packed[: chance.randrange(len(packed))]],
        [ok + kind + b"content-encoding: gzip\r\n" + f"content-length: {len(packed)}\r\n\r\n".encode() + packed],
        [ok + kind + b"content-encoding: zstd, br, nonsense\r\n\r\n" + body],
        [http(body) + b"keep-alive junk \x00\xff"], [http(body) + http(body)],
        [http(body, chance.choice(("text/html", "application/json", "image/png", "text/plain; charset=utf-16")))],
        [b"HTTP/1.1 100 Continue\r\n\r\n" * chance.choice((1, 50)) + good], [b"HTTP/0.9 maybe\r\n\r\n" + body],
        [b"HTTP/1.1 200\r\n" + kind + b"\r\n" + body], [b"HTTP/1.1 999 Odd\r\n\r\n"], [b"SSH-2.0-OpenSSH_9.2\r\n"],
        [ok + b"x: " + b"y" * 200_000 + b"\r\n\r\n" + body], [ok + b"bad header\r\n\r\n" + body],
        [ok + kind + b"x-\xff: \xfe\r\nset-cookie: a=b; c\x00\r\n\r\n" + body], [ok + kind * 300 + b"\r\n" + body],
        [b"HTTP/1.1 204 No Content\r\n\r\n"], [good[i : i + 1] for i in range(min(len(good), 1500))],
        [http(b"")], [http(b"\n\n\n")], [http(b"<!doctype html><title>Sign in</title>", "text/html")],
    ]  # fmt: skip
    return chance.choice(choices), set()


def _status(chance: random.Random, protocol: str) -> tuple[Sequence[bytes], set[str]]:
    status = chance.choice(
        (300, 301, 302, 304, 307, 308, 400, 401, 402, 403, 404, 405, 408, 409, 410, 411, 413, 415, 418, 422, 425, 429,
         429, 429, 429, 431, 451, 499, 500, 500, 501, 502, 503, 503, 504, 520, 529, 530, 598)
    )  # fmt: skip
    said = chance.choice(
        (
            "", "{}", "[]", "null", "<html><title>502 Bad Gateway</title>", '{"error": "text"}', '{"error": null}',
            '{"error": {"message": null, "code": []}}', '{"error": {"message": {"a": ["b"]}}}', "{" * DEEP,
            "\x00\x1b[2J", '{"error":{"message":"\\ud800 \\u0000","type":"rate_limit"}}',
            '{"detail": [{"loc": ["body"], "msg": "m"}]}',
            '{"error":{"message":"maximum context length is 8 tokens","code":"context_length_exceeded"}}',
            '{"error":{"message":"You exceeded your current quota","type":"insufficient_quota"}}',
            '{"error":{"message":"model m not found"}}', "model does not exist", "x" * 300_000, "[" * DEEP + "]" * DEEP,
            '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', '"just text"', "7",
        )
    )  # fmt: skip
    headers = {}
    for _ in range(chance.randrange(3)):
        name = chance.choice(("retry-after", "retry-after-ms", "x-ratelimit-reset", "x-should-retry", "location"))
        headers[name] = chance.choice(
            ("0", "1", "-1", "1e9", "NaN", "inf", "soon", "", "Wed, 21 Oct 2099 07:28:00 GMT", "1.5", "9" * 400, "2s",
             "http://127.0.0.1:1/", "\xff", "99999999999999", "Wed, 99 Foo 0000", "0.0000001", "true")
        )  # fmt: skip
    kind = chance.choice(("application/json", "text/html", "text/event-stream", ""))
    return [http(said.encode("utf-8", "replace"), kind, f"{status} Odd", **headers)], set()


Maker = Callable[[random.Random, str], tuple[Sequence[bytes], set[str]]]
KINDS: dict[str, tuple[Maker, int]] = {
    "a bad call among good ones": (_sibling, 25),
    "values changed": (_values, 25),
    "events lost, doubled, moved": (_order, 15),
    "bytes changed": (_bytes, 10),
    "one object, changed": (_whole, 8),
    "broken HTTP": (_http, 10),
    "error status": (_status, 7),
}
