"""Files: fetched within bounds under names that are safe, and sent."""

import asyncio
import hashlib
import mimetypes
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hermes_core.errors import Undeliverable
from hermes_core.types import Blob
from hermes_platform_kit.files import FileCache
from hermes_platform_matrix.e2ee.attachments import opened, sealed
from hermes_platform_matrix.homeserver import Cut, Homeserver, Refused, path
from hermes_platform_matrix.markup import sound

__all__ = ["Media", "NoFile", "safe_name", "safe_type"]

_MXC = re.compile(r"mxc://([A-Za-z0-9.\-:\[\]]+)/([A-Za-z0-9_\-]+)")
_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,60}/[a-z0-9][a-z0-9!#$&^_.+-]{0,60}")
_ALL = 1_000_000_000  # bytes of files from chats that are kept at once
_TRIES = 3


class NoFile(Exception):
    """A file of a message cannot be had; the text says why."""


class Media:
    """Files of one account. ``folder`` holds those that came in; ``limit`` is the largest, in bytes."""

    def __init__(self, server: Homeserver, folder: Path, limit: int, days: float) -> None:
        self._server, self._limit = server, limit
        self._files = FileCache(folder, most=_ALL, days=days)

    async def fetch(self, content: Mapping[str, Any]) -> Blob:
        """The file of a message, as a copy on this machine. Raises NoFile."""
        info = content.get("info")
        info = info if isinstance(info, Mapping) else {}
        file = content.get("file")
        address = file.get("url") if isinstance(file, Mapping) else content.get("url")
        found = _MXC.fullmatch(address) if isinstance(address, str) else None
        if found is None:
            raise NoFile("the message does not say where it is")
        size = info.get("size")
        if isinstance(size, int) and size > self._limit:
            raise NoFile(f"it has {size:,} bytes, and {self._limit:,} is the most")
        data = await self._download(found[1], found[2])
        if isinstance(file, Mapping):
            try:
                data = await asyncio.to_thread(opened, data, file)
            except ValueError as error:
                raise NoFile(str(error)) from error
        kind = safe_type(info.get("mimetype"))
        name = safe_name(content.get("filename") or content.get("body"), kind)
        place = await asyncio.to_thread(self._write, found[0], name, data)
        if place is None:
            raise NoFile("it is gone again")
        return Blob(media_type=kind, path=str(place), name=name)

    async def _download(self, server: str, name: str) -> bytes:
        problem = ""
        for number in range(_TRIES):
            try:
                return await self._downloaded(server, name)
            except Refused as refused:
                if not refused.limited and refused.status < 500:
                    raise NoFile(f"the homeserver does not give it ({refused.status} {refused.code})") from refused
                problem = str(refused)
                await asyncio.sleep(min(refused.retry_after or number + 1, 10))
            except Cut as error:
                problem = str(error)
                await asyncio.sleep(number + 1)
        raise NoFile(problem)

    async def _downloaded(self, server: str, name: str) -> bytes:
        try:
            data = await self._server.download(path("v1", "media", "download", server, name), self._limit)
        except Refused as refused:
            if refused.status != 404 or refused.code != "M_UNRECOGNIZED":
                raise
            older = path("v3", "download", server, name).replace("/client/", "/media/", 1)
            data = await self._server.download(older, self._limit)
        if data is None:
            raise NoFile(f"it is larger than {self._limit:,} bytes, which is the most")
        return data

    def _write(self, address: str, name: str, data: bytes) -> Path | None:
        named = f"{hashlib.sha256(address.encode()).hexdigest()[:16]}-{name}"
        with self._files.writing(named) as file:
            file.write(data)
        return self._files.find(named)

    async def put(self, blob: Blob, *, encrypted: bool) -> tuple[str, int, dict[str, Any]]:
        """Store a file on the homeserver; gives name, size and place. Raises Undeliverable, Refused, Cut."""
        data = blob.data
        if data is None:
            data = await asyncio.to_thread(_content, blob.path, self._limit)
        if len(data) > self._limit:
            text = f"Matrix: a file of {len(data):,} bytes is too large; {self._limit:,} is the most."
            raise Undeliverable(text, hint="Raise platforms.matrix.max_media_bytes.")
        name = safe_name(blob.name or (Path(blob.path).name if blob.path else ""), blob.media_type)
        if not encrypted:
            url = await self._server.upload(data, safe_type(blob.media_type), name)
            return name, len(data), {"url": url}
        secret, file = await asyncio.to_thread(sealed, data)
        url = await self._server.upload(secret, "application/octet-stream", "")
        return name, len(data), {"file": {**file, "url": url}}


def _content(where: str | None, limit: int) -> bytes:
    try:
        with Path(where or "").open("rb") as file:
            return file.read(limit + 1)
    except OSError as error:
        raise Undeliverable(f"Matrix: the file {where} cannot be read: {error.strerror}.") from error


def safe_type(media_type: Any) -> str:
    """A media type that is one; anything else is a stream of bytes."""
    bare = media_type.partition(";")[0].strip().lower() if isinstance(media_type, str) else ""
    return bare if _TYPE.fullmatch(bare) else "application/octet-stream"


def safe_name(name: Any, media_type: str) -> str:
    """A file name without folders, hidden starts and odd characters, with an ending; at most 100 bytes."""
    last = re.split(r"[/\\]", sound(name) if isinstance(name, str) else "")[-1]
    plain = re.sub(r"\s+", " ", "".join(c if c.isprintable() else " " for c in last))
    plain = re.sub(r"[^\w .()+\-,@]", "_", plain).strip(" .-")
    stem, dot, ending = plain.rpartition(".")
    if not dot or not re.fullmatch(r"[A-Za-z0-9]{1,10}", ending):
        stem, ending = plain, (mimetypes.guess_extension(safe_type(media_type)) or ".bin")[1:]
    while len(stem.encode()) > 80:
        stem = stem[:-1]
    return f"{stem.strip(' .-') or 'file'}.{ending}"
