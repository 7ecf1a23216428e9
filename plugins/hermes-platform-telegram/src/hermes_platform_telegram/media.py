"""Files of messages, brought into the plugin's cache.

A file is streamed to a name made here: what the sender calls it is told, never used. The same file of the same chat is
fetched once. Strangers' files are fetched too, before anybody decides whether they may talk: so all files together
have a bound, and the oldest go first.
"""

import hashlib
import logging
import mimetypes
import os
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

from hermes_core.types import Blob, Text
from hermes_platform_telegram.api import BotApi
from hermes_platform_telegram.config import Config
from hermes_platform_telegram.failures import Lost, Refused
from hermes_platform_telegram.updates import Attached, Incoming

__all__ = ["Media"]

_TRIES = 3
_ENDINGS = {"audio/ogg": ".ogg", "image/webp": ".webp", "video/mp4": ".mp4"}  # not every system's list has them


class Media:
    """Fetches files into a folder, within the bounds of the settings."""

    def __init__(self, api: BotApi, folder: Path, log: logging.Logger, config: Config) -> None:
        self._api = api
        self._folder = folder
        self._log = log
        self._limit = config.megabytes * 1_000_000
        self._most = config.cache_megabytes * 1_000_000
        self._days = config.keep_days
        self._local = config.local_files
        self._used = 0  # bytes in the folder

    async def fetch(self, incoming: Incoming, attached: Attached) -> Blob | Text:
        """The file, or a text that says why it is not there."""
        called = attached.name or attached.media_type
        if attached.size > self._limit:
            return Text(text=f"[the file {called} is too big to be fetched: {attached.size / 1e6:.0f} MB]")
        chat = re.sub(r"[^0-9-]", "", incoming.chat) or "0"
        key = hashlib.sha256(attached.unique.encode("utf-8", "replace")).hexdigest()[:32]
        target = self._folder / chat / f"{key}{_ending(attached.media_type)}"
        if target.is_file():
            os.utime(target)
        elif reason := await self._bring(attached.file_id, target):
            self._log.warning("A file of a message could not be fetched: %s", reason)
            return Text(text=f"[the file {called} could not be fetched: {reason}]")
        else:
            self._used += target.stat().st_size
            if self._used > self._most:
                self.forget()
        return Blob(media_type=attached.media_type, path=str(target), name=attached.name)

    def forget(self) -> None:
        """Delete files that nobody asked for since ``keep_days``, and the oldest of what is too much."""
        old = time.time() - self._days * 86_400 if self._days else 0.0
        self._used = 0
        for changed, size, file in sorted(_listed(self._folder), reverse=True):
            if changed < old or self._used + size > self._most:
                file.unlink(missing_ok=True)
            else:
                self._used += size

    async def _bring(self, file_id: str, target: Path) -> str:
        """Fetch a file; why it cannot be had, or an empty string."""
        reason = ""
        for _ in range(_TRIES):
            try:
                found = await self._api.call("getFile", {"file_id": file_id})
                target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                await self._save(str(found["file_path"]), target)
                return ""
            except Refused as refusal:  # it was asked, and the answer is no
                return refusal.text
            except Lost as lost:
                reason = lost.text.rstrip(".")
            except OSError as error:
                return error.strerror or "it cannot be written"
            except (KeyError, TypeError, ValueError):
                return "Telegram does not say where it is"
        return reason

    async def _save(self, file_path: str, target: Path) -> None:
        """Write the whole file under its name, or nothing."""
        descriptor, beside = tempfile.mkstemp(dir=target.parent, prefix=".")
        try:
            with open(descriptor, "wb") as file:  # noqa: ASYNC230, PTH123 - pieces, on a local disk
                if self._local and file_path.startswith("/"):
                    _copy(file_path, file, self._limit)
                else:
                    await self._api.download(file_path, file, self._limit)
            Path(beside).replace(target)
        except BaseException:
            Path(beside).unlink(missing_ok=True)
            raise


def _listed(folder: Path) -> Iterator[tuple[float, int, Path]]:
    """When each file was last asked for, and its size."""
    for file in folder.glob("*/*"):
        with suppress(OSError):
            status = file.stat()
            yield status.st_mtime, status.st_size, file


def _ending(media_type: str) -> str:
    return _ENDINGS.get(media_type) or mimetypes.guess_extension(media_type) or ".bin"


def _copy(path: str, target: IO[bytes], limit: int) -> None:
    """Copy a file that a Bot API server keeps on this machine. Raises Refused when it is too long."""
    size = 0
    with Path(path).open("rb") as source:
        while piece := source.read(1_048_576):
            size += len(piece)
            if size > limit:
                raise Refused(413, "it is too big")
            target.write(piece)
