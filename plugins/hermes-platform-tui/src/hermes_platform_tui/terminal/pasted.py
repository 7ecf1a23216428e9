"""What is pasted, before it is taken for keys.

Textual's parser looks for keys inside a paste too: an escape in it would end the text there and press what follows,
Enter included. So the bytes between the marks of a paste are freed of it first.
"""

__all__ = ["PasteFilter"]

_BEGIN, _END = "\x1b[200~", "\x1b[201~"


class PasteFilter:
    """Takes what comes from the terminal in pieces of any size, and gives it on without escapes inside of pastes."""

    def __init__(self) -> None:
        self._inside = False
        self._held = ""  # half an end mark, perhaps
        self._last = ""  # the end of what was given on, where a begin mark may have begun

    def feed(self, data: str) -> str:
        """What may be parsed now. Outside of pastes nothing is held back: an escape may be a key."""
        data, self._held = self._held + data, ""
        found: list[str] = []
        while data:
            piece, data = self._pasted(data) if self._inside else self._typed(data)
            found.append(piece)
        return "".join(found)

    def _typed(self, data: str) -> tuple[str, str]:
        seen = self._last + data
        at = seen.find(_BEGIN)
        if at < 0:
            self._last = seen[1 - len(_BEGIN) :]
            return data, ""
        self._inside, size = True, at + len(_BEGIN) - len(self._last)
        self._last = ""
        return data[:size], data[size:]

    def _pasted(self, data: str) -> tuple[str, str]:
        text, end, rest = data.partition(_END)
        self._inside = not end
        if not end:
            cut = _half(text)
            text, self._held = text[:cut], text[cut:]
        return text.replace("\x1b", "") + end, rest


def _half(text: str) -> int:
    """Where half an end mark begins at the end of a text."""
    for size in range(min(len(_END) - 1, len(text)), 0, -1):
        if _END.startswith(text[-size:]):
            return len(text) - size
    return len(text)
