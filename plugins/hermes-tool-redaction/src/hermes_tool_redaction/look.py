"""Whether a value that stands where secrets stand is one: not a placeholder, a reference, a type, code or prose."""

from functools import lru_cache

from hermes_tool_redaction.patterns import compiled as _re
from hermes_tool_redaction.patterns import rule as _rule
from hermes_tool_redaction.quick import is_own_id

__all__ = ["Where", "drawn_by_lot", "is_pair", "is_placeholder", "is_secret_value"]

_NUMBER = r"[-+]?[\d,._]+(?:[a-z%]{0,2}|e[-+]?\d+)"
_CJK = r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+[.!?。]*"
_VERSION = r"[~^<>=v ]*\d+(?:\.\d+){1,3}(?:[-+][\w.+-]+)?"
# What stands for a password in code: a name of the environment, a name of a function, a pattern, a hole in a text.
_CODE = (
    r"[A-Z]+(?:_[A-Z]+)*_(?:PASSWORD|PASSWD|PASS|PWD|TOKEN|KEY|SECRET)|_[a-z][a-z_]*|(?:%[sdr][:@/ ]?)+"
    r"|[\w-]{0,20}\{[\w.]+\(\)[\w.]*\}"
)
_DATE = r"\d{4}-\d\d-\d\d(?:[T ][\d:.,Z+-]*)?"


class Where:
    """How a value stood: in quotes, with blanks around ``=``, behind an upper-case name in prose."""

    __slots__ = ("code", "env", "prose", "quoted")

    def __init__(self, *, quoted: bool = False, code: bool = False, env: bool = False, prose: bool = False) -> None:
        self.quoted, self.code, self.env, self.prose = quoted, code, env, prose


@lru_cache(2048)
def is_placeholder(value: str) -> bool:
    """Whether a value only stands for a secret: a hole to fill, a reference, a type's or a state's name."""
    if len(value) <= 80 and _rule("look.holes").fullmatch(value.strip()):
        return True
    return _rule("look.placeholder").fullmatch(value[:300]) is not None


def drawn_by_lot(value: str, least: int = 16) -> bool:
    """Whether a value looks random: long, of several kinds of characters that keep changing, and not made of words."""
    size = len(value)
    if size < least or _rule("look.words").fullmatch(value) or _re(_DATE).match(value):
        return False
    kinds = bool(_re("[a-z]").search(value)) + bool(_re("[A-Z]").search(value)) + bool(_re(r"\d").search(value))
    if kinds < 2:
        return False
    if kinds == 3 and sum(map(len, _re(r"[A-Z]?[a-z]{3,}").findall(value))) * 2 > size:  # names, as in code
        return False
    if size >= 24 and kinds == 3 and len(set(value)) >= 14:
        turns = len(_re(r"[a-z][A-Z0-9]|[A-Z]{2}[a-z0-9]|\d[A-Za-z]").findall(value))
        return turns * 8 >= size
    digits = len(_re(r"\d").findall(value))
    turns = len(_re(r"[A-Za-z]\d|\d[A-Za-z]").findall(value))
    return (digits >= 2 and turns >= 2 and len(set(value)) >= 8) or (kinds == 3 and turns >= 2)


def is_pair(value: str) -> bool:
    """Whether a word is the encoded name and password of a person, as in ``Basic``."""
    import base64

    try:
        plain = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except ValueError:
        return False
    return ":" in plain and plain.isprintable()


def is_secret_value(value: str, strength: str, where: Where) -> bool:
    """Whether the value of a name is a secret. ``strength``: P passwords, S tokens and keys, W names that are often
    something else."""
    size = len(value)
    if strength == "N":
        return bool(_re(r"\d{4,8}|\d{3}[ -]\d{3}").fullmatch(value)) and not where.code
    if strength == "R":
        return bool(
            _re(r"(?=.*\d)[A-Za-z0-9]{4,8}(?:[- ][A-Za-z0-9]{4,8}){1,7}|\d{6,12}|(?=.*\d)[A-Za-z0-9]{8,16}").fullmatch(
                value
            )
        )
    if size < 3 or is_own_id(value) or is_placeholder(value) or _re(_CODE).fullmatch(value):
        return False
    code = not where.quoted and not where.env and _rule("look.code").fullmatch(value)
    if code and not (drawn_by_lot(value, 14) and not _re(r"[(\[<]|^\D+\.|\.\D+$").search(value)):
        return strength == "P" and not where.code and bool(_re(r"[A-Za-z]+\d[\w]*|\w*[@!$]\w*").fullmatch(value))
    if strength == "P":
        return _is_password(value, where)
    if strength in "WH":
        plain = strength == "W" and _re(r"[0-9a-fA-F]{8,}(?:-[0-9a-fA-F]+)*").fullmatch(value)
        if strength == "H" and size >= 16 and is_pair(value):
            return True
        return not plain and drawn_by_lot(_re(r"\b[0-9a-f]{32,}\b").sub("", value) if strength == "W" else value)
    return _is_token(value, where)


def _is_password(value: str, where: Where) -> bool:
    if " " in value.strip():
        if _rule("look.prose").search(value) or value.strip()[0] in "{}=<>|&":
            return False
        return bool(
            _re(r"\d|[^\w\s.,:;!?'()-]").search(value) or _re(r"[a-z]{3,10}(?: [a-z]{3,10}){3,9}").fullmatch(value)
        )
    if _re(r"\d+").fullmatch(value):
        return len(value) >= 4
    if _re(_VERSION).fullmatch(value) or _re(_CJK).fullmatch(value):  # of a package that has such a name; a sentence
        return False
    if where.prose:
        return bool(_re(r"\d|[^\w.,;:!?')-]").search(value)) and not _re(_DATE).match(value)
    if where.code and _re(r"(?![a-z]+\d)[a-z_]\w*").fullmatch(value):
        return False
    return len(value) >= 4 or where.quoted or where.env


def _is_token(value: str, where: Where) -> bool:
    size = len(value)
    if size < 8 or " " in value.strip() or _re(_NUMBER).fullmatch(value):
        return bool(size >= 16 and _re(r"\d+").fullmatch(value))
    if _re(_DATE).match(value) or _re(r"[\w.-]+\.(?:json|ya?ml|py|js|ts|txt|pem|key|crt|toml|env|go|rs|md)").fullmatch(
        value
    ):
        return False
    if _re(r"[A-Za-z]+").fullmatch(value):
        return where.env or size >= 20 or (size >= 12 and len(_re("[a-z][A-Z]").findall(value)) >= 3)
    if _rule("look.words").fullmatch(value):
        return (where.env and bool(_re(r"\d").search(value))) or (size >= 28 and bool(_re(r"\d\d").search(value)))
    return bool(_re(r"\d").search(value)) or (
        size >= 16 and bool(_re(r"[A-Z]").search(value) and _re(r"[a-z]").search(value))
    )
