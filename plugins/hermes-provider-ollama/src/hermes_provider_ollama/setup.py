"""How it is set up."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from hermes_core.types import Endpoint, Model
from hermes_provider_kit.setup import ServiceStep, steps
from hermes_provider_ollama.line import SERVICE

if TYPE_CHECKING:
    from hermes_core.brokers import SecretsBroker

__all__ = ["all_steps"]


def all_steps(secrets: "SecretsBroker", endpoints: Mapping[str, Endpoint]) -> list[ServiceStep]:
    """Make its step."""
    return steps([SERVICE], partial(_models, secrets), endpoints)


async def _models(secrets: "SecretsBroker", name: str, endpoint: Endpoint) -> Sequence[Model]:
    """Ask it which models it has. Raises HermesError."""
    from hermes_provider_ollama.line import open_line
    from hermes_provider_ollama.shown import names_of

    line = open_line(name, secrets, endpoint)
    try:
        return [Model(name=one) for one in await names_of(line)]
    finally:
        await line.close()
