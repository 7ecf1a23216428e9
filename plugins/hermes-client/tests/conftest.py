"""A kernel with a scripted model behind a real server on a real port."""

import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from hermes_core.kinds import Console
from hermes_core.testing import Bench

KEY = "owners-key-0123456789"


@pytest.fixture
def serve(hermes: Bench, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """``async with serve(model) as url``."""
    monkeypatch.setenv("API_SERVER_KEY", KEY)

    @contextlib.asynccontextmanager
    async def served(*plugins: object) -> AsyncIterator[str]:
        hermes.tmp_plugin("hermes_platform_api")
        for plugin in plugins:
            hermes.tmp_plugin(plugin)
        hermes.configure({"platforms.api.port": 0})
        runtime = hermes.runtime
        runtime.loader.load_contributing("platforms", ["api"])
        [api] = [one for _, one in runtime.dispatch.contributions("register_platforms") if one.name == "api"]
        await api.open(Console())
        try:
            yield api.address
        finally:
            await api.close()

    return served
