"""The first message of TLS, read as far as the name of the server in it.

RFC 8446 4.1.2 (ClientHello) and 5.1 (records), RFC 6066 3 (server_name). A message may come in any number of records,
and they in any pieces. It is read in one way only: what is twice, too long, too short or follows the end is refused.
"""

import re

__all__ = ["ALERT", "HelloReader", "NotHello"]

ALERT = b"\x15\x03\x03\x00\x02\x02\x70"  # fatal, unrecognized_name: RFC 6066 3, RFC 8446 6
LONGEST = 16_384  # bytes of the message; with post-quantum keys they have about 1,800
MOST_RECORDS = 64
_HANDSHAKE, _CLIENT_HELLO = 22, 1
_SERVER_NAME, _ENCRYPTED_NAME = 0, 0xFFCE  # the second is the withdrawn draft before Encrypted ClientHello
_NAME = re.compile(rb"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9_])?")


class NotHello(Exception):
    """What came is no ClientHello, or none that has one reading."""


class HelloReader:
    """Reads a ClientHello from pieces. Each byte is looked at once."""

    def __init__(self) -> None:
        self._raw = bytearray()
        self._message = bytearray()
        self._read = 0  # bytes of complete records
        self._records = 0

    @property
    def raw(self) -> bytes:
        """All that came, as it is passed on."""
        return bytes(self._raw)

    def feed(self, data: bytes) -> str | None:
        """The server's name in lower case, empty if none is said; None as long as more must come. Raises NotHello."""
        self._raw += data
        while self._take_record():
            if (name := self._name()) is not None:
                return name
        return None

    def _take_record(self) -> bool:
        """Take the next record from what came; False when it is not whole yet."""
        head = self._raw[self._read : self._read + 5]
        if not b"\x16\x03".startswith(bytes(head[:2])) or (len(head) > 2 and head[2] > 4):
            raise NotHello("it does not begin with TLS")
        if len(head) < 5:
            return False
        length = int.from_bytes(head[3:5], "big")
        self._records += 1 if len(self._raw) >= self._read + 5 + length else 0
        if not 0 < length <= LONGEST or self._records > MOST_RECORDS:
            raise NotHello("its first message of TLS is cut into records that are empty, too long or too many")
        if len(self._raw) < self._read + 5 + length:
            return False
        self._message += self._raw[self._read + 5 : self._read + 5 + length]
        self._read += 5 + length
        return True

    def _name(self) -> str | None:
        if self._message[0] != _CLIENT_HELLO:
            raise NotHello("its first message of TLS is no ClientHello")
        if len(self._message) < 4:
            return None
        length = int.from_bytes(self._message[1:4], "big")
        if length > LONGEST or len(self._message) > length + 4:
            raise NotHello("its first message of TLS is too long")
        return _parsed(bytes(self._message[4:])) if len(self._message) == length + 4 else None


class _Fields:
    """The fields of a message, one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def __bool__(self) -> bool:
        return self._at < len(self._data)

    def take(self, count: int) -> bytes:
        piece = self._data[self._at : self._at + count]
        if len(piece) < count:
            raise NotHello("its first message of TLS is cut off")
        self._at += count
        return piece

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def vector(self, size: int) -> bytes:
        """A field behind its length, which has ``size`` bytes."""
        return self.take(self.number(size))

    def end(self) -> None:
        if self:
            raise NotHello("its first message of TLS goes on behind its end")


def _parsed(message: bytes) -> str:
    fields = _Fields(message)
    fields.take(2 + 32)  # version and random
    session, suites, compressions = fields.vector(1), fields.vector(2), fields.vector(1)
    if len(session) > 32 or not suites or len(suites) % 2 or not compressions:
        raise NotHello("its first message of TLS is malformed")
    name, seen = "", set()
    extensions = _Fields(fields.vector(2) if fields else b"")
    fields.end()
    while extensions:
        kind, content = extensions.number(2), extensions.vector(2)
        if kind in seen:
            raise NotHello("its first message of TLS says something twice")
        if kind == _ENCRYPTED_NAME:
            raise NotHello("its first message of TLS hides the name of the server")
        seen.add(kind)
        if kind == _SERVER_NAME:
            name = _server_name(content)
    return name


def _server_name(content: bytes) -> str:
    fields = _Fields(content)
    names = _Fields(fields.vector(2))
    fields.end()
    kind, name = names.number(1), names.vector(2)
    names.end()
    if kind or not _NAME.fullmatch(name):
        raise NotHello("the server it names in TLS is no host name")
    return name.decode("ascii").lower()
