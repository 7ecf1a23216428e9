"""The ``hermes`` command by a process that stands by with everything imported: each call of it is a fork of its own.

What a call does is done by a real process with its own streams, folder, environment and status; what it does not do is
to start Python and import the kernel again. ``standby.py SOCKET`` serves, and ``CLIENT`` is the command.
"""

import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from mortal import at_hand, imported_and_compiled

# Small, as it is started for every call: no site, no other module than these. A first line has no room for any path.
CLIENT = """#!/bin/sh
'''exec' '{python}' -IS "$0" "$@"
' '''
import os, socket, sys
with socket.socket(socket.AF_UNIX) as line:
    line.connect({place!r})
    told = [os.getcwd(), str(len(sys.argv) - 1), *sys.argv[1:], *map("=".join, os.environ.items())]
    socket.send_fds(line, ["\\0".join(told).encode(errors="surrogateescape")], [0, 1, 2])
    line.shutdown(socket.SHUT_WR)
    status = int(line.recv(16))
if status < 0:
    os.kill(os.getpid(), -status)
sys.exit(status)
"""


@contextmanager
def standing_by(env: dict[str, str]) -> Iterator[Path]:
    """A folder with the command ``hermes`` in it, which works for as long as this does."""
    with tempfile.TemporaryDirectory(prefix="hermes-standby-") as folder:
        place, command = f"{folder}/socket", Path(folder) / "hermes"
        command.write_text(CLIENT.format(python=sys.executable, place=place))
        command.chmod(0o755)
        words = [sys.executable, __file__, place]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen(words, env=env, start_new_session=True, **pipes) as server:
            assert server.stdout is not None
            assert server.stdout.readline() == b"ready\n"
            yield Path(folder)


def serve(place: str) -> None:
    """Play every call in a fork, until whoever wants that is gone."""
    rehearse()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # who waits for a call is its own fork
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(place)
        server.listen(64)
        print("ready", flush=True)
        while server in select.select([server, sys.stdin], [], [])[0]:
            line, _ = server.accept()
            if not os.fork():
                server.close()
                answer(line)
            line.close()
    os.killpg(0, signal.SIGKILL)  # and every call that is under way


def answer(line: socket.socket) -> None:
    """Play the call of a line, and say its status there."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    data, streams, *_ = socket.recv_fds(line, 1 << 16, 3)
    while more := line.recv(1 << 16):
        data += more
    child = os.fork()
    if not child:
        try:
            line.close()
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
                os.close(stream)
            folder, count, *told = data.decode(errors="surrogateescape").split("\0")
            os.chdir(folder)
            play(told[: int(count)], dict(one.split("=", 1) for one in told[int(count) :]))
        finally:
            sys.stderr.flush()
            os._exit(1)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    line.sendall(str(status).encode())
    os._exit(0)


def play(words: list[str], env: dict[str, str]) -> None:
    """Be the command: this process ends with it."""
    from hermes_core.__main__ import main

    os.environ.clear()
    os.environ.update(env)
    sys.argv = [str(Path(sys.executable).with_name("hermes")), *words]
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1)  # noqa: SIM115
    main()  # which ends the process, but for ``--version``
    sys.stdout.flush()
    os._exit(0)


def rehearse() -> None:
    """Import what a turn comes to import."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "modules"
        child = os.fork()
        if not child:
            leave = os._exit

            def tell(status: int) -> None:
                told.write_text(imported_and_compiled())
                leave(status)

            os._exit = tell  # type: ignore[assignment]
            silent = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(silent, stream)
            play(["--provider", "offline", "-z", "hello"], {"HERMES_HOME": folder, "HOME": folder})
        os.waitpid(child, 0)
        at_hand(told.read_text())


if __name__ == "__main__":
    sys.path = [place for place in sys.path if place != str(Path(__file__).parent)]  # the command's has not these tests
    serve(sys.argv[1])
