"""Stands in for the text engine until it is there."""

from textual.content import Content
from textual.widgets import Static


class MarkdownBody(Static):
    """Plain text."""

    def __init__(self, text: str = "", *, markdown: bool = True) -> None:
        super().__init__(Content(text), markup=False)
        self.text = text
        self.code_blocks: list[tuple[str, str, int]] = []
        self.links: list[str] = []

    def append(self, text: str) -> None:
        self.set_text(self.text + text)

    def finish(self) -> None:
        blocks = self.text.split("```")[1::2]
        self.code_blocks = [(b.partition("\n")[0], b.partition("\n")[2], 0) for b in blocks]

    def set_text(self, text: str) -> None:
        self.text = text
        self.update(Content(text))

    def find(self, words: str) -> list[int]:
        return [n for n, line in enumerate(self.text.split("\n")) if words.casefold() in line.casefold()]

    def highlight(self, words: str, current_row: int | None = None) -> None:
        pass
