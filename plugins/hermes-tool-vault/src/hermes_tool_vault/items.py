"""What a vault holds: things with a name and a kind, the values in them, and where those may go."""

import base64
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from attrs import asdict, field

from hermes_core.errors import UserError
from hermes_core.values import frozen

__all__ = ["HANDLE", "KINDS", "Binding", "Item", "Kind", "handles", "origin_of", "read_name", "totp_fields"]

Kind: TypeAlias = Literal["password", "card", "totp", "note"]
KINDS: tuple[Kind, ...] = ("password", "card", "totp", "note")
HANDLE = re.compile(r"\{\{\s*vault:\s*([^{}\s.]+)(?:\.([a-z]+))?\s*\}\}")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_PARTS: Mapping[str, tuple[str, ...]] = {  # the parts that a handle may name; the first needs no naming
    "password": ("secret", "user", "basic"),
    "card": ("number", "expiry", "cvc", "holder"),
    "totp": ("code",),
    "note": ("text",),
}
_PUBLIC = frozenset({"user", "expiry", "holder", "digits", "period", "algorithm"})
_PORTS = {"http": 80, "https": 443}


@frozen(kw_only=True)
class Binding:
    """Where the values of a thing may go: to a ``command``, in requests to an ``origin``, or in their ``header`` only.

    ``target`` is the name of the program or the origin, ``path`` the program's file. ``unattended``: no
    question is put.
    """

    kind: Literal["command", "origin", "header"]
    target: str
    path: str = ""
    unattended: bool = False

    @property
    def words(self) -> str:
        """It in words that a person reads."""
        place = {"command": self.path, "origin": self.target, "header": f"headers to {self.target}"}[self.kind]
        return f"{place}{' (unattended)' if self.unattended else ''}"


@frozen(kw_only=True)
class Item:
    """One thing that is kept. ``fields`` are its values by name."""

    name: str
    kind: Kind
    fields: Mapping[str, str] = field(factory=dict, repr=False)
    bindings: Sequence[Binding] = ()

    def value(self, part: str = "") -> str:
        """What a handle stands for. Raises UserError where the thing has no such part."""
        known = _PARTS[self.kind]
        if not part and self.kind == "card":
            raise UserError(f"{self.name} is a card: name the part, such as {{{{vault:{self.name}.number}}}}.")
        part = part or known[0]
        if part not in known:
            raise UserError(f"{self.name} has no part {part[:40]!r}. A {self.kind} has: {', '.join(known)}.")
        if part == "code":
            return code(self.fields, time.time())
        if part == "basic":
            pair = f"{self.fields.get('user', '')}:{self.fields['secret']}"
            return base64.b64encode(pair.encode()).decode()
        found = self.fields.get(part, "")
        if not found:
            raise UserError(f"{self.name} has no {part}.", hint=f"hermes vault add {self.name} --replace")
        return found

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that its handles may name."""
        return _PARTS[self.kind]

    @property
    def secrets(self) -> tuple[str, ...]:
        """The values of it that nobody may read, but no codes."""
        found = [value for name, value in self.fields.items() if name not in _PUBLIC and value]
        if self.kind == "note":
            found += [line.strip() for line in self.fields["text"].splitlines() if len(line.strip()) >= 8]
        return tuple(found)

    def data(self) -> dict[str, Any]:
        """It as it is stored."""
        rows = [asdict(binding) for binding in self.bindings]
        return {"name": self.name, "kind": self.kind, "fields": dict(self.fields), "bindings": rows}

    @staticmethod
    def of(data: Mapping[str, Any]) -> "Item":
        """A stored one. Raises KeyError, TypeError for what is none."""
        bindings = tuple(Binding(**row) for row in data["bindings"])
        return Item(name=data["name"], kind=data["kind"], fields=dict(data["fields"]), bindings=bindings)


def code(fields: Mapping[str, str], now: float) -> str:
    """The one-time code of a moment, in seconds since 1970 (RFC 6238)."""
    from cryptography.hazmat.primitives.hashes import SHA1, SHA256, SHA512
    from cryptography.hazmat.primitives.twofactor.totp import TOTP

    known: dict[str, SHA1 | SHA256 | SHA512] = {"SHA1": SHA1(), "SHA256": SHA256(), "SHA512": SHA512()}  # noqa: S303 - the RFC's
    seed = _base32(fields["seed"])
    made = TOTP(
        seed, int(fields["digits"]), known[fields["algorithm"]], int(fields["period"]), enforce_key_length=False
    )
    return made.generate(now).decode()


def totp_fields(text: str) -> dict[str, str]:
    """The fields of a key for one-time codes: base32, or an ``otpauth://totp/`` address. Raises UserError."""
    from urllib.parse import parse_qs, urlsplit

    text = text.strip()
    given = {"seed": text}
    if text.lower().startswith("otpauth:"):
        address = urlsplit(text)
        if address.netloc.lower() != "totp":
            raise UserError("Only codes by time are known: the address begins with otpauth://totp/.")
        given = {name: values[0] for name, values in parse_qs(address.query).items()}
        given["seed"] = given.get("secret", "")
    fields = {
        "seed": re.sub(r"[\s=-]", "", given["seed"]).upper(),
        "digits": given.get("digits", "6"),
        "period": given.get("period", "30"),
        "algorithm": given.get("algorithm", "SHA1").upper().replace("-", ""),
    }
    try:
        if not _base32(fields["seed"]):
            raise ValueError
    except ValueError:
        raise UserError(
            "The key of one-time codes is not base32.", hint="Copy it whole, or the otpauth:// address."
        ) from None
    sound = fields["digits"] in ("6", "7", "8") and re.fullmatch(r"[1-9]\d{0,2}", fields["period"])
    if not sound or fields["algorithm"] not in ("SHA1", "SHA256", "SHA512"):
        raise UserError(
            "The otpauth:// address asks for codes that nobody makes: 6 to 8 digits, SHA1, SHA256 or SHA512."
        )
    return fields


def _base32(seed: str) -> bytes:
    return base64.b32decode(seed + "=" * (-len(seed) % 8))


def read_name(name: str) -> str:
    """A sound name. Raises UserError."""
    if not _NAME.fullmatch(name):
        raise UserError(
            f"{name[:80]!r} is no name for a thing of the vault.", hint="Use a-z, 0-9, - and _, at most 64."
        )
    return name


def handles(text: str) -> Iterator[tuple[str, str]]:
    """The name and the part of each handle in a text."""
    for found in HANDLE.finditer(text):
        yield found[1], found[2] or ""


def origin_of(address: str) -> str:
    """The origin of an address, with its port: ``https://example.com:443``. Raises UserError for what has none."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(address.strip())
        host, port = (parts.hostname or "").rstrip("."), parts.port
        host = host.encode("idna").decode().lower() if host and ":" not in host else host
    except ValueError:
        host, port, parts = "", None, urlsplit("")
    if parts.scheme not in _PORTS or not host or "@" in parts.netloc or "*" in host:
        raise UserError(
            f"{address[:200]!r} is no origin.", hint="Write it like https://example.com or https://example.com:8443."
        )
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}:{port or _PORTS[parts.scheme]}"
