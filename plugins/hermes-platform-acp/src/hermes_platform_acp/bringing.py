"""The MCP servers that an editor brings for a session: asked about, and given to whoever has MCP servers.

That is a slash command, ``/mcp``, of another plugin: it takes servers as ``.mcp.json`` writes them. An editor has them
from its own settings, or from the project that it shows, which may be anybody's. So a person is asked before one is
started or connected to, unless they know the folder, or said yes to the same server in it. Values are not written down.
"""

import asyncio
import hashlib
import json
import os
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import uuid4

from hermes_acp_wire.peer import INVALID_PARAMS, RpcError
from hermes_core.errors import HermesError, UserError
from hermes_core.slash import named
from hermes_core.types import Question
from hermes_core.values import frozen

if TYPE_CHECKING:
    from hermes_platform_acp.conversation import Conversation

__all__ = ["Bringing", "Brought", "brought"]

JSON: TypeAlias = Any

_COMMAND = "mcp"
_AGREED = "servers"  # the document of digests of those that a person said yes to: of a session, and for good
_MOST, _KEPT = 32, 200  # servers of one session, and digests that are kept
_WIDEST = 400  # characters of a command that is shown in a question


@frozen(kw_only=True)
class Brought:
    """One server, by its name in the editor; ``row`` is what ``.mcp.json`` would say of it."""

    name: str
    row: Mapping[str, JSON]

    @property
    def words(self) -> str:
        """What would be done, on one line, without any value that it is given."""
        if url := self.row.get("url"):
            told = f"{self.name[:80]}: connect to {url}{_names('headers', self.row)}"
        else:
            line = shlex.join([self.row["command"], *self.row["args"]])
            line = line if len(line) <= _WIDEST else f"{line[:_WIDEST]}… ({len(line):,} characters)"
            told = f"{self.name[:80]}: $ {line}{_names('env', self.row)}"
        return "⏎".join(told.splitlines())

    def digest(self, folder: str) -> str:
        """Return what a yes is to: all of it, in a folder, as what a command means depends on where it is said."""
        told = json.dumps([self.name, self.row, os.path.realpath(folder)], sort_keys=True)
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()


def _names(key: str, row: Mapping[str, JSON]) -> str:
    return f" ({key}: {', '.join(sorted(row[key]))})" if row.get(key) else ""


def brought(params: Mapping[str, JSON]) -> list[Brought]:
    """Read ``mcpServers`` of a request, both versions of it. Raises RpcError."""
    given = params.get("mcpServers")
    if given is None:
        return []
    if not isinstance(given, list) or len(given) > _MOST or not all(isinstance(one, dict) for one in given):
        raise RpcError(INVALID_PARAMS, f"mcpServers is a list of servers, {_MOST} at most.")
    return [_brought(one) for one in given]


def _brought(one: Mapping[str, JSON]) -> Brought:
    name, way = one.get("name"), one.get("type", "stdio")
    if not isinstance(name, str) or not name:
        raise RpcError(INVALID_PARAMS, "name of an MCP server is a text.")
    if way == "stdio":
        command, args = one.get("command"), one.get("args", [])
        listed = isinstance(args, list) and all(isinstance(word, str) for word in args)
        if not isinstance(command, str) or not command or not listed:
            raise RpcError(INVALID_PARAMS, f"The MCP server {name[:80]!r} has a command and args, which are texts.")
        return Brought(name=name, row={"command": command, "args": args, "env": _pairs(one, "env")})
    if way in ("http", "sse") and isinstance(url := one.get("url"), str):
        return Brought(name=name, row={"type": way, "url": url, "headers": _pairs(one, "headers")})
    raise RpcError(INVALID_PARAMS, f"The MCP server {name[:80]!r} is reached by stdio, http or sse.")


def _pairs(one: Mapping[str, JSON], key: str) -> dict[str, str]:
    """Return variables or headers, which are written as a list of names with values."""
    found, given = dict[str, str](), one.get(key, [])
    for pair in given if isinstance(given, list) else [None]:
        name, value = (pair.get("name"), pair.get("value")) if isinstance(pair, dict) else (None, None)
        if not isinstance(name, str) or not isinstance(value, str):
            raise RpcError(INVALID_PARAMS, f"{key} of an MCP server is a list of names with values.")
        found[name] = value
    return found


