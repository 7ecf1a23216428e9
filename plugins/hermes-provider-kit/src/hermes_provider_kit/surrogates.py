"""Text without lone surrogates: JSON can smuggle halves of a character into a string."""

__all__ = ["mend", "split_half"]


def mend(text: str) -> str:
    """The text with surrogate pairs joined and lone halves replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def split_half(text: str) -> tuple[str, str]:
    """The text without a first half of a character at its end, and that half, whose other half may come next."""
    if text and "\ud800" <= text[-1] <= "\udbff":
        return text[:-1], text[-1]
    return text, ""
