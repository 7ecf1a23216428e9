"""Values that the process was told: always secret, however they are written."""

from collections.abc import Iterable, Sequence

from hermes_core.patterns import pattern

__all__ = ["Known"]

_SHORT = 6  # characters; a shorter value would be found everywhere
_LONG = 18  # characters; of a shorter value nothing is shown
# What only stands for a secret, or says where it lies: hidden, it would make holes in any text.
_HOLE = pattern(
    r"(?i)\s*(?:(.)\1{3,}|[*x•.…]+|change[\s_-]?(?:me|it|this)\w{0,4}|(?:your|insert|enter|example|dummy|fake|sample)[\s_-].*"
    r"|<.*>|\[.*\]|\{.*\}|\$\{.*|\$[a-z_]\w*|%\w+%|(?:env|file|vault|secret|op|keyring|ref):.*|https?://[^\s:@]*"
    r"|(?:/|\./|\.\./|~/)(?:[\w.@-]+/)*[\w.@-]*|not[\s_-]?(?:set|found|needed|configured)|default|hidden|masked|missing"
    r"|required|optional|unknown|undefined|disabled|enabled|present|absent|invalid|expired|revoked|redacted|placeholder"
    r"|string|object|number|username|keyring|keychain|environment|interactive|manual|prompt|example|sample|testing)\s*"
)
_WORDS = pattern(r"[A-Za-z]?[a-z]{3,}")
_TURNS = pattern(r"(?=[A-Za-z]\d|\d[A-Za-z]|[a-z][A-Z])")


class Known:
    """Finds known values: as they are, percent-encoded, escaped as in JSON, and inside of base64.

    ``learned`` grows while this is in use, and so does what it finds.
    """

    def __init__(self, values: Iterable[str] = (), learned: Sequence[str] = ()) -> None:
        self._learned, self._seen = learned, 0
        self._forms: dict[str, bool] = {}
        self._add(values)

    def _add(self, values: Iterable[str]) -> None:
        for value in sorted({v for v in values if len(v) >= _SHORT and not _HOLE.fullmatch(v)}, key=len, reverse=True):
            for form in _forms(value):
                self._forms.setdefault(form, not _drawn_by_lot(value))
        self._needles = list(self._forms.items())

    def spans(self, text: str) -> list[tuple[int, int, bool]]:
        """Say where they are."""
        if (many := len(self._learned)) != self._seen:
            self._add(self._learned[self._seen : many])
            self._seen = many
        found: list[tuple[int, int, bool]] = []
        for needle, whole in self._needles:
            at = text.find(needle)
            while at >= 0:
                found.append((at, at + len(needle), whole))
                at = text.find(needle, at + len(needle))
        return found


def _drawn_by_lot(value: str) -> bool:
    """Tell whether a value is long and not made of words: then its ends tell which one it is, and nothing more."""
    if len(value) < _LONG or " " in value or len(set(value)) < 8 or not any(sign.isdigit() for sign in value):
        return False
    return sum(map(len, _WORDS.findall(value))) * 2 <= len(value) and len(_TURNS.findall(value)) >= 3


def _forms(value: str) -> set[str]:
    import base64
    import json
    from urllib.parse import quote, quote_plus

    forms = {value, quote(value, safe=""), quote(value), quote_plus(value), json.dumps(value)[1:-1]}
    forms |= {
        json.dumps(value, ensure_ascii=False)[1:-1],
        value.replace("'", "'\\''"),
        json.dumps(json.dumps(value))[3:-3],
    }
    forms |= {form.lower() if "%" in form else form for form in (quote(value, safe=""),)}
    data = value.encode("utf-8", "surrogatepass")
    for shift in range(3):  # where in the encoded bytes it begins decides its letters
        coded = base64.b64encode(b"\0" * shift + data).decode().rstrip("=")
        inner = coded[(0, 2, 3)[shift] : len(coded) - (1 if (shift + len(data)) % 3 else 0)]
        forms |= {inner, inner.replace("+", "-").replace("/", "_")}
    return forms
