"""More formats of services, read from ``contexts/formats.txt``, and more kinds of values, for the sets after the third."""

import base64
import re
from collections.abc import Callable
from pathlib import Path

from secrets_to_hide import ALNUM, HEX, KINDS, LOWER, URLSAFE, VENDORS, Rng, simple, some

UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LETTERS = {
    "a": ALNUM, "h": HEX, "H": HEX.upper(), "l": LOWER, "U": UPPER + "0123456789", "B": UPPER + "234567",
    "u": URLSAFE, "b": ALNUM + "+/", "d": "0123456789",
}  # fmt: skip


def fill(template: str, rng: Rng) -> str:
    """``{a32}`` is 32 letters and digits, ``{h8}`` 8 of base 16, and so on; ``{uuid}`` is one."""

    def one(found: re.Match[str]) -> str:
        if found[1] == "uuid":
            return KINDS["uuid"](rng)
        letters, size = LETTERS[found[1][0]], int(found[1][1:])
        return "".join(rng.choice(letters) for _ in range(size)) if letters.isdigit() else some(rng, size, letters)

    return re.sub(r"\{(uuid|[a-zA-Z]\d+)\}", one, template)


def formats(name: str) -> dict[str, Callable[[Rng], str]]:
    """Every service's format, those that a set adds too."""
    known: dict[str, Callable[[Rng], str]] = {
        name: (lambda rng, p=prefix, b=body: p + b(rng)) for name, (prefix, body) in VENDORS.items()
    }
    more = Path(__file__).parent / f"contexts/{name}.formats.txt"
    lines = (Path(__file__).parent / "contexts/formats.txt").read_text() + (more.read_text() if more.exists() else "")
    for line in lines.splitlines():
        service, template = line.split(" ", 1)
        known[service] = lambda rng, t=template: fill(t, rng)
    return known


PHRASE = [
    "correct",
    "horse",
    "battery",
    "staple",
    "purple",
    "monkey",
    "dishwasher",
    "tango",
    "rivers",
    "seven",
    "quiet",
]
COMMON = ["hunter2", "letmein", "trustno1", "iloveyou2", "dragonfly", "Passw0rd!", "qwerty12", "s3cr3t!", "P@ssw0rd1"]
B32 = UPPER + "234567"

MORE: dict[str, Callable[[Rng], str]] = {
    **KINDS,
    "telegram": VENDORS["telegram"][1],
    "phrase": lambda r: " ".join(r.sample(PHRASE, 4)),
    "common": lambda r: r.choice(COMMON),
    "unicode": lambda r: r.choice(["пароль", "contraseña", "schlüssel", "密码安全"]) + str(r.randrange(100, 99999)),
    "signs": lambda r: some(r, 6) + r.choice(["!$", "#&", "@^", "*("]) + some(r, 5) + r.choice(["?", "~", "%", "+"]),
    "hex16": lambda r: some(r, 16, HEX),
    "hex40": lambda r: some(r, 40, HEX),
    "hex64": lambda r: some(r, 64, HEX),
    "bcrypt": lambda r: "$2b$12$" + some(r, 53, ALNUM + "./"),
    "argon": lambda r: "$argon2id$v=19$m=65536,t=3,p=4$" + some(r, 22) + "$" + some(r, 43),
    "sha512crypt": lambda r: "$6$" + some(r, 16) + "$" + some(r, 86, ALNUM + "./"),
    "yescrypt": lambda r: "$y$j9T$" + some(r, 22, ALNUM + "./") + "$" + some(r, 43, ALNUM + "./"),
    "apr1": lambda r: "$apr1$" + some(r, 8) + "$" + some(r, 22, ALNUM + "./"),
    "md5crypt": lambda r: "$1$" + some(r, 8) + "$" + some(r, 22, ALNUM + "./"),
    "pbkdf2": lambda r: "pbkdf2_sha256$600000$" + some(r, 22) + "$" + some(r, 43, ALNUM + "+/") + "=",
    "scram": lambda r: "SCRAM-SHA-256$4096:" + some(r, 22) + "==$" + some(r, 43) + "=:" + some(r, 43) + "=",
    "cisco9": lambda r: "$9$" + some(r, 14) + "$" + some(r, 43, ALNUM + "./"),
    "cisco7": lambda r: "0" + some(r, 17, "0123456789ABCDEF"),
    "totp": lambda r: some(r, 32, B32),
    "totp16": lambda r: some(r, 16, B32),
    "recovery": lambda r: some(r, 5, LOWER) + "-" + some(r, 5, LOWER),
    "digits8": lambda r: str(r.randrange(10**7, 10**8)),
    "otp": lambda r: str(r.randrange(10**5, 10**6)),
    "licence": lambda r: "-".join(some(r, 5, UPPER + "0123456789") for _ in range(5)),
    "long64": lambda r: some(r, 200, ALNUM + "+/"),
    "url64": lambda r: some(r, 43, URLSAFE),
    "awssession": lambda r: "IQoJb3JpZ2luX2Vj" + some(r, 300, ALNUM + "+/") + "==",
    "pct": lambda r: simple(r) + "%40%2F" + some(r, 4),
    "uesc": lambda r: some(r, 5) + "\\u0026" + some(r, 6) + "\\u003d",
    "slackhook": lambda r: f"T{some(r, 9).upper()}/B{some(r, 9).upper()}/{some(r, 24)}",
    "keyb64": lambda r: base64.b64encode(b"-----BEGIN RSA " + b"PRIVATE KEY-----\n" + some(r, 200).encode()).decode(),
    "pemlines": lambda r: "\n".join(some(r, 64, ALNUM + "+/") for _ in range(4)) + "\n" + some(r, 30) + "==",
    "pem1": lambda r: "\\n".join(some(r, 64, ALNUM + "+/") for _ in range(3)),
    "connkey": lambda r: some(r, 43, ALNUM + "+/") + "=",
    "azurekey": lambda r: some(r, 86, ALNUM + "+/") + "==",
    "sas": lambda r: some(r, 40) + "%2B" + some(r, 3) + "%3D",
    "digest": lambda r: some(r, 32, HEX),
    "basic": lambda r: base64.b64encode(f"user:{simple(r)}".encode()).decode(),
    "b64pw": lambda r: base64.b64encode(simple(r).encode()).decode(),
    "master": lambda r: some(r, 32, HEX),
    "django": lambda r: "".join(r.choice(LOWER + "!@#$%^&*(-_=+)") for _ in range(46)) + "q7b2",
    "saml": lambda r: base64.b64encode(b"<samlp:Response ID=" + some(r, 150).encode()).decode(),
    "shortpw": lambda r: some(r, 8),
    "wordpw": lambda r: r.choice(["marigold", "kangaroo", "thunderbolt", "chocolate", "northwind", "zanzibar"]),
}
