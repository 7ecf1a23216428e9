"""Names that are made to be taken for others: of skills, and of packages that a skill installs."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from hermes_tool_skills.scan import Finding

_INSTALL = re.compile(
    r"\b(?:pip3?|uv pip|pipx|uv tool|npm|pnpm|yarn|bun|gem|cargo|poetry|uv)\s+(?:install|i|add)\s+([^\n`;&|]{1,300})",
    re.IGNORECASE,
)
_RUN = re.compile(r"\b(?:npx|uvx|bunx)\s+(?:-\S+\s+)*([@\w./-]{2,60})")


@cache
def _names(which: str) -> frozenset[str]:
    import tomllib

    data = tomllib.loads(Path(__file__).with_name("rules.toml").read_text(encoding="utf-8"))
    return frozenset(data["packages"][which].split())


def imitations(path: str, text: str) -> Iterator[Finding]:
    """Packages that are installed under a name one slip away from a popular one."""
    popular = _names("popular")
    given = [
        word for found in _INSTALL.finditer(text) for word in found[1].split() if word[0] != "-" and ":" not in word
    ]
    given += [found[1] for found in _RUN.finditer(text)]
    for word in given:
        name = re.split(r"[=<>~!\[@,;:)\"'\\]", word.strip("\"'`(),"), maxsplit=1)[0].lower()
        if len(name) < 4 or name in popular or name in _names("near") or "/" in name:
            continue
        if meant := next((known for known in sorted(popular) if alike(name, known)), ""):
            why = f"it installs {name!r}, a name that can be taken for {meant!r}"
            line = text[: text.find(word)].count("\n") + 1
            yield Finding(
                rule="supply_chain-imitated-package", level="dangerous", why=why, path=path, line=line, text=word[:60]
            )


def alike(name: str, known: str) -> bool:
    """Whether one name can be taken for the other: look-alike characters, separators, or one slip of the finger."""
    if name == known:
        return False
    if _folded(name) == _folded(known):
        return True
    if min(len(name), len(known)) < 5 or abs(len(name) - len(known)) > 1 or name[0] != known[0]:
        return False
    if {name, known} == {f"{min(name, known, key=len)}s", min(name, known, key=len)}:  # one and many
        return len(name) > 6 and known in _names("popular")
    parts = [re.split(r"[-_.]", one) for one in (name, known)]
    if len(parts[0]) == len(parts[1]):  # part-a and part-b are two things, not a slip
        short = [min(len(a), len(b)) for a, b in zip(*parts, strict=True) if a != b]
        if short and max(short) < 4:
            return False
    return _one_slip(name, known)


def _folded(name: str) -> str:
    for odd, even in (("rn", "m"), ("vv", "w"), ("0", "o"), ("1", "l"), ("3", "e"), ("5", "s")):
        name = name.replace(odd, even)
    return re.sub(r"[-_.]|^(?:python|py|node|js)-|-(?:python|py|node|js)$", "", name)


def _one_slip(a: str, b: str) -> bool:
    """One letter more, less, other, or two that changed places."""
    if len(a) == len(b):
        off = [i for i, (x, y) in enumerate(zip(a, b, strict=True)) if x != y]
        if len(off) == 1:
            return not (a[off[0]].isdigit() and b[off[0]].isdigit())  # versions of one thing
        return len(off) == 2 and off[1] == off[0] + 1 and a[off[0]] == b[off[1]] and a[off[1]] == b[off[0]]
    short, long = sorted((a, b), key=len)
    at = next((i for i, (x, y) in enumerate(zip(short, long, strict=False)) if x != y), len(short))
    return short[at:] == long[at + 1 :] and not long[at].isdigit()
