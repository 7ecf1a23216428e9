"""The first process inside the wall of a browser: it opens the way out, starts the browser, bounds it, and ends it.

It listens on the loopback of the browser's own network and hands that socket out to Hermes, which takes what connects
there as if it stood inside. When Hermes is gone, however it went, the socket between the two closes; this process ends
then, and with it all that is inside, since it is process 1.
"""

import array
import os
import resource
import select
import socket
import sys
import time

TICK = 0.5  # seconds between looks at the memory
PAGE = os.sysconf("SC_PAGE_SIZE")


def main(way_path: str, memory: int, largest: int, argv: list[str]) -> None:
    """Start ``argv`` with the address of the way out behind it, and end with it. Does not return."""
    way = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    way.connect(way_path)
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listener:
        port = listener.getsockname()[1]
        fds = array.array("i", [listener.fileno()])
        way.sendmsg([b"."], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
    pid = os.fork()
    if not pid:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))  # beyond it writing fails, and nothing dies of it
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.execv(argv[0], [*argv, f"--proxy-server=http://127.0.0.1:{port}"])  # noqa: S606 - no shell is wanted
    for fd in (3, 4):  # the browser's own: who keeps them open hides its end
        os.close(fd)
    watch(way, pid, memory)


def watch(way: socket.socket, pid: int, memory: int) -> None:
    """Wait until the browser or Hermes ends, or the memory does."""
    poll = select.poll()
    poll.register(way, select.POLLIN | select.POLLHUP)
    looked = 0.0
    while True:
        if poll.poll(TICK * 1000):
            os._exit(0)  # Hermes says nothing here: it has gone
        while True:
            try:
                ended, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                os._exit(0)
            if ended == pid:
                os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
            if not ended:
                break
        if time.monotonic() - looked >= TICK:
            looked = time.monotonic()
            if used() > memory:
                way.sendall(b"m")
                os._exit(0)


def used() -> int:
    """Bytes that the processes inside have for themselves."""
    total = 0
    for name in os.listdir("/proc"):  # noqa: PTH208 - twice a second, and pathlib costs a start
        if name.isdigit():
            try:
                with open(f"/proc/{name}/statm", encoding="ascii") as file:  # noqa: PTH123
                    _, resident, shared, *_ = file.read().split()
            except (OSError, ValueError):
                continue
            total += (int(resident) - int(shared)) * PAGE
    return total


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
