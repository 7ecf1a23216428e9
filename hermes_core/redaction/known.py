"""Values that the process was told: always secret, however they are written."""

from collections.abc import Iterable

from hermes_core.redaction.look import drawn_by_lot, is_placeholder

__all__ = ["Known"]

_SHORT = 6  # characters; a shorter value would be found everywhere


class Known:
    """Finds known values: as they are, percent-encoded, escaped as in JSON, and inside of base64."""

    def __init__(self, values: Iterable[str]) -> None:
        forms: dict[str, bool] = {}
        for value in sorted({v for v in values if len(v) >= _SHORT and not is_placeholder(v)}, key=len, reverse=True):
            for form in _forms(value):
                forms.setdefault(form, not drawn_by_lot(value, 18))
        self._needles = list(forms.items())

    def __bool__(self) -> bool:
        return bool(self._needles)

    def spans(self, text: str, start: int) -> list[tuple[int, int, bool]]:
        """Where they are, from ``start`` on."""
        found: list[tuple[int, int, bool]] = []
        for needle, whole in self._needles:
            at = text.find(needle, start)
            while at >= 0:
                found.append((at, at + len(needle), whole))
                at = text.find(needle, at + len(needle))
        return found


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
