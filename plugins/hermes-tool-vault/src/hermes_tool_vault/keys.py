"""The key of a vault: in the keyring of the system, or in a file beside it that only its owner can read."""

import base64
import hashlib
import os
from pathlib import Path

from hermes_core.errors import UserError

__all__ = ["KeyRing", "key_id"]

_SERVICE = "hermes-vault"
_SIZE = 32  # bytes: AES-256


def key_id(key: bytes) -> str:
    """What tells two keys apart and says nothing about them: 16 hexadecimal digits."""
    return hashlib.sha256(b"hermes-vault key id" + key).hexdigest()[:16]


class KeyRing:
    """Makes and finds the key of the vault in a folder. ``choice`` is auto, keyring or file."""

    def __init__(self, folder: Path, choice: str) -> None:
        self._file, self._choice = folder / "key", choice
        self._account = str(folder)

    def find(self, place: str) -> bytes:
        """The key, from where the vault says it is. Raises UserError when it is not there, or is no key."""
        text = self._from_keyring() if place == "keyring" else self._from_file()
        where = f"the keyring ({_SERVICE}, {self._account})" if place == "keyring" else str(self._file)
        if not text:
            raise UserError(
                f"The vault's key is not in {where}.",
                hint="Put it back from a backup; nothing opens the vault without it.",
            )
        try:
            key = base64.b64decode(text, validate=True)
        except ValueError:
            key = b""
        if len(key) != _SIZE:
            raise UserError(f"What is in {where} is no key.", hint="Put the vault's key back from a backup.")
        return key

    def make(self) -> tuple[str, bytes]:
        """Where the key of a new vault is, and the key. One that was made before and never used is taken."""
        if self._choice != "keyring" and self._file.is_file():
            return "file", self.find("file")
        if self._choice != "file" and (key := self._kept()):
            return "keyring", key
        if self._choice == "keyring":
            raise UserError(
                "This system has no keyring that can be used.", hint="hermes config set tools.vault.key file"
            )
        text = base64.b64encode(os.urandom(_SIZE))
        draft = self._file.with_name("key.draft")
        draft.unlink(missing_ok=True)
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(text)
            file.flush()
            os.fsync(handle)
        draft.replace(self._file)
        return "file", self.find("file")

    def _kept(self) -> bytes | None:
        """The key in the keyring, made where there is none; None where it keeps nothing."""
        import keyring
        from keyring.errors import KeyringError

        try:
            if not keyring.get_password(_SERVICE, self._account):
                keyring.set_password(_SERVICE, self._account, base64.b64encode(os.urandom(_SIZE)).decode())
            return self.find("keyring")
        except (KeyringError, UserError, RuntimeError):
            return None

    def _from_keyring(self) -> str:
        import keyring
        from keyring.errors import KeyringError

        try:
            return keyring.get_password(_SERVICE, self._account) or ""
        except (KeyringError, RuntimeError) as error:
            raise UserError(f"The keyring does not open: {error}.", hint="Unlock it, and try again.") from None

    def _from_file(self) -> str:
        try:
            return self._file.read_text("ascii").strip()
        except FileNotFoundError:
            return ""
        except (OSError, ValueError) as error:
            raise UserError(f"The vault's key {self._file} cannot be read: {error}.") from None
