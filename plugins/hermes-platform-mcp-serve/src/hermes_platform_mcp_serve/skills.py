"""Skills for clients: the extension ``io.modelcontextprotocol/skills`` of 2026-07-28, over folders that a person named.

https://modelcontextprotocol.io/seps/2640-skills-extension. A list says of each file how large it is and what its digest
is; the files are resources. They are the owner's, and nobody else is served any.
"""

import asyncio
import base64
import mimetypes
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from hermes_core.context import PluginContext
from hermes_core.errors import OutOfReach
from hermes_core.types import Principal
from hermes_platform_mcp_serve.skill_files import SkillFile, SkillFolder, SkillFolders

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

__all__ = ["IDENTIFIER", "Skills"]

IDENTIFIER = "io.modelcontextprotocol/skills"
_CACHED: dict[str, Any] = {"ttlMs": 0, "cacheScope": "private"}  # a person changes files at any time
_FOLDER = "inode/directory"


class Skills:
    """The skills of a server. ``owner`` says of a request whose it is."""

    def __init__(self, ctx: PluginContext, folders: list[str], owner: Callable[[Any], Principal]) -> None:
        self._ctx, self._owner = ctx, owner
        masks, log = ctx.masks, ctx.log
        self._folders = SkillFolders(
            folders, ctx.paths.guarded, lambda text: masks.text(text) != text, lambda line: log.warning("%s", line)
        )

    def serve(self, server: "Server[Any]") -> None:
        """Have a server say that it has skills, and answer for them."""
        from mcp_types import PaginatedRequestParams, ReadResourceRequestParams

        from hermes_platform_mcp_serve.skill_requests import Paged, Where

        server.extensions[IDENTIFIER] = {"directoryRead": True}
        server.add_request_handler("skills/list", Paged, self._list)
        server.add_request_handler("skills/get", Where, self._get)
        server.add_request_handler("resources/list", PaginatedRequestParams, self._resources)
        server.add_request_handler("resources/read", ReadResourceRequestParams, self._read)
        server.add_request_handler("resources/directory/read", Where, self._directory)

    async def _there(self, request: Any) -> Mapping[str, SkillFolder]:
        if self._owner(request) != self._ctx.owner:
            return {}
        return await asyncio.to_thread(self._folders.read)

    async def _list(self, request: Any, _params: Any) -> dict[str, Any]:
        return {"skills": [_entry(one) for one in (await self._there(request)).values()], **_CACHED}

    async def _get(self, request: Any, params: Any) -> dict[str, Any]:
        for one in (await self._there(request)).values():
            if one.uri == params.uri:
                return {"skill": _entry(one), **_CACHED}
        raise _strange("There is no such skill.", params.uri)

    async def _resources(self, request: Any, _params: Any) -> Any:
        from mcp_types import ListResourcesResult, Resource

        found = [
            Resource(
                uri=file.uri,
                name=one.name if file.uri == one.uri else file.path,
                description=str(one.head["description"]) if file.uri == one.uri else None,
                mime_type=_kind(file.path),
                size=file.size,
            )
            for one in (await self._there(request)).values()
            for file in one.files
        ]
        return ListResourcesResult(resources=found)

    async def _read(self, request: Any, params: Any) -> Any:
        from mcp_types import BlobResourceContents, ReadResourceResult, TextResourceContents

        uri = str(params.uri)
        there = await self._there(request)
        one, file = _found(there, uri)
        if one is None or file is None:
            raise _strange("There is no such resource.", uri)
        try:
            held = await asyncio.to_thread(self._folders.content, one.place, file.path)
        except (OSError, ValueError, OutOfReach) as error:
            self._ctx.log.warning("%s cannot be read: %s", uri, error)
            raise _strange("It cannot be read.", uri) from error
        kind = _kind(file.path)
        try:
            said: Any = TextResourceContents(uri=uri, mime_type=kind, text=held.decode())
        except UnicodeDecodeError:
            said = BlobResourceContents(uri=uri, mime_type=kind, blob=base64.b64encode(held).decode())
        return ReadResourceResult(contents=[said])

    async def _directory(self, request: Any, params: Any) -> dict[str, Any]:
        name, _, below = str(params.uri).removeprefix("skill://").partition("/")
        one = (await self._there(request)).get(name)
        begin = f"{unquote(below).strip('/')}/".lstrip("/")
        rows: dict[str, dict[str, Any]] = {}
        for file in one.files if one and str(params.uri).startswith("skill://") else ():
            if not file.path.startswith(begin):
                continue
            child, deeper, _ = file.path.removeprefix(begin).partition("/")
            uri = f"skill://{name}/{quote(begin + child)}"
            kind = _FOLDER if deeper else _kind(file.path)
            rows[uri] = {"uri": uri, "name": child, "mimeType": kind}
        if not rows:
            raise _strange("There is no such folder.", params.uri)
        return {"resources": list(rows.values()), **_CACHED}


def _entry(one: SkillFolder) -> dict[str, Any]:
    files = [{"uri": file.uri, "digest": file.digest, "size": file.size} for file in one.files]
    return {"uri": one.uri, "frontmatter": dict(one.head), "resources": files}


def _found(there: Mapping[str, SkillFolder], uri: str) -> tuple[SkillFolder | None, SkillFile | None]:
    for one in there.values():
        for file in one.files:
            if file.uri == uri:
                return one, file
    return None, None


def _kind(path: str) -> str:
    if path.endswith(".md"):
        return "text/markdown"
    return mimetypes.guess_type(path)[0] or "application/octet-stream"


def _strange(why: str, uri: str) -> Exception:
    from mcp.shared.exceptions import MCPError
    from mcp_types import INVALID_PARAMS

    return MCPError(INVALID_PARAMS, why, {"uri": uri[:300]})
