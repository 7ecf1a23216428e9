"""One step of a plan: what is to be done, and with what."""

from collections.abc import Sequence

from attrs import field

from hermes_core.values import frozen


@frozen(kw_only=True)
class Which:
    """A file that is not named but described: the longest Markdown file."""

    order: str  # longest, shortest, first, last, newest, oldest
    extension: str = ""


@frozen(kw_only=True)
class Step:
    """What a rule understood. ``kind`` names the rule; unused fields are empty."""

    kind: str
    path: str = ""
    which: Which | None = None
    text: str = ""  # content, pattern, command, fact, question or words
    other: str = ""  # the new text of an edit, the unit of a count
    number: int = 0
    per_file: bool = False
    here: bool = False  # it speaks of what came before: "it", "that file", "the result"
    quiet: bool = False  # the next step says more about the same file, so this one is brief
    words: Sequence[str] = field(default=())
