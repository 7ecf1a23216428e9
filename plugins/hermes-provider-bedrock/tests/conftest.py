"""A Bedrock of this machine, and a provider that talks to it."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from hermes_core.testing.model_service import FakeSecrets, ModelService, model_service
from hermes_core.types import (
    CallDelta,
    Delta,
    Done,
    Endpoint,
    Message,
    ReasoningDelta,
    Request,
    Text,
    TextDelta,
    UsageDelta,
)
from hermes_provider_bedrock.config import Config
from hermes_provider_bedrock.provider import Bedrock

sys.path.insert(0, str(Path(__file__).parent))
import bedrock_service


class Heard:
    """A reply, put together so that replies cut in different places can be compared."""

    def __init__(self, deltas: list[Delta]) -> None:
        self.deltas = deltas
        self.text = "".join(d.text for d in deltas if isinstance(d, TextDelta))
        self.reasoning = "".join(d.text for d in deltas if isinstance(d, ReasoningDelta))
        self.kept = [d.meta for d in deltas if isinstance(d, ReasoningDelta) and d.meta]
        self.calls = [(d.index, d.id, d.name, json.loads(d.arguments)) for d in deltas if isinstance(d, CallDelta)]
        self.usage = [d.usage for d in deltas if isinstance(d, UsageDelta)][-1]
        self.done = [d.reason for d in deltas if isinstance(d, Done)]

    def facts(self) -> list[object]:
        return [self.text, self.reasoning, self.kept, self.calls, self.usage, self.done]


@pytest.fixture
def wire() -> object:
    """Makers of what the service writes, and checks of what it gets."""
    return bedrock_service


@pytest.fixture
def heard() -> type[Heard]:
    return Heard


@pytest.fixture
def keys() -> type[FakeSecrets]:
    return FakeSecrets


@pytest.fixture(autouse=True)
def no_aws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let nothing of this machine's own AWS in, and ask no machine for credentials."""
    import os

    for name in [one for one in os.environ if one.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "aws-config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "aws-credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture
async def service() -> AsyncIterator[ModelService]:
    """A running service."""
    async with model_service() as made:
        yield made


@pytest.fixture
async def at(service: ModelService) -> AsyncIterator[Callable[..., Bedrock]]:
    """``at(timeout=1)``: the provider at the test's server; ``secrets`` and ``config`` are what they are elsewhere."""
    made: list[Bedrock] = []

    def bind(*, secrets: object = None, config: Config | None = None, **fields: object) -> Bedrock:
        values: dict[str, object] = {"name": "bedrock", "base_url": service.url, "api_key": "ABSK-test-123", **fields}
        own = config or Config(region="eu-central-1")
        base = Bedrock(secrets or FakeSecrets(), config=own)  # type: ignore[arg-type]
        made.append(base.at(Endpoint(**values)))  # type: ignore[arg-type]
        return made[-1]

    yield bind
    for provider in made:
        await provider.close()


@pytest.fixture
def hello() -> Request:
    said = Message(role="user", parts=(Text(text="hello"),))
    return Request(model="anthropic.claude-sonnet-4-20250514-v1:0", messages=(said,))


@pytest.fixture
def ask(hello: Request) -> Callable[..., Awaitable[Heard]]:
    """``await ask(provider, request)``: the whole reply."""

    async def run(provider: Bedrock, request: Request = hello) -> Heard:
        async with asyncio.timeout(30):
            return Heard([delta async for delta in provider.stream(request)])

    return run
