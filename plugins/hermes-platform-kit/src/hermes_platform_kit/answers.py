"""What the events of a turn print: the answer on stdout, all else on stderr, or each of them as JSON."""

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from typing import TextIO

import click
from attrs import asdict

from hermes_core.types import Called, Ended, Event, Failed, Noticed, Returned, Said

__all__ = ["Answers", "event_json", "stdout_for_answers"]


class Answers:
    """Prints turns to ``out``, and all else to ``err``: stdout and stderr where nothing else is said."""

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self._out, self._err = out or sys.stdout, err
        self._begun = ""  # of the answer that comes, what was said so far
        self._open = False  # the last line of it has no end yet

    def tell(self, text: str) -> None:
        """Print a line that is no answer, below what was said so far where both are on one terminal."""
        if self._open and self._out.isatty() and (self._err or sys.stderr).isatty():
            self._say("\n")
        click.echo(_shown(text, self._err or sys.stderr), file=self._err, err=True)

    def cut(self) -> None:
        """Print what was said so far of an answer that does not come to its end."""
        if self._begun:
            self._say(f"{self._begun}\n")

    def answer(self, event: Event) -> None:
        """Print only the answer; what a model says between its tool calls is not part of it."""
        if isinstance(event, Said):
            self._begun += event.text
        elif isinstance(event, Called | Ended):
            self._begun = ""
        if isinstance(event, Ended) and event.answer:
            self._say(event.answer if event.answer.endswith("\n") else f"{event.answer}\n")
            if event.note:
                self.tell(event.note)
        elif isinstance(event, Noticed):
            self.tell(event.text)
        elif isinstance(event, Failed):
            self.tell(f"{event.text}\n{event.hint}".strip())

    def verbose(self, event: Event) -> None:
        """Print the text as it comes, and what happens meanwhile on stderr."""
        if isinstance(event, Said):
            self._say(event.text)
        elif isinstance(event, Called):
            arguments = json.dumps(event.call.arguments, ensure_ascii=False)
            self.tell(f"  ┊ {event.call.name} {arguments[:160]}")
        elif isinstance(event, Returned):
            mark = "✗" if event.result.failed else "✓"
            self.tell(f"  ┊ {event.call.name} {mark} {event.seconds:.1f}s")
        elif isinstance(event, Ended) and event.answer:
            self._say("\n")
            self.tell(f"{event.note}\nsession {event.session_id}".strip())
        else:
            self.answer(event)

    def json(self, event: Event) -> None:
        """Print the event as one line."""
        self._say(event_json(event) + "\n")

    def _say(self, text: str) -> None:
        self._out.write(_shown(text, self._out))
        self._out.flush()
        self._open = not text.endswith("\n")


def _shown(text: str, where: TextIO) -> str:
    """Return what is written of a text: a page that a model repeats, in words or in a call, drives no terminal."""
    if not where.isatty():
        return text
    from hermes_platform_kit.clean import clean

    return clean(text)


def event_json(event: Event) -> str:
    """One event as one line: its fields, and ``type``, the class name in lower case."""

    def plain(value: object) -> object:
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)

    return json.dumps({"type": type(event).__name__.lower(), **asdict(event)}, ensure_ascii=False, default=plain)


@contextlib.contextmanager
def stdout_for_answers() -> Iterator[Answers]:
    """Let only answers reach stdout; what plugins print, and programs they start, goes to stderr."""
    out, kept = sys.stdout, -1
    with contextlib.suppress(OSError, ValueError):  # stdout is no file, or stderr is closed
        if sys.stdout.fileno() == 1:
            sys.stdout.flush()
            kept = os.dup(1)
            out = open(kept, "w", encoding=sys.stdout.encoding, errors="replace", closefd=False)  # noqa: SIM115
            os.dup2(2, 1)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield Answers(out)
    finally:
        if kept >= 0:
            with contextlib.suppress(OSError):  # who read the answer left; that is told where it is written
                out.flush()
            with contextlib.suppress(OSError):
                sys.stdout.flush()  # what was written to it past us
            os.dup2(kept, 1)
            os.close(kept)
