"""How a service that talks HTTP is set up: a key, an address where it has no own one, and a list of models as test."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial

from attrs import evolve

from hermes_core.kinds import SetupField, SetupStep
from hermes_core.types import Endpoint, Model
from hermes_provider_kit.listed import Listed

__all__ = ["ServiceStep", "steps"]


class ServiceStep(SetupStep):
    """The setup step of one service, under the name of its provider.

    ``variable`` is the secret that holds its key, empty where it takes none; ``local`` services are asked for an
    address, and a key only if they want one. ``said`` is what the person wrote of it already. ``models`` asks the
    service at an endpoint which models it has; it raises HermesError.
    """

    def __init__(
        self,
        name: str,
        *,
        variable: str,
        models: Callable[[Endpoint], Awaitable[Sequence[Model]]],
        local: bool = False,
        base_url: str = "",
        said: Endpoint | None = None,
    ) -> None:
        self.name, self._models, self._said = name, models, said or Endpoint(name=name)
        fields = []
        if local:
            needed = not (base_url or self._said.base_url)
            text = "Base URL (ends with /v1)"
            key = f"providers.{name}.base_url"
            fields.append(SetupField("base_url", text, key, required=needed, default=base_url, check=_address))
        if variable:
            needed = not (local or self._said.api_key)
            fields.append(SetupField("key", f"Key of {name}", variable, secret=True, required=needed))
        self.fields = tuple(fields)

    async def test(self, values: Mapping[str, str]) -> str:
        """Ask for its models. Raises ProviderError, or UserError for a bad address."""
        url, key = values.get("base_url") or self._said.base_url, values.get("key") or self._said.api_key
        found = await self._models(evolve(self._said, base_url=url, api_key=key))
        return f"{self.name} has {len(found)} model{'' if len(found) == 1 else 's'}."


def steps(
    services: Iterable[Listed],
    models: Callable[[str, Endpoint], Awaitable[Sequence[Model]]],
    endpoints: Mapping[str, Endpoint],
) -> list[ServiceStep]:
    """Make a step for each service of a catalogue; ``models`` asks the one of a name, and raises HermesError."""
    return [
        ServiceStep(
            one.name,
            variable=one.env[0] if one.env else "",
            models=partial(models, one.name),
            local=one.local or not one.base_url,
            base_url=one.base_url,
            said=endpoints.get(one.name),
        )
        for one in services
    ]


def _address(text: str) -> str:
    return "" if text.startswith(("http://", "https://")) else "An address begins with http:// or https://."
