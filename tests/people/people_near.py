"""The same house without processes and sockets: the gateway in a thread's loop, services called in that loop.

Telegram's plugin, the provider's, the API and everything behind them are as they are; only what would go over a wire to
Telegram and to the model is handed over in the same loop. The API listens, as people come to it from elsewhere.
"""

import asyncio
import json
import shutil
import sqlite3
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).parents[1] / "house"))

import httpx2
from gateway_house import context_of, rows_of
from people_house import MATRIX, PEOPLE, House, secrets, settings
from people_matrix import Village
from people_model import Obeying, last_said
from people_telegram import Phones
from telegram_service import BotApiServer, Refusal

from hermes_core.embed import HERMES, Hermes
from hermes_core.plugins.index import Index
from hermes_core.testing.protocol_replies import error_of, events_of, reply_of, stream_of
from hermes_core.testing.protocol_rules import refusal_of
from hermes_platform_gateway.gateway import Gateway
from hermes_platform_gateway.served import served
from hermes_platform_telegram.failures import Refused

__all__ = ["Near", "near"]

_NOWHERE = "http://127.0.0.1:9"  # nobody listens there: what is not handed over fails
_PATIENCE = 30.0
_INDEX, _STORE = list[Index](), list[bytes]()  # looked up and made once in a process
_READS = ("read", "last")


