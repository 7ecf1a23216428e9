"""Whether a short text is worth a look at all: without a pattern, so that a start that redacts nothing compiles nothing."""

__all__ = ["may_hold"]

_LONG = 14  # characters of the shortest word that may be a token
_SIGNS = [
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
    "://",
    "-----",
    "bearer",
    "basic",
    "mnemonic",
    "phrase",
    "seed",
    "otp",
    ":*:",
    ":5432:",
    "@//",
    "@tcp(",
    "@unix(",
    "identified",
    "rabbitmqctl",
    "securestring",
    "sudo",
    "vault",
    "\x1b",
    "\\u00",
    "\\x1b",
    "\\033",
    "\\e[",
    "%3",
    "%22",
]
_BLANKS = (" -", "net user ", "env ", "arg ", "set ", "setx ")


def may_hold(text: str) -> bool:
    """False only for what surely holds no secret that would be recognised."""
    if len(text) > 4096:
        return True
    low = text.lower()
    if "+" in text or any(sign in low for sign in _SIGNS) or any(sign in low for sign in _BLANKS):
        return True
    return any(len(word) > _LONG and word.strip("0123456789abcdef-") for word in text.split())
