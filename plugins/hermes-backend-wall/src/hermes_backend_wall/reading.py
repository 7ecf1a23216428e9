"""Whether anything was read in folders of others while a command ran: then its output may be their words.

The system tells it (inotify), whatever the command is called and however it names a path. Who else reads there
meanwhile counts, too: that errs on the safe side.
"""

import ctypes
import os
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from hermes_core.types import Folder

__all__ = ["Reading"]

_ACCESS, _CLOSED, _ONLY_FOLDERS, _NO_LINKS = 0x1, 0x10, 0x01000000, 0x02000000
_MOST = 2_000  # folders that are watched; a larger tree counts as read


class Reading:
    """Watches further folders as long as it is entered. ``was_seen`` tells that something was read there.

    A file that is only written is not; one that was open to be read is, also where it was mapped into memory instead.
    """

    def __init__(self, also: Sequence[Folder]) -> None:
        self._folders = [one.path for one in also]
        self._fd, self._unsure = -1, False
        self.was_seen = False  # known once it is left

    def __enter__(self) -> Self:
        if self._folders:
            self._watch()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.was_seen = self._seen()
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _seen(self) -> bool:
        """Whether something was, since it was last asked."""
        if self._fd < 0 or self._unsure:
            return self._unsure
        try:
            return bool(os.read(self._fd, 65_536))
        except BlockingIOError:
            return False

    def _watch(self) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._unsure = True
        if not hasattr(libc, "inotify_init1"):
            return
        self._fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._fd < 0:
            return
        mask, many = _ACCESS | _CLOSED | _ONLY_FOLDERS | _NO_LINKS, 0
        for top in self._folders:
            for place, _, _ in os.walk(top):
                many += 1
                if many > _MOST or libc.inotify_add_watch(self._fd, os.fsencode(place), ctypes.c_uint32(mask)) < 0:
                    return
        self._unsure = False
        while self._seen():  # that was our own look
            pass
