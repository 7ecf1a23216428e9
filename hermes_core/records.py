"""What is known of a command, a slash command, a setup step or a page of settings before anybody imports it.

The kernel's own commands stand here, what a plugin has in its manifest. Help, menus and the policy follow them;
``ctx.plugins.records`` gives those of enabled plugins.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from hermes_core.types import JSON

__all__ = ["GROUPS", "KERNEL", "WHO", "Record", "for_a_person", "grouped"]

# The tables of a manifest that hold records, and whom one may be for; the first, where it says nothing.
WHO = {
    "commands": ("everyone", "person"),
    "slash": ("admin", "everyone", "person"),
    "setup": ("person", "everyone"),
    "config": ("person",),
}
# In this order; groups of plugins that are not among them follow, then what names none.
GROUPS = ("Talk", "Serve", "Look back", "Decide", "Set up", "Extend", "Check")
REST = "More"


class Record:
    """What one command is, or the heading of several that begin with the same word; and so of the other tables.

    ``words`` are what a person types, or the name, ``owner`` is the label of its plugin, empty for the kernel's own,
    and ``module`` where the kernel has it. ``who`` is ``person`` for what no tool may run: what changes what may be
    done, or answers for a person. ``told`` is its whole table in the manifest; empty where it is only listed.
    """

    def __init__(
        self, words: str, summary: str = "", group: str = "", *, who: str = "everyone", owner: str = "",
        module: str = "", told: "Mapping[str, JSON] | None" = None,
    ) -> None:  # fmt: skip
        self.words, self.summary, self.group = words, summary, group
        self.who, self.owner, self.module, self.told = who, owner, module, told or {}

    @property
    def examples(self) -> "Sequence[str]":
        """What one may type, each a whole line."""
        return tuple(self.told.get("examples", ()))

    @property
    def first(self) -> str:
        """The first of its words."""
        return self.words.partition(" ")[0]

    def heads(self, other: "Record") -> bool:
        """Tell whether the other one is a command below this."""
        return other.words.startswith(f"{self.words} ")


def for_a_person(words: "Sequence[str]", records: "Iterable[Record]") -> bool:
    """Tell whether words that follow the program's name run a command that only a person may run.

    An option may take the word behind it as its value or not: both are thought of. So are values between the words.
    """
    known = tuple(records)
    for rest in _begun(words):
        found = [one for one in known if _said(one.words.split(), rest)]
        if any(one.who == "person" and not any(one.heads(other) for other in found) for one in found):
            return True
    return False


def _begun(words: "Sequence[str]") -> "Iterator[list[str]]":
    """Yield the words without options, from each one on that may be the command's first."""
    after_option = False
    for place, word in enumerate(words):
        if word.startswith("-"):
            after_option = True
            continue
        yield [one for one in words[place:] if not one.startswith("-")]
        if not after_option:
            return
        after_option = False


def _said(wanted: "Sequence[str]", words: "Sequence[str]") -> bool:
    """Tell whether words begin with the first one wanted, and the others come later, in order."""
    rest = iter(words)
    return bool(words) and words[0] == wanted[0] and all(word in rest for word in wanted)


def grouped(records: "Iterable[Record]") -> "Mapping[str, list[Record]]":
    """Return one record for each first word, by group, as in help. A command without a heading stands for its like."""
    first: dict[str, Record] = {}
    below: dict[str, list[str]] = {}
    for one in records:
        known = first.setdefault(one.first, one)
        if one.words == one.first != known.words:
            first[one.first] = one
        if one.words != one.first:
            below.setdefault(one.first, []).append(one.words.partition(" ")[2])
    found: dict[str, list[Record]] = {group: [] for group in GROUPS}
    for name, one in first.items():
        summary = one.summary if one.words == name else f"{', '.join(below[name])}."
        found.setdefault(one.group or REST, []).append(Record(name, summary, one.group, owner=one.owner))
    more = found.pop(REST, [])
    return {group: rows for group, rows in {**found, REST: more}.items() if rows}


def _kernel() -> "Iterator[Record]":
    for words, module, group, summary in (
        ("config", "config", "Set up", "Show, read, change and check settings."),
        ("completion", "main", "Set up", "Shell completion for bash, zsh and fish."),
        ("plugins", "plugins", "Extend", "Install, enable, check and write plugins."),
        ("doctor", "doctor", "Check", "Check everything and say how to mend it."),
    ):
        yield Record(words, summary, group, module=module)
    for words in (
        "config set", "config unset", "plugins disable", "plugins enable",
    ):  # fmt: skip
        yield Record(words, who="person")


KERNEL = tuple(_kernel())
