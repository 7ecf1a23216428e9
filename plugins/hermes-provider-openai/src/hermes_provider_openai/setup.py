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

# Where a person agrees that Hermes gets a key of its own; it is fetched from the same service's ``/auth/keys``.
# https://openrouter.ai/docs/guides/overview/auth/oauth, read in November 2026.
_PAGES = {"openrouter": "https://openrouter.ai/auth"}


def all_steps(secrets: "SecretsBroker", endpoints: Mapping[str, Endpoint]) -> list[ServiceStep]:
    """One step for each service, under its own name."""
    return steps(LISTED, partial(_models, secrets), endpoints, _PAGES, partial(_key, secrets))


async def _models(secrets: "SecretsBroker", name: str, endpoint: Endpoint) -> Sequence[Model]:
    """What the service itself says it has; what the catalogue knows would be no test. Raises HermesError."""
    from hermes_openai_wire.line import open_line
    from hermes_openai_wire.offered import ask_models
    from hermes_provider_openai.entry import load_entry

    line = open_line(load_entry(name), name, secrets, endpoint)
    try:
        line.require_key()
        return await ask_models(line)
    finally:
        await line.close()


async def _key(secrets: "SecretsBroker", name: str, endpoint: Endpoint, proof: Mapping[str, str]) -> str:
    """A key for the code of a login. Raises ProviderError."""
    import json

    from hermes_openai_wire.line import open_line
    from hermes_provider_kit.exchange import posted
    from hermes_provider_kit.failures import unreadable
    from hermes_provider_openai.entry import load_entry

    line = open_line(load_entry(name), name, secrets, endpoint)
    try:
        headers = {"Content-Type": "application/json"}
        async with posted(line, f"{line.service.url}/auth/keys", dict(proof), model="", headers=headers) as pieces:
            said = b"".join([piece async for piece in pieces])
    finally:
        await line.close()
    try:
        key = json.loads(said)["key"]
    except (ValueError, KeyError, TypeError):
        key = None
    if not isinstance(key, str) or not key:
        raise unreadable(said.decode("utf-8", "replace"), service=line.service)
    return key
