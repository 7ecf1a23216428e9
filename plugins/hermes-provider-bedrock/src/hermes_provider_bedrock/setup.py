"""How the service is set up: a region, and a key of Bedrock or a profile of AWS, tested by asking for its models."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from hermes_core.kinds import SetupField
from hermes_core.types import Endpoint, Model
from hermes_provider_bedrock.config import Config
from hermes_provider_bedrock.line import REGION, SERVICE, open_line
from hermes_provider_kit.setup import ServiceStep

if TYPE_CHECKING:
    from hermes_core.brokers import SecretsBroker

__all__ = ["all_steps"]


class BedrockStep(ServiceStep):
    """The library's step, which asks for a region and a profile besides."""

    def __init__(self, secrets: "SecretsBroker", endpoint: Endpoint | None, config: Config | None) -> None:
        self._secrets, self._config = secrets, config or Config()
        models = partial(_models, secrets, self._config)
        said = endpoint or Endpoint(name=SERVICE.name)
        super().__init__(SERVICE.name, variable=SERVICE.env[0], models=models, said=said)
        known = self._config.region or secrets.get("AWS_REGION") or secrets.get("AWS_DEFAULT_REGION")
        text, key = "AWS region, such as eu-central-1", f"providers.{SERVICE.name}.region"
        region = SetupField("region", text, key, required=not known, default=known, check=_region)
        # what a person names is theirs to have read; without a name nothing of ~/.aws is
        ask, where = "Profile of AWS to read from ~/.aws; empty: an API key", f"providers.{SERVICE.name}.profile"
        profile = SetupField("profile", ask, where, required=False, default=self._config.profile, check=_profile)
        keys = () if self._config.profile else tuple(one._replace(required=False) for one in self.fields)
        self.fields = (region, profile, *keys)

    async def test(self, values: Mapping[str, str]) -> str:
        """Ask for its models, in the region that was said. Raises ProviderError, or UserError for a bad address."""
        region = values.get("region") or self._config.region
        config = Config(region=region, profile=values.get("profile") or self._config.profile)
        self._models = partial(_models, self._secrets, config)
        return await super().test(values)


def all_steps(
    secrets: "SecretsBroker", endpoints: Mapping[str, Endpoint], config: Config | None = None
) -> list[ServiceStep]:
    """Make its step, under its own name."""
    return [BedrockStep(secrets, endpoints.get(SERVICE.name), config)]


async def _models(secrets: "SecretsBroker", config: Config, endpoint: Endpoint) -> Sequence[Model]:
    """Ask the service which models it has. Raises HermesError."""
    from hermes_provider_bedrock.offered import ask_models

    line = open_line(SERVICE.name, secrets, endpoint, config)
    try:
        return await ask_models(line)
    finally:
        await line.close()


def _profile(text: str) -> str:
    return "" if text.isprintable() and len(text) < 129 else "A profile has a name of one line."


def _region(text: str) -> str:
    import re

    return "" if re.fullmatch(REGION, text) else "A region of AWS looks like eu-central-1."
