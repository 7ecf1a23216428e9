"""Telling a command's output from the marks our own shell puts around it."""

from collections.abc import Callable

__all__ = ["Marks"]

SIGN = b"\x1e"  # before and behind the token, and nowhere in it
LINE = 80  # bytes from behind the token to the end of the line; no mark of ours has more
STATE = 4_000_000  # bytes of a shell's state that are taken; more would be no environment a program can start with


class Marks:
    """Reads a stream as it comes: start, output, end, the shell's state, the end of that.

    What begins like a mark and is none of these is output like any other, and handed on whole.
    ``status`` is the command's exit status once it ended, ``killed`` how often the memory limit ended a process.
    """

    def __init__(self, token: str, sink: Callable[[bytes], None]) -> None:
        self._mark = SIGN + token.encode() + SIGN
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
            if at:
                self._hand_on(at if at > 0 else len(self._held) - self._overlap())
            if at < 0:
                return
            end = self._held.find(b"\n", len(self._mark), len(self._mark) + LINE)
            if end < 0 and len(self._held) < len(self._mark) + LINE:
                return  # the rest of the mark is on its way
            if end >= 0 and self._note(bytes(self._held[len(self._mark) : end]).split()):
                del self._held[: end + 1]
            else:  # its last sign may be the first one of a mark
                self._hand_on(len(self._mark) - len(SIGN))

    def complain(self, data: bytes) -> None:
        """Take what came beside the output."""
        if not self.started and len(self._before) < STATE:
            self._before += data

    def _overlap(self) -> int:
        """How many bytes at the end could be the beginning of a mark."""
        at = self._held.rfind(SIGN, max(0, len(self._held) - len(self._mark) + 1))
        return len(self._held) - at if at >= 0 and self._mark.startswith(self._held[at:]) else 0

    def _hand_on(self, size: int) -> None:
        data = bytes(self._held[:size])
        del self._held[:size]
        if not data:
            return
        if self._phase == "running":
            self._sink(data)
        elif self._phase == "ended" and len(self._state) < STATE:
            self._state += data
        elif self._phase == "before":
            self.complain(data)

    def _note(self, words: list[bytes]) -> bool:
        """Whether a mark says what ours say at this place; if so, it is taken to heart."""
        match words:
            case [b"start"] if self._phase == "before":
                self._phase = "running"
            case [b"nofolder"]:
                self.no_folder, self._phase = True, "over"
            case [b"end", status, killed] if self._phase == "running" and status.isdigit() and int(status) < 256:
                self.status, self.killed = int(status), int(killed) if killed.isdigit() else 0
                self._phase = "ended"
            case [b"eof"]:
                self._phase = "over"
            case _:
                return False
        return True
