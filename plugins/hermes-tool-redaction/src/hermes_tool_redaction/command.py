"""``hermes redact``: a filter that takes secrets out of what goes through it."""

import codecs
import json
import os
import sys
from collections.abc import Callable, Iterator

import click

from hermes_core.brokers import MasksBroker, TextStream

__all__ = ["make_redact"]

_PIECE = 1 << 18  # bytes read at most at once; a pipe gives what is there
_TOLD = 10  # broken lines that are described; more are counted
Clean = Callable[[str], str]

_HELP = """Take secrets out of a text: standard input goes to standard output with secrets masked.

\b
Before you share a log:
  hermes redact < app.log > app.clean.log
While something runs:
  ./deploy.sh 2>&1 | hermes redact
Records whose `text` is to be cleaned, other fields untouched:
  hermes redact --jsonl < messages.jsonl

What is found: the formats of many services' tokens, values behind names such as password or api_key, private keys,
headers, addresses with passwords, and every secret of your home. Long ones keep their first six and last four
characters. What looks like nothing is not found: read before you share."""


def make_redact(masks: MasksBroker) -> click.Command:
    """The command, which masks as the kernel does."""

    @click.command("redact", help=_HELP)
    @click.option("--jsonl", is_flag=True, help="Each line is a JSON object; only its `text` is redacted.")
    @click.option("--pii", is_flag=True, help="Also replace e-mail addresses, phones, and ids of people and chats.")
    def redact(jsonl: bool, pii: bool) -> int:
        def whole(text: str) -> str:
            stream = masks.stream(people=True)
            return stream.feed(text) + stream.close()

        if jsonl:
            return _records(whole if pii else masks.text)
        return _text(masks.stream(people=pii))

    return redact


def _text(stream: TextStream) -> int:
    decode = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode
    out = sys.stdout.buffer
    for piece in _pieces():
        if shown := stream.feed(decode(piece)):
            out.write(_encoded(shown))
            out.flush()
    out.write(_encoded(stream.feed(decode(b"", final=True)) + stream.close()))
    out.flush()
    return 0


def _pieces() -> Iterator[bytes]:
    while piece := os.read(sys.stdin.fileno(), _PIECE):
        yield piece


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _records(clean: Clean) -> int:
    broken, number = 0, 0
    out, held = sys.stdout.buffer, b""
    for piece in _pieces():
        *lines, held = (held + piece).split(b"\n")
        for number, line in enumerate(lines, number + 1):  # noqa: B020 - counting goes on over pieces
            broken += _record(line, number, clean, broken, b"\n")
        out.flush()
    if held:
        broken += _record(held, number + 1, clean, broken, b"")
    out.flush()
    if broken > _TOLD:
        sys.stderr.write(f"{broken - _TOLD:,} more lines could not be read.\n")
    return 2 if broken else 0


def _record(line: bytes, number: int, clean: Clean, told: int, end: bytes) -> int:
    """Write one line with its text redacted. 1 when it is broken, which is said."""
    if line.strip():
        try:
            line = _redacted(line, clean)
        except ValueError as error:
            if told < _TOLD:
                sys.stdout.buffer.flush()
                sys.stderr.write(f"Line {number}: {error}. Write one JSON object a line, with a text.\n")
            return 1
    sys.stdout.buffer.write(line + end)
    return 0


def _redacted(line: bytes, clean: Clean) -> bytes:
    """The line with another text; every other byte of it stays. Raises ValueError that says what is wrong."""
    text = _decoded(line)
    found = _place(text)
    if found is None:
        raise ValueError("it has no `text`")
    begin, end, value = found
    shown = clean(value)
    if shown == value:
        return line
    plain = shown.isascii() and text[begin:end].isascii()
    try:
        return (text[:begin] + json.dumps(shown, ensure_ascii=plain) + text[end:]).encode()
    except UnicodeEncodeError:  # half of a pair, which JSON can write and UTF-8 cannot
        return (text[:begin] + json.dumps(shown) + text[end:]).encode()


def _decoded(line: bytes) -> str:
    try:
        text = line.decode()
        if not isinstance(json.loads(text), dict):
            raise ValueError("it is no JSON object")
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON ({error.msg} at column {error.colno})") from None
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    return text


def _place(text: str) -> tuple[int, int, str] | None:
    """Begin, end and value of the ``text`` of a sound object. Raises ValueError when it has two."""
    decoder, at, found = json.JSONDecoder(), text.index("{") + 1, None
    while True:
        at = _skip(text, at, " \t\r\n,")
        if text[at] == "}":
            return found
        key, at = decoder.raw_decode(text, at)
        at = _skip(text, at, " \t\r\n:")
        value, end = decoder.raw_decode(text, at)
        if key == "text":
            if found:
                raise ValueError("it has `text` twice")
            found = (at, end, value) if isinstance(value, str) else None
        at = end


def _skip(text: str, at: int, what: str) -> int:
    while text[at] in what:
        at += 1
    return at
