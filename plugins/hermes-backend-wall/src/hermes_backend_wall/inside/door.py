"""The one way out: a port on loopback whose connections are handed to Hermes as they are."""

from __future__ import annotations

import contextlib
import socket
import threading

__all__ = ["Door"]

_WAITING = 128  # connections that may wait


class Door:
    """Listens, and sends each connection's descriptor over ``way``; ``port`` is where.

    With ``known`` the port stands on a loopback that others use too, and only connections that ``connect`` made pass.
    """

    def __init__(self, way: socket.socket, *, known: bool) -> None:
        self._way = way
        self._known = known
        self._ours: set[int] = set()  # their own ports
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=_WAITING)
        self._listener.setblocking(False)
        self.port: int = self._listener.getsockname()[1]

    def fileno(self) -> int:
        """The descriptor to wait for."""
        return self._listener.fileno()

    def connect(self, ours: socket.socket, host: str) -> None:
        """Connect a socket of a command to it. Raises OSError."""
        with self._lock:  # until it is known, it is not looked for
            try:
                ours.connect((host, self.port))
            finally:
                with contextlib.suppress(OSError):
                    self._ours.add(ours.getsockname()[1])

    def accept(self) -> None:
        """Hand on one connection."""
        try:
            caller, (_, port) = self._listener.accept()
        except OSError:
            return
        with caller:
            if self._known:
                with self._lock:
                    if port not in self._ours:
                        return
                    self._ours.discard(port)
            with contextlib.suppress(OSError):  # too many at once: it is closed
                socket.send_fds(self._way, [b"c"], [caller.fileno()])
