"""An editor for tests: it starts ``hermes acp`` as a person's does, and holds every message against the schemas."""

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

SCHEMAS = Path(__file__).parent / "schemas"


@cache
def schema(version: int) -> Mapping[str, Any]:
    """One of the official schemas."""
    found: Mapping[str, Any] = json.loads((SCHEMAS / f"v{version}.json").read_text())
    return found


@cache
def shape(version: int, method: str, ending: str) -> Draft202012Validator:
    """What checks the parameters (``Request``, ``Notification``) or the result (``Response``) of a method."""
    whole = schema(version)
    names = [n for n, d in whole["$defs"].items() if d.get("x-method") == method and n.endswith(ending)]
    assert len(names) == 1, (version, method, ending, names)
    registry = Registry().with_resource("urn:acp", Resource.from_contents(whole))
    return Draft202012Validator({"$ref": f"urn:acp#/$defs/{names[0]}"}, registry=registry)


def check(version: int, method: str, ending: str, told: Any) -> None:
    """Fail for what has not the shape that the protocol says."""
    wrong = [
        f"{'/'.join(map(str, e.absolute_path))}: {e.message[:300]}"
        for e in shape(version, method, ending).iter_errors(told)
    ]
    assert not wrong, (method, wrong, told)


class Failed(Exception):
    """What was asked was answered by an error."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(error["message"])
        self.code, self.message, self.data = error["code"], error["message"], error.get("data")


class Editor:
    """One. ``told`` is all it was told, ``permit`` gives the option for what it is asked."""

    def __init__(self, env: Mapping[str, str], folder: Path, version: int = 1) -> None:
        self.env, self.folder, self.version = dict(env), folder, version
        self.told: list[Mapping[str, Any]] = []
        self.asked: list[tuple[str, Mapping[str, Any]]] = []
        self.taken_back: list[int] = []
        self.permit: Callable[[Mapping[str, Any]], Any] = lambda _: "once"
        self.fill: Callable[[Mapping[str, Any]], Any] = lambda _: "as you like"
        self.buffers: dict[str, str] = {}  # the files it has open, by their paths
        self.process: asyncio.subprocess.Process | None = None
        self._waiting: dict[int, tuple[str, asyncio.Future[Any]]] = {}
        self._number = 0
        self._tasks = set[asyncio.Task[None]]()
        self._replies: list[asyncio.Task[None]] = []
        self._news = asyncio.Event()
        self.wrong: BaseException | None = None
        self.gone = False

    async def start(self, *words: str, **abilities: Any) -> Mapping[str, Any]:
        """Start the agent and shake hands."""
        draft = ["--draft-v2"] if self.version == 2 else []
        pipe = asyncio.subprocess.PIPE
        self.process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "hermes_core", "acp", *draft, *words),
            stdin=pipe, stdout=pipe, stderr=pipe, env=self.env, cwd=self.folder, limit=1 << 26,
        )  # fmt: skip
        self._spawn(self._hear())
        info = {"name": "tests", "version": "1"}
        named = {"clientInfo": info, "clientCapabilities": abilities}
        if self.version == 2:
            named = {"info": info, "capabilities": abilities}
        found: Mapping[str, Any] = await self.ask("initialize", protocolVersion=self.version, **named)
        assert found["protocolVersion"] == self.version
        return found

    async def new(self, **more: Any) -> str:
        """Begin a session; its id."""
        return str((await self.ask("session/new", cwd=str(self.folder), mcpServers=[], **more))["sessionId"])

    async def say(self, session: str, *words: str | Mapping[str, Any]) -> str:
        """Say something, and wait for the end; why it ended."""
        blocks = [{"type": "text", "text": one} if isinstance(one, str) else one for one in words]
        before = len(self.told)
        found = await self.ask("session/prompt", sessionId=session, prompt=blocks)
        if self.version == 1:
            return str(found["stopReason"])
        await self.until(lambda: self.updates("user_message", before))
        at = next(
            n for n, one in enumerate(self.told) if n >= before and one["update"]["sessionUpdate"] == "user_message"
        )
        ended = await self.until(lambda: [u for u in self.updates("state_update", at) if u["state"] == "idle"])
        return str(ended[0]["stopReason"])

    async def ask(self, method: str, **params: Any) -> Any:
        """Ask, and wait for the result. Raises Failed."""
        number = self.post(method, params)
        async with asyncio.timeout(60):
            return await self._waiting[number][1]

    def post(self, method: str, params: Any) -> int:
        """Ask; the number that the answer has."""
        self._number += 1
        self._waiting[self._number] = method, asyncio.get_running_loop().create_future()
        self.write({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        return self._number

    def notify(self, method: str, **params: Any) -> None:
        """Tell."""
        self.write({"jsonrpc": "2.0", "method": method, "params": params})

    def write(self, told: Any) -> None:
        """Write a line."""
        assert self.process
        assert self.process.stdin
        line = told if isinstance(told, bytes) else json.dumps(told).encode()
        self.process.stdin.write(line + b"\n")

    def answer(self, number: int) -> "asyncio.Future[Any]":
        """What a question came to."""
        return self._waiting[number][1]

    def updates(self, kind: str = "", since: int = 0) -> list[Mapping[str, Any]]:
        """What it was told of sessions, of one kind."""
        found = [one["update"] for one in self.told[since:]]
        return [one for one in found if not kind or one["sessionUpdate"] == kind]

    def text(self, since: int = 0, who: str = "agent_message") -> str:
        """All that the agent said."""
        return "".join(u["content"].get("text", "") for u in self.updates(f"{who}_chunk", since))

    async def until(self, true: Callable[[], Any]) -> Any:
        """Wait until something is so, and give it."""
        async with asyncio.timeout(60):
            while not (found := true()):
                if self.wrong or self.gone:
                    raise self.wrong or ConnectionError("the agent went away")
                self._news.clear()
                await self._news.wait()
            return found

    async def stop(self) -> str:
        """Go away; what the agent said on stderr."""
        if self.process is None:
            return ""
        process, self.process = self.process, None
        assert process.stdin
        assert process.stderr
        process.stdin.close()
        said = (await asyncio.wait_for(process.stderr.read(), 30)).decode()
        await asyncio.wait_for(process.wait(), 30)
        await asyncio.gather(*self._tasks)
        if self.wrong:
            raise self.wrong
        return said

    async def kill(self) -> None:
        """Kill it, as the system does."""
        assert self.process
        self.process.kill()
        await self.process.wait()
        self.process = None
        await asyncio.gather(*self._tasks)

    def forget_questions(self) -> None:
        """Answer nothing any more of what was asked."""
        for task in self._replies:
            task.cancel()

    def _spawn(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _hear(self) -> None:
        assert self.process
        out = self.process.stdout
        assert out
        try:
            while line := await out.readline():
                if line.endswith(b"\n"):  # one that was killed writes a line by half
                    for one in found if isinstance(found := json.loads(line), list) else [found]:
                        self._one(one)
                self._news.set()
        except BaseException as error:
            self.wrong = error
        finally:
            self.gone = True
            self._news.set()
            for _, waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(self.wrong or ConnectionError("the agent went away"))
                    waiting.exception()

    def _one(self, told: Mapping[str, Any]) -> None:
        assert told["jsonrpc"] == "2.0", told
        if "method" not in told:
            self._settle(told)
        elif told["method"] == "$/cancel_request":
            self.taken_back.append(told["params"]["requestId"])
        elif "id" in told:
            check(self.version, told["method"], "Request", told["params"])
            self.asked.append((told["method"], told["params"]))
            self._replies.append(asyncio.create_task(self._reply(told)))
        else:
            check(self.version, told["method"], "Notification", told["params"])
            self.told.append(told["params"])

    def _settle(self, told: Mapping[str, Any]) -> None:
        method, waiting = self._waiting.get(told["id"], ("", None))
        if "error" in told:
            assert isinstance(told["error"]["code"], int), told
            assert isinstance(told["error"]["message"], str), told
            if waiting and not waiting.done():
                waiting.set_exception(Failed(told["error"]))
                waiting.exception()
            return
        assert waiting, told
        check(self.version, method, "Response", told["result"])
        if not waiting.done():
            waiting.set_result(told["result"])

    def _file(self, told: Mapping[str, Any]) -> Any:
        """What an editor answers that has some files open: what it is given it saves."""
        path, head = told["params"]["path"], {"jsonrpc": "2.0", "id": told["id"]}
        if told["method"] == "fs/read_text_file":
            if path not in self.buffers:
                return {**head, "error": {"code": -32002, "message": "It is not open."}}
            result: Any = {"content": self.buffers[path]}
        else:
            self.buffers[path], result = told["params"]["content"], {}
            Path(path).write_text(self.buffers[path])
        check(self.version, told["method"], "Response", result)
        return {**head, "result": result}

    async def _reply(self, told: Mapping[str, Any]) -> None:
        if told["method"].startswith("fs/"):
            self.write(self._file(told))
            return
        if told["method"] == "elicitation/create":
            result: Any = {"action": "accept", "content": {"answer": self.fill(told["params"])}}
        else:
            found = self.permit(told["params"])
            chosen = await found if asyncio.iscoroutine(found) else found
            selected = {"outcome": "selected", "optionId": chosen}
            result = {"outcome": selected if chosen else {"outcome": "cancelled"}}
        check(self.version, told["method"], "Response", result)
        self.write({"jsonrpc": "2.0", "id": told["id"], "result": result})
