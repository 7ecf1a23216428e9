"""How each service of the catalogue is set up."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from hermes_core.types import Endpoint, Model
from hermes_provider_kit.setup import ServiceStep, steps
from hermes_provider_openai.listed import LISTED

if TYPE_CHECKING:
    from hermes_core.brokers import SecretsBroker

__all__ = ["all_steps"]


def all_steps(secrets: "SecretsBroker", endpoints: Mapping[str, Endpoint]) -> list[ServiceStep]:
    """One step for each service, under its own name."""
    return steps(LISTED, partial(_models, secrets), endpoints)


async def _models(secrets: "SecretsBroker", name: str, endpoint: Endpoint) -> Sequence[Model]:
    """What the service itself says it has; what the catalogue knows would be no test. Raises HermesError."""
    from hermes_provider_openai.entry import load_entry
    from hermes_provider_openai.line import open_line
    from hermes_provider_openai.offered import ask_models, list_models

    line = open_line(load_entry(name), name, secrets, endpoint)
    try:
        line.require_key()
        return await ask_models(line) if line.entry.list_models else await list_models(line)
    finally:
        await line.close()
