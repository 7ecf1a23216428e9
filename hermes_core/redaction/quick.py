"""Whether a short text is worth a look at all: without a pattern, so that a start that redacts nothing compiles nothing."""

from hermes_core.redaction.patterns import table

__all__ = ["NAMES", "may_hold"]

_LONG = 14  # characters of the shortest word that may be a token
# Parts of secrets' names: the shortest of those that begin alike will do. Few first letters make the pass cheap.
NAMES = [
    "psk",
    "pass",
    "pw",
    "psw",
    "pin",
    "pat_",
    "pat=",
    "pat:",
    "private",
    "secret",
    "sig",
    "sessi",
    "sid",
    "salt",
    "token",
    "auth",
    "key",
    "cred",
    "code",
    "conn",
    "contrase",
    "kennwort",
    "senha",
    "cookie",
    "seed",
    "phrase",
    "assertion",
    "samlresp",
    "пароль",
    "密码",
    "hasło",
    "heslo",
    "lösenord",
    "wachtwoord",
]
_SIGNS = [
    "bearer",
    "basic",
    "mnemonic",
    "otp",
    ":*:",
    ":5432:",
    "@//",
    "@tcp(",
    "@unix(",
    "://",
    "-----",
    "----",
    "sudo",
    "vault",
    "\x1b",
    "\\u00",
    "\\x1b",
    "\\033",
    "\\e[",
    "%3",
    "%22",
    "$",
    "hook",
    "private-lines",
]
_BLANKS = (" -", "env ", "arg ", "set ", "setx ")


def may_hold(text: str) -> bool:
    """False only for what surely holds no secret that would be recognised."""
    if len(text) > 4096:
        return True
    low = text.lower()
    if "+" in text or any(sign in low for signs in (NAMES, _SIGNS, _BLANKS) for sign in signs):
        return True
    if any(literal.lstrip("=") in low for literal, _, _ in table("sayings", "\t")):
        return True
    return any(len(word) > _LONG and word.strip("0123456789abcdef-") for word in text.split())
