"""What another agent's folder holds, in words of ours. The readers fill it; nothing of it is in force yet."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from attrs import define, field

from hermes_core.patterns import pattern
from hermes_core.types import JSON, Message

__all__ = ["Found", "Known", "Past", "blocks", "commands_of", "is_key", "one_model", "skills_below", "text_of"]

_KEY = re.compile(r"[A-Z][A-Z0-9_]*_(API_KEY|KEY|TOKEN|SECRET|PASSWORD)")
_SHELL = pattern(r"[;&|<>`$\n()]")  # a rule over a command with these would allow more than it says
_MOST = 2_000_000  # bytes of a text that is read


class Known(NamedTuple):
    """What this Hermes offers, so that nothing is brought along that nobody here would understand."""

    providers: frozenset[str] = frozenset()
    platforms: frozenset[str] = frozenset()
    backends: frozenset[str] = frozenset()


class Past(NamedTuple):
    """A conversation of another agent: its own id there, a title if it has one, when it began, what was said."""

    id: str
    title: str
    when: str
    messages: Sequence[Message]


@define
class Found:
    """What can be brought along. ``left`` is what cannot, each with the reason; ``aside`` what is only kept as a file.

    Lists among the ``settings`` are added to what is there. ``sessions`` reads them when it is called, one by one.
    """

    settings: dict[str, JSON] = field(factory=dict)
    keys: dict[str, str] = field(factory=dict)
    soul: str = ""
    memory: list[str] = field(factory=list)
    user: list[str] = field(factory=list)
    skills: list[Path] = field(factory=list)
    sessions: Callable[[], Iterable[Past]] = tuple
    aside: dict[str, tuple[Path | str, str]] = field(factory=dict)
    left: list[tuple[str, str]] = field(factory=list)

    def servers(self, servers: Mapping[str, Any]) -> None:
        """Keep MCP servers aside: their shape, and the names of what they are given, never the values."""
        import json

        if not servers:
            return
        kept = {name: _without_values(one) for name, one in servers.items() if isinstance(one, dict)}
        why = "MCP servers are no part of this Hermes yet; values of env and headers are left out"
        self.aside["mcp-servers.json"] = (json.dumps(kept, indent=1, ensure_ascii=False) + "\n", why)


def _without_values(server: Mapping[str, Any]) -> dict[str, Any]:
    hidden = ("env", "headers", "http_headers", "env_http_headers", "oauth", "auth", "bearer_token")
    return {key: sorted(one) if isinstance(one, dict) else "…" for key, one in server.items() if key in hidden} | {
        key: one for key, one in server.items() if key not in hidden
    }


def is_key(name: str, value: object) -> bool:
    """Tell whether an entry of an environment is a key, and written out."""
    return bool(_KEY.fullmatch(name)) and isinstance(value, str) and bool(value) and not value.startswith("$")


def commands_of(rules: Iterable[object], found: Found, what: str) -> list[JSON]:
    """Return rules over the tool ``terminal`` for globs on commands; what would say something else is left."""
    made: list[JSON] = []
    for rule in rules:
        if not isinstance(rule, str) or not rule.strip() or rule.strip() == "*" or _SHELL.search(rule):
            found.left.append((f"{what}: {rule}", "no rule here says the same and no more"))
        else:
            made.append(f"terminal({rule.strip()})")
    return made


def one_model(words: object, known: Known, found: Found, what: str) -> tuple[str, str] | None:
    """Return provider and model of ``provider/model`` where that provider is one of ours; else it is left."""
    provider, slash, model = words.partition("/") if isinstance(words, str) else ("", "", "")
    if slash and model and provider in known.providers:
        return provider, model
    if words:
        found.left.append((f"{what}: {words}", "no provider of that name is here; choose with: hermes model"))
    return None


def text_of(path: Path) -> str:
    """Return what a text file says; nothing where there is none, or it is no text."""
    try:
        with path.open("rb") as file:
            return file.read(_MOST).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return ""


def blocks(text: str) -> list[str]:
    """Return the pieces of a free text that can each be remembered alone: what stands between blank lines."""
    found: list[str] = []
    for block in re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n")):
        if not (block := block.strip()):
            continue
        if found and found[-1].startswith("#") and "\n" not in found[-1]:
            found[-1] += f"\n{block}"  # a heading says what the next piece is about
        else:
            found.append(block)
    return [block for block in found if not (block.startswith("#") and "\n" not in block)]


def skills_below(folder: Path, deepest: int = 1) -> list[Path]:
    """Return the folders with a SKILL.md, up to so many folders of folders down; hidden ones and links are no part."""
    found: list[Path] = []
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return found
    for entry in entries:
        if entry.name.startswith(".") or entry.is_symlink() or not entry.is_dir():
            continue
        if (entry / "SKILL.md").is_file():
            found.append(entry)
        elif deepest > 1:
            found += skills_below(entry, deepest - 1)
    return found