class Near(House):
    """A house in this process, also on Matrix where that is set up.

    ``doing`` runs something in its loop.
    """

    hermes: Hermes
    gateway: Gateway
    loop: asyncio.AbstractEventLoop
    matrix: Village
    model: "_Model"

    def doing(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(_PATIENCE)

    def is_idle(self) -> bool:
        """Whether nothing is heard, played, sent or asked of the model any more."""
        return bool(self.doing(_idle(self)))


class _NearPhones(Phones):
    """Its service lives in the loop of the house."""

    def __init__(self) -> None:
        super().__init__()
        self._thread = threading.current_thread()
        self.url = _NOWHERE

    @property
    def service(self) -> BotApiServer:
        return self._service

    def live(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop.close()
        self._loop = loop

    def _do(self, what: Callable[[], Any]) -> Any:
        if getattr(what, "__name__", "") not in _READS:
            return super()._do(what)
        while True:  # what only looks waits for nobody
            try:
                what().send(None)
            except StopIteration as done:
                return done.value
            except (KeyError, RuntimeError):  # something came or went meanwhile
                continue


class _Model(Obeying):
    """Answers what the provider's plugin would send."""

    def __init__(self, *, gullible: bool) -> None:
        super().__init__(gullible=gullible)
        self.refused: list[str] = []
        self.heads: list[str] = []  # of each of the bodies
        self.busy = 0

    def heads_of(self, person: str) -> list[str]:
        """Where the requests whose last words are a person's went, and with which headers."""
        with self.lock:
            pairs = [*zip(self.heads, self.bodies, strict=True)]
        return [head for head, body in pairs if last_said(json.loads(body)).startswith(f"{person}-")]

    async def answered(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "GET":
            return httpx2.Response(200, json={"object": "list", "data": [{"id": "word", "object": "model"}]})
        body = await request.aread()
        with self.lock:
            named = sorted(f"{name}: {value}" for name, value in request.headers.items() if name != "content-length")
            self.heads.append("\n".join([f"{request.method} {request.url}", *named]))
            self.bodies.append(body)
        asked = json.loads(body)
        if refusal := refusal_of("chat", asked):
            self.refused.append(f"{refusal}: {asked['messages']}")
            status, told, _ = error_of("chat", refusal)
            return httpx2.Response(status, json=told)
        self.busy += 1
        try:
            await self.slowly(asked)
            await asyncio.sleep(0)
        finally:
            self.busy -= 1
        said = self.said(asked)
        if not asked.get("stream"):
            return httpx2.Response(200, json=reply_of("chat", said))
        usage = bool((asked.get("stream_options") or {}).get("include_usage"))
        content = stream_of("chat", events_of("chat", said, usage=usage))

        async def pieces() -> AsyncIterator[bytes]:
            yield content

        return httpx2.Response(200, content=pieces(), headers={"content-type": "text/event-stream"})


class _Direct:
    """The client of the Bot API, whose calls are those of the service."""

    def __init__(self, service: BotApiServer) -> None:
        self._service = service

    async def call(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        files: Mapping[str, Any] | None = None,
        *,
        seconds: float = 0.0,
    ) -> Any:
        given = json.loads(json.dumps({name: value for name, value in (params or {}).items() if value is not None}))
        for name, (called, content, kind) in (files or {}).items():
            whole = content if isinstance(content, bytes) else content.read()
            given[name] = {"name": called, "content": whole, "type": kind}
        try:
            found = await self._service._do(method, given)
        except Refusal as refusal:
            more = refusal.parameters
            said = refusal.description.removeprefix("Bad Request: ")
            raise Refused(refusal.status, said, retry_after=more.get("retry_after")) from None
        return json.loads(json.dumps(found))

    async def download(self, file_path: str, target: IO[bytes], limit: int) -> None:
        target.write(self._service.files[file_path.removeprefix("files/")])

    async def close(self) -> None:
        pass


async def _idle(made: Near) -> bool:
    gateway, host = made.gateway, made.gateway._ctx.host
    queue: Any = gateway._queue
    if made.matrix.log and not made.matrix.waits:
        return False
    if made.phones._service.queue or made.model.busy or gateway._inbound._in_order._tasks:
        return False
    if (plays := host.turns.playing) and plays > made.held + _asking(made.home.home / "state.db"):
        return False
    if queue._ready or gateway._asks._tidying:
        return False
    counts = await rows_of(made.hermes).outbox.outbox_counts()
    return not any(state in ("waiting", "sending") for _, _, state in counts)


def _asking(store: Path) -> int:
    """How many conversations wait for the answer to a question."""
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
        query = "SELECT count(DISTINCT session_id) FROM approvals WHERE state = 'open'"
        return int(connection.execute(query).fetchone()[0])


@contextmanager
def near(folder: Path, more: str = "", *, gullible: bool = False, people: tuple[str, ...] = PEOPLE) -> Iterator[Near]:
    """Serve until the block ends. The folder is made anew."""
    if not _STORE:
        _STORE.append(b"")
        with near(folder):
            pass
        _STORE[:] = [folder.joinpath("home", "state.db").read_bytes()]
    shutil.rmtree(folder, ignore_errors=True)
    home, work = folder / "home", folder / "work"
    for one in (home, work):
        one.mkdir(parents=True)
    text = settings(f"{_NOWHERE}/v1", _NOWHERE, 0, more, people).replace("WORK", str(work))
    home.joinpath("config.yaml").write_text(text)
    tokens = {"MATRIX_ACCESS_TOKEN": "syt_token"} if MATRIX in more else {}
    home.joinpath(".env").write_text("".join(f"{name}={value}\n" for name, value in {**secrets(), **tokens}.items()))
    home.joinpath(".env").chmod(0o600)
    if any(_STORE):
        home.joinpath("state.db").write_bytes(_STORE[0])
    model, phones = _Model(gullible=gullible), _NearPhones()
    made = Near(SimpleNamespace(home=home, work=work), model, phones, 0, None)  # type: ignore[arg-type]
    made.matrix = Village((*people, "eve"))

    async def asked(
        _: object, method: str, where: str, content: bytes | None, __: object, query: Any, ___: float
    ) -> Any:
        return await made.matrix.answer(method, where, content, query)

    begun, stop = threading.Event(), list[Any]()
    failed = list[BaseException]()

    def run() -> None:
        try:
            asyncio.run(_served(made, home, begun, stop))
        except BaseException as error:
            failed.append(error)
        finally:
            begun.set()

    def client(*_: object) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(transport=httpx2.MockTransport(model.answered), trust_env=False)

    thread = threading.Thread(target=run, daemon=True)
    with ExitStack() as stack:
        stack.enter_context(patch("hermes_provider_kit.transport._make_client", client))
        stack.enter_context(patch("hermes_platform_telegram.platform.connect", lambda *_: _Direct(phones.service)))
        stack.enter_context(patch("gc.collect", lambda *_: 0))  # which a process that serves for months does once
        stack.enter_context(patch("hermes_platform_matrix.homeserver.Homeserver._asked", asked))
        thread.start()
        try:
            assert begun.wait(_PATIENCE)
            if failed:
                raise failed[0]
            yield made
        finally:
            if stop and not failed:
                made.loop.call_soon_threadsafe(stop[0].set)
            thread.join(_PATIENCE)
        if failed:
            raise failed[0]
        assert not model.refused, model.refused


async def _served(made: Near, home: Path, begun: threading.Event, stop: list[Any]) -> None:
    ended = asyncio.Event()
    made.loop = asyncio.get_running_loop()
    made.phones.live(made.loop)  # type: ignore[attr-defined]
    async with Hermes(home=home, index=_index(home)) as hermes:
        context = context_of(hermes)
        platforms, problem = served(context)
        assert not problem, problem
        made.hermes, made.gateway = hermes, Gateway(context, platforms)
        serving = asyncio.create_task(made.gateway.run(ended))
        stop.append(ended)
        try:
            async with asyncio.timeout(_PATIENCE):
                while not all(one.state == "connected" for one in made.gateway.platforms):
                    assert not serving.done(), serving.result()
                    await asyncio.sleep(0.001)
            address = next(one.platform for one in platforms_of(made) if one.platform.name == "api").address
            made.port = int(address.rpartition(":")[2])
            begun.set()
            await serving
        finally:
            ended.set()
            await asyncio.gather(serving, return_exceptions=True)


def _index(home: Path) -> Index:
    """What is installed, looked up once in a process."""
    if not _INDEX:
        _INDEX.append(HERMES.installed(HERMES.home(None, home)))
    return _INDEX[0]


def platforms_of(made: Near) -> Any:
    return made.gateway.platforms
