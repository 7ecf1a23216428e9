"""Files of messages, brought into the plugin's cache.

A file is streamed to a name made here: what the sender calls it is told, never used. The same file of the same chat is
fetched once.
"""

import hashlib
import logging
import mimetypes
import re
from pathlib import Path
from typing import IO

from hermes_core.types import Blob, Text
from hermes_platform_kit.files import FileCache
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
        self._files = FileCache(folder, most=config.cache_megabytes * 1_000_000, days=config.keep_days)
        self._log = log
        self._limit = config.megabytes * 1_000_000
        self._local = config.local_files

    async def fetch(self, incoming: Incoming, attached: Attached) -> Blob | Text:
        """The file, or a text that says why it is not there."""
        called = attached.name or attached.media_type
        if attached.size > self._limit:
            return Text(text=f"[the file {called} is too big to be fetched: {attached.size / 1e6:.0f} MB]")
        chat = re.sub(r"[^0-9-]", "", incoming.chat) or "0"
        key = hashlib.sha256(attached.unique.encode("utf-8", "replace")).hexdigest()[:32]
        name = f"{chat}/{key}{_ending(attached.media_type)}"
        reason = "" if self._files.find(name) else await self._bring(attached.file_id, name)
        place = self._files.find(name)
        if reason or not place:
            self._log.warning("A file of a message could not be fetched: %s", reason)
            return Text(text=f"[the file {called} could not be fetched: {reason}]")
        return Blob(media_type=attached.media_type, path=str(place), name=attached.name)

    def forget(self) -> None:
        """Delete files that nobody asked for since ``keep_days``, and the oldest of what is too much."""
        self._files.forget()

    async def _bring(self, file_id: str, name: str) -> str:
        """Fetch a file; why it cannot be had, or an empty string."""
        reason = ""
        for _ in range(_TRIES):
            try:
                found = await self._api.call("getFile", {"file_id": file_id})
                await self._save(str(found["file_path"]), name)
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

    async def _save(self, file_path: str, name: str) -> None:
        """Write the whole file under its name, or nothing."""
        with self._files.writing(name) as file:
            if self._local and file_path.startswith("/"):
                _copy(file_path, file, self._limit)
            else:
                await self._api.download(file_path, file, self._limit)


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
