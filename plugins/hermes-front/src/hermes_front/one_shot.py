"""``-z TEXT`` as a client of a host of this home: written, and ended, as the command would do it itself."""

import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping
    from types import FrameType
    from typing import Any, TextIO

    from hermes_front.wire import Lines

__all__ = ["asked", "begin_host", "hello", "through_host", "wants_host"]

_PATIENCE = 1.0  # seconds for a host to say whether it does it; nothing is done before it has heard what
_INTERRUPTED = 130


class _LeftError(Exception):
    """SIGTERM or SIGHUP: this process goes; what it asked for goes on."""


class _RefusedError(Exception):
    """The system takes nothing more of what is written here, as where a disk is full."""


def through_host(name: str, version: str, words: "list[str]") -> "int | None":
    """Have the host of this home answer, and write what it says; the exit status. None: nothing was done."""
    order = asked(words)
    if order is None or "HERMES_RUN" in os.environ or not sys.stdout or not sys.stderr:
        return None
    from hermes_front.wire import home_of, place_of

    home = home_of(name, os.environ)
    place = place_of(home)
    if not home:
        return None
    from hermes_front.wire import Lines, connect, frame

    connection = connect(place, _PATIENCE) if os.path.exists(place) else None  # noqa: PTH110 - pathlib is dear
    if connection is None:
        if wants_host(home):
            begin_host()
        return None
    told = hello(version, home, do="one-shot")
    if not told["cwd"]:
        connection.close()
        return None  # that the folder is gone is said by who would work in it
    try:
        connection.sendall(frame(**told))
        lines = Lines(connection)
        said = next(iter(lines), {"no": ""})
    except (OSError, ValueError):
        said = {"no": ""}
    if "no" in said:
        connection.close()
        if said["no"] == "version":
            sys.stderr.write(
                f"The host of this home runs {said.get('version')}, not {version}: this goes without it.\n"
            )
            anew = said.get("anew") or f"Begin it anew: {name} gateway stop, then {name} gateway start"
            sys.stderr.write(f"{anew}\n")
        return None
    return _Client(name, connection, lines).ask(order)


def asked(words: "list[str]") -> "dict[str, Any] | None":
    """Return what a command line asks for, where a host can do all of it."""
    order: dict[str, Any] = {"text": None, "session": "", "latest": False, "json": False}
    values = {"-z": "text", "--oneshot": "text", "-r": "session", "--resume": "session"}
    flags = {"-c": "latest", "--continue": "latest", "--json": "json"}
    left = iter(words)
    for word in left:
        head, sign, value = word.partition("=")
        if word in flags:
            order[flags[word]] = True
        elif word in values:
            order[values[word]] = next(left, None)
        elif sign and head in values and head.startswith("--"):
            order[values[head]] = value
        else:
            return None
        if order["session"] is None:
            return None
    if not (order["text"] or "").strip():
        return None  # what is wrong with it is said by who would do it
    return {key: _utf8(value) if isinstance(value, str) else value for key, value in order.items()}


