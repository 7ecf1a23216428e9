"""skills.sh: a catalogue of skills that lie on GitHub; its search is the one of its own client, ``npx skills find``."""

from collections.abc import Sequence

from hermes_core.errors import UserError
from hermes_tool_skills.fetch import Fetched, repository_with
from hermes_tool_skills.hub import Offer
from hermes_tool_skills.hub.asked import ask, rows, text

KIND = "skills.sh"


def search(base: str, words: str, most: int) -> Sequence[Offer]:
    """What its search finds, in its order: the repository of each, and the skill in it."""
    found = ask(base, "api/search", q=words, limit=str(most))
    offers = []
    for row in rows(found, "skills"):
        source = text(row, "source", "topSource")
        name = text(row, "skillId") or text(row, "id").rpartition("/")[2] or text(row, "name")
        if source.count("/") == 1 and name:
            uses, told = text(row, "installs"), text(row, "description") or f"in {source}"
            word, times = f"{KIND}:{source}/{name}", int(uses) if uses.isdigit() else 0
            offers.append(Offer(name=name, description=told, install=word, uses=times))
    return offers


def fetch(base: str, wanted: str, *, archives: str) -> Fetched:
    """The files of ``OWNER/REPOSITORY/SKILL``: from the repository, wherever in it the skill lies.

    From then on its source is the repository: the catalogue vouches for nothing.
    """
    parts = wanted.split("/")
    if len(parts) != 3 or not all(parts):
        raise UserError(f"{wanted!r} is no skill of {base}.", hint=f"As in {KIND}:OWNER/REPOSITORY/SKILL")
    return repository_with(archives, parts[0], parts[1], parts[2])
