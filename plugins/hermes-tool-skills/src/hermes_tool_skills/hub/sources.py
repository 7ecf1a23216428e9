"""The sources of a person: what each line of ``tools.skills.sources`` stands for, and asking all of them at once."""

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from attrs import asdict

from hermes_core.errors import UserError
from hermes_core.values import frozen
from hermes_tool_skills.fetch import Fetched
from hermes_tool_skills.hub import Offer
from hermes_tool_skills.tree import BadTree

KINDS = ("clawhub", "skills.sh", "index", "git")
_HOMES = {"clawhub": "https://clawhub.ai", "skills.sh": "https://skills.sh"}
_HOUR = 3_600.0


@frozen
class Source:
    """One place: its kind, and the address of it."""

    kind: str
    base: str

    @property
    def word(self) -> str:
        """As a person names it."""
        return f"{self.kind}:{self.base}"


def source_of(line: str) -> Source:
    """What a line of the settings names. Raises UserError."""
    kind, _, base = line.strip().partition(":")
    if kind in _HOMES and not base:
        return Source(kind, _HOMES[kind])
    if kind in KINDS and base:
        return Source(kind, base.rstrip("/") if kind != "git" else base)
    if line.startswith("https://"):
        return Source("index", line.rstrip("/"))
    hint = "clawhub, skills.sh, index:https://SITE, git:OWNER/REPOSITORY or git:https://ADDRESS.git"
    raise UserError(f"{line!r} is no source of skills.", hint=f"Sources are: {hint}")


def names_a_source(word: str) -> bool:
    """Whether a word begins as one that a source gave out."""
    return any(word.startswith(f"{kind}:") for kind in KINDS[:3])


def fetched(word: str, lines: Sequence[str], *, archives: str) -> Fetched:
    """Get ``KIND:NAME`` or ``KIND:ADDRESS#NAME``. Raises UserError, BadTree."""
    kind, _, rest = word.partition(":")
    base, _, name = rest.partition("#") if rest.startswith(("https://", "http://")) else ("", "", rest)
    if not base:
        known = [source_of(line) for line in lines]
        base = next((one.base for one in known if one.kind == kind), _HOMES.get(kind, ""))
    if not base:
        raise UserError(f"{word!r} does not say where.", hint="As in index:https://SITE#NAME")
    from hermes_tool_skills.hub import clawhub, index, skills_sh

    get: Callable[..., Fetched] = {"clawhub": clawhub, "skills.sh": skills_sh, "index": index}[kind].fetch
    return get(base.rstrip("/"), name, archives=archives)


def found(
    sources: Sequence[Source], words: str, most: int, *, archives: str, cache: Path
) -> tuple[list[tuple[Source, Offer]], list[str]]:
    """What all sources have for some words, all of it for none; and why those that did not answer did not."""

    def ask(source: Source) -> Sequence[Offer]:
        return _asked(source, words, most, archives, cache)

    offers: list[tuple[Source, Offer]] = []
    problems: list[str] = []
    with ThreadPoolExecutor(max(1, len(sources))) as pool:
        for source, job in [(one, pool.submit(ask, one)) for one in sources]:
            try:
                offers += [(source, offer) for offer in job.result()]
            except (UserError, BadTree) as error:
                problems.append(f"{source.word}: {error.text}")
    return offers, problems


def _asked(source: Source, words: str, most: int, archives: str, cache: Path) -> Sequence[Offer]:
    from hermes_tool_skills.hub import clawhub, index, repository, skills_sh

    if source.kind == "clawhub":
        return clawhub.search(source.base, words, most) if words else clawhub.browse(source.base, most)
    if source.kind == "skills.sh":
        if not words:
            raise UserError("It can be searched, not listed.")
        return skills_sh.search(source.base, words, most)
    if source.kind == "index":
        return _matching(_kept(source, cache, lambda: index.browse(source.base, 2_000)), words)[:most]
    make = lambda: repository.browse(source.base, 2_000, archives=archives)  # noqa: E731
    return _matching(_kept(source, cache, make), words)[:most]


def _matching(offers: Sequence[Offer], words: str) -> list[Offer]:
    """Those in which every word stands, first those that have them in their name."""
    wanted = words.casefold().split()
    hits = [o for o in offers if all(w in f"{o.name} {o.description}".casefold() for w in wanted)]
    return sorted(hits, key=lambda o: -sum(w in o.name for w in wanted))


def _kept(source: Source, cache: Path, make: Callable[[], Sequence[Offer]]) -> Sequence[Offer]:
    """A list that is asked for at most once an hour."""
    file = cache / "hub" / f"{hashlib.sha256(source.word.encode()).hexdigest()[:32]}.json"
    with suppress(OSError, ValueError, TypeError, KeyError):
        data: Any = json.loads(file.read_bytes())
        if 0 <= time.time() - data["when"] < _HOUR and data["source"] == source.word:
            return [Offer(**row) for row in data["offers"]]
    offers = make()
    from hermes_tool_skills.disk import write_json

    with suppress(OSError):  # it is asked again
        write_json(file, {"when": time.time(), "source": source.word, "offers": [asdict(o) for o in offers]})
    return offers
