"""A file that a passphrase opens: AES-256-GCM in pieces, the key by scrypt.

The first line is plain and part of what is authenticated: ``hermes-sealed 1 SALT``, the salt in hexadecimal. Behind it
come pieces of 64 KiB, each with its tag. The nonce of a piece holds its number and whether it is the last, so that none
can be taken out, moved, or cut off at the end (STREAM: Hoang, Reyhanitabar, Rogaway, Vizár, 2015).
"""

import io
import os
from typing import IO, TYPE_CHECKING

from hermes_core.errors import UserError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

__all__ = ["Opened", "Sealing"]

_FORMAT = b"hermes-sealed 1 "
_PIECE = 65_536  # bytes of content
_TAG = 16
_SALT = 16
_WORK = 2**16  # scrypt's N: a tenth of a second, 64 MB


def _cipher(passphrase: str, salt: bytes) -> "AESGCM":
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    return AESGCM(Scrypt(salt=salt, length=32, n=_WORK, r=8, p=1).derive(passphrase.encode()))


def _nonce(number: int, *, last: bool) -> bytes:
    return number.to_bytes(11, "big") + (b"\1" if last else b"\0")


class Sealing(io.RawIOBase):
    """Seals what is written into it, into ``file``. ``close`` writes the last piece, and leaves ``file`` open."""

    def __init__(self, file: IO[bytes], passphrase: str) -> None:
        salt = os.urandom(_SALT)
        self._head = _FORMAT + salt.hex().encode() + b"\n"
        self._file, self._left, self._number = file, bytearray(), 0
        self._cipher = _cipher(passphrase, salt)
        file.write(self._head)

    def writable(self) -> bool:
        """True."""
        return True

    def write(self, data: "bytes | bytearray | memoryview", /) -> int:  # type: ignore[override]
        """Take all of some bytes."""
        self._left += data
        while len(self._left) > _PIECE:  # the last piece is never written here
            self._piece(bytes(self._left[:_PIECE]), last=False)
            del self._left[:_PIECE]
        return len(data)

    def close(self) -> None:
        """Write what is left, as the last piece."""
        if not self.closed:
            self._piece(bytes(self._left), last=True)
        super().close()

    def _piece(self, data: bytes, *, last: bool) -> None:
        self._file.write(self._cipher.encrypt(_nonce(self._number, last=last), data, self._head))
        self._number += 1


class Opened(io.RawIOBase):
    """Reads what was sealed. Raises UserError for another passphrase, and for a file that was changed or cut."""

    def __init__(self, file: IO[bytes], passphrase: str) -> None:
        self._head = file.readline(100)
        try:
            salt = bytes.fromhex(self._head.removeprefix(_FORMAT).decode("ascii"))
        except ValueError:
            salt = b""
        if not self._head.startswith(_FORMAT) or len(salt) != _SALT:
            raise UserError("This file is no sealed copy.")
        self._file, self._number, self._rest = file, 0, b""
        self._cipher = _cipher(passphrase, salt)
        self._next = file.read(_PIECE + _TAG)

    def readable(self) -> bool:
        """True."""
        return True

    def readinto(self, buffer: "bytearray | memoryview", /) -> int:  # type: ignore[override]
        """Fill a buffer with what comes next; 0 at the end."""
        if not self._rest and self._next:
            self._rest = self._piece()
        taken = self._rest[: len(buffer)]
        self._rest = self._rest[len(taken) :]
        buffer[: len(taken)] = taken
        return len(taken)

    def _piece(self) -> bytes:
        from cryptography.exceptions import InvalidTag

        now, self._next = self._next, self._file.read(_PIECE + _TAG)
        try:
            opened = self._cipher.decrypt(_nonce(self._number, last=not self._next), now, self._head)
        except InvalidTag:
            text = "The passphrase does not open it." if not self._number else "The sealed copy is damaged or cut off."
            raise UserError(text, hint="A damaged one opens with no passphrase either.") from None
        self._number += 1
        return opened
