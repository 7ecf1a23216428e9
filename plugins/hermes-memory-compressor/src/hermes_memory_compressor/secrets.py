"""Takes secrets out of what is summarised. Simple patterns: they catch the common shapes, not every secret."""

import re

_HIDDEN = "[secret removed]"
_WHOLE = re.compile(
    r"""
      -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----.*?(?:-----END\ [A-Z ]*PRIVATE\ KEY-----|\Z)
    | \bsk-[A-Za-z0-9_-]{16,}
    | \bgh[pousr]_[A-Za-z0-9]{20,} | \bgithub_pat_[A-Za-z0-9_]{20,} | \bglpat-[A-Za-z0-9_-]{16,}
    | \bxox[abeprs]-[A-Za-z0-9-]{10,}
    | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b
    | \bAIza[A-Za-z0-9_-]{30,}
    | \bhf_[A-Za-z0-9]{20,} | \bnpm_[A-Za-z0-9]{20,} | \bpypi-[A-Za-z0-9_-]{20,}
    | \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}
    """,
    re.VERBOSE | re.DOTALL,
)
_NAMED = re.compile(
    r"""(?ix)
    ( \b[\w.-]{0,40}? (?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)
      ["']? \s* [:=] \s* ["']? )
    ( [^\s"',;&|)}\]]{6,200} )
    """
)
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9+/._~=-]{16,}")
_IN_URL = re.compile(r"(\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,100}:)[^\s/@]{1,200}(@)")


def redact(text: str) -> str:
    """The text without what looks like a secret."""
    text = _WHOLE.sub(_HIDDEN, text)
    text = _BEARER.sub(rf"\1 {_HIDDEN}", text)
    text = _IN_URL.sub(rf"\1{_HIDDEN}\2", text)
    return _NAMED.sub(rf"\1{_HIDDEN}", text)
