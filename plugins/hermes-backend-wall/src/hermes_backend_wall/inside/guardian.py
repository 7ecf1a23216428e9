"""Where the wall is Landlock, this process stays outside of it: answers calls, keeps the door, ends what is left over.

The launcher and all it starts are one domain of Landlock, which can neither see into the guardian nor, from Linux 6.12
on, send it a signal.
"""

from __future__ import annotations

import base64
import contextlib
import os
import select
import signal
import socket

from hermes_backend_wall.inside import kernel
from hermes_backend_wall.inside.door import Door
from hermes_backend_wall.inside.processes import kill_all
from hermes_backend_wall.inside.supervisor import Supervisor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, NoReturn

__all__ = ["part"]


def part(settings: Mapping[str, Any], control: socket.socket, way: socket.socket) -> tuple[list[str], int]:
    """Make the guardian; this returns in its child, which is behind the wall then: what holds, and the door's port.

    Raises OSError where the kernel has no Landlock or no such filter.
    """
    kernel.keep_orphans()
    alone = kernel.scope()  # a signal to everything reaches what was started here, and nothing else
    way.setblocking(False)
    door = Door(way, known=True) if settings["door"] else None
    mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pid = os.fork()
    if pid:
        its.close()
        control.close()
        _guard(settings, pid, mine, door, way, alone=alone)
    mine.close()
    way.close()
    if door:
        os.close(door.fileno())
    kernel.die_with_parent(signal.SIGKILL)
    kernel.keep_orphans()
    kernel.hide_memory()
    kernel.drop_rights()
    kernel.restrict(kernel.landlock(settings["paths"], settings["exact"]))
    listener = kernel.filter_calls(base64.b64decode(settings["filter"]), listen=True)
    socket.send_fds(its, [b"f"], [listener])
    os.close(listener)
    its.recv(1)
    its.close()
    done = ["memory", f"landlock {kernel.abi()}"]
    try:
        os.kill(os.getppid(), 0)
    except PermissionError:
        done.append("alone")
    return done, door.port if door else 0


def _guard(
    settings: Mapping[str, Any], pid: int, child: socket.socket, door: Door | None, way: socket.socket, *, alone: bool
) -> NoReturn:
    status = 1
    try:
        _, fds, _, _ = socket.recv_fds(child, 16, 1)
        if fds:
            child.send(b"g")
            child.close()
            calls = {int(number): name for number, name in settings["calls"].items()}
            _serve(
                Supervisor(fds[0], calls, settings["writable"], settings["paths"]["read"], door), fds[0], pid, door, way
            )
            status = 0
    except Exception:  # noqa: BLE001 - it is told, and all ends
        import traceback

        traceback.print_exc()
    finally:
        if alone:
            kill_all(os.getpid(), at_once=True)
        kill_all(os.getpid(), at_once=False)
        os._exit(status)


def _serve(supervisor: Supervisor, fd: int, pid: int, door: Door | None, way: socket.socket) -> None:
    """Until the launcher ends, or Hermes: a launcher that a command stopped does not see that itself."""
    waking, wake = os.pipe()
    for end in (waking, wake):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    poll.register(waking, select.POLLIN)
    poll.register(way, 0)  # that the other end is gone is told unasked
    if door:
        poll.register(door, select.POLLIN)
    while not _ended(pid):
        for ready, event in poll.poll():
            if ready == fd and event & select.POLLIN:
                if not supervisor.serve():
                    poll.unregister(fd)
            elif ready == fd:
                poll.unregister(fd)
            elif ready == way.fileno():
                return
            elif door and ready == door.fileno():
                door.accept()
            else:
                with contextlib.suppress(BlockingIOError):
                    os.read(waking, 65536)


def _ended(pid: int) -> bool:
    """Bury what ended; whether the launcher is among it."""
    try:
        while gone := os.waitpid(-1, os.WNOHANG)[0]:
            if gone == pid:
                return True
    except ChildProcessError:
        return True
    return False
