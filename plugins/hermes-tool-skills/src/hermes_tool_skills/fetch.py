"""Getting the files of a skill: from a folder, an archive, an address, a git repository. Nothing fetched is run.

All of the network but git's is in ``download``, through the rules for URLs: https only (http to this machine),
never from an outside address to an inside one, bounded in bytes, redirects and seconds.
"""

import asyncio
import ipaddress
import re
import socket
import urllib.parse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hermes_core.context import UrlRules
from hermes_core.errors import ToolError, UserError
from hermes_core.values import frozen
from hermes_tool_kit.fetching import Fetched as Page
from hermes_tool_kit.fetching import Order
from hermes_tool_kit.fetching import fetch as fetch_page
from hermes_tool_skills.tree import BadTree, read_tree
from hermes_tool_skills.unpack import MOST_ARCHIVE, unpack, unpack_mains

_SHORT = re.compile(
    r"(?P<owner>[A-Za-z0-9][\w.-]*)/(?P<repo>[\w.-]+)(?:/(?P<path>[\w./-]+?))?(?:@(?P<ref>[\w./-]+))?/?"
)
ARCHIVE = (".zip", ".tar.gz", ".tgz", ".tar", ".tar.bz2", ".tar.xz", ".skill")
_SECONDS = 30.0


@frozen(kw_only=True)
class Fetched:
    """The files, the address they were asked for at, and what it stood for: a commit, or the final address."""

    tree: dict[str, bytes]
    source: str
    resolved: str


def fetch(source: str, *, archives: str, scratch: Path, sources: Sequence[str] = ()) -> Fetched:
    """Get what a person named. ``scratch`` is an empty folder for git. Raises UserError that says what to do.

    ``sources`` are those of the settings, for words that one of them gave out.
    """
    if not source.strip():
        raise UserError("No source was named.", hint="For the current folder: hermes skills install .")
    place = Path(source).expanduser()
    if "://" not in source and place.exists():
        return _local(place)
    from hermes_tool_skills.hub.sources import fetched, names_a_source

    if names_a_source(source):
        return fetched(source, sources, archives=archives)
    address, _, folder = source.partition("#")
    path = parts_of(address).path
    if address.startswith(("https://", "http://")):
        if "/.well-known/" in path and path.endswith("/index.json"):
            return fetched(f"index:{source}", sources, archives=archives)
        if path.endswith(ARCHIVE):
            data, final = download(address)
            tree, commit = unpack(data, folder)
            return Fetched(tree=tree, source=source, resolved=commit or final)
        from hermes_tool_skills.git import clone

        allowed(address)
        tree, commit = clone(address, folder, scratch)
        return Fetched(tree=tree, source=source, resolved=commit)
    if "://" not in source and (found := _SHORT.fullmatch(source)):
        return repository(archives, **found.groupdict())
    raise UserError(
        f"{source!r} is neither a folder or archive here nor an address that skills come from.",
        hint="Give a folder, a .zip or .tar.gz, an https address (of an archive, or of a git repository with "
        "#FOLDER), OWNER/REPOSITORY[/FOLDER][@REF], or a word that `hermes skills search` shows.",
    )


def _local(place: Path) -> Fetched:
    where = str(place.resolve())
    try:
        if place.is_dir():
            return Fetched(tree=read_tree(place), source=where, resolved="")
        if not place.is_file():  # a pipe or a device would be waited for, or have no end
            raise UserError(f"{where} is neither a folder nor a file.")
        with place.open("rb") as file:
            data = file.read(MOST_ARCHIVE + 1)
    except OSError as error:
        raise UserError(f"{where} cannot be read: {error.strerror or error}.") from None
    return Fetched(tree=unpack(data)[0], source=where, resolved="")


def short(word: str) -> tuple[str, str, str, str]:
    """Owner, repository, folder and ref of OWNER/REPOSITORY[/FOLDER][@REF]. Raises UserError."""
    found = _SHORT.fullmatch(word)
    if not found:
        raise UserError(f"{word!r} is not OWNER/REPOSITORY[/FOLDER][@REF].")
    return found["owner"], found["repo"], found["path"] or "", found["ref"] or ""


