"""Where the socket of a home is, and the frames that go over it: one JSON object a line."""

import json
import os
import select
import socket
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

__all__ = [
    "LARGEST",
    "LOCKS",
    "MARK",
    "PROTOCOL",
    "Lines",
    "connect",
    "frame",
    "home_of",
    "place_of",
    "reached",
    "why_refused",
]

PROTOCOL = 1
LARGEST = 1 << 20  # bytes of a frame
_FOLDER, _NAME = "data/platform-host", "host.sock"  # a plugin's own, which no tool may touch
_FITS = 100  # bytes of an address; the system takes 107
_READ = 1 << 16
MARK = "HERMES_RUN"  # in the environment of what a tool runs
LOCKS = 0x4845524D4553  # the most file locks of it; as hermes_core.environment has both
_PEERPIDFD = 77  # SO_PEERPIDFD of Linux 6.5, of which Python has no name


def home_of(name: str, environ: "Mapping[str, str]") -> str:
    """Return the folder of the home and profile that an environment chooses; empty where nobody can say."""
    prefix = name.upper().replace("-", "_")
    base = os.path.expanduser(environ.get(f"{prefix}_HOME") or f"~/.{name}")  # noqa: PTH111 - pathlib is dear
    if base.startswith("~"):
        return ""
    base, profile = os.path.abspath(base), environ.get(f"{prefix}_PROFILE", "")  # noqa: PTH100
    if not profile:
        try:
            with open(f"{base}/active_profile", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
                profile = file.read(100).strip()
        except OSError:
            profile = ""
    if profile in ("", "default"):
        return base
    return f"{base}/profiles/{profile}" if profile.replace("-", "").replace("_", "").isalnum() else ""


def place_of(home: str) -> str:
    """Return where the socket of a home is: in a folder of its own, which only its owner enters."""
    return f"{home}/{_FOLDER}/{_NAME}"


def reached(place: str) -> "tuple[str, int]":
    """Return an address that the system takes for a place, however long, and what is to be closed afterwards; or -1."""
    if len(os.fsencode(place)) < _FITS or not hasattr(os, "O_PATH"):
        return place, -1
    folder, _, name = place.rpartition("/")
    opened = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    return f"/proc/self/fd/{opened}/{name}", opened


def why_refused(other: socket.socket) -> str:
    """Say why nobody at the other end is spoken with; empty for a process of this user that no tool started."""
    if not hasattr(socket, "SO_PEERCRED"):
        return "this system does not say who is at the other end"
    try:
        pid, uid, _ = struct.unpack("3i", other.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    except OSError as error:
        return str(error)
    if uid != os.geteuid():
        return f"it belongs to the user {uid}"
    if _run_by_tool(pid):
        return "a tool runs it"
    return "" if _lives(other) else "it is gone"  # else its number might have been another's meanwhile


def _run_by_tool(pid: int) -> bool:
    """Tell whether a command of a tool is at the other end: by its limit, or by its mark.

    The limit is there where nothing of the environment is, and nothing that it starts can raise it. What cannot be
    looked at is taken for a tool's.
    """
    try:
        with open(f"/proc/{pid}/limits", "rb") as file:  # noqa: PTH123
            rows = file.read().splitlines()
    except OSError:
        return True
    words: list[bytes] = next((row.split() for row in rows if row.startswith(b"Max file locks")), [])
    if len(words) > 4 and words[4].isdigit() and int(words[4]) <= LOCKS:
        return True
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123
            return any(one.startswith(f"{MARK}=".encode()) for one in file.read().split(b"\0"))
    except OSError:  # who hides it is judged by the limit alone
        return False


def _lives(other: socket.socket) -> bool:
    """Tell whether the process that was there is still; where the system cannot say for sure, it is believed."""
    try:
        handle = other.getsockopt(socket.SOL_SOCKET, _PEERPIDFD)
    except OSError:
        return True
    try:
        return not select.select([handle], [], [], 0)[0]
    finally:
        os.close(handle)


def connect(place: str, seconds: float) -> "socket.socket | None":
    """Return a connection to the host of a home; None where none answers that this user started."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    made.settimeout(seconds)
    opened = -1
    try:
        address, opened = reached(place)
        made.connect(address)
        if not why_refused(made):
            return made
    except OSError:
        pass
    finally:
        if opened >= 0:
            os.close(opened)
    made.close()
    return None


def frame(**told: "Any") -> bytes:
    """Return a frame as it is sent."""
    return json.dumps(told, separators=(",", ":")).encode() + b"\n"


class Lines:
    """The frames that come over a connection. ``over`` says that the other side has closed it."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self._held, self.over = connection, b"", False

    def __iter__(self) -> "Iterator[dict[str, Any]]":
        """Yield them, until the other side closes. Raises OSError, and ValueError for what is none.

        What came is kept where a signal raises while it waits: it can be asked again.
        """
        while not self.over:
            yield from self._whole()
            self._more()

    def at_hand(self) -> "Iterator[dict[str, Any]]":
        """Read once, and yield what is whole by then. Raises as iterating does."""
        self._more()
        yield from self._whole()

    def _whole(self) -> "Iterator[dict[str, Any]]":
        while b"\n" in self._held:
            line, _, self._held = self._held.partition(b"\n")
            told = json.loads(line)
            if not isinstance(told, dict):
                raise ValueError("a frame is an object")
            yield told

    def _more(self) -> None:
        if len(self._held) > 16 * LARGEST:
            raise ValueError("a frame is too large")
        more = self._connection.recv(_READ)
        self.over = not more
        self._held += more
