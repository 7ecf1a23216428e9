"""Files as an editor has them open, where it offers that: what is not saved is seen, and what is written shows in it.

Tools work on the disk, behind the wall and the policy that are there for all of them. Nothing here reads or writes a
file that a call did not name and may not touch. So: a result that shows a file is told what of it is not saved; before
a call changes one, the editor saves what the person typed, and afterwards it is given what the file is now.
"""

import asyncio
from collections.abc import Mapping
from difflib import unified_diff
from typing import TYPE_CHECKING

from hermes_acp_wire.peer import Gone, RpcError
from hermes_core.types import Verdict
from hermes_platform_acp.cards import read_file

if TYPE_CHECKING:
    from hermes_platform_acp.conversation import Conversation

__all__ = ["Buffers"]

_PATIENCE = 2.0  # seconds within which an editor says what it has
_FILES = 10  # of one call
_SHOWN = 20_000  # characters of a difference


class Buffers:
    """Those of one session."""

    def __init__(self, conversation: "Conversation") -> None:
        self._conversation = conversation
        fs = conversation.agent.abilities.get("fs")
        self._fs: Mapping[str, object] = fs if isinstance(fs, dict) else {}
        self._before: dict[str, dict[str, str]] = {}  # by calls: files as they were, on the disk and in the editor

    @property
    def offered(self) -> bool:
        """Whether the editor tells what it has."""
        return self._fs.get("readTextFile") is True

    @property
    def _writes(self) -> bool:
        return self.offered and self._fs.get("writeTextFile") is True

    async def unsaved(self, paths: list[str]) -> str:
        """Say what of some files is not saved; empty where all of it is."""
        told = []
        for path in paths[:_FILES]:
            disk, here = await asyncio.to_thread(read_file, path), await self._read(path)
            if disk is not None and here is not None and not _same(disk, here):
                names = f"{path} on the disk", f"{path} in {self._conversation.agent.editor}, not saved"
                told.append("\n".join(unified_diff(_lines(disk), _lines(here), *names, n=2, lineterm=""))[:_SHOWN])
        return "\n".join(told)

    async def begin(self, call: str, paths: list[str]) -> Verdict | None:
        """Have saved what a call is about to change; a refusal where that cannot be."""
        known = self._before[call] = {}
        editor = self._conversation.agent.editor
        for path in paths[:_FILES]:
            try:
                disk, here = await asyncio.to_thread(read_file, path), await self._read(path, silent=False)
            except TimeoutError:  # what it has may be saved later, over what the call is about to write
                return Verdict(outcome="deny", reason=f"{editor} did not say in time what it has of {path}; try again")
            if disk is None or here is None:
                continue
            if not _same(disk, here):
                saved = self._writes and await self._write(path, here)
                disk = await asyncio.to_thread(read_file, path)
                if not saved or disk is None or not _same(here, disk):
                    reason = f"{path} has changes in {editor} that are not saved; ask the person to save it first"
                    return Verdict(outcome="deny", reason=reason)
            known[path] = here
        return None

    async def end(self, call: str, *, changed: bool) -> str:
        """Give the editor what a call made of its files; what is to be said of those changed in it as well."""
        told = []
        for path, before in self._before.pop(call, {}).items():
            disk, here = await asyncio.to_thread(read_file, path), await self._read(path)
            if not changed or disk is None or here is None or _same(disk, here):
                continue
            if not _same(here, before):
                told.append(f"{path} was changed in the person's editor meanwhile; read it again before you change it.")
            elif self._writes:
                await self._write(path, disk)
        return "\n".join(told)

    async def _read(self, path: str, *, silent: bool = True) -> str | None:
        """Return the text of a file in the editor; None where it has none to tell of. Raises as ``_ask``."""
        told = await self._ask("fs/read_text_file", {"path": path}, silent=silent)
        content = told.get("content") if isinstance(told, dict) else None
        return content if isinstance(content, str) else None

    async def _write(self, path: str, text: str) -> bool:
        return await self._ask("fs/write_text_file", {"path": path, "content": text}) is not None

    async def _ask(self, method: str, params: Mapping[str, str], *, silent: bool = True) -> object:
        """Ask the editor; None where it does not do it, or not in time.

        Unless that may be passed over in silence, raises TimeoutError where it does not answer in time.
        """
        conversation = self._conversation
        try:
            async with asyncio.timeout(_PATIENCE):
                said = await conversation.agent.peer.request(method, {"sessionId": conversation.session.id, **params})
        except TimeoutError:
            if not silent:
                raise
            return None
        except (RpcError, Gone):  # such as a file that is no file of its project
            return None
        return said or {}


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").removeprefix("\ufeff").splitlines()


def _same(one: str, other: str) -> bool:
    """Tell whether two texts are the same but for how lines end, which editors keep apart."""
    return _lines(one) == _lines(other)
