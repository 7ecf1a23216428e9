"""A home with a real file of a model, and a provider that runs it."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from hermes_core.types import Endpoint
from hermes_provider_llamacpp.config import Config
from hermes_provider_llamacpp.provider import Gguf

sys.path.insert(0, str(Path(__file__).parent))
import tiny_gguf


@pytest.fixture(scope="session")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GGUF file, alone in its folder."""
    path = tmp_path_factory.mktemp("models") / "certain-Q8.gguf"
    tiny_gguf.write(path)
    return path


@pytest.fixture
def engine() -> None:
    """Skip where llama.cpp is not installed."""
    if find_spec("xllamacpp") is None:
        pytest.skip("needs hermes-provider-llamacpp[engine]")


@pytest.fixture
async def at(file: Path) -> AsyncIterator[Callable[..., Gguf]]:
    """``at(context=512)``: a provider as a person set it."""
    made: list[Gguf] = []

    def bind(folder: Path = file.parent, config: Config = Config(threads=1, gpu_layers=0), **said: object) -> Gguf:  # noqa: B008 - a value
        endpoint = Endpoint(name="gguf", **said) if said else None  # type: ignore[arg-type]
        made.append(Gguf(folder, config, endpoint))
        return made[-1]

    yield bind
    async with asyncio.timeout(20):
        for provider in made:
            await provider.close()
