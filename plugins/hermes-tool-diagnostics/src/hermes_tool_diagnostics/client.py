"""A language server in the place where commands run: it is told what a file holds, and says what is wrong with it."""

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from hermes_core.errors import ToolError
from hermes_core.kinds import Process, Workspace
from hermes_core.types import ExecRequest
from hermes_tool_diagnostics.framing import Broken, Frames, framed
from hermes_tool_diagnostics.problems import Problem, of_protocol
from hermes_tool_diagnostics.rows import Row

START = 30.0  # seconds until it must have answered
QUIET = 0.25  # seconds without another word, after which what it said holds
UNSURE = 1.0  # the same, as long as it is not known whether it says of which version it speaks
SILENT = 15.0  # seconds without any word, after which there is nothing to say
LOOK = 0.5  # seconds between looks at whether it still runs
_LONG = 1e9
_CANCELLED = (-32800, -32801, -32802)  # what it says when it wants to be asked again
_TRIES = 5


class Gone(Exception):
    """The server ended, or does not speak the protocol."""


class LanguageServer:
    """One server for one folder. It is asked one thing at a time."""

    def __init__(self, row: Row, root: str, workspace: Workspace) -> None:
        self.row, self.root = row, root
        self._workspace = workspace
        self._process: Process | None = None
        self._frames = Frames()
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._number = 0
        self._said: dict[str, tuple[int | None, Any, int]] = {}
        self._heard_any = asyncio.Event()
        self._heard = 0
        self._open = ""
        self._versions: dict[str, int] = {}
        self._pulls = False
        self._versioned: bool | None = None  # whether it says of which version of an open file it speaks
        self._tasks: set[asyncio.Task[None]] = set()
        self._writing, self.lock = asyncio.Lock(), asyncio.Lock()
        self.gone = ""

    async def start(self) -> None:
        """Start it. Raises Gone, and ToolError where nothing can run beside Hermes."""
        # Its log would come in between its messages.
        request = ExecRequest(
            argv=("sh", "-c", 'exec "$@" 2>/dev/null', "sh", *self.row.command),
            cwd=self.root, seconds=_LONG, limit=1_000, on_output=self._take,
        )  # fmt: skip
        self._process = await self._workspace.start(request)
        self._go(self._look())
        try:
            async with asyncio.timeout(START):
                answer = await self._ask("initialize", self._introduction())
                await self._tell("initialized", {})
                if self.row.settings:
                    await self._tell("workspace/didChangeConfiguration", {"settings": dict(self.row.settings)})
        except TimeoutError as late:
            await self.close()
            raise Gone("it did not answer") from late
        except BaseException:
            await asyncio.shield(self.close())
            raise
        able = answer.get("capabilities") if isinstance(answer, Mapping) else None
        self._pulls = isinstance(able, Mapping) and able.get("diagnosticProvider") not in (None, False)

    def _introduction(self) -> Mapping[str, Any]:
        folder = {"uri": _uri(self.root), "name": self.root.rsplit("/", 1)[-1] or "/"}
        return {
            "processId": None,  # it may be in a space of its own, where this process is not seen
            "clientInfo": {"name": "hermes"},
            "rootUri": folder["uri"],
            "rootPath": self.root,
            "workspaceFolders": [folder],
            "initializationOptions": {},
            "capabilities": {
                "general": {"positionEncodings": ["utf-16"]},
                "textDocument": {
                    "synchronization": {"didSave": True},
                    "publishDiagnostics": {"versionSupport": True},
                    "diagnostic": {"dynamicRegistration": False},
                },
                "workspace": {"configuration": True, "workspaceFolders": True},
            },
        }

    async def problems(self, path: str, text: str) -> Sequence[Problem]:
        """What it says of a file that holds this text. As long as that takes; Raises Gone."""
        uri, version = _uri(path), self._versions.get(path, 0) + 1
        self._versions[path] = version
        mark, before = self._heard, self._open
        named = {"uri": uri, "version": version}
        if before == path:
            await self._tell("textDocument/didChange", {"textDocument": named, "contentChanges": [{"text": text}]})
        else:
            language = self.row.language(path)
            await self._tell("textDocument/didOpen", {"textDocument": {**named, "languageId": language, "text": text}})
            self._open = path
            if before:  # only one is open: of all others what is on the disk holds
                self._said.pop(_uri(before), None)
                await self._tell("textDocument/didClose", {"textDocument": {"uri": _uri(before)}})
        await self._tell("textDocument/didSave", {"textDocument": {"uri": uri}})
        items = await self._pulled(uri) if self._pulls else await self._pushed(uri, version, mark)
        return of_protocol(items, self.row.name)

    async def changed(self, path: str) -> None:
        """Tell it that a file is another one on the disk. Raises Gone."""
        await self._tell("workspace/didChangeWatchedFiles", {"changes": [{"uri": _uri(path), "type": 2}]})

    async def _pulled(self, uri: str) -> Any:
        for _ in range(_TRIES):
            try:
                answer = await self._ask("textDocument/diagnostic", {"textDocument": {"uri": uri}})
            except _Again:
                await asyncio.sleep(QUIET)
                continue
            return answer.get("items") if isinstance(answer, Mapping) else []
        return []

    async def _pushed(self, uri: str, version: int, mark: int) -> Any:
        """What it published of this version, once it has been quiet for a moment.

        A server that names versions has read the disk where it names none, and there the text is another one: gopls
        says so first where it loads the package while the file is opened.
        """
        while True:
            self._heard_any.clear()
            said = self._said.get(uri)
            named = said[0] if said else None
            found = bool(said and said[2] > mark and (not self._versioned if named is None else named >= version))
            sure = self._versioned is not None
            if self.gone:
                raise Gone(self.gone)
            try:
                async with asyncio.timeout((QUIET if sure else UNSURE) if found else SILENT):
                    await self._heard_any.wait()
            except TimeoutError:
                if not said or not found:
                    return []
                self._versioned = bool(self._versioned)
                return said[1]

    # --- the wire -------------------------------------------------------------------------------------------------

    async def _tell(self, method: str, params: Mapping[str, Any]) -> None:
        await self._send({"jsonrpc": "2.0", "method": method, "params": params})

    async def _ask(self, method: str, params: Mapping[str, Any]) -> Any:
        self._number += 1
        number, answer = self._number, asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        try:
            await self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            return await answer
        finally:
            self._answers.pop(number, None)

    async def _send(self, message: Mapping[str, Any]) -> None:
        if self.gone or self._process is None:
            raise Gone(self.gone or "it is not started")
        try:
            async with self._writing:
                await self._process.write(framed(message))
        except ToolError as error:
            self._ended(error.text)
            raise Gone(error.text) from error

    def _take(self, data: bytes) -> None:
        try:
            for message in self._frames.feed(data):
                self._message(message)
        except Broken as error:
            self._ended(str(error))

    def _message(self, message: Mapping[str, Any]) -> None:
        method, number = message.get("method"), message.get("id")
        if isinstance(method, str) and number is not None:
            self._go(self._reply(number, method, message.get("params")))
        elif method == "textDocument/publishDiagnostics":
            said = message.get("params")
            if isinstance(said, Mapping) and isinstance(said.get("uri"), str):
                version = said.get("version")
                kept = version if isinstance(version, int) else None
                if kept is None and self._versioned:
                    return  # of what is on the disk
                self._versioned = self._versioned if kept is None else True
                self._heard += 1
                self._said[_plain(said["uri"])] = (kept, said.get("diagnostics"), self._heard)
                self._heard_any.set()
        elif isinstance(number, int) and (answer := self._answers.get(number)) and not answer.done():
            error = message.get("error")
            if not isinstance(error, Mapping):
                answer.set_result(message.get("result"))
            elif error.get("code") in _CANCELLED:
                answer.set_exception(_Again())
            else:
                answer.set_exception(Gone(str(error.get("message", "it refused"))[:300]))

    async def _reply(self, number: Any, method: str, params: Any) -> None:
        result: Any = None
        if method == "workspace/configuration":
            items = params.get("items") if isinstance(params, Mapping) else None
            result = [self._setting(item) for item in items] if isinstance(items, list) else []
        elif method == "workspace/workspaceFolders":
            result = [{"uri": _uri(self.root), "name": self.root}]
        elif method == "workspace/applyEdit":
            result = {"applied": False}
        with contextlib.suppress(Gone):
            await self._send({"jsonrpc": "2.0", "id": number, "result": result})

    def _setting(self, item: Any) -> Any:
        found: Any = self.row.settings
        for part in str(item.get("section") or "").split(".") if isinstance(item, Mapping) else ():
            found = found.get(part) if isinstance(found, Mapping) else None
        return found

    # --- its end --------------------------------------------------------------------------------------------------

    def _go(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _look(self) -> None:
        """Notice an end that nobody tells of."""
        while self._process is not None and not self.gone:
            status = await self._process.poll()
            if status is not None:
                self._ended(f"it ended with status {status}")
                return
            await asyncio.sleep(LOOK)

    def _ended(self, why: str) -> None:
        self.gone = self.gone or why
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(Gone(self.gone))
        self._heard_any.set()

    async def close(self) -> None:
        """End it and everything it started."""
        self._ended("it was ended")
        process, self._process = self._process, None
        for task in self._tasks:
            task.cancel()
        if process is not None:
            with contextlib.suppress(ToolError):
                await process.kill()


class _Again(Exception):
    """It wants to be asked again."""


def _uri(path: str) -> str:
    return f"file://{quote(path)}"


def _plain(uri: str) -> str:
    """An address as we spell it: servers escape other characters."""
    from urllib.parse import unquote

    return _uri(unquote(uri.removeprefix("file://")))
