"""How a model speaks in a chat: what it is told of that, and the words by which it says nothing."""

__all__ = ["HINT", "is_silence", "may_be_silence"]

HINT = """\
Your answers are messages in a chat, where simple markdown is shown. Write as one writes there.
To send a file, write MEDIA: and its absolute path on a line of its own: MEDIA:/path/to/file.pdf
When nothing should be said, for others speak among themselves, answer only [SILENT]."""

TOKENS = ("[SILENT]", "NO_REPLY")
_AROUND = " \t\r\n.*_`"


def is_silence(text: str) -> bool:
    """Whether an answer is only a word for silence. An empty one is not: that is a fault, and is told."""
    return text.strip(_AROUND).upper() in TOKENS


def may_be_silence(text: str) -> bool:
    """Whether it is, or could become one when more of it comes."""
    words = text.strip(_AROUND).upper()
    return any(token.startswith(words) for token in TOKENS)
