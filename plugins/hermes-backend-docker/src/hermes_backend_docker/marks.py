"""Telling a command's output from the marks our own shell puts around it."""

from collections.abc import Callable

__all__ = ["Marks"]

LINE = 80  # bytes; no mark of ours is longer
STATE = 4_000_000  # bytes of a shell's state that are taken; more would be no environment a program can start with


class Marks:
    """Reads a stream as it comes: start, output, end, the shell's state, the end of that.

    ``status`` is the command's exit status once it ended, ``killed`` how often the memory limit ended a process.
    """

    def __init__(self, token: str, sink: Callable[[bytes], None]) -> None:
        self._mark = f"\x1e{token}\x1e".encode()
        self._sink = sink
        self._held = bytearray()
        self._before = bytearray()
        self._state = bytearray()
        self._phase = "before"
        self.status: int | None = None
        self.killed = 0
        self.no_folder = False

    @property
    def started(self) -> bool:
        """Whether our shell runs."""
        return self._phase != "before"

    @property
    def complete(self) -> bool:
        """Whether there is nothing more to come."""
        return self._phase == "over"

    @property
    def state(self) -> bytes:
        """What the shell left about itself."""
        return bytes(self._state)

    @property
    def complaint(self) -> str:
        """What came instead of our start mark: the runtime's reason why there is no command."""
        return " ".join(self._before.decode(errors="replace").split())[:500]

    def feed(self, data: bytes) -> None:
        """Take the next piece."""
        if not self.complete:
            self._held += data
        while self._held and not self.complete:
            at = self._held.find(self._mark)
            if at < 0:
                keep = self._overlap()
                self._take(bytes(self._held[: len(self._held) - keep]))
                del self._held[: len(self._held) - keep]
                return
            end = self._held.find(b"\n", at)
            if end < 0 and len(self._held) - at < len(self._mark) + LINE:
                self._take(bytes(self._held[:at]))
                del self._held[:at]
                return  # the rest of the mark is on its way
            self._take(bytes(self._held[:at]))
            self._note(bytes(self._held[at + len(self._mark) : end]).split())
            del self._held[: end + 1]

    def complain(self, data: bytes) -> None:
        """Take what came beside the output."""
        if not self.started and len(self._before) < STATE:
            self._before += data

    def _overlap(self) -> int:
        """How many bytes at the end could be the beginning of a mark."""
        for size in range(min(len(self._mark) - 1, len(self._held)), 0, -1):
            if self._mark.startswith(self._held[-size:]):
                return size
        return 0

    def _take(self, data: bytes) -> None:
        if not data:
            return
        if self._phase == "running":
            self._sink(data)
        elif self._phase == "ended" and len(self._state) < STATE:
            self._state += data
        elif self._phase == "before":
            self.complain(data)

    def _note(self, words: list[bytes]) -> None:
        match words:
            case [b"start"] if self._phase == "before":
                self._phase = "running"
            case [b"nofolder"]:
                self.no_folder, self._phase = True, "over"
            case [b"end", status, killed] if self._phase == "running" and status.isdigit():
                self.status, self.killed = int(status), int(killed) if killed.isdigit() else 0
                self._phase = "ended"
            case [b"eof"]:
                self._phase = "over"
