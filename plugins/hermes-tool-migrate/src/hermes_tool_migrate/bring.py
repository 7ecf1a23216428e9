"""Brings along what was found: each thing once, nothing of yours replaced, and a row of the report for each."""

import asyncio
import json
import os
import re
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

import yaml

from hermes_atomic.whole import replace
from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, UnknownName, UserError
from hermes_core.types import JSON
from hermes_tool_migrate.found import Found, Past, text_of
from hermes_tool_migrate.hermes_agent import MARK, is_its_database, opened

__all__ = ["PARTS", "Bringing", "Row"]

PARTS = ("settings", "keys", "memories", "soul", "skills", "sessions", "aside")
State = Literal["came", "there", "yours", "aside", "asks", "left"]
_JOINT = "\n§\n"  # between what is remembered
_MEMORIES = (("MEMORY.md", "memories.files.memory_chars", 2200), ("USER.md", "memories.files.user_chars", 1375))


class Row(NamedTuple):
    """One thing of the report.

    It came, was there before, is kept as ``yours`` says it, lies aside, asks for a word, or was left, and why.
    """

    what: str
    name: str
    state: State
    why: str = ""


class Bringing:
    """One run. ``dry`` only tells; ``keys`` are brought along where a person said so."""

    def __init__(self, ctx: PluginContext, source: str, *, dry: bool, keys: bool) -> None:
        self._ctx, self._source, self._dry, self._with_keys = ctx, source, dry, keys
        self._home = ctx.paths.home
        self.aside = ctx.paths.data / source

    async def bring(self, found: Found, skipped: Sequence[str] = ()) -> list[Row]:
        """Bring along everything but the parts that are ``skipped``. Raises HermesError and OSError."""
        rows: list[Row] = []
        for part in PARTS:
            if part not in skipped:
                rows += await getattr(self, f"_{part}")(found)
        return rows + [Row("other", what, "left", why) for what, why in found.left]

    async def _settings(self, found: Found) -> list[Row]:
        return [await self._setting(key, value) for key, value in found.settings.items()]

    async def _setting(self, key: str, value: JSON) -> Row:
        said = json.dumps(value, ensure_ascii=False)
        name = self._ctx.masks.text(f"{key} = {said}")
        so_far = await asyncio.to_thread(self._written, key)
        if isinstance(value, list) and isinstance(so_far, list):
            known = {str(one) for one in so_far}  # a person writes 11 for "11"
            value = [*so_far, *(one for one in value if str(one) not in known)]
        if so_far == value:
            return Row("setting", name, "there")
        if so_far is not None and not isinstance(value, list):
            kept = self._ctx.masks.text(json.dumps(so_far, ensure_ascii=False, default=str))
            return Row("setting", name, "yours", f"it is {kept} here")
        try:
            if self._dry:
                async with self._ctx.settings.trial({key: value}, {}):
                    pass
            else:
                await self._ctx.settings.change({key: value}, {})
        except HermesError as error:
            return Row("setting", name, "left", self._ctx.masks.text(" ".join(error.text.split())))
        return Row("setting", name, "came")

    def _written(self, key: str) -> Any:
        """Return what the person wrote there; None where they did not.

        It is read from the file: not every setting that a platform takes is among those that can be asked for.
        """
        value: Any = yaml.safe_load(text_of(self._home / "config.yaml"))
        if isinstance(value, dict) and (MARK in value or isinstance(value.get("model"), str)):
            value = {} if MARK in value else {**value, "model": {"default": value["model"]}}
        for step in key.split("."):
            value = value.get(step) if isinstance(value, dict) else None
        return value

    async def _keys(self, found: Found) -> list[Row]:
        rows = []
        for name, value in found.keys.items():
            if await self._ctx.settings.has_secret(name):
                rows.append(Row("key", name, "there"))
            elif not self._with_keys:
                rows.append(Row("key", name, "asks", "say --keys to bring keys along"))
            else:
                try:
                    await self._ctx.settings.change({}, {} if self._dry else {name: value})
                    rows.append(Row("key", name, "came"))
                except UserError as error:
                    rows.append(Row("key", name, "left", error.text))
        return rows

    async def _memories(self, found: Found) -> list[Row]:
        rows = []
        for (name, key, usual), entries in zip(_MEMORIES, (found.memory, found.user), strict=True):
            limit = usual
            with suppress(UnknownName):
                limit = int((await self._ctx.settings.get(key)).value or usual)
            rows += await asyncio.to_thread(self._remember, name, entries, limit)
        return rows

    def _remember(self, name: str, entries: Sequence[str], limit: int) -> list[Row]:
        """Add entries to a file of memories, as many as fit; what does not is kept aside."""
        path = self._home / "memories" / name
        text = path.read_text("utf-8") if path.is_file() else ""
        there = [one for piece in re.split(r"(?m)^§[ \t]*$", text) if (one := piece.strip())]
        new = [one for one in dict.fromkeys(entries) if one not in there]
        fitting: list[str] = []
        for one in new:
            if len(_JOINT.join([*there, *fitting, one])) <= limit:
                fitting.append(one)
        rows = [Row("memory", f"{name}: {len(entries) - len(new)}", "there")] if len(new) < len(entries) else []
        if fitting:
            if not self._dry:
                _write(path, _JOINT.join([*there, *fitting]))
            rows.append(Row("memory", f"{name}: {len(fitting)}", "came"))
        if rest := [one for one in new if one not in fitting]:
            if not self._dry:
                _write(self.aside / name, _JOINT.join(rest))
            why = f"{name} is full with {limit:,} characters; raise memories.files, or shorten it"
            rows.append(Row("memory", f"{name}: {len(rest)}", "aside", why))
        return rows

    async def _soul(self, found: Found) -> list[Row]:
        path = self._home / "SOUL.md"
        if not found.soul.strip():
            return []
        if path.is_file() and path.read_text("utf-8", "replace").strip():
            same = path.read_text("utf-8", "replace") == found.soul
            if not same and not self._dry:
                _write(self.aside / "SOUL.md", found.soul)
            return [
                Row("soul", "SOUL.md", "there") if same else Row("soul", "SOUL.md", "aside", "you have one already")
            ]
        if not self._dry:
            _write(path, found.soul)
        return [Row("soul", "SOUL.md", "came")]

    async def _skills(self, found: Found) -> list[Row]:
        return await asyncio.to_thread(lambda: [self._skill(folder) for folder in found.skills])

    def _skill(self, folder: Path) -> Row:
        target = self._home / "skills" / folder.name
        if target.exists():
            return Row("skill", folder.name, "there")
        if not self._dry:
            draft = target.with_name(f".{folder.name}.{os.getpid()}.new")
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                shutil.copytree(folder, draft, ignore=_no_links)
                draft.rename(target)
            finally:
                shutil.rmtree(draft, ignore_errors=True)
        return Row("skill", folder.name, "came", f"look at it, then: {self._ctx.program} skills enable {folder.name}")

    async def _sessions(self, found: Found) -> list[Row]:
        came = there = 0
        rows: list[Row] = []
        for past in found.sessions():
            try:
                if await self._session(past):
                    came += 1
                else:
                    there += 1
            except UserError as error:
                rows.append(Row("session", past.title or past.id, "left", error.text))
        rows += [Row("session", str(came), "came", "they are dated of today")] if came else []
        return rows + ([Row("session", str(there), "there")] if there else [])

    async def _session(self, past: Past) -> bool:
        owner, name = self._ctx.owner, self._name(past)
        if self._dry:
            return not await self._is_there(name)
        with suppress(UnknownName):
            await self._ctx.sessions.get(owner, name)
            return False
        await self._ctx.sessions.create(owner, name, history=past.messages)
        title = " ".join(past.title.split())[:80] or f"{self._source} {past.when[:16].replace('T', ' ')}".strip()
        for one in (title, f"{title} ({past.id[:12]})"):
            with suppress(UserError):  # another one has it
                await self._ctx.sessions.rename(owner, name, one)
                break
        return True

    async def _is_there(self, name: str) -> bool:
        """Tell whether a session is there, and make no store of ours for it, nor change one."""
        if (await self._ctx.settings.get("store.url")).value:
            with suppress(UnknownName):
                await self._ctx.sessions.get(self._ctx.owner, name)
                return True
            return False
        return await asyncio.to_thread(_in_file, self._home / "state.db", name)

    def _name(self, past: Past) -> str:
        return f"{self._source}-{re.sub(r'[^A-Za-z0-9_.-]+', '-', past.id)}"[:120]

    async def _aside(self, found: Found) -> list[Row]:
        return await asyncio.to_thread(lambda: [self._put_aside(name, *one) for name, one in found.aside.items()])

    def _put_aside(self, name: str, content: Path | str, why: str) -> Row:
        target = self.aside / name
        if not self._dry:
            if isinstance(content, str):
                _write(target, content)
            elif content.is_dir():
                shutil.copytree(content, target, ignore=_no_links, dirs_exist_ok=True)
            else:
                _write(target, content.read_text("utf-8", "replace"))
        return Row("file", str(target.relative_to(self._home)), "aside", why)


def _in_file(path: Path, session_id: str) -> bool:
    """Tell whether a store in a file has a session. Nothing is made or migrated for it."""
    if not path.exists() or is_its_database(path):  # room is made for ours before
        return False
    try:
        with closing(opened(path)) as rows:
            return rows.execute("SELECT 1 FROM sessions WHERE id = ?", (session_id,)).fetchone() is not None
    except sqlite3.Error:
        return False


def _write(path: Path, text: str) -> None:
    """Replace a text file as a whole, for its owner only."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace(path, text.encode(), sync=False)


def _no_links(folder: str, names: list[str]) -> set[str]:
    """Say what of a folder is not copied: links, and what is hidden."""
    return {name for name in names if name.startswith(".") or (Path(folder) / name).is_symlink()}
