"""How the service is set up."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from hermes_core.types import Endpoint, Model
from hermes_provider_bedrock.line import SERVICE
from hermes_provider_kit.setup import ServiceStep, steps

if TYPE_CHECKING:
    from hermes_core.brokers import SecretsBroker
    from hermes_provider_bedrock.config import Config

__all__ = ["all_steps"]


def all_steps(
    secrets: "SecretsBroker", endpoints: Mapping[str, Endpoint], config: "Config | None" = None
) -> list[ServiceStep]:
    """Make its step, under its own name."""
    return steps([SERVICE], partial(_models, secrets, config), endpoints)


async def _models(secrets: "SecretsBroker", config: "Config | None", name: str, endpoint: Endpoint) -> Sequence[Model]:
    """Ask the service which models it has. Raises HermesError."""
    from hermes_provider_bedrock.line import open_line
    from hermes_provider_bedrock.offered import ask_models

    line = open_line(name, secrets, endpoint, config)
    try:
        return await ask_models(line)
    finally:
        await line.close()
