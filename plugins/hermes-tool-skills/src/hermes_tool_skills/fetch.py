"""Getting the files of a skill: from a folder, an archive, an address, a git repository. Nothing fetched is run.

All of the network but git's is in ``download``, through the rules for URLs: https only (http to this machine),
never from an outside address to an inside one, bounded in bytes, redirects and seconds.
"""

import asyncio
import ipaddress
import re
import socket
import urllib.parse
from pathlib import Path

from hermes_core.context import UrlRules
from hermes_core.errors import ToolError, UserError
from hermes_core.values import frozen
from hermes_tool_kit.fetching import fetch as fetch_page
from hermes_tool_skills.tree import BadTree, read_tree
from hermes_tool_skills.unpack import MOST_ARCHIVE, unpack

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


def fetch(source: str, *, archives: str, scratch: Path) -> Fetched:
    """Get what a person named. ``scratch`` is an empty folder for git. Raises UserError that says what to do."""
    if not source.strip():
        raise UserError("No source was named.", hint="For the current folder: hermes skills install .")
    place = Path(source).expanduser()
    if "://" not in source and place.exists():
        return _local(place)
    address, _, folder = source.partition("#")
    path = urllib.parse.urlsplit(address).path
    if address.startswith(("https://", "http://")):
        if path.endswith(ARCHIVE):
            data, final = download(address)
            tree, commit = unpack(data, folder)
            return Fetched(tree=tree, source=source, resolved=commit or final)
        from hermes_tool_skills.git import clone

        allowed(address)
        tree, commit = clone(address, folder, scratch)
        return Fetched(tree=tree, source=source, resolved=commit)
    if "://" not in source and (short := _SHORT.fullmatch(source)):
        return _repository(archives.rstrip("/"), **short.groupdict())
    raise UserError(
        f"{source!r} is neither a folder or archive here nor an address that skills come from.",
        hint="Give a folder, a .zip or .tar.gz, an https address (of an archive, or of a git repository with "
        "#FOLDER), or OWNER/REPOSITORY[/FOLDER][@REF].",
    )


def _local(place: Path) -> Fetched:
    where = str(place.resolve())
    try:
        if place.is_dir():
            return Fetched(tree=read_tree(place), source=where, resolved="")
        with place.open("rb") as file:
            data = file.read(MOST_ARCHIVE + 1)
    except OSError as error:
        raise UserError(f"{where} cannot be read: {error.strerror or error}.") from None
    return Fetched(tree=unpack(data)[0], source=where, resolved="")


def _repository(archives: str, owner: str, repo: str, path: str | None, ref: str | None) -> Fetched:
    address = f"{archives}/{owner}/{repo}/tar.gz/{ref or 'HEAD'}"
    tree, commit = unpack(download(address)[0], path or "")
    source = f"https://github.com/{owner}/{repo}{f'/{path}' if path else ''}{f'@{ref}' if ref else ''}"
    return Fetched(tree=tree, source=source, resolved=commit or address)


def allowed(address: str) -> None:
    """Raises UserError for an address that nothing is fetched from."""
    parts = urllib.parse.urlsplit(address)
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
    allowed(address)
    rules = UrlRules(allow_private=bool(_inside(urllib.parse.urlsplit(address).hostname or "")))
    try:
        answer = asyncio.run(fetch_page(address, rules, limit=MOST_ARCHIVE, seconds=_SECONDS, other_sites=True))
    except ToolError as error:
        raise UserError(error.text, hint=error.hint) from None
    allowed(answer.url)
    if answer.status != 200:
        hint = "Is the address right, and is it open to everybody?"
        raise UserError(f"{address[:200]} answered {answer.status}.", hint=hint)
    if answer.cut:
        raise BadTree(f"{address[:200]} did not come whole: {answer.cut}.")
    return answer.body, answer.url
