"""A model service of this machine, and the library pointed at it."""

import os
from collections.abc import AsyncIterator, Callable

import pytest

from hermes_core.testing.model_service import ModelService, model_service
from hermes_core.types import Endpoint, Message, Request, Text
from hermes_provider_litellm.provider import LiteLLM

KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY")


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", os.environ.get("LITELLM_LOCAL_MODEL_COST_MAP", "True"))


@pytest.fixture
async def service() -> AsyncIterator[ModelService]:
    """A running service."""
    async with model_service() as made:
        yield made


@pytest.fixture
async def at(service: ModelService) -> AsyncIterator[Callable[..., LiteLLM]]:
    """``at("/v1", timeout=1)``: the provider at the test's server."""
    made: list[LiteLLM] = []

    def bind(path: str = "", **fields: object) -> LiteLLM:
        values: dict[str, object] = {"base_url": service.url + path, "api_key": "sk-test-1234567890", **fields}
        made.append(LiteLLM().at(Endpoint(name="litellm", **values)))  # type: ignore[arg-type]
        return made[-1]

    yield bind
    for provider in made:
        await provider.close()


@pytest.fixture
def hello() -> Request:
    return Request(model="openai/m", messages=(Message(role="user", parts=(Text(text="hello"),)),))