def wants_host(home: str) -> bool:
    """Tell whether settings seem to want a host that begins by itself: ``host.auto``. The host reads them for good."""
    try:
        with open(f"{home}/config.yaml", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            lines = iter(file.read(1 << 20).splitlines())
    except OSError:
        return False
    for line in lines:
        if line.startswith("host:"):
            found = [line]
            for below in lines:
                if below[:1] not in (" ", "\t", "#", ""):
                    break
                found.append(below)
            words = " ".join(one.partition(" #")[0].lower() for one in found)
            return any(f"auto: {yes}" in words for yes in ("true", "yes", "on"))
    return False


def begin_host() -> None:
    """Begin a host for those who come next, apart from this process and its terminal."""
    nothing = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    words = [sys.executable, "-m", "hermes_core", "host", "run", "--auto"]
    try:
        os.posix_spawn(words[0], words, os.environ, file_actions=nothing, setsid=True)
    except (OSError, NotImplementedError):
        return  # without one everything works, too


def hello(version: str, home: str, **more: "Any") -> "Mapping[str, Any]":
    """Return what a client says first: who it is, and what surrounds it."""
    from hermes_front.wire import PROTOCOL

    try:
        cwd = os.getcwd()  # noqa: PTH109
    except OSError:  # it was removed
        cwd = ""
    mask = os.umask(0o077)
    os.umask(mask)
    return {
        "hello": PROTOCOL,
        "version": version,
        "prefix": sys.prefix,
        "home": home,
        "cwd": cwd,
        "env": dict(os.environ),
        "umask": mask,
        "tty": [sys.stdout.isatty(), sys.stderr.isatty()],
        **more,
    }


def _utf8(word: str) -> str:
    try:
        return os.fsencode(word).decode()
    except UnicodeError:
        return word


class _Client:
    """A connection to a host that has said that it answers."""

    def __init__(self, name: str, connection: "socket.socket", lines: "Lines") -> None:
        self._name, self._connection, self._lines = name, connection, lines
        self._session, self._wrote, self._stdin = "", False, False
        self._gone = 0  # how often a person, or the system, wanted it to end
        for stream in (sys.stdout, sys.stderr):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
        self._before: dict[signal.Signals, Any] = {}
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup has it
                self._before[number] = signal.signal(number, self._left)

    def ask(self, order: "dict[str, Any]") -> "int | None":
        """Send what is wanted, and write what is said; the exit status, None where nothing was done."""
        text = order["text"]
        if text == "-":
            text, self._stdin = sys.stdin.read(), True
        from hermes_front.wire import LARGEST, frame

        wanted = frame(say=text, session=order["session"], latest=order["latest"], json=order["json"])
        if not text.strip() or len(wanted) >= LARGEST:
            self._undo(text)  # what is wrong with it, or too long for a frame, is for who would do it
            return None
        self._connection.settimeout(None)
        self._send(wanted)
        while True:
            try:
                status = self._follow()
            except KeyboardInterrupt:
                self._leave("interrupt")
                continue
            except _LeftError:
                self._leave("leave")
                continue
            except BrokenPipeError:  # who read the answer left; there is nobody to tell
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                return 1
            except _RefusedError as error:
                self._told(f"The system refused: {error}\n")
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                return 1
            if status is None:
                self._undo(text)
            return status

    def _undo(self, text: str) -> None:
        """Leave all as it was, for whoever does it."""
        self._connection.close()
        for number, before in self._before.items():
            signal.signal(number, before)
        if self._stdin:
            import io

            sys.stdin = io.StringIO(text)

    def _follow(self) -> "int | None":
        try:
            for told in self._lines:
                if "o" in told:
                    self._write(sys.stdout, told["o"])
                elif "e" in told:
                    self._write(sys.stderr, told["e"])
                elif "s" in told:
                    self._session = told["s"]
                elif "x" in told:
                    return int(told["x"])
                elif "no" in told and not self._wrote and not self._session:
                    return None
        except BrokenPipeError:
            raise
        except (OSError, ValueError):
            pass  # the host is gone, which is told below
        return self._lost()

    def _write(self, stream: "TextIO", text: str) -> None:
        self._wrote = True
        try:
            stream.write(text)
            stream.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise _RefusedError(error.strerror) from None

    def _told(self, words: str) -> None:
        from contextlib import suppress

        with suppress(OSError):
            os.write(2, words.encode())

    def _lost(self) -> int:
        """Say that the host went away in the middle, and how to go on."""
        sys.stdout.flush()
        if self._session:
            words = f"The host ended in the middle of this turn. What was stored is there; finish it: {self._name} -r "
            words += f"{self._session}\n"
        else:
            words = f"The host ended before it had said whether it took this. See: {self._name} sessions list\n"
        sys.stderr.write(words)
        sys.stderr.flush()
        return 1

    def _left(self, _number: int, _frame: "FrameType | None") -> None:
        raise _LeftError

    def _leave(self, how: str) -> None:
        self._gone += 1
        if self._gone > 1 and how == "interrupt":
            os.write(2, b"Interrupted.\n")
            os._exit(_INTERRUPTED)
        from hermes_front.wire import frame

        self._send(frame(**{how: 1}))

    def _send(self, told: bytes) -> None:
        from contextlib import suppress

        with suppress(OSError):  # it is told where nothing more comes
            self._connection.sendall(told)
