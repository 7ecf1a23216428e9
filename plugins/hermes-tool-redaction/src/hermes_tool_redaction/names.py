"""What names of settings, fields, headers and parameters say about their values."""

from functools import lru_cache

from hermes_tool_redaction.patterns import compiled as _re
from hermes_tool_redaction.patterns import rule as _rule
from hermes_tool_redaction.patterns import words

__all__ = ["strength"]

_CAMEL = r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"


@lru_cache(4096)
def strength(name: str) -> str:
    """P: a password's name. S: a token's, key's or secret's. W, H: often one of these; W's look is a digest's too.

    C: cookies. N: short numbers. R: recovery codes. Empty: no secret's.
    """
    if not name.isascii() and name.lower().endswith(tuple(words("foreign"))):
        return "P"
    plain = _re(_CAMEL).sub("_", name.strip("-_.: "))
    plain = _re(r"[^a-z0-9]+").sub("_", plain.lower().replace("ñ", "n")).strip("_")
    if not any(stem in plain for stem in words("stems")):
        return ""
    if _rule("names.recovery").fullmatch(plain):
        return "R"
    if _rule("names.harmless").fullmatch(plain):
        return ""
    if _rule("names.password").fullmatch(plain):
        return "P"
    if _rule("names.secret").fullmatch(plain):
        return "S"
    if _re(
        r"(?:\w+_)?(?:pin|otp|totp|cvv|cvc|mfa|2_?fa)(?:_?code)?|auth_code|(?:verification|security|confirmation|one_time|login|sms|two_factor)_(?:code|pin)"
    ).fullmatch(plain):
        return "N"
    if _re(r"(?:set_)?cookie").fullmatch(plain):
        return "C"
    if not _rule("names.maybe").fullmatch(plain):
        return ""
    if name.isupper() and _rule("names.environment").fullmatch(plain):  # of an environment
        return "S"
    return "H" if _re("sig|auth|dsn|credential|conn").search(plain) else "W"
