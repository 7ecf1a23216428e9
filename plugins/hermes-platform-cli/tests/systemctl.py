#!/usr/bin/python3
"""What ``systemctl --user`` does to one service, as its manual says, where no systemd runs.

``start`` waits until a service of Type=notify said READY=1, and fails when that ended before; ``stop`` waits for its
end; ``is-active`` ends with 0 or 3. What it was told stands in ``~/told``.
"""

import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

HOME = Path.home()
UNITS = HOME / ".config" / "systemd" / "user"
ENDED, UNKNOWN, INACTIVE = 1, 5, 3


def said(unit: Path, key: str) -> list[str]:
    lines = unit.read_text().splitlines()
    return [line.partition("=")[2] for line in lines if line.startswith(f"{key}=")]


def pid_of(name: str) -> int:
    """The main process of a unit; 0 where none lives."""
    file = HOME / f"{name}.pid"
    pid = int(file.read_text()) if file.exists() else 0
    try:
        alive = bool(pid) and Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        alive = False
    return pid if alive else 0


def start(name: str) -> int:
    unit = UNITS / f"{name}.service"
    if not unit.exists():
        sys.stderr.write(f"Failed to start {name}.service: Unit {name}.service not found.\n")
        return UNKNOWN
    if pid_of(name):
        return 0
    place = HOME / f"{name}.notify"
    place.unlink(missing_ok=True)
    heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    heard.bind(str(place))
    heard.settimeout(0.2)
    environ = {"HOME": str(HOME), "NOTIFY_SOCKET": str(place)}
    environ |= dict(shlex.split(one)[0].split("=", 1) for one in said(unit, "Environment"))
    [words] = said(unit, "ExecStart")
    with (HOME / f"{name}.journal").open("ab") as journal:
        main = subprocess.Popen(
            shlex.split(words), env=environ, cwd=HOME, stdin=subprocess.DEVNULL, stdout=journal, stderr=journal,
            start_new_session=True,
        )  # fmt: skip
    (HOME / f"{name}.pid").write_text(str(main.pid))
    until = time.monotonic() + float(said(unit, "TimeoutStartSec")[0])
    while main.poll() is None and time.monotonic() < until:
        try:
            if "READY=1" in heard.recv(4096).decode().splitlines():
                return 0
        except TimeoutError:
            continue
    sys.stderr.write(f"Job for {name}.service failed because the control process exited with error code.\n")
    return ENDED


def stop(name: str) -> int:
    if pid := pid_of(name):
        os.kill(pid, signal.SIGTERM)
        until = time.monotonic() + 60
        while pid_of(name) and time.monotonic() < until:
            time.sleep(0.05)
        if pid_of(name):
            os.killpg(pid, signal.SIGKILL)
    return 0


def main() -> int:
    with (HOME / "told").open("a") as told:
        told.write(" ".join(sys.argv[1:]) + "\n")
    action, *names = [word for word in sys.argv[1:] if not word.startswith("--")]
    name = names[0].removesuffix(".service") if names else ""
    if action == "is-active":
        return 0 if pid_of(name) else INACTIVE
    if action == "restart":
        return stop(name) or start(name)
    return {"start": start, "stop": stop}.get(action, lambda _: 0)(name)


if __name__ == "__main__":
    sys.exit(main())
