"""Real ``hermes`` processes that start at once: forks of one that has everything imported, each killed by its number.

An order is a line of JSON on stdin. What is said of it: ``started PID``, and at its end ``ended PID STATUS``.
"""

import json
import os
import select
import signal
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from mortal import at_hand, imported_and_compiled


def say(*words: object) -> None:
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def be(order: dict) -> None:
    """Be the command of an order: this process ends with it."""
    os.setsid()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, name, how in ((0, os.devnull, os.O_RDONLY), (1, order["out"], None), (2, order["err"], None)):
        handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND if how is None else how, 0o600)
        os.dup2(handle, number)
        os.close(handle)
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    sys.argv = ["hermes", *order["words"]]
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1)  # noqa: SIM115
    status = 1
    try:
        from hermes_core.__main__ import main

        main()
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def rehearse(words: list[str]) -> None:
    """Import what a command comes to import."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder, "modules")
        child = os.fork()
        if not child:
            leave = os._exit

            def tell(status: int) -> None:
                told.write_text(imported_and_compiled())
                leave(status)

            os._exit = tell  # type: ignore[assignment]
            env = {"PATH": os.environ["PATH"], "HERMES_HOME": folder, "HOME": folder}
            be({"words": words, "cwd": folder, "env": env, "out": os.devnull, "err": os.devnull})
        os.waitpid(child, 0)
        at_hand(told.read_text())


def main() -> None:
    """Play orders until there are no more, and end what still runs then."""
    rehearse(["--provider", "offline", "-z", "run `true`"])
    woken, wakes = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakes)
    say("ready")
    running, rest = set(), b""
    while True:
        ready, _, _ = select.select([0, woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            while running:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    break
                running.discard(pid)
                say("ended", pid, os.waitstatus_to_exitcode(status))
        if 0 in ready:
            more = os.read(0, 1 << 16)
            if not more:
                break
            *lines, rest = (rest + more).split(b"\n")
            for line in lines:
                pid = os.fork()
                if not pid:
                    be(json.loads(line))
                running.add(pid)
                say("started", pid)
    for pid in running:
        os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
