"""Runs where commands run, not in Hermes: the interpreter of scripts, one after another over the same variables.

``keeper.py`` starts it. It reads what to run, and the results of its calls of tools, from standard input, and needs the
standard library of Python 3.8 alone.
"""

from __future__ import annotations

import ast
import base64
import builtins
import contextlib
import fcntl
import io
import json
import os
import signal
import socket
import sys
import threading
import time
import traceback
import types
from typing import Any

PIECE = 4000  # characters of a message in one line
IMAGES, LARGEST, ROWS = 8, 4_000_000, 60  # images of one script, bytes of one, rows of a table
KINDS = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))


def say(fd: int, who: str, message: Any) -> None:
    """Write a message in lines that no other writer cuts apart."""
    text = json.dumps(message)
    while True:
        piece, text = text[:PIECE], text[PIECE:]
        os.write(fd, f"{who}{'+' if text else '.'}{piece}\n".encode())
        if not text:
            return


def sealed(program: str, call: Any) -> bool:
    """Give up connections for good, by a filter of system calls; whether that holds."""
    if not program or not call:
        return False
    import ctypes

    code = base64.b64decode(program)

    class Filter(ctypes.Structure):
        _fields_ = (("size", ctypes.c_ushort), ("code", ctypes.c_char_p))

    whole, nothing = Filter(len(code) // 8, code), ctypes.c_ulong(0)
    if call(38, ctypes.c_ulong(1), nothing, nothing, nothing):
        return False
    return not call(22, ctypes.c_ulong(2), ctypes.byref(whole))


class ToolError(Exception):
    """A tool said no."""

    __module__ = "hermes_tools"


class Late(BaseException):
    """The time of the script is over."""


class Channel:
    """The pipes to Hermes. One asks at a time; the clock of the script stands still meanwhile."""

    def __init__(self, reading: int, writing: int) -> None:
        self.reader, self.writing, self.lock = os.fdopen(reading, "rb"), writing, threading.RLock()
        self.pid = os.getpid()
        self.waited, self.since = 0.0, 0.0  # seconds for answers of Hermes; since when for the one that is asked now

    def hear(self) -> Any:
        """The next message; ends the process where none comes any more."""
        try:
            line = self.reader.readline()
        except (OSError, ValueError):
            line = b""
        if not line:
            os._exit(70)
        return json.loads(line)

    def tell(self, message: Any) -> None:
        """Say something. A process that a script forked off has no say."""
        if os.getpid() != self.pid:
            raise RuntimeError("tools cannot be called from another process than that of the script")
        try:
            say(self.writing, "p", message)
        except OSError:
            os._exit(70)

    def ask(self, message: Any) -> Any:
        """Say something and wait for the answer."""
        with self.lock:
            self.since = time.monotonic()
            try:
                self.tell(message)
                return self.hear()
            finally:
                self.waited, self.since = self.waited + time.monotonic() - self.since, 0.0


class Tools:
    """What the module ``hermes_tools`` has: each tool of the conversation is a function that gives text."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.names: Any = {}

    def find(self, name: str) -> Any:
        """An attribute of the module."""
        if name == "__all__":
            return [*self.names, "call_many", "show", "ToolError"]
        if name.startswith("__"):
            raise AttributeError(name)
        self.known(name)

        def call(*args: Any, **kwargs: Any) -> Any:
            known = self.known(name)
            if len(args) > len(known):
                raise TypeError(f"{name} takes {len(known)} arguments: {', '.join(known)}")
            given = {**dict(zip(known, args)), **kwargs}  # noqa: B905 - 3.8
            ((text, failed),) = self.ask([[name, given]])
            if failed:
                raise ToolError(text)
            return text

        call.__name__ = call.__qualname__ = name
        return call

    def call_many(self, calls: Any) -> Any:
        """Call tools one after another: ``[(name, {…}), …]``. Texts, or a ToolError in place of one."""
        wanted = [[name, dict(arguments)] for name, arguments in calls]
        for name, _ in wanted:
            self.known(name)
        return [ToolError(text) if failed else text for text, failed in self.ask(wanted)] if wanted else []

    def ask(self, calls: Any) -> Any:
        """The text that each call gave, and whether it failed."""
        try:
            return self.channel.ask({"calls": calls})["results"]
        except (TypeError, ValueError) as error:
            raise TypeError(f"arguments of tools are JSON: {error}") from None

    def known(self, name: Any) -> Any:
        """The arguments of a tool. Raises ToolError where there is none of that name."""
        if name not in self.names:
            import difflib

            close = difflib.get_close_matches(str(name), self.names, 1)
            there = f"Did you mean {close[0]}?" if close else f"There is: {', '.join(sorted(self.names))[:500]}."
            raise ToolError(f"there is no tool named {str(name)[:100]!r}. {there}")
        return self.names[name]


class Shown:
    """What a script shows beside its output: images to Hermes, anything else as text."""

    def __init__(self, channel: Channel) -> None:
        self.channel, self.count = channel, 0

    def show(self, *things: Any) -> None:
        """Show plots, images (also by their paths), tables and other values."""
        for thing in things:
            data = self.image(thing)
            if data is None:
                sys.stdout.write(f"{self.text(thing)}\n")
                continue
            kind = next((kind for start, kind in KINDS if data.startswith(start)), "")
            if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
                kind = "image/webp"
            if not kind:
                raise ValueError("show() takes PNG, JPEG, GIF and WebP images")
            if len(data) > LARGEST:
                raise ValueError(f"an image of {len(data):,} bytes is too large; {LARGEST:,} is the most")
            if self.count >= IMAGES:
                raise ValueError(f"{IMAGES} images are the most of one script")
            self.count += 1
            self.channel.tell({"image": base64.b64encode(data).decode(), "kind": kind})

    def image(self, thing: Any) -> Any:
        """The bytes of what is an image, or nothing."""
        if isinstance(thing, bytes):
            return thing
        path = os.fspath(thing) if isinstance(thing, (str, os.PathLike)) else ""
        if isinstance(path, str) and path.lower().endswith((".png", ".jpg", ".jpeg", ".gif", ".webp")):
            with open(path, "rb") as file:  # noqa: PTH123
                return file.read(LARGEST + 1)
        kept = io.BytesIO()
        figure = thing if hasattr(thing, "savefig") else getattr(thing, "figure", None)
        if figure is not None and hasattr(figure, "savefig"):
            figure.savefig(kept, format="png", bbox_inches="tight")
            return kept.getvalue()
        if hasattr(thing, "save") and hasattr(thing, "mode") and hasattr(thing, "size"):
            thing.save(kept, format="PNG")
            return kept.getvalue()
        made = getattr(thing, "_repr_png_", None)
        data = made() if callable(made) and not isinstance(thing, type) else None
        return data if isinstance(data, bytes) else None

    def text(self, thing: Any) -> str:
        """A value for people to read; of a long table the first and last rows."""
        if isinstance(thing, str):
            return thing
        rows = getattr(thing, "to_string", None)
        if callable(rows) and not isinstance(thing, type):
            with contextlib.suppress(TypeError):
                return str(rows(max_rows=ROWS))
            return str(rows())
        if isinstance(thing, (list, tuple)) and thing and all(isinstance(row, dict) and row for row in thing):
            return table(thing)
        return repr(thing)

    def figures(self) -> None:
        """Show the plots that were made and not shown, and forget them."""
        plots: Any = sys.modules.get("matplotlib.pyplot")
        if plots is None:
            return
        for number in plots.get_fignums()[: max(0, IMAGES - self.count)]:
            self.show(plots.figure(number))
        plots.close("all")


def table(rows: Any) -> str:
    """Rows as columns of text."""
    heads = list(dict.fromkeys(str(key) for row in rows[:ROWS] for key in row))
    cells = [[str(row.get(head, "")) for head in heads] for row in rows[:ROWS]]
    widths = [max(len(line[at]) for line in [heads, *cells]) for at in range(len(heads))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(line, widths)).rstrip() for line in [heads, *cells]]  # noqa: B905
    return "\n".join([*lines, *([f"… {len(rows) - ROWS} rows more"] if len(rows) > ROWS else [])])


class Interpreter:
    """Runs one script after another over the same variables."""

    def __init__(self, channel: Channel, keeper: socket.socket, out: int) -> None:
        self.channel, self.keeper, self.out = channel, keeper, out
        self.tools, self.shown = Tools(channel), Shown(channel)
        module: Any = types.ModuleType("hermes_tools", "The tools of this conversation, as functions that give text.")
        module.__getattr__, module.call_many, module.ToolError = self.tools.find, self.tools.call_many, ToolError
        module.show = builtins.show = self.shown.show  # type: ignore[attr-defined]
        sys.modules["hermes_tools"] = module
        self.main: Any = types.ModuleType("__main__")
        sys.modules["__main__"] = self.main
        self.until = 0.0
        signal.signal(signal.SIGALRM, self.late)

    def late(self, _number: int, _frame: Any) -> None:
        """End the script when its time is over; what it waited for tools does not count, which shows only now."""
        channel, now = self.channel, time.monotonic()
        waited = channel.waited + (now - channel.since if channel.since else 0.0)
        left = self.until + waited - now
        if left <= 0 and not channel.since:
            signal.setitimer(signal.ITIMER_REAL, 0.5)
            raise Late
        signal.setitimer(signal.ITIMER_REAL, max(left, 0.05))

    def serve(self) -> None:
        """Play what comes until nothing comes any more."""
        while True:
            job = self.channel.hear()
            self.tools.names = job["tools"]
            self.shown.count = 0
            end = self.play(job["code"], job["seconds"], job["name"])
            self.keeper.sendall(json.dumps({"id": job["id"], "end": end}).encode() + b"\n")

    def play(self, code: str, seconds: float, name: str) -> Any:
        """What a script came to."""
        for fd in (1, 2):
            os.dup2(self.out, fd)  # the last one may have closed them
        sys.stdout, sys.stderr = (
            io.TextIOWrapper(io.FileIO(fd, "w", closefd=False), encoding="utf-8", errors="replace", line_buffering=True)
            for fd in (1, 2)
        )
        end: Any = {}
        try:
            tree = ast.parse(code, name)
            import linecache

            linecache.cache[name] = (len(code), None, code.splitlines(True), name)
            end_of_it = tree.body[-1] if tree.body else None
            last = end_of_it if isinstance(end_of_it, ast.Expr) else None
            if last is not None:
                tree.body.pop()
            self.channel.waited, self.until = 0.0, time.monotonic() + seconds
            signal.setitimer(signal.ITIMER_REAL, seconds)
            exec(compile(tree, name, "exec"), self.main.__dict__)  # noqa: S102 - this is what the process is for
            if last is not None:
                value = eval(compile(ast.Expression(last.value), name, "eval"), self.main.__dict__)  # noqa: S307
                if value is not None:
                    self.main._ = value
                    end["value"] = self.shown.text(value)[:20_000]
            self.shown.figures()
        except Late:
            end["late"] = True
        except SystemExit as error:
            if error.code not in (None, 0):
                end["error"] = f"SystemExit: {error.code}"[:4000]
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is told
            end["error"] = told(error, name)
        signal.setitimer(signal.ITIMER_REAL, 0)
        copy = os.getpid() != self.channel.pid  # that the script forked off, and forgot to end
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                if copy and stream is sys.stderr and "error" in end:
                    stream.write(f"{end['error']}\n")
                stream.flush()
        if copy:
            os._exit(1 if "error" in end else 0)
        return end


def told(error: BaseException, name: str) -> str:
    """An error with the lines of the script that it came through."""
    try:
        if isinstance(error, SyntaxError) and error.filename == name:
            return "".join(traceback.format_exception_only(type(error), error)).strip()[:4000]
        made = traceback.TracebackException.from_exception(error, limit=-12)
        made.stack = traceback.StackSummary.from_list(
            [f for f in made.stack if f.filename not in ("<interpreter>", "<string>")]
        )
        lines = list(made.format(chain=False))
    except BaseException:  # noqa: BLE001 - an error that cannot even be shown
        lines = [type(error).__name__]
    text = "".join(lines[1:] if lines and lines[0].startswith("Traceback") else lines).strip()
    return text if len(text) <= 4000 else f"{text[:1500]}\n…\n{text[-2400:]}"


def interpret(job: Any, keeper: socket.socket, out: int, call: Any) -> None:
    """Become the interpreter."""
    reading, writing = (fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 100) for fd in (0, 1))
    out = fcntl.fcntl(out, fcntl.F_DUPFD_CLOEXEC, 100)
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, 0)
    for fd in (1, 2):
        os.dup2(out, fd)
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        most = job["memory"]
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.environ["MPLBACKEND"] = "Agg"  # there is no screen; what was drawn is shown in the end
    sys.argv, sys.path = ["script"], [os.getcwd(), *sys.path]  # noqa: PTH109
    channel = Channel(reading, writing)
    shut = sealed(job["seal"], call)
    channel.tell({"ready": list(sys.version_info[:3]), "sealed": shut})
    Interpreter(channel, keeper, out).serve()
