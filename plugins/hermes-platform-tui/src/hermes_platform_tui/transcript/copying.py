"""What is wanted of a transcript elsewhere: a message, a block of code, a link."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from textual.content import Content
from textual.widgets import Static

from hermes_platform_tui.markdown.clean import clean
from hermes_platform_tui.transcript.entries import Action, Entry, Speech
from hermes_platform_tui.transcript.page import Page

if TYPE_CHECKING:
    from hermes_platform_tui.transcript.transcript import Transcript

__all__ = ["Copying"]

Choice: TypeAlias = tuple[str, str, Callable[[str], None]]  # its name, what it is about, what to do with that


class Copying:
    """Gives what the current entry of a transcript holds, or the last answer, as messages of the transcript.

    Where there are several, the person is asked which; a digit is the answer.
    """

    def __init__(self, transcript: "Transcript", page: Page) -> None:
        self._transcript, self._page = transcript, page
        self._choices: Sequence[Choice] = ()

    def message(self) -> None:
        """Give the current message for the clipboard, or the last answer."""
        if entry := self._transcript.current or self._last_answer():
            what = {"person": "your message", "model": "the answer"}.get(getattr(entry, "who", ""), "the text")
            self._give(entry.words(), "the call" if isinstance(entry, Action) else what)

    def code(self) -> None:
        """Give a code block of the current message, or of the last answer."""
        entry = self._transcript.current or self._last_answer(code=True)
        block = self._page.blocks.get(entry) if entry else None
        blocks = block.code_blocks() if block else []
        if not blocks:
            self._give("", "no code")
        self._offer("Copy which?", [(language, text, self._give_code) for language, text in blocks])

    def link(self) -> None:
        """Open a link of the current message, or of the last answer."""
        entry = self._transcript.current or self._last_answer()
        block = self._page.blocks.get(entry) if entry else None
        links = dict.fromkeys((text, address) for text, address in (block.links() if block else []))
        safe = [(text, address) for text, address in links if _is_safe(address)]
        self._offer("Open which?", [(text, address, self.follow) for text, address in safe])

    def follow(self, address: str) -> None:
        """Have a link opened that leads to where a browser goes; no other."""
        if _is_safe(address):
            self._transcript.post_message(self._transcript.LinkOpened(address))

    def answer(self, key: str) -> bool:
        """Take a key as the answer to which one; whether the key was meant for that. Any key ends the question."""
        if not self._choices:
            return False
        choices, number = self._choices, int(key) if key in set("123456789") else 0
        self.close()
        if 0 < number <= len(choices):
            _, text, do = choices[number - 1]
            do(text)
        return key == "escape" or number > 0

    def close(self) -> None:
        """Ask no more which one."""
        self._choices = ()
        for ask in self._transcript.query("#ask"):
            ask.remove_class("-shown")

    def _offer(self, question: str, choices: Sequence[Choice]) -> None:
        """Do the only thing that can be done, or ask."""
        if len(choices) == 1:
            _, text, do = choices[0]
            do(text)
        elif choices:
            self._choices = choices[:9]
            names = [f"{at} {_short(name) or _short(text)}" for at, (name, text, _) in enumerate(self._choices, 1)]
            ask = self._transcript.query_one("#ask", Static)
            ask.update(Content(f"{question} {' · '.join(names)} · Esc"))
            ask.add_class("-shown")
            self._page.focus()  # the digit is for us, wherever the question came from

    def _last_answer(self, *, code: bool = False) -> Entry | None:
        for entry in reversed(self._page.entries):
            if isinstance(entry, Speech) and entry.who == "model" and (not code or "```" in entry.text):
                return entry
        return None

    def _give(self, text: str, what: str) -> None:
        self._transcript.post_message(self._transcript.Copied(text, what))

    def _give_code(self, text: str) -> None:
        self._give(text, "code")


def _short(text: str) -> str:
    return " ".join(clean(text[:200]).split())[:20]


def _is_safe(address: str) -> bool:
    """Whether a link leads to where a browser goes, and not into this machine."""
    return address.lower().startswith(("https://", "http://", "mailto:")) and clean(address) == address