def repository_with(archives: str, owner: str, repo: str, skill: str) -> Fetched:
    """The files of the skill of a name, wherever in a repository it lies. Raises UserError."""
    from hermes_core.errors import UnknownName
    from hermes_tool_skills.frontmatter import BadSkill, fields

    data, _ = download(f"{archives.rstrip('/')}/{owner}/{repo}/tar.gz/HEAD")
    places: dict[str, str] = {}
    for folder, main in sorted(unpack_mains(data).items(), reverse=True):
        places.setdefault(folder.rpartition("/")[2], folder)
        try:
            places[str(fields(main.decode("utf-8", "replace")).get("name"))] = folder
        except BadSkill:
            continue
    if skill not in places:
        raise UnknownName(f"skill in {owner}/{repo}", skill, places)
    folder = places[skill]
    tree, commit = unpack(data, folder)
    source = f"https://github.com/{owner}/{repo}{f'/{folder}' if folder else ''}"
    return Fetched(tree=tree, source=source, resolved=commit)


def repository(archives: str, owner: str, repo: str, path: str | None, ref: str | None) -> Fetched:
    """The files of a folder of a repository of GitHub. Raises UserError, BadTree."""
    address = f"{archives.rstrip('/')}/{owner}/{repo}/tar.gz/{ref or 'HEAD'}"
    tree, commit = unpack(download(address)[0], path or "")
    source = f"https://github.com/{owner}/{repo}{f'/{path}' if path else ''}{f'@{ref}' if ref else ''}"
    return Fetched(tree=tree, source=source, resolved=commit or address)


def parts_of(address: str, below: str = "") -> urllib.parse.SplitResult:
    """The parts of an address, where it is a relative one of that ``below`` another. Raises UserError for none."""
    try:
        return urllib.parse.urlsplit(urllib.parse.urljoin(below, address))
    except ValueError:
        raise UserError(f"{address[:200]!r} is no address.") from None


def allowed(address: str) -> None:
    """Raises UserError for an address that nothing is fetched from."""
    parts = parts_of(address)
    host = parts.hostname or ""
    if parts.username or parts.password:
        raise UserError(f"An address with a name or password in it is not used: {host}.", hint="Take them out.")
    if parts.scheme != "https" and not (parts.scheme == "http" and _inside(host) == "here"):
        raise UserError(f"{address[:200]} is not an https address, so anybody on the way could change it.")


def _inside(host: str) -> str:
    """``here`` for this machine, ``near`` for addresses that are not public, else empty."""
    try:
        found = {ipaddress.ip_address(info[4][0]) for info in socket.getaddrinfo(host, None)}
    except (OSError, ValueError, UnicodeError):
        return ""
    if found and all(one.is_loopback for one in found):
        return "here"
    return "near" if any(not one.is_global for one in found) else ""


def download(address: str) -> tuple[bytes, str]:
    """The bytes at an address, and the address they came from in the end. Raises UserError.

    A place inside of the person's network is asked only where the person named one.
    """
    answer = answer_of(address, limit=MOST_ARCHIVE)
    if answer.status != 200:
        hint = "Is the address right, and is it open to everybody?"
        raise UserError(f"{address[:200]} answered {answer.status}.", hint=hint)
    return answer.body, answer.url


def answer_of(address: str, *, limit: int, order: Order | None = None) -> Page:
    """What an address answers, whatever the status, whole. Raises UserError, BadTree. Rules as for ``download``."""
    allowed(address)
    rules = UrlRules(allow_private=bool(_inside(parts_of(address).hostname or "")))
    more: dict[str, Any] = {"order": order} if order else {"other_sites": True}
    try:
        answer = asyncio.run(fetch_page(address, rules, limit=limit, seconds=_SECONDS, **more))
    except ToolError as error:
        raise UserError(error.text, hint=error.hint) from None
    allowed(answer.url)
    if answer.cut:
        raise BadTree(f"{address[:200]} did not come whole: {answer.cut}.")
    return answer
