"""Values that the process was told: always secret, however they are written."""

import re
from collections.abc import Iterable, Sequence

from hermes_known.places import Span, in_base64, places

__all__ = ["Known"]

_SHORT = 6  # characters; a shorter value would be found everywhere
_LONG = 18  # characters; of a shorter value nothing is shown
# What only stands for a secret, or says where it lies: hidden, it would make holes in any text.
# Patterns are compiled when first used: most starts need none of them.
_HOLE = (
    r"(?i)\s*(?:(.)\1{3,}|[*x•.…]+|change[\s_-]?(?:me|it|this)\w{0,4}|(?:your|insert|enter|example|dummy|fake|sample)[\s_-].*"
    r"|<.*>|\[.*\]|\{.*\}|\$\{.*|\$[a-z_]\w*|%\w+%|(?:env|file|vault|secret|op|keyring|ref):.*|https?://[^\s:@]*"
    r"|(?:/|\./|\.\./|~/)(?:[\w.@-]+/)*[\w.@-]*|not[\s_-]?(?:set|found|needed|configured)|default|hidden|masked|missing"
    r"|required|optional|unknown|undefined|disabled|enabled|present|absent|invalid|expired|revoked|redacted|placeholder"
    r"|string|object|number|username|keyring|keychain|environment|interactive|manual|prompt|example|sample|testing)\s*"
)
_WORDS = r"[A-Za-z]?[a-z]{3,}"
_TURNS = r"(?=[A-Za-z]\d|\d[A-Za-z]|[a-z][A-Z])"


class Known:
    """Finds known values: as they are, percent-encoded, escaped as in JSON, and inside of base64.

    ``learned`` grows while this is in use, and so does what it finds.
    """

    def __init__(self, values: Iterable[str] = (), learned: Sequence[str] = ()) -> None:
        self._learned, self._seen = learned, 0
        self._forms: dict[str, bool] = {}
        self._add(values)

    def _add(self, values: Iterable[str]) -> None:
        known = {value for value in values if len(value) >= _SHORT and not re.fullmatch(_HOLE, value)}
        for value in sorted(known, key=len, reverse=True):
            for form in _forms(value):
                self._forms.setdefault(form, not _drawn_by_lot(value))
        self._needles = list(self._forms.items())

    def __bool__(self) -> bool:
        return bool(self._needles)

    def spans(self, text: str) -> list[Span]:
        """Say where they are."""
        if (many := len(self._learned)) != self._seen:
            self._add(self._learned[self._seen : many])
            self._seen = many
        return [span for needle, whole in self._needles for span in places(needle, text, whole)]


def _drawn_by_lot(value: str) -> bool:
    """Tell whether a value is long and not made of words: then its ends tell which one it is, and nothing more."""
    if len(value) < _LONG or " " in value or len(set(value)) < 8 or not any(sign.isdigit() for sign in value):
        return False
    return sum(map(len, re.findall(_WORDS, value))) * 2 <= len(value) and len(re.findall(_TURNS, value)) >= 3


def _forms(value: str) -> set[str]:
    import json
    from urllib.parse import quote, quote_plus

    forms = {value, quote(value, safe=""), quote(value), quote_plus(value), json.dumps(value)[1:-1]}
    forms |= {
        json.dumps(value, ensure_ascii=False)[1:-1],
        value.replace("'", "'\\''"),
        json.dumps(json.dumps(value))[3:-3],
    }
    forms |= {re.sub("%[0-9A-F]{2}", lambda sign: sign[0].lower(), quote(value, safe=""))}  # as some write it
    coded = set(in_base64(value.encode("utf-8", "surrogatepass")))
    return forms | coded | {inner.replace("+", "-").replace("/", "_") for inner in coded}
