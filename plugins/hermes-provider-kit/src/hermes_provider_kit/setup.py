"""How a service that talks HTTP is set up: a key, an address where it has no own one, and a list of models as test."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial

from attrs import evolve

from hermes_core.errors import ProviderError, UserError
from hermes_core.kinds import LoginPrompt, SetupField, SetupStep
from hermes_core.types import Endpoint, Model
from hermes_provider_kit.listed import Listed

__all__ = ["Exchange", "ServiceStep", "steps"]

Exchange = Callable[[Endpoint, Mapping[str, str]], Awaitable[str]]  # a code and its verifier for a key


class ServiceStep(SetupStep):
    """The setup step of one service, under the name of its provider.

    ``variable`` is the secret that holds its key, empty where it takes none; ``local`` services are asked for an
    address, and a key only if they want one. ``said`` is what the person wrote of it already. ``models`` asks the
    service at an endpoint which models it has; it raises HermesError. Where ``page`` is one on which a person agrees
    that Hermes gets a key, ``exchange`` gives the key for what came of it.
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
        page: str = "",
        exchange: Exchange | None = None,
    ) -> None:
        self.name, self._models, self._said = name, models, said or Endpoint(name=name)
        self._page, self._exchange = page, exchange
        self.login_label = "with a browser, instead of pasting a key" if page and exchange else ""
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

    async def login(self, show: Callable[[LoginPrompt], Awaitable[str]]) -> Mapping[str, str]:
        """Have the service make a key of the person's account. Raises UserError."""
        from hermes_provider_kit.login import code_by_browser

        if not self._exchange:
            return {}
        code, verifier = await code_by_browser(self._page, self.name, show)
        proof = {"code": code, "code_verifier": verifier, "code_challenge_method": "S256"}
        try:
            return {"key": await self._exchange(self._said, proof)}
        except ProviderError as error:
            raise UserError(f"{self.name} gave no key: {error.text}", hint="Log in once more.") from error

    async def test(self, values: Mapping[str, str]) -> str:
        """Ask for its models. Raises ProviderError, or UserError for a bad address."""
        url, key = values.get("base_url") or self._said.base_url, values.get("key") or self._said.api_key
        found = await self._models(evolve(self._said, base_url=url, api_key=key))
        return f"{self.name} has {len(found)} model{'' if len(found) == 1 else 's'}."


def steps(
    services: Iterable[Listed],
    models: Callable[[str, Endpoint], Awaitable[Sequence[Model]]],
    endpoints: Mapping[str, Endpoint],
    pages: Mapping[str, str] = {},
    exchange: Callable[[str, Endpoint, Mapping[str, str]], Awaitable[str]] | None = None,
) -> list[ServiceStep]:
    """Make a step for each service of a catalogue; ``models`` asks the one of a name, and raises HermesError.

    ``pages`` are those for a login, by service; ``exchange`` gets the key for it.
    """
    return [
        ServiceStep(
            one.name,
            variable=one.env[0] if one.env else "",
            models=partial(models, one.name),
            local=one.local or not one.base_url,
            base_url=one.base_url,
            said=endpoints.get(one.name),
            page=pages.get(one.name, ""),
            exchange=partial(exchange, one.name) if exchange else None,
        )
        for one in services
    ]


def _address(text: str) -> str:
    return "" if text.startswith(("http://", "https://")) else "An address begins with http:// or https://."
