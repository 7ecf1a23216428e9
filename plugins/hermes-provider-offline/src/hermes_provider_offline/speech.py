"""Everything it says that is not quoted from a tool."""

from hermes_provider_offline.clause import Clause
from hermes_provider_offline.toolbox import Toolbox

CONNECT = (
    "To connect a model: run `hermes model`, or set OPENROUTER_API_KEY, "
    'or write `model: {provider: custom, base_url: "http://…/v1"}` into config.yaml.'
)
WHAT = "I am a small set of rules, not a language model."
_CAN = (
    ("list", "list a folder: “list the files in src”"),
    ("read", "read files, their headings or lines: “read README.md and tell me its headings”"),
    ("find", "find files: “find all Python files”"),
    ("search", "search in files: “search for TODO in src and count per file”"),
    ("write", "write, append, replace: “write hello to notes.txt, then read it”"),
    ("run", "run a command: “run `python --version`”"),
    ("remember", "remember and forget: “remember that my cat is called Mia”"),
    ("recall", "look into past conversations: “what did we say about cats?”"),
)


def abilities(toolbox: Toolbox) -> str:
    """What can be asked for with the tools that are here, as a list."""
    there = [text for ability, text in _CAN if toolbox.can(ability)]
    there.append("tell the time, and do several things in a row: “… then …”")
    return "\n".join(f"- {text}" for text in there)


def introduction(toolbox: Toolbox) -> str:
    """The answer to: what can you do?"""
    return f"{WHAT} I can:\n{abilities(toolbox)}\n\n{CONNECT}"


def not_understood(toolbox: Toolbox) -> str:
    """The answer when no rule fits."""
    return f"I did not understand that. {WHAT} I can:\n{abilities(toolbox)}\n\n{CONNECT}"


def part_not_understood(clause: Clause) -> str:
    """What is said about one request of several."""
    return f"I did not understand “{short(clause.plain, 120)}”, so I left it out."


def too_long(size: int) -> str:
    """The answer to a text that rules cannot sensibly look at."""
    return f"That text has {size:,} characters, which is too long for my rules. {WHAT}\n\n{CONNECT}"


def short(text: str, width: int) -> str:
    """A text on one line, cut where it is too long."""
    text = " ".join(text.split())
    return text if len(text) <= width else f"{text[: width - 1]}…"


def fenced(text: str) -> str:
    """A text shown as it is, in a code fence that it cannot close."""
    ticks = "```"
    while ticks in text:
        ticks += "`"
    return f"{ticks}\n{text}\n{ticks}"


def code(text: str) -> str:
    """A name in a sentence."""
    return f"`{short(text, 200)}`" if "`" not in text else f"“{short(text, 200)}”"


def counted(number: int, one: str, many: str = "") -> str:
    """``1 line``, ``2 lines``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def quoted(text: str, limit: int = 900) -> str:
    """What a tool said, as a quotation."""
    text = text.strip()
    if len(text) > limit:
        text = f"{text[:limit]}…"
    return "\n".join(f"> {line}" for line in text.splitlines()) or "> (nothing)"
