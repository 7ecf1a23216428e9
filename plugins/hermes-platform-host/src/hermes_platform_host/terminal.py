"""``hermes attach``: this terminal, attached to a host. It knows nothing but the connection."""

import contextlib
import os
import select
import socket
import sys
from collections.abc import Mapping
from typing import Any

from hermes_front.wire import LARGEST, Lines, frame

__all__ = ["Terminal", "carry"]


def carry(program: str, _home: str, connection: socket.socket, offer: Mapping[str, Any]) -> int:
    """Attach this terminal to a host that offers so; the exit status."""
    with connection:
        return Terminal(program, str(offer.get("session") or ""), connection, Lines(connection)).talk()


class Terminal:
    """This terminal, attached to a session of a host that has said that it serves it."""

    def __init__(self, program: str, session: str, connection: socket.socket, lines: Lines) -> None:
        self._program, self._session = program, session
        self._connection, self._lines = connection, lines

    def talk(self) -> int:
        """Take part until the person leaves, or the host ends; the exit status."""
        self._connection.settimeout(None)
        with contextlib.suppress(OSError):  # told where nothing more comes
            self._connection.sendall(frame(session=self._session))
        return self._follow()

    def _follow(self) -> int:
        typing = True
        while True:
            try:
                waits = [self._connection, sys.stdin] if typing else [self._connection]
                ready = select.select(waits, [], [])[0]
                if self._connection in ready:
                    # a frame may come in pieces, and several at once
                    for told in self._lines.at_hand():
                        if "x" in told:
                            return int(told["x"])
                        self._show(told)
                    if self._lines.over:
                        return self._lost()
                elif sys.stdin in ready:
                    typing = self._typed()
            except KeyboardInterrupt:
                with contextlib.suppress(OSError):
                    self._connection.sendall(frame(interrupt=1))
            except (OSError, ValueError):  # killed with something unread, or in the middle of a frame
                return self._lost()

    def _typed(self) -> bool:
        """Send what the person typed; False once there is nothing more."""
        data = os.read(0, LARGEST // 8)
        with contextlib.suppress(OSError):  # told where nothing more comes
            if not data:
                self._connection.sendall(frame(leave=1, wait=not sys.stdin.isatty()))
                return False
            for line in data.decode("utf-8", "replace").splitlines():
                self._connection.sendall(frame(say=line))
        return True

    def _show(self, told: dict[str, object]) -> None:
        for key, stream in (("o", sys.stdout), ("e", sys.stderr)):
            if key in told:
                stream.write(str(told[key]))
                stream.flush()
        self._session = str(told.get("s") or self._session)

    def _lost(self) -> int:
        sys.stderr.write(
            f"The host ended. Nothing that was stored is lost; go on: {self._program} -r {self._session}\n"
        )
        return 1
