"""Who can be told by a text: addresses, numbers and accounts of people, as far as their form or a checksum shows it.

Checksums: ISO/IEC 7812 (cards), ISO 13616 (IBAN), GB 11643 (China), and those of CPF (Brazil), DNI and NIE (Spain).
"""

from functools import lru_cache
from ipaddress import ip_address

from hermes_core.patterns import pattern

__all__ = ["KINDS", "people"]

Span = tuple[int, int, str]  # begin, end, kind
KINDS = ("email", "phone", "card", "iban", "person-id", "ip")
_PATTERNS = {
    "email": r"(?<![\w.+-])[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+",
    "iban": r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b",
    "card": r"(?<![\d.-])(?:[2-6]\d{3}(?:[ -]?\d{4}){2}[ -]?\d{1,7}|3\d{3}[ -]?\d{6}[ -]?\d{5})(?!-?\d|\.\d)",
    "person-id": (
        r"\b\d{17}[\dX]\b|\b\d{3}\.\d{3}\.\d{3}-\d{2}\b|\b[XYZ\d]\d{7}-?[A-Z]\b"
        r"|\b\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])-[1-8]\d{6}\b"
    ),
    "phone": (
        r"(?<![\w.+/-])(?:\+|00)[1-9](?:[ ().-]{0,2}\d){8,14}(?![\w/-])"
        r"|(?<![\w.+-])\(\d{3}\)[ -]?\d{3}-\d{4}(?!\d)|(?<![\w.+-])01[016-9]-\d{3,4}-\d{4}(?![\d-])"
    ),
    "ip": (
        r"(?<![\w.:])(?:\d{1,3}(?:\.\d{1,3}){3}"
        r"|(?:[0-9a-fA-F]{1,4}:){2,7}:?(?:[0-9a-fA-F]{1,4}:){0,5}[0-9a-fA-F]{1,4})(?![\w:])"
    ),
}
_ANY = pattern("|".join(f"(?P<{kind.replace('-', '_')}>{form})" for kind, form in _PATTERNS.items()))
_MAY = pattern(r"@|\d\d")


@lru_cache(1024)  # a conversation is sent again with every request
def people(text: str) -> tuple[Span, ...]:
    """Where people are told in a text, in order, none overlapping."""
    if not _MAY.search(text):
        return ()
    found = []
    for match in _ANY.finditer(text):
        kind = str(match.lastgroup).replace("_", "-")
        if _SOUND.get(kind, lambda _: True)(match[0]):
            found.append((*match.span(), kind))
    return tuple(found)


def _is_card(value: str) -> bool:
    digits = [int(sign) for sign in value if sign.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return 13 <= len(digits) <= 19 and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0 and len(set(digits)) > 1


def _is_iban(value: str) -> bool:
    plain = value.replace(" ", "")
    return 15 <= len(plain) <= 34 and int("".join(str(int(sign, 36)) for sign in plain[4:] + plain[:4])) % 97 == 1


def _is_person(value: str) -> bool:
    if "." in value:
        return _is_cpf([int(sign) for sign in value if sign.isdigit()])
    if len(value) == 18:
        total = sum(int(sign) * pow(2, 17 - at, 11) for at, sign in enumerate(value[:17]))
        return "10X98765432"[total % 11] == value[17]
    if value[-1].isalpha():
        number = str("XYZ".find(value[0])) + value[1:8] if value[0] in "XYZ" else value[:8]
        return "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23] == value[-1]
    return True  # of Korea: those of the last years have no checksum, and the form is told by the date


def _is_cpf(digits: list[int]) -> bool:
    for size in (9, 10):
        rest = sum(digit * (size + 1 - at) for at, digit in enumerate(digits[:size])) * 10 % 11 % 10
        if rest != digits[size]:
            return False
    return len(set(digits)) > 1


def _is_address(value: str) -> bool:
    try:
        return ip_address(value).is_global
    except ValueError:
        return False


_SOUND = {"card": _is_card, "iban": _is_iban, "person-id": _is_person, "ip": _is_address}
