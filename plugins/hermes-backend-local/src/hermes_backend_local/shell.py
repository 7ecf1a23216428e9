"""The file in memory that a bash command leaves its folder and its exported variables in."""

import fcntl
import os
import tempfile
from collections.abc import Sequence

from hermes_backend_kit.shell import TELL, parse_exports, trapped

# A command may use low descriptors itself (exec 3>file), so the trap's one is far away from those.
DESCRIPTOR_FLOOR = 100


class Trace:
    """What one command leaves."""

    def __init__(self) -> None:
        if hasattr(os, "memfd_create"):
            first = os.memfd_create("hermes-shell")
        else:
            first, path = tempfile.mkstemp(prefix="hermes-shell-")
            os.unlink(path)  # noqa: PTH108 - one call on a descriptor's own path
        self.descriptor = fcntl.fcntl(first, fcntl.F_DUPFD_CLOEXEC, DESCRIPTOR_FLOOR)
        os.close(first)

    def wrap(self, argv: Sequence[str]) -> list[str]:
        """The command with the trap that writes it."""
        return trapped(argv, TELL, f">&{self.descriptor}")

    def read(self) -> tuple[str, bytes] | None:
        """Folder and declarations at the end, or None when the command left none."""
        size = os.fstat(self.descriptor).st_size
        folder, separator, declared = os.pread(self.descriptor, size, 0).partition(b"\0")
        return (os.fsdecode(folder), declared) if separator else None

    def close(self) -> None:
        """Forget it."""
        os.close(self.descriptor)


class Exports:
    """Reads variables out of declarations; most commands change none, and parsing costs more than comparing."""

    def __init__(self) -> None:
        self._known: tuple[bytes, dict[str, str]] = (b"", {})

    def read(self, declared: bytes) -> dict[str, str]:
        """The variables."""
        if declared != self._known[0]:
            self._known = (declared, parse_exports(declared))
        return self._known[1]