class Bringing:
    """Those of one session."""

    def __init__(self, conversation: "Conversation") -> None:
        self._conversation, self._ctx = conversation, conversation.ctx
        self._servers: Sequence[Brought] = ()
        self._given: Sequence[Brought] = ()
        self._refused: set[str] = set()
        self._told = False
        self._one = asyncio.Lock()

    def offer(self, servers: Sequence[Brought]) -> None:
        """Take note of what the editor brings now, in the place of what it brought before."""
        self._servers, self._told = servers, False

    async def give(self, *, asking: bool) -> None:
        """Give the session those that a person said yes to; of the others they are asked, where that may be."""
        async with self._one:
            if not self._servers and not self._given:
                return
            if named(self._conversation.commands.table, _COMMAND) is None:
                await self._say(
                    f"Your editor brings MCP servers ({self._listed(self._servers)}). They are for the plugin mcp: "
                    f"`{self._ctx.program} plugins enable mcp`."
                )
                return
            agreed = await self._agreed(asking)
            if agreed != [*self._given]:
                await self._give(agreed)

    async def take_back(self) -> None:
        """Have the session go without them: whoever opens it again brings their own."""
        async with self._one:
            if self._given:
                await self._give(())

    async def _give(self, servers: Sequence[Brought]) -> None:
        text = json.dumps({one.name: dict(one.row) for one in servers})
        self._given = servers
        try:
            await self._conversation.commands.run(self._conversation.side, _COMMAND, text)
        except HermesError as error:
            await self._say(f"The MCP servers of your editor are not used: {error}")

    async def _agreed(self, asking: bool) -> list[Brought]:
        digests = {one.name: one.digest(self._conversation.session.cwd) for one in self._servers}
        known = await self._said_before()
        free = await self._free()
        strange = [one for one in self._servers if not free and digests[one.name] not in known | self._refused]
        if strange and asking:
            known |= await self._ask(strange, digests)
        return [one for one in self._servers if free or digests[one.name] in known]

    async def _free(self) -> bool:
        """Tell whether nothing is asked: the person knows the folder, or wants to be asked nothing here."""
        if self._conversation.at_hand.mode() == "off":
            return True
        return await asyncio.to_thread(_known, self._ctx.paths.home, self._conversation.session.cwd)

    async def _said_before(self) -> set[str]:
        owner, here = self._conversation.session.owner, self._conversation.session.id
        found = [await self._ctx.documents.get(_AGREED, owner=owner, session_id=one) for one in ("", here)]
        return {
            str(one) for document in found if document and isinstance(document.value, list) for one in document.value
        }

    async def _ask(self, servers: Sequence[Brought], digests: Mapping[str, str]) -> set[str]:
        lines = "\n".join(f"  {one.words}" for one in servers)
        folder = self._conversation.session.cwd
        question = Question(
            id=uuid4().hex,
            kind="approval",
            subject=f"Your editor brings MCP servers for this conversation. Use them?\n{lines}",
            risk="Commands run behind the wall, in this folder; what servers say is text from outside.",
            covers=f"these servers as they are here, in {folder}",
            choices=("session", "always", "deny"),
        )
        verdict = await self._conversation.ask(question)
        wanted = {digests[one.name] for one in servers}
        if verdict is None or verdict.outcome != "allow":
            self._refused |= wanted
            await self._say(f"Without the MCP servers of your editor: {self._listed(servers)}.")
            return set()
        await self._keep(wanted, for_good=verdict.choice == "always")
        return wanted

    async def _keep(self, digests: set[str], *, for_good: bool) -> None:
        """Write down a yes: that of a session too, as a death of this process is no end of it."""

        def changed(before: JSON) -> JSON:
            kept = [one for one in before if one not in digests] if isinstance(before, list) else []
            return [*kept, *sorted(digests)][-_KEPT:]

        session = self._conversation.session
        place = "" if for_good else session.id
        await self._ctx.documents.change(_AGREED, changed, owner=session.owner, session_id=place)

    async def _say(self, words: str) -> None:
        if not self._told:
            self._told = True
            await self._conversation.say(words)

    @staticmethod
    def _listed(servers: Sequence[Brought]) -> str:
        return ", ".join(one.name[:80] for one in servers)


def _known(home: Any, folder: str) -> bool:
    from hermes_tool_kit.provenance.ledger import Ledger

    ledger = Ledger(home, folder)
    try:
        return bool(folder) and ledger.known(folder)
    except UserError:  # it cannot be told
        return False
    finally:
        ledger.close()
