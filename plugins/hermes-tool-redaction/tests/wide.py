"""A corpus as wide as the places secrets stand in: every format of ``contexts/wide.kinds.txt`` in ``wide.contexts.txt``.

The formats are those that services and scanners publish; the values are drawn anew, and none is kept in a file.
"""

import base64
import random
import re
from collections.abc import Iterator
from pathlib import Path

CONTEXTS = Path(__file__).parent / "contexts"
UPPER, LOWER, DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz", "0123456789"
ALPHABETS = {
    "w": UPPER + LOWER + DIGITS, "s": UPPER + LOWER + DIGITS + "_-", "b": UPPER + LOWER + DIGITS + "+/", "a": UPPER + LOWER,
    "x": DIGITS + "abcdef", "X": DIGITS + "ABCDEF", "d": DIGITS, "u": UPPER + DIGITS, "l": LOWER + DIGITS,
    "o": UPPER + "234567", "z": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
}  # fmt: skip
WORDS = ["Summer", "harbor", "Tiger", "velvet", "Kestrel", "monday", "Orchid", "granite", "Pepper", "lantern"]


def of_format(spec: str, chance: random.Random) -> str:
    """A value of a format such as ``ghp_<36w>``; ``<U>`` is a UUID, ``<D>`` an encoded number, and what is before ``^`` is no secret."""

    def drawn(found: re.Match[str]) -> str:
        if found[2] == "U":
            return uuid(chance)
        if found[2] == "D":  # the number of an account, as Discord encodes it
            return base64.b64encode(str(chance.randrange(10**17, 10**18)).encode()).decode()
        # never punctuation at the ends: a sentence could end there, and what is drawn would not be what is read
        first, last = ([c for c in ALPHABETS[found[2]] if c.isalnum()] for _ in "12")
        body = "".join(chance.choices(ALPHABETS[found[2]], k=int(found[1]) - 2))
        return chance.choice(first) + body + chance.choice(last)

    return re.sub(r"<(\d*)(\w)>", drawn, spec)


def uuid(chance: random.Random) -> str:
    """A random UUID of version 4."""
    digits = f"{chance.getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


def password(chance: random.Random) -> str:
    """As people make them: a word or two, a year, a sign."""
    word = chance.choice(WORDS)
    return chance.choice([
        f"{word}{chance.randrange(1990, 2027)}!{chance.choice(LOWER)}",
        f"{word}{chance.choice(WORDS)}{chance.randrange(10, 99)}",
        f"{word}_{chance.choice(WORDS)}%{chance.randrange(100)}",
        "".join(chance.choices(ALPHABETS["w"], k=14)) + "#7",
        f"pa!{word.lower()}{chance.randrange(100, 999)}",
    ])  # fmt: skip


def pem(chance: random.Random) -> str:
    """A private key by its looks."""
    kind = chance.choice(["RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "EC PRIVATE KEY"])
    lines = ["".join(chance.choices(ALPHABETS["b"], k=64)) for _ in range(5)]
    return "\n".join([f"-----BEGIN {kind}-----^", *lines, f"^-----END {kind}-----"])


DRAWN = {
    "password": password,
    "b64": lambda chance: base64.b64encode(f"svc:{password(chance)}{chance.random()}".encode()).decode(),
    "uuid": uuid,
    "pem": pem,
    "pem1": lambda chance: pem(chance).replace("\n", "\\n"),
}


def named(text: str, name: str) -> str:
    """The context with a field's name in the spelling it asks for."""
    parts = name.split("_")
    spelled = {
        "{NAME}": name.upper(), "{name}": name, "{kebab}": "-".join(parts), "{Kebab}": "-".join(map(str.title, parts)),
        "{camel}": parts[0] + "".join(map(str.title, parts[1:])), "{Pascal}": "".join(map(str.title, parts)),
    }  # fmt: skip
    for mark, word in spelled.items():
        text = text.replace(mark, word)
    return text


def wide(seed: str = "wide") -> Iterator[dict[str, str]]:
    """Rows with ``text``, ``secret``, ``kind`` and the text ``around``: every kind in every context that suits it."""
    chance = random.Random(seed)
    kinds = [line.split("\t") for line in (CONTEXTS / "wide.kinds.txt").read_text().splitlines()]
    for line in (CONTEXTS / "wide.contexts.txt").read_text().splitlines():
        group, context = line.split("\t", 1)
        place = context.replace("\\n", "\n")
        if group in DRAWN:
            for _ in range(20):
                yield _row(place, DRAWN[group](chance), group, context)
            continue
        for name, spec, *only in kinds:
            if group == "named" or not only:
                # a name that begins with a digit is none in any language
                field = name if name[0].isalpha() else f"one{name}"
                yield _row(named(place, field), of_format(spec, chance), name, context)


def _row(text: str, value: str, kind: str, context: str) -> dict[str, str]:
    before, sign, after = value.partition(
        "^"
    )  # what everybody may see of a value is before the sign, and behind another
    secret = after.partition("^")[0].strip("\n\\") if sign else before
    return {"text": text.replace("§", value.replace("^", "")), "secret": secret, "kind": kind, "around": text}
