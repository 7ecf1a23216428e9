"""Whether a short text is worth a look at all: without a pattern, as a start that redacts nothing compiles nothing."""

from hermes_tool_redaction.patterns import table, words

__all__ = ["may_hold"]

_LONG = 14  # characters of the shortest word that may be a token
_BLANKS = (" -", "\n-", "env ", "arg ", "set ", "setx ", "\x1b")


def may_hold(text: str) -> bool:
    """False only for what surely holds no secret that would be recognised."""
    if len(text) > 4096:
        return True
    low = f"\n{text.lower()}"
    if "+" in text or any(
        sign in low for signs in (words("names"), words("foreign"), words("signs"), _BLANKS) for sign in signs
    ):
        return True
    if any(literal.lstrip("=") in low for literal, _, _ in table("sayings", "\t")):
        return True
    return any(len(word) > _LONG and word.strip("0123456789abcdef-") for word in text.split())
