"""Albums: pictures sent together come as one message each, and nothing says which is the last.

Each part is written down when it comes, so it can be confirmed to Telegram before the whole is known (a webhook gets
the second part only after the first is confirmed). What an album was taken to be is written down too, before anybody
acts on it: after a kill the same parts make the same message under the same id, and a part that comes late makes a
message of its own. Ids are kept for two days; Telegram keeps unconfirmed updates for one.
"""

import json
import logging
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hermes_core.types import JSON

__all__ = ["Albums"]

_KEEP = 2 * 86_400.0


class Albums:
    """The albums of one bot, in one file. Raises OSError when it cannot be written."""

    def __init__(self, path: Path, log: logging.Logger) -> None:
        self._path = path
        self._log = log
        self._groups: dict[str, dict[str, Any]] | None = None

    def add(self, album: str, number: int, message: Mapping[str, JSON]) -> str:
        """Write a part down; the key of the group it belongs to, or an empty string when it is there already."""
        groups = self._read()
        mine = [key for key in groups if key.rpartition("#")[0] == album]
        if any(str(number) in groups[key]["parts"] for key in mine):
            return ""
        still = [key for key in mine if not groups[key]["closed"]]
        key = still[0] if still else f"{album}#{len(mine)}"
        group = groups.setdefault(key, {"parts": {}, "closed": False, "done": False, "at": time.time()})
        group["parts"][str(number)] = message
        self._write()
        return key

    def close(self, key: str) -> Sequence[tuple[int, Mapping[str, JSON]]]:
        """No more parts: the numbers and messages of those there are, in order."""
        group = self._read()[key]
        if not group["closed"]:
            group["closed"] = True
            self._write()
        return sorted((int(number), message) for number, message in group["parts"].items())

    def done(self, key: str) -> None:
        """The whole is stored by the kernel; only the numbers are kept."""
        group = self._read().get(key)
        if group and not group["done"]:
            group["done"] = True
            group["parts"] = dict.fromkeys(group["parts"])
            self._write()

    def unfinished(self, bot: str) -> Sequence[tuple[str, bool]]:
        """The keys, which begin with ``bot``, of those that the kernel did not store yet; and which are closed."""
        found = self._read().items()
        return [(key, bool(group["closed"])) for key, group in found if not group["done"] and key.startswith(bot)]

    def _read(self) -> dict[str, dict[str, Any]]:
        if self._groups is None:
            try:
                self._groups = dict(json.loads(self._path.read_bytes())["groups"])
            except FileNotFoundError:
                self._groups = {}
            except (ValueError, KeyError, TypeError):
                aside = self._path.with_suffix(".broken")
                self._path.replace(aside)
                self._log.warning("The albums in %s cannot be read; they are kept in %s.", self._path, aside.name)
                self._groups = {}
        return self._groups

    def _write(self) -> None:
        groups = self._read()
        old = time.time() - _KEEP
        for key in [k for k, g in groups.items() if g["done"] and g["at"] < old]:
            del groups[key]
        self._path.parent.mkdir(parents=True, exist_ok=True)
        beside = self._path.with_suffix(".new")
        data = json.dumps({"groups": groups}, ensure_ascii=False).encode("utf-8", "replace")
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor
            file.write(data)
        beside.replace(self._path)
