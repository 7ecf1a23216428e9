"""The vault's file: AES-256-GCM under one key, a fresh nonce for each write, replaced as a whole.

Its first line is plain and part of what is authenticated: ``hermes-vault 1 PLACE KEYID``. PLACE says where the key is,
KEYID which one it is. Behind it are 12 bytes of nonce, then the sealed JSON.
"""

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_tool_vault.config import Config
from hermes_tool_vault.items import Item
from hermes_tool_vault.keys import KeyRing, key_id

__all__ = ["Vault", "vault_of"]

_FORMAT = "hermes-vault 1"
_NONCE = 12  # bytes
_CODE_SECONDS = 300.0  # how long a code that was used is masked


class Vault:
    """The things of one home. What was read is kept as long as the file is the same."""

    def __init__(self, folder: Path, choice: str = "auto") -> None:
        self._folder, self._path = folder, folder / "vault"
        self._keys = KeyRing(folder, choice)
        self._seen: tuple[tuple[int, int, int], Mapping[str, Item]] | None = None
        self._codes: dict[str, float] = {}

    def state(self) -> tuple[int, int, int] | None:
        """What changes whenever the file does; None where there is no vault."""
        try:
            status = os.stat(self._path)  # noqa: PTH116 - for every text that is masked
        except OSError:
            return None
        return status.st_mtime_ns, status.st_ino, status.st_size

    def read(self) -> Mapping[str, Item]:
        """All things by name. Raises UserError when the vault cannot be opened."""
        state = self.state()
        if state is None:
            return {}
        if self._seen is None or self._seen[0] != state:
            self._seen = state, self._opened()[1]
        return self._seen[1]

    def get(self, name: str) -> Item:
        """One thing. Raises UserError, which names those there are."""
        things = self.read()
        if name not in things:
            there = f"There is: {', '.join(sorted(things))}." if things else "It is empty."
            raise UserError(f"The vault holds nothing named {name[:80]!r}. {there}")
        return things[name]

    def change(self, edit: Callable[[dict[str, Item]], None]) -> None:
        """Replace the vault by what ``edit`` makes of its things; stored when this returns, whole or not at all.

        Raises what ``edit`` raises, and UserError.
        """
        with self._locked():
            place, things = self._opened() if self.state() else ("", {})
            edit(things)
            place, key = (place, self._keys.find(place)) if place else self._keys.make()
            self._write(place, key, things)
            self._seen = None

    def used(self, code: str) -> None:
        """Remember a code that was used, so that it is masked as long as it may be of use."""
        now = time.monotonic()
        self._codes = {old: end for old, end in self._codes.items() if end > now} | {code: now + _CODE_SECONDS}

    def codes(self) -> frozenset[str]:
        """The codes that were used of late."""
        now = time.monotonic()
        return frozenset(code for code, end in self._codes.items() if end > now) if self._codes else frozenset()

    def _opened(self) -> tuple[str, dict[str, Item]]:
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        try:
            data = self._path.read_bytes()
        except OSError as error:
            raise UserError(f"The vault {self._path} cannot be read: {error.strerror}.") from None
        head, _, sealed = data.partition(b"\n")
        words = head.decode("ascii", "replace").split(" ")
        if words[:1] == ["hermes-vault"] and words[1:2] != ["1"]:
            raise UserError(f"The vault {self._path} was written by a newer version.", hint="Update hermes-tool-vault.")
        if len(words) != 4 or words[2] not in ("keyring", "file"):
            raise self._damaged()
        key = self._keys.find(words[2])
        if key_id(key) != words[3]:
            raise UserError(
                f"The key is not the one that {self._path} was closed with.",
                hint="Put the right key back from a backup.",
            )
        try:
            text = AESGCM(key).decrypt(sealed[:_NONCE], sealed[_NONCE:], head)
            items = [Item.of(row) for row in json.loads(text)]
        except (InvalidTag, ValueError, KeyError, TypeError):
            raise self._damaged() from None
        return words[2], {item.name: item for item in items}

    def _damaged(self) -> UserError:
        hint = "Put it back from a backup, or move it away and add what it held again."
        return UserError(f"The vault {self._path} is damaged: it was changed or cut off.", hint=hint)

    def _write(self, place: str, key: bytes, things: Mapping[str, Item]) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        head = f"{_FORMAT} {place} {key_id(key)}".encode()
        text = json.dumps([things[name].data() for name in sorted(things)]).encode()
        nonce = os.urandom(_NONCE)
        draft = self._path.with_name("vault.draft")
        draft.unlink(missing_ok=True)  # of a process that died
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(head + b"\n" + nonce + AESGCM(key).encrypt(nonce, text, head))
            file.flush()
            os.fsync(handle)
        draft.replace(self._path)
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise UserError(f"The vault cannot be kept in {self._folder}: {error.strerror}.") from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


def vault_of(ctx: PluginContext) -> Vault:
    """The vault of a kernel's home; one object for all hooks."""
    config = ctx.config if isinstance(ctx.config, Config) else Config()
    found: Vault = ctx.state.setdefault("vault", Vault(ctx.paths.data, config.key))
    return found
