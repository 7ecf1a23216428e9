"""Taking out of a text what a person would not see: a model reads it all the same, and may obey it."""

import re

_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    # A joiner is part of a word in some scripts, and of some pictures; elsewhere, or in rows, it hides something.
    "|(?<![^\x00-\u024f])[\u200c\u200d]+|[\u200c\u200d]{2,}|[\u200c\u200d](?![^\x00-\u024f])"
)


# Any character that the above may mean, told sooner: most texts hold none.
_ANY = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def without_invisible(text: str) -> tuple[str, int]:
    """The text without characters that show nothing, and how many there were. Variation selectors are not counted."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n").replace("\ufe0f", "").replace("\ufe0e", "")
    if not _ANY.search(plain):
        return plain, 0
    found = 0

    def count(match: re.Match[str]) -> str:
        nonlocal found
        found += len(match[0])
        return ""

    return _INVISIBLE.sub(count, plain), found
