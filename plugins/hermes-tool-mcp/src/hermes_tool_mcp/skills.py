"""Skills of a server, read when one is wanted: a file counts only if it is what the server's own list says.

The extension ``io.modelcontextprotocol/skills`` of 2026-07-28: https://modelcontextprotocol.io/seps/2640-skills-extension.
No file is fetched before a skill is read, and a skill without a list of its files is not used. What is read are words
of the server, as all else that it says: nobody here vouches for them.
"""

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from mcp_types import Request, RequestParams, Result

from hermes_core.errors import ToolError
from hermes_tool_mcp.lists import ListedSkill

if TYPE_CHECKING:
    from mcp import Client

__all__ = ["IDENTIFIER", "Changed", "listed_skills", "read_skill"]

IDENTIFIER = "io.modelcontextprotocol/skills"
_MAIN = "SKILL.md"
_SKILLS, _PAGES, _FILES = 200, 50, 512
_BYTES = 16_777_216  # of all files of one skill
_WORDS = 1_024  # characters of a description
_HEAD = 16_000  # characters of the fields of a SKILL.md
_NAME = re.compile(r"(?!.*--)[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_FENCE = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)


class _Paged(RequestParams):
    cursor: str | None = None


class _List(Request[_Paged, Literal["skills/list"]]):
    method: Literal["skills/list"] = "skills/list"


class _Listing(Result):
    skills: list[Any]
    next_cursor: str | None = None


async def listed_skills(client: "Client") -> Sequence[ListedSkill]:
    """Ask a server which skills it has. One that is described wrongly is left out. Raises MCPError."""
    extensions = client.server_capabilities.extensions or {}
    found: dict[str, ListedSkill] = {}
    cursor: str | None = None
    for _ in range(_PAGES if IDENTIFIER in extensions else 0):
        page = await client.session.send_request(_List(params=_Paged(cursor=cursor)), _Listing)
        for row in page.skills:
            if (one := _entry(row)) is not None:
                found.setdefault(one.name, one)
        cursor = page.next_cursor
        if cursor is None or len(found) >= _SKILLS:
            break
    return list(found.values())[:_SKILLS]


def _entry(row: Any) -> ListedSkill | None:
    if not isinstance(row, dict):
        return None
    uri, head, rows = row.get("uri"), row.get("frontmatter"), row.get("resources")
    if not isinstance(uri, str) or not isinstance(head, dict) or not isinstance(rows, list) or len(rows) > _FILES:
        return None
    name, told = head.get("name"), head.get("description")
    if not isinstance(name, str) or not isinstance(told, str) or not _NAME.fullmatch(name):
        return None
    if not uri.endswith(f"/{name}/{_MAIN}") or len(json.dumps(head)) > _HEAD:
        return None
    folder, files = uri.removesuffix(_MAIN), {}
    for one in rows:
        if not _sound(one, folder):
            return None
        files[str(one["uri"])] = (str(one["digest"]), int(one["size"]))
    if uri not in files or sum(size for _, size in files.values()) > _BYTES:
        return None
    return ListedSkill(name=name, description=" ".join(told.split())[:_WORDS], uri=uri, head=head, files=files)


def _sound(one: Any, folder: str) -> bool:
    if not isinstance(one, dict) or not isinstance(one.get("uri"), str) or type(one.get("size")) is not int:
        return False
    digest = one.get("digest")
    return one["uri"].startswith(folder) and one["size"] >= 0 and bool(_DIGEST.fullmatch(str(digest)))


async def read_skill(client: "Client", skills: Sequence[ListedSkill], name: str, path: str) -> str | bytes:
    """Read a file of a skill, its SKILL.md where no path is given, and with that the names of the others.

    Raises ToolError for what is not there, and for what is not what the list says.
    """
    skill = next((one for one in skills if one.name == name), None)
    if skill is None:
        raise ToolError(f"There is no skill {name!r}.", hint=f"There is: {', '.join(one.name for one in skills)}.")
    folder = skill.uri.removesuffix(_MAIN)
    uri = skill.uri if path in ("", _MAIN) else next(
        (one for one in skill.files if one in (path, folder + path, folder + quote(path))), ""
    )  # fmt: skip
    if not uri:
        raise ToolError(f"The skill {name} has no file {path!r}.", hint=f"It has: {', '.join(_paths(skill))}.")
    held = _bytes(await client.read_resource(uri), uri)
    digest, size = skill.files[uri]
    if len(held) != size or f"sha256:{hashlib.sha256(held).hexdigest()}" != digest:
        raise _other(name, uri)
    if uri != skill.uri:
        try:
            return held.decode()
        except UnicodeDecodeError:
            return held
    if _plain(_fields(name, held)) != _plain(skill.head):
        raise _other(name, uri)
    others = [one for one in _paths(skill) if one != _MAIN]
    more = f"\n\nFiles of this skill, to be read by their names: {', '.join(others)}" if others else ""
    return held.decode() + more


def _paths(skill: ListedSkill) -> list[str]:
    folder = skill.uri.removesuffix(_MAIN)
    return [one.removeprefix(folder) for one in skill.files]


def _bytes(result: Any, uri: str) -> bytes:
    """Return what a server gave of a file, as bytes. Raises ToolError."""
    for one in result.contents:
        if str(one.uri) != uri:
            continue
        if hasattr(one, "text"):
            return str(one.text).encode("utf-8", "surrogatepass")
        try:
            return base64.b64decode(one.blob, validate=True)
        except (binascii.Error, ValueError):
            break
    raise ToolError(f"The server gave nothing that can be read for {uri}.")


def _fields(name: str, held: bytes) -> Mapping[str, Any]:
    from hermes_yaml_edit.document import Document, Unreadable

    try:
        found = _FENCE.match(held.decode())
        if found is None or len(found[1]) > _HEAD:
            raise ToolError(f"The skill {name} is none: its {_MAIN} does not begin with fields between two lines ---.")
        return Document(f"\n{found[1]}", _MAIN).data
    except (Unreadable, UnicodeDecodeError) as error:
        raise ToolError(f"The fields of the skill {name} cannot be read.") from error


def _plain(head: Mapping[str, Any]) -> str:
    return json.dumps(head, sort_keys=True, default=str)


class Changed(ToolError):
    """A file is another one than the list says."""


def _other(name: str, uri: str) -> ToolError:
    return Changed(
        f"The skill {name} is not used: {uri} is not what the server's own list says.",
        hint="The server may have changed: it is asked anew what it has.",
    )
