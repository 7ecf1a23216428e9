"""Files that an answer names with ``MEDIA:/path``: opened where the conversation's tools work, copied, and attached.

Only what lies in the conversation's own folders is sent, nothing hidden, no keys, and nothing of the house. What is not
sent is said in one line. A copy is taken at once: what a person gets is what was there when the answer was given.
"""

import asyncio
import hashlib
import mimetypes
import os
import re
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, OutOfReach
from hermes_core.host import HostTurns
from hermes_core.types import Blob, Feature, Message, Principal, Session, Text
from hermes_paths.places import PathRules, open_path, spell
from hermes_platform_gateway.config import gateway_settings, mask_of

__all__ = ["with_files"]

_TAG = re.compile(r"`?MEDIA:[ \t]*(?:\"(/[^\"\n]+)\"|'(/[^'\n]+)'|`(/[^`\n]+)`|(/[^\s`]*[^\s`.,;:!?)\]]))`?")
_CODE = re.compile(r"^ *(```+|~~~+).*?(?:^ *\1|\Z)", re.MULTILINE | re.DOTALL)
# Within an address it is a part of that: whoever cites a page attaches nothing that the page named.
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://\S*", re.IGNORECASE)
_KEYS = re.compile(r"id_(rsa|dsa|ecdsa|ed25519)|.*\.(pem|key|p12|pfx|kdbx|jks|keystore)", re.IGNORECASE)
_MOST = 10  # files of one answer
_KEPT = 8 * 86400.0  # seconds that a copy stays; its row stays for a day less


async def with_files(ctx: PluginContext, session_id: str, owner: Principal, text: str) -> Message:
    """The answer as a message: its words, and the files it names. Never raises for a file that cannot be sent."""
    apart = [found.span() for kind in (_CODE, _ADDRESS) for found in kind.finditer(text)] if "MEDIA:" in text else []
    tags = [tag for tag in _TAG.finditer(text) if not any(start <= tag.start() < end for start, end in apart)]
    if not tags:
        return Message(role="assistant", parts=(Text(text=text),))
    paths = list(dict.fromkeys(next(filter(None, tag.groups())) for tag in tags))
    for tag in reversed(tags):
        text = text[: tag.start()] + text[tag.end() :]
    files: list[Blob] = []
    lines = [re.sub(r"\n{3,}", "\n\n", text).strip()]
    for path in paths[:_MOST]:
        try:
            files.append(await _file(ctx, session_id, owner, path))
        except (HermesError, OSError) as error:
            why = getattr(error, "strerror", "") or str(error)
            lines.append(f"({PurePosixPath(path).name} was not sent: {mask_of(ctx)(why)})")
    if len(paths) > _MOST:
        lines.append(f"({len(paths) - _MOST} more files were not sent: {_MOST} are the most.)")
    return Message(role="assistant", parts=(Text(text="\n\n".join(filter(None, lines))), *files))


async def _file(ctx: PluginContext, session_id: str, owner: Principal, path: str) -> Blob:
    """One file. Raises HermesError or OSError, which say why it is not sent."""
    turns, config = ctx.host.turns, gateway_settings(ctx)
    session = await ctx.turns.take_up(session_id, owner=owner)
    most = config.media_max_mb * 1024 * 1024
    place = _allowed(path, (await turns.workspace(session)).cwd)
    data = await _read(turns, session, place, most, config.media_folders)
    if len(data) > most:
        raise OutOfReach(f"it is larger than {most // 1024 // 1024} MB.")
    media_type, name = mimetypes.guess_type(place)[0] or "application/octet-stream", PurePosixPath(place).name
    if ctx.host.section("store").url:  # who sends may be another machine
        return Blob(media_type=media_type, data=data, name=name)
    kept = await asyncio.to_thread(_keep, ctx.paths.home / "data" / "outgoing", data)
    return Blob(media_type=media_type, path=str(kept), name=name)


async def _read(turns: HostTurns, session: Session, path: str, most: int, folders: Sequence[str]) -> bytes:
    """A file's bytes, one more than ``most`` at most where it is of this machine. Raises HermesError or OSError."""
    workspace = await turns.workspace(session)
    if Feature.LOCAL not in workspace.features:
        return await workspace.read(path)

    def opened() -> bytes:
        reach = turns.reach(session, path, (workspace.cwd, *folders))
        rules = PathRules(cwd=reach.cwd, roots=reach.roots, guarded=reach.guarded)
        with os.fdopen(open_path(path, rules), "rb") as file:
            return file.read(most + 1)

    return await asyncio.to_thread(opened)


def _allowed(path: str, cwd: str) -> str:
    """The path as it is meant. Raises OutOfReach for what is hidden, and for keys."""
    place = spell(path, cwd)
    below = place.removeprefix(f"{cwd.rstrip('/')}/")
    if hidden := next((part for part in below.split("/") if below != place and part.startswith(".")), ""):
        raise OutOfReach(f"{hidden} is hidden.")
    if _KEYS.fullmatch(PurePosixPath(place).name):
        raise OutOfReach("it looks like a key.")
    return place


def _keep(folder: Path, data: bytes) -> Path:
    """A copy that stays as it is, under a name that follows from its bytes."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for old in folder.iterdir():
        with suppress(OSError):
            if time.time() - old.stat().st_mtime > _KEPT:
                old.unlink()
    kept = folder / hashlib.sha256(data).hexdigest()
    draft = kept.with_name(f"{kept.name}.{os.urandom(4).hex()}")
    draft.write_bytes(data)
    draft.replace(kept)  # its age begins anew, when it was there
    return kept
