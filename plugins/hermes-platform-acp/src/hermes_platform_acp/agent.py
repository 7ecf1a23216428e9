"""The agent as an editor sees it: what may be asked of it, and the sessions it has open."""

import contextlib
import os
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from hermes_acp_wire.peer import (
    AUTH_REQUIRED,
    INTERNAL,
    INVALID_PARAMS,
    INVALID_REQUEST,
    NO_METHOD,
    NOT_FOUND,
    Answered,
    Peer,
    RpcError,
)
from hermes_core import __version__
from hermes_core.context import PluginContext
from hermes_core.errors import AuthError, HermesError, UnknownName, UserError
from hermes_core.types import Session, SessionRow
from hermes_platform_acp.bringing import brought
from hermes_platform_acp.conversation import Conversation
from hermes_platform_acp.options import EFFORT, MODE, MODEL
from hermes_platform_acp.shapes import V1, V2, Shapes

__all__ = ["Agent"]

JSON: TypeAlias = Any
Params: TypeAlias = Mapping[str, Any]

_PAGE = 50  # sessions of one answer to session/list
_MOST = 2_000  # sessions that are looked through for those of a folder


class Agent:
    """One editor's agent. ``peer`` is the way to the editor; ``used`` says that it has had a session."""

    peer: Peer

    def __init__(self, ctx: PluginContext, *, draft: bool = False) -> None:
        self.ctx, self._draft = ctx, draft
        self.shapes: Shapes | None = None
        self.abilities: Mapping[str, Any] = {}
        self.editor = "an editor"
        self.used = False
        self._open: dict[str, Conversation] = ctx.state.setdefault("open", {})  # hooks look there, too

    async def answer(self, method: str, params: Params) -> JSON:
        """Answer a request, or heed a notification. Raises RpcError."""
        if method == "initialize":
            return self._initialize(params)
        if self.shapes is None:
            raise RpcError(INVALID_REQUEST, "Say initialize first.")
        known = self._methods(self.shapes.version)
        if method not in known:
            raise RpcError(NO_METHOD, f"There is no method {method[:80]!r} in version {self.shapes.version}.")
        try:
            return await known[method](params)
        except HermesError as error:
            raise self._told(error) from None

    def _methods(self, version: int) -> Mapping[str, Callable[[Params], Awaitable[JSON]]]:
        both = {
            "session/new": self._new,
            "session/resume": self._resume,
            "session/list": self._list,
            "session/fork": self._fork,
            "session/close": self._close,
            "session/delete": self._delete,
            "session/prompt": self._prompt,
            "session/cancel": self._cancel,
            "session/set_config_option": self._set_option,
        }
        if version >= V2.version:
            return {**both, "auth/login": self._log_in, "auth/logout": self._log_out}
        return {
            **both,
            "authenticate": self._log_in,
            "session/load": self._load,
            "session/set_mode": self._set_mode,
            "session/set_model": self._set_model,
        }

    def _told(self, error: HermesError) -> RpcError:
        known = {UnknownName: NOT_FOUND, AuthError: AUTH_REQUIRED, UserError: INVALID_PARAMS}
        code = next((code for kind, code in known.items() if isinstance(error, kind)), INTERNAL)
        hint = self.ctx.masks.text(error.hint)
        return RpcError(code, self.ctx.masks.text(error.text), {"hint": hint} if hint else None)

    # --- the connection ---------------------------------------------------------------------------------------------

    def _initialize(self, params: Params) -> JSON:
        asked = params.get("protocolVersion")
        if not isinstance(asked, int) or isinstance(asked, bool):
            raise RpcError(INVALID_PARAMS, "protocolVersion is a whole number.")
        if self.shapes is not None:
            raise RpcError(INVALID_REQUEST, "This connection was initialized before.")
        self.abilities = _mapping(params, "clientCapabilities", "capabilities")
        terminals = _mapping(self.abilities, "_meta").get("terminal_output") is True
        self.shapes = V2() if self._draft and asked >= V2.version else V1(terminals=terminals)
        info = _mapping(params, "clientInfo", "info")
        self.editor = str(info.get("title") or info.get("name") or self.editor)[:80]
        methods = []
        if _mapping(self.abilities, "auth").get("terminal"):
            text = "Choose who answers, and say the key, in a terminal."
            methods.append({"id": "setup", "name": "Set up Hermes", "description": text, "args": ["setup"]})
        return self.shapes.initialized({"name": "hermes", "title": "Hermes", "version": __version__}, methods)

    async def _log_in(self, params: Params) -> JSON:
        """Say whether somebody can answer: what is to be set up is set up in a terminal. Raises HermesError."""
        _text(params, "methodId")
        await self.ctx.models.current()
        return {}

    async def _log_out(self, params: Params) -> JSON:
        raise UserError("There is no login here to end.", hint=f"Keys are in: {self.ctx.program} config env-path")

    # --- sessions ---------------------------------------------------------------------------------------------------

    async def _new(self, params: Params) -> JSON:
        folder, servers = _folder(params), brought(params)
        session = await self.ctx.turns.take_up(origin="acp", folder=folder)
        await self.ctx.host.turns.keep(session)  # the editor writes its id down, so it is there from now on
        conversation = await self._take(session, fresh=True, wanted=folder)
        conversation.bringing.offer(servers)
        return await self._opened(conversation, {"sessionId": session.id})

    async def _load(self, params: Params) -> JSON:
        return await self._taken_up(params, replay=True)

    async def _resume(self, params: Params) -> JSON:
        wanted = params.get("replayFrom")
        if wanted is not None and (not isinstance(wanted, dict) or wanted.get("type") != "start"):
            raise RpcError(INVALID_PARAMS, "A session is replayed from its start, or not at all.")
        return await self._taken_up(params, replay=wanted is not None)

    async def _taken_up(self, params: Params, *, replay: bool) -> JSON:
        _folder(params)
        name, servers = _text(params, "sessionId"), brought(params)
        if (conversation := self._open.get(name)) is None:
            await self.ctx.sessions.get(self.ctx.owner, name)
            conversation = await self._take(await self.ctx.turns.take_up(name))
        conversation.bringing.offer(servers)
        if replay:
            await conversation.replay()
        return await self._opened(conversation, {})

    async def _fork(self, params: Params) -> JSON:
        _folder(params)
        servers = brought(params)
        copy = await self.ctx.sessions.fork(self.ctx.owner, _text(params, "sessionId"))
        conversation = await self._take(await self.ctx.turns.take_up(copy.id))
        conversation.bringing.offer(servers)
        return await self._opened(conversation, {"sessionId": copy.id})

    async def _take(self, session: Session, *, fresh: bool = False, wanted: str = "") -> Conversation:
        self.used = True
        conversation = self._open[session.id] = Conversation(self, session, fresh=fresh, wanted=wanted)
        await conversation.choices.remember()
        return conversation

    async def _opened(self, conversation: Conversation, result: dict[str, JSON]) -> JSON:
        """Answer with how a session is set, and tell after it what commands there are; what was cut off goes on."""
        assert self.shapes
        result |= self.shapes.session(await conversation.choices.options())
        return Answered(result, conversation.opened)

    async def _list(self, params: Params) -> JSON:
        folder, cursor = params.get("cwd"), params.get("cursor")
        if not isinstance(folder, str | None) or not (cursor is None or (isinstance(cursor, str) and cursor.isdigit())):
            raise RpcError(INVALID_PARAMS, "cwd is a path, and cursor is what the last answer said.")
        first = int(cursor or 0)
        rows = await self.ctx.sessions.rows(self.ctx.owner, limit=_MOST)
        shown = [row for row in rows if row.session.cwd.startswith("/") and row.messages]
        if folder:
            shown = [row for row in shown if os.path.realpath(row.session.cwd) == os.path.realpath(folder)]
        more = {"nextCursor": str(first + _PAGE)} if len(shown) > first + _PAGE else {}
        return {"sessions": [_row(row) for row in shown[first : first + _PAGE]], **more}

    async def _close(self, params: Params) -> JSON:
        conversation = self._conversation(params)
        del self._open[conversation.session.id]
        await conversation.close()
        return {}

    async def _delete(self, params: Params) -> JSON:
        name = _text(params, "sessionId")
        if conversation := self._open.pop(name, None):
            await conversation.close()
        with contextlib.suppress(UnknownName):  # it is not there, which is what was wanted
            await self.ctx.sessions.delete(self.ctx.owner, name)
        return {}

    def _conversation(self, params: Params) -> Conversation:
        name = _text(params, "sessionId")
        if name not in self._open:
            raise RpcError(
                NOT_FOUND, f"No session {name[:80]!r} is open here.", {"hint": "Load it, or begin a new one."}
            )
        return self._open[name]

    # --- what goes on in one ----------------------------------------------------------------------------------------

    async def _prompt(self, params: Params) -> JSON:
        conversation, said = self._conversation(params), params.get("prompt")
        if not isinstance(said, list) or not all(isinstance(one, dict) for one in said):
            raise RpcError(INVALID_PARAMS, "prompt is a list of content.")
        return await conversation.prompt(said)

    async def _cancel(self, params: Params) -> JSON:
        if conversation := self._open.get(str(params.get("sessionId"))):
            await conversation.cancel()

    async def _set_mode(self, params: Params) -> JSON:
        await self._conversation(params).choices.choose(MODE, _text(params, "modeId"))
        return {}

    async def _set_model(self, params: Params) -> JSON:
        await self._conversation(params).choices.choose(MODEL, _text(params, "modelId"))
        return {}

    async def _set_option(self, params: Params) -> JSON:
        assert self.shapes
        conversation, name = self._conversation(params), _text(params, "configId")
        if name not in (MODE, MODEL, EFFORT):
            raise RpcError(INVALID_PARAMS, f"There is no option {name[:80]!r}.")
        return self.shapes.chosen(await conversation.choices.choose(name, _text(params, "value")))


def _text(params: Params, name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str) or not value:
        raise RpcError(INVALID_PARAMS, f"{name} is a text.")
    return value


def _mapping(params: Params, *names: str) -> Mapping[str, Any]:
    return next((found for name in names if isinstance(found := params.get(name), dict)), {})


def _folder(params: Params) -> str:
    folder = _text(params, "cwd")
    if not folder.startswith("/") or "\0" in folder:
        raise RpcError(INVALID_PARAMS, "cwd is an absolute path.")
    if not Path(folder).is_dir():
        raise RpcError(INVALID_PARAMS, f"There is no folder {folder}.")
    return folder


def _row(row: SessionRow) -> JSON:
    updated = datetime.fromtimestamp(row.updated, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    title = row.session.title or " ".join(row.preview.split())[:80]
    named = {"title": title} if title else {}
    return {"sessionId": row.session.id, "cwd": row.session.cwd, "updatedAt": updated, **named}
