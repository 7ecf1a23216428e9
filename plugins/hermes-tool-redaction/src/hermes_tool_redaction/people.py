"""Who is spoken of in a text: addresses, phones and ids give way to names, equal where they were equal."""

from collections.abc import Callable

from hermes_tool_redaction.patterns import compiled as _re

__all__ = ["named"]

_EMAIL = r"(?<![\w.+-])[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+"
_PHONE = (
    r"(?<![\w.+/-])(?:\+|00)[1-9](?:[ ().-]{0,2}\d){8,14}(?![\w/-])"
    r"|(?<![\w.+-])\(\d{3}\)[ -]?\d{3}-\d{4}(?!\d)|(?<![\w.+-])01[016-9]-\d{3,4}-\d{4}(?![\d-])"
)
_ID = (
    r"(?i)((?:\b|_)(?:(?:user|chat|sender|member|author|peer|recipient|customer|person|contact|telegram|discord|slack|whatsapp"
    r"|signal|from|to|guild|channel|thread)_?id|jid|chat|sender|recipient|person)"
    r"[\"']?[ \t]*[:=][ \t]*[\"']?)(@?[\w:+-]*\d[\w:.+@-]{3,80})"
)


def named(text: str, name: Callable[[str, str], str]) -> str:
    """The text with ``name(kind, value)`` for each e-mail address, phone, and id of a person or chat."""

    def phone(number: str) -> str:
        """However it is written."""
        return name("phone", _re(r"\D").sub("", number).removeprefix("00"))

    if "@" in text:
        text = _re(_EMAIL).sub(lambda m: name("email", m[0].lower()), text)
    text = _re(_PHONE).sub(lambda m: phone(m[0]), text)
    return _re(_ID).sub(lambda m: m[1] + name("id", m[2]), text)
