"""Answers that say, by a word agreed upon, that there is nothing to say."""

__all__ = ["is_silence", "may_be_silence"]

TOKENS = ("[SILENT]", "NO_REPLY")
_AROUND = " \t\r\n.*_`"


def is_silence(text: str) -> bool:
    """Whether an answer is only a word for silence. An empty one is not: that is a fault, and is told."""
    return text.strip(_AROUND).upper() in TOKENS


def may_be_silence(text: str) -> bool:
    """Whether it is, or could become one when more of it comes."""
    words = text.strip(_AROUND).upper()
    return any(token.startswith(words) for token in TOKENS)
