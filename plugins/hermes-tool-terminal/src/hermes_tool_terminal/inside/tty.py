"""Runs a command on a terminal of its own, between two pipes. Needs nothing but Python 3.6 or newer.

What comes in is typed, what the command shows goes out. The end of the input is no end of the command.
"""

import fcntl
import os
import pty
import select
import struct
import sys
import termios

ROWS, COLUMNS = 24, 80


def main(argv: "list[str]") -> int:
    """Run it; the status it came to, 128+n after a signal."""
    pid, screen = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.environ.update(TERM="xterm", LINES=str(ROWS), COLUMNS=str(COLUMNS))
        os.environ.update(HISTFILE="/dev/null", PYTHON_HISTORY="/dev/null")  # no person types here
        os.execvp(argv[0], argv)  # noqa: S606 - the command as it was given
    heard, status = [screen, 0], None
    while True:
        ready = select.select(heard, [], [], 0.2)[0]
        if not ready:  # what it left behind may hold the terminal for ever
            if status is not None:
                break
            gone, ended = os.waitpid(pid, os.WNOHANG)
            status = ended if gone else None
        if 0 in ready and not typed(screen):
            heard.remove(0)
        if screen in ready and not shown(screen):
            break
    if status is None:
        status = os.waitpid(pid, 0)[1]
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def typed(screen: int) -> bool:
    """Pass on what came in; whether more may come."""
    data = os.read(0, 4096)
    more = bool(data)
    while data:
        data = data[os.write(screen, data) :]
    return more


def shown(screen: int) -> bool:
    """Pass on what the command showed; whether more may come."""
    try:
        data = os.read(screen, 65536)
    except OSError:  # nobody holds the other end any more
        return False
    more = bool(data)
    try:
        while data:
            data = data[os.write(1, data) :]
    except OSError:  # nobody listens; the command runs on
        pass
    return more


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
