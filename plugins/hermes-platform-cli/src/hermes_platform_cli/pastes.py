"""Big pastes, shown as one word in the input line and sent as what they are."""

import re

__all__ = ["Pastes"]

_MARK = re.compile(r"\[paste #(\d+): [\d,]+ (?:lines|characters)\]")


class Pastes:
    """Keeps the text behind each mark. A limit of 0 never collapses."""

    def __init__(self, lines: int, characters: int) -> None:
        self._lines = lines
        self._characters = characters
        self._kept: list[str] = []

    def take(self, text: str) -> str:
        """What to put into the input line for a paste: itself, or a mark."""
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        lines = text.count("\n") + (not text.endswith("\n"))
        if self._lines and lines >= self._lines:
            size = f"{lines:,} lines"
        elif self._characters and len(text) >= self._characters:
            size = f"{len(text):,} characters"
        else:
            return text
        self._kept.append(text)
        return f"[paste #{len(self._kept)}: {size}]"

    def expand(self, text: str) -> str:
        """The text with every mark replaced by what was pasted."""
        return _MARK.sub(self._behind, text)

    def mark_before(self, text: str) -> int:
        """The length of a mark at the very end of this text, or 0."""
        start = text.rfind("[paste #")
        mark = _MARK.fullmatch(text, start) if start >= 0 else None
        return len(mark[0]) if mark and self._known(mark) else 0

    def _known(self, mark: re.Match[str]) -> bool:
        return 0 < int(mark[1]) <= len(self._kept)

    def _behind(self, mark: re.Match[str]) -> str:
        return self._kept[int(mark[1]) - 1] if self._known(mark) else mark[0]
