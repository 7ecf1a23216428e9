"""Who is spoken of in a text: addresses, phones and ids become short keyed hashes, equal where they were equal."""

import hashlib
import hmac

from hermes_core.redaction.patterns import compiled as _re

__all__ = ["Pseudonyms"]

_EMAIL = r"(?<![\w.+-])[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+"
_PHONE = r"(?<![\w.+/-])(?:\+|00)[1-9](?:[ ().-]{0,2}\d){8,14}(?![\w./-])|(?<![\w.+-])\(\d{3}\)[ -]?\d{3}-\d{4}(?!\d)"
_ID = (
    r"(?i)((?:\b|_)(?:(?:user|chat|sender|member|author|peer|recipient|customer|person|contact|telegram|discord|slack|whatsapp"
    r"|signal|from|to|guild|channel|thread)_?id|jid|chat|sender|recipient|person)"
    r"[\"']?[ \t]*[:=][ \t]*[\"']?)(@?[\w:+-]*\d[\w:.+@-]{3,80})"
)


class Pseudonyms:
    """Replaces e-mail addresses, phones, and ids of people and chats. One key gives one name to one person."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def name(self, kind: str, value: str) -> str:
        """What stands for a value: its kind and twelve hexadecimal digits."""
        return f"{kind}-{hmac.new(self._key, value.encode('utf-8', 'replace'), hashlib.sha256).hexdigest()[:12]}"

    def phone(self, number: str) -> str:
        """What stands for a phone number, however it is written."""
        digits = _re(r"\D").sub("", number)
        return self.name("phone", digits.removeprefix("00"))

    def apply(self, text: str) -> str:
        """The text with all of them replaced."""
        if "@" in text:
            text = _re(_EMAIL).sub(lambda m: self.name("email", m[0].lower()), text)
        text = _re(_PHONE).sub(lambda m: self.phone(m[0]), text)
        return _re(_ID).sub(lambda m: m[1] + self.name("id", m[2]), text)
