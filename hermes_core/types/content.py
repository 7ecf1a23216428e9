"""What a message holds."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from attrs import Factory, field

from hermes_core.types.base import JSON, Meta, Role
from hermes_core.values import frozen


@frozen(kw_only=True)
class Text:
    """Plain text or markdown.

    ``quotes`` names what it repeats when those are not the words of whoever speaks: a file, a page that was opened.
    """

    text: str
    quotes: str = ""


@frozen(kw_only=True)
class Poll(Text):
    """A question that people vote on. Whoever does not know polls shows its ``text``, which says the same in words."""

    question: str
    choices: Sequence[str]
    several: bool = False  # whether one may vote for more than one
    text: str = field(init=False)

    @text.default
    def _in_words(self) -> str:
        listed = (f"{number}. {choice}" for number, choice in enumerate(self.choices, 1))
        return "\n".join([self.question, *listed, "(as many as you like)" if self.several else "(one of them)"])


@frozen(kw_only=True)
class Location(Text):
    """A place, in degrees. Whoever does not know places shows its ``text``, with a link to a map."""

    latitude: float
    longitude: float
    title: str = ""
    text: str = field(init=False)

    @text.default
    def _in_words(self) -> str:
        place = f"{self.latitude:.6f}, {self.longitude:.6f}"
        link = f"https://www.openstreetmap.org/?mlat={self.latitude:.6f}&mlon={self.longitude:.6f}"
        return f"{self.title} ({place})\n{link}" if self.title else f"{place}\n{link}"


@frozen(kw_only=True)
class Blob:
    """A file or picture: either its bytes or the path of a local copy. ``words`` stand for it where it cannot go."""

    media_type: str
    data: bytes | None = field(default=None, repr=False)
    path: str | None = None
    name: str = ""
    words: str = ""


@frozen(kw_only=True)
class Reasoning:
    """What a model thought. ``meta`` holds the provider's own signatures under the provider's key."""

    text: str
    meta: Meta = Factory(dict)


@frozen(kw_only=True)
class ToolCall:
    """A model's request to run a tool.

    ``invalid`` says why the arguments could not be read; then ``arguments`` is empty and the tool is not run.
    """

    id: str
    name: str
    arguments: Mapping[str, JSON]
    invalid: str = ""
    meta: Meta = Factory(dict)


@frozen(kw_only=True)
class ToolResult:
    """What a tool call came to. Exactly one for each ToolCall in a stored history.

    ``untrusted``: its text comes from outside, and may hold orders that nobody here gave.
    """

    call_id: str
    name: str
    parts: Sequence["Text | Blob"]
    failed: bool = False
    untrusted: bool = False


@frozen(kw_only=True)
class Button:
    """Something a person may choose: what is written on it, and what pressing it ``says`` (at most 60 bytes)."""

    label: str
    says: str


@frozen(kw_only=True)
class Buttons:
    """Choices below a message, for a platform with Feature.BUTTONS.

    A press comes in as an Envelope of who pressed, with ``says`` as its text. The text of the message says how to
    answer in words, so a platform without buttons leaves them out.
    """

    buttons: Sequence[Button]


Part: TypeAlias = Text | Blob | Reasoning | ToolCall | ToolResult | Buttons


@frozen(kw_only=True)
class Message:
    """One message of a conversation. ``meta`` is returned to the provider that wrote it, untouched.

    ``untrusted``: it comes from outside, or was written by a model that had read what does.
    """

    role: Role
    parts: Sequence[Part]
    meta: Meta = Factory(dict)
    untrusted: bool = False
