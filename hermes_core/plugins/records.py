"""What is known of a command before anybody imports it: what it does, where help shows it, and who may run it.

The kernel's own stand here, a plugin's in its manifest. Help, the policy and the commands themselves follow them.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = ["GROUPS", "KERNEL", "WHO", "CommandRecord", "for_a_person", "grouped"]

WHO = ("everyone", "person")
# In this order; groups of plugins that are not among them follow, then what names none.
GROUPS = ("Talk", "Serve", "Look back", "Decide", "Set up", "Extend", "Check")
REST = "More"


class CommandRecord:
    """One command, or the heading of several that begin with the same word.

    ``words`` are what a person types behind the program's name, ``owner`` is the label of its plugin, empty for the
    kernel's own, and ``module`` where the kernel has it. ``who`` is ``person`` for what no tool may run: what changes
    what may be done, or answers for a person. One that is ``default`` runs where no command is named.
    """

    def __init__(
        self,
        words: str,
        summary: str = "",
        group: str = "",
        *,
        who: str = "everyone",
        owner: str = "",
        module: str = "",
        default: bool = False,
    ) -> None:
        self.words, self.summary, self.group = words, summary, group
        self.who, self.owner, self.module, self.default = who, owner, module, default

    @property
    def first(self) -> str:
        """The first of its words."""
        return self.words.partition(" ")[0]

    def heads(self, other: "CommandRecord") -> bool:
        """Tell whether the other one is a command below this."""
        return other.words.startswith(f"{self.words} ")


def for_a_person(words: "Sequence[str]", records: "Iterable[CommandRecord]") -> bool:
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


def grouped(records: "Iterable[CommandRecord]") -> "Mapping[str, list[CommandRecord]]":
    """Return one record for each first word, by group, as in help. A command without a heading stands for its like."""
    first: dict[str, CommandRecord] = {}
    below: dict[str, list[str]] = {}
    for one in records:
        known = first.setdefault(one.first, one)
        if one.words == one.first != known.words:
            first[one.first] = one
        if one.words != one.first:
            below.setdefault(one.first, []).append(one.words.partition(" ")[2])
    found: dict[str, list[CommandRecord]] = {group: [] for group in GROUPS}
    for name, one in first.items():
        summary = one.summary if one.words == name else f"{', '.join(below[name])}."
        found.setdefault(one.group or REST, []).append(CommandRecord(name, summary, one.group, owner=one.owner))
    more = found.pop(REST, [])
    return {group: rows for group, rows in {**found, REST: more}.items() if rows}


def _kernel() -> "Iterator[CommandRecord]":
    for words, module, group, summary in (
        ("config", "config", "Set up", "Show, read, change and check settings."),
        ("profile", "profile", "Set up", "Separate settings, keys, memory and sessions."),
        ("completion", "main", "Set up", "Shell completion for bash, zsh and fish."),
        ("plugins", "plugins", "Extend", "Install, enable, check and write plugins."),
        ("doctor", "doctor", "Check", "Check everything and say how to mend it."),
    ):
        yield CommandRecord(words, summary, group, module=module)
    for words in (
        "config edit", "config set", "config unset",
        "plugins disable", "plugins enable", "profile create", "profile delete", "profile use",
    ):  # fmt: skip
        yield CommandRecord(words, who="person")


KERNEL = tuple(_kernel())
