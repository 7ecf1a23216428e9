"""A kernel with a scripted model behind a real server on a real port."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from inspect import isawaitable
from pathlib import Path
from typing import Any

import openai
import pytest
from attrs import define

from hermes_core.context import PluginContext
from hermes_core.kinds import Console
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import Bench, ScriptedProvider, plugin_context
from hermes_core.testing.contract_base import manifest_path
from hermes_platform_api.config import Config
from hermes_platform_api.platform import Api

KEY = "owners-key-0123456789"
ALICE = "alices-key-0123456789"


@define
class Running:
    """A server that runs, and what is behind it."""

    api: Api
    bench: Bench

    @property
    def ctx(self) -> PluginContext:
        """What the plugin was handed."""
        return self.api._ctx

    @property
    def url(self) -> str:
        return self.api.address

    async def until(self, true: Callable[[], Any]) -> None:
        """Wait until something is so."""
        async with asyncio.timeout(30):
            while not (await found if isawaitable(found := true()) else found):
                await asyncio.sleep(0.01)

    @property
    def running(self) -> int:
        """How many turns run."""
        service = self.api._service
        return service.turns.places.running if service else 0

    def again(self) -> Any:
        """The same, once more."""
        return running(self.bench)

    def client(self, key: str = KEY, **more: Any) -> openai.AsyncOpenAI:
        """The official client."""
        return openai.AsyncOpenAI(base_url=f"{self.url}/v1", api_key=key, max_retries=0, timeout=30, **more)

    def http(self, key: str = KEY, **headers: str) -> openai.DefaultAsyncHttpxClient:
        """A plain client."""
        known = {"authorization": f"Bearer {key}"} if key else {}
        return openai.DefaultAsyncHttpxClient(base_url=self.url, headers={**known, **headers}, timeout=30)


@contextlib.asynccontextmanager
async def running(bench: Bench) -> AsyncIterator[Running]:
    """What is in the bench, served."""
    runtime = bench.runtime
    runtime.loader.load_contributing("platforms", ["api"])
    [api] = [p for _, p in runtime.dispatch.contributions("register_platforms") if p.name == "api"]
    await api.open(Console())
    try:
        yield Running(api, bench)
    finally:
        await api.close()


@pytest.fixture
def serve(hermes: Bench, monkeypatch: pytest.MonkeyPatch) -> Any:
    """``async with serve(model, {"platforms.api.max_turns": 1}) as server``."""
    monkeypatch.setenv("API_SERVER_KEY", KEY)
    monkeypatch.setenv("API_SERVER_KEY_ALICE", ALICE)

    def start(provider: ScriptedProvider, settings: Any = None, *more: object) -> Any:
        hermes.tmp_plugin("hermes_platform_api")
        hermes.tmp_plugin("hermes_tool_roles")
        hermes.tmp_plugin(provider)
        for thing in more:
            hermes.tmp_plugin(thing)
        people = {"API_SERVER_KEY_ALICE": "alice"}
        hermes.configure({"platforms.api.port": 0, "platforms.api.keys": people, **(settings or {})})
        return running(hermes)

    return start


@pytest.fixture
def manifest_context(tmp_path: Path) -> PluginContext:
    """What the plugin is handed, without a kernel."""
    manifest = read_manifest(manifest_path("hermes_platform_api"))
    return plugin_context(manifest, tmp_path / "home", config=Config(port=0), secrets={"API_SERVER_KEY": KEY})
