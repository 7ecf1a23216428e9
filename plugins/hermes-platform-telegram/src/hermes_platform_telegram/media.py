"""Files of messages, brought into the plugin's cache.

A file is streamed to a name made here: what the sender calls it is told, never used. The same file of the same chat is
fetched once.
"""

import hashlib
import logging
import mimetypes
import os
import re
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

from hermes_core.types import Blob, Text
from hermes_platform_telegram.api import BotApi
from hermes_platform_telegram.failures import Lost, Refused
from hermes_platform_telegram.updates import Attached, Incoming

__all__ = ["Media"]

_TRIES = 3
_ENDINGS = {"audio/ogg": ".ogg", "image/webp": ".webp", "video/mp4": ".mp4"}  # not every system's list has them


class Media:
    """Fetches files into a folder, each at most ``megabytes`` long."""

    def __init__(self, api: BotApi, folder: Path, log: logging.Logger, *, megabytes: int, local: bool = False) -> None:
        self._api = api
        self._folder = folder
        self._log = log
        self._limit = megabytes * 1_000_000
        self._local = local

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
        return Blob(media_type=attached.media_type, path=str(target), name=attached.name)

    def forget(self, days: int) -> None:
        """Delete files that nobody asked for since so many days; 0 keeps all."""
        if not days or not self._folder.is_dir():
            return
        old = time.time() - days * 86_400
        for file in self._folder.glob("*/*"):
            with suppress(OSError):
                if file.is_file() and file.stat().st_mtime < old:
                    file.unlink()

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
