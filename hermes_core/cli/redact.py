"""``hermes redact``: a filter that takes secrets out of what goes through it."""

import codecs
import json
import os
import sys
from collections.abc import Callable, Iterator

import click

from hermes_core.cli.scope import Scope
from hermes_core.errors import HermesError
from hermes_core.redaction.known import Known
from hermes_core.redaction.stream import Redactor, mask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.config.paths import Home

_PIECE = 1 << 18  # bytes read at most at once; a pipe gives what is there
_TOLD = 10  # broken lines that are described; more are counted


@click.command()
@click.option("--jsonl", is_flag=True, help="Each line is a JSON object; only its `text` is redacted.")
@click.option("--pii", is_flag=True, help="Also replace e-mail addresses, phones, and ids of people and chats.")
@click.pass_obj
def redact(scope: Scope, jsonl: bool, pii: bool) -> int:
    """Take secrets out of a text: standard input goes to standard output with secrets masked.

    \b
    Before you share a log:
      hermes redact < app.log > app.clean.log
    While something runs:
      ./deploy.sh 2>&1 | hermes redact
    Records whose `text` is to be cleaned, other fields untouched:
      hermes redact --jsonl < messages.jsonl

    What is found: the formats of many services' tokens, values behind names such as password or api_key, private keys,
    headers, addresses with passwords, and every secret of your home. Long ones keep their first six and last four
    characters. What looks like nothing is not found: read before you share.
    """
    known = _known(scope)
    change = _People(scope) if pii else None
    return (_records if jsonl else _text)(known, change)


def _text(known: Known, change: "_People | None") -> int:
    decode = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode
    redactor = Redactor(known, mask=change.mask if change else mask)
    out = sys.stdout.buffer
    for piece in _pieces():
        shown = redactor.feed(decode(piece))
        if shown:
            _write(out.write, shown, change)
            out.flush()
    _write(out.write, redactor.feed(decode(b"", final=True)) + redactor.close(), change)
    out.flush()
    return 0


def _pieces() -> Iterator[bytes]:
    while piece := os.read(sys.stdin.fileno(), _PIECE):
        yield piece


def _write(write: Callable[[bytes], int], text: str, change: "_People | None") -> None:
    write((change.apply(text) if change else text).encode("utf-8", "surrogateescape"))


def _records(known: Known, change: "_People | None") -> int:
    broken, number = 0, 0
    out, held = sys.stdout.buffer, b""
    for piece in _pieces():
        *lines, held = (held + piece).split(b"\n")
        for number, line in enumerate(lines, number + 1):  # noqa: B020 - counting goes on over pieces
            broken += _record(line, number, known, change, broken, b"\n")
        out.flush()
    if held:
        broken += _record(held, number + 1, known, change, broken, b"")
    out.flush()
    if broken > _TOLD:
        print(f"{broken - _TOLD:,} more lines could not be read.", file=sys.stderr)
    return 2 if broken else 0


def _record(line: bytes, number: int, known: Known, change: "_People | None", told: int, end: bytes) -> int:
    """Write one line with its text redacted. 1 when it is broken, which is said."""
    if line.strip():
        try:
            line = _redacted(line, known, change)
        except ValueError as error:
            if told < _TOLD:
                sys.stdout.buffer.flush()
                print(f"Line {number}: {error}. Write one JSON object a line, with a text.", file=sys.stderr)
            return 1
    sys.stdout.buffer.write(line + end)
    return 0


def _redacted(line: bytes, known: Known, change: "_People | None") -> bytes:
    """The line with another text; every other byte of it stays. Raises ValueError that says what is wrong."""
    from hermes_core.redaction import redact as redacted

    text = _decoded(line)
    found = _place(text)
    if found is None:
        raise ValueError("it has no `text`")
    begin, end, value = found
    shown = redacted(value, known, mask=change.mask if change else mask)
    shown = change.apply(shown) if change else shown
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


class _People:
    """Masks secrets, and names people by hashes."""

    def __init__(self, scope: Scope) -> None:
        from hermes_core.config.masks import pseudonyms

        self._names = pseudonyms(_home(scope))
        self.apply = self._names.apply

    def mask(self, secret: str, whole: bool = False) -> str:
        """A secret's mask; a phone is a person's."""
        number = secret[:1] == "+" and secret[1:].isdigit()
        return self._names.phone(secret) if number else mask(secret, whole)


def _home(scope: Scope) -> "Home | None":
    try:
        home = scope.home
    except HermesError:
        return None
    return home if home.root.is_dir() else None


def _known(scope: Scope) -> Known:
    """The secrets of the home, where there is one; a broken one must not keep a person from cleaning a log."""
    home = _home(scope)
    if home is None:
        return Known(())
    from hermes_core.config.masks import known_values
    from hermes_core.config.secrets import Secrets

    try:
        config = scope.settings.config
    except HermesError:
        config = None
    return Known(known_values(Secrets(home.env_file), config))
