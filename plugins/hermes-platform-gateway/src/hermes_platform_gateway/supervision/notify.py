"""What systemd is told of the gateway: ready, what it does, that it still answers, that it stops.

The protocol is one datagram of ``NAME=value`` lines to the socket named by ``NOTIFY_SOCKET``; see sd_notify(3). Without
the variable nobody is told anything, and nothing changes.
"""

import asyncio
import logging
import os
import socket
from collections.abc import Awaitable, Callable, MutableMapping

__all__ = ["Answers", "Pulse", "ServiceManager"]

log = logging.getLogger(f"hermes.{__name__}")
Answers = Callable[[], Awaitable[object]]
_LONGEST_STATUS = 200


class Pulse:
    """Whether something still answers, asked at most once at a time: a question that hangs is not asked again."""

    def __init__(self, answers: Answers) -> None:
        """``answers`` returns when it is well, and raises or hangs when it is not."""
        self._answers = answers
        self._asked: asyncio.Future[object] | None = None

    async def beats(self, within: float) -> str:
        """Why there is no answer within so many seconds; an empty text when there is one."""
        asked = self._asked = self._asked or asyncio.ensure_future(self._answers())
        await asyncio.wait({asked}, timeout=within)
        if not asked.done():
            return f"no answer in {within:g} s"
        self._asked = None
        if asked.cancelled():
            return "it was cancelled"
        error = asked.exception()
        return "" if error is None else str(error) or type(error).__name__

    def close(self) -> None:
        """Give up a question that hangs."""
        if self._asked:
            self._asked.cancel()


class ServiceManager:
    """The systemd that started this process, or nobody. Telling it never raises.

    ``watchdog`` is how many seconds it waits for a sign of life before it starts the service again; 0 when it does not.
    """

    def __init__(self, environ: MutableMapping[str, str] = os.environ) -> None:
        """Takes the variables out of ``environ``: a tool's processes do not speak for the service."""
        self._address = _address(environ.pop("NOTIFY_SOCKET", ""))
        microseconds, pid = environ.pop("WATCHDOG_USEC", ""), environ.pop("WATCHDOG_PID", "")
        ours = bool(self._address) and pid in ("", str(os.getpid()))
        self.watchdog = int(microseconds) / 1_000_000 if ours and microseconds.isdecimal() else 0.0

    def ready(self, status: str = "") -> None:
        """The service is up: what depends on it may start."""
        self._tell("READY=1", *_status(status))

    def status(self, status: str) -> None:
        """One line that ``systemctl status`` shows."""
        self._tell(*_status(status))

    def stopping(self, status: str = "", *, within: float = 0) -> None:
        """The service is on its way down, ``within`` seconds at most where that is more than the unit gives it."""
        self._tell("STOPPING=1", *([f"EXTEND_TIMEOUT_USEC={within * 1e6:.0f}"] if within else []), *_status(status))

    async def watch(self, pulse: Pulse) -> None:
        """Give a sign of life as often as is wanted, as long as there is an answer; until cancelled.

        When the event loop hangs, or what the pulse asks does not answer, there is none, and the service is restarted.
        Returns at once where nobody waits for signs.
        """
        if not self.watchdog:
            return
        pause, well = self.watchdog / 3, True
        while True:
            why = await pulse.beats(pause)
            if not why:
                self._tell("WATCHDOG=1")
            elif well:
                log.error("the store does not answer: %s. Unless it does, systemd starts the gateway again", why)
            well = not why
            await asyncio.sleep(pause)

    def _tell(self, *lines: str) -> None:
        if not self._address or not lines:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as there:
                there.settimeout(1)
                there.connect(self._address)
                there.sendall("\n".join(lines).encode())
        except OSError as error:
            log.warning("systemd cannot be told %s: %s", lines[0], error)


def _address(text: str) -> str:
    """A path, or an abstract name; what is neither (vsock) is not spoken."""
    return f"\0{text[1:]}" if text.startswith("@") else text if text.startswith("/") else ""


def _status(text: str) -> tuple[str, ...]:
    line = " ".join(text.split())[:_LONGEST_STATUS]
    return (f"STATUS={line}",) if line else ()
