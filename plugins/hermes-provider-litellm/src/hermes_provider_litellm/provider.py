"""The library as a Provider."""

from collections.abc import AsyncIterator, Mapping, Sequence

from hermes_core.errors import Refused
from hermes_core.kinds import Provider
from hermes_core.types import JSON, Delta, Endpoint, Feature, Model, Price, Request
from hermes_provider_kit.failures import Service
from hermes_provider_kit.transport import check_address
from hermes_provider_litellm.library import known, library, loaded

__all__ = ["LiteLLM"]

_PRICES = (
    ("input", "input_cost_per_token"),
    ("output", "output_cost_per_token"),
    ("cache_read", "cache_read_input_token_cost"),
    ("cache_write", "cache_creation_input_token_cost"),
)
_FEATURES = {
    Feature.TOOLS: "supports_function_calling",
    Feature.IMAGES: "supports_vision",
    Feature.REASONING: "supports_reasoning",
}


class LiteLLM(Provider):
    """Answers with any model that the library can name, as ``bedrock/…`` or ``vertex_ai/…``."""

    priority = 80  # only when somebody names it: it never is ready by itself

    def __init__(self, endpoint: Endpoint | None = None) -> None:
        self._said = endpoint or Endpoint(name="litellm")
        self.name = self._said.name

    def at(self, endpoint: Endpoint) -> "LiteLLM":
        """Give the same at the user's address, or with the user's key. Raises UserError for what is no address."""
        if endpoint.base_url:
            check_address(endpoint.name, endpoint.base_url, endings=(), example="https://gateway.example.org")
        return LiteLLM(endpoint)

    def window(self, model: str) -> int:
        """Say what the user, or the library's list, says of the model."""
        listed = known(model).get("max_input_tokens")
        return self._said.context or (listed if isinstance(listed, int) else 0)

    def price(self, model: str) -> Price | None:
        """Say what the library's list says, once the library was used; unknown at an address of the user's."""
        row = known(model) if not self._said.base_url else {}
        figures = {name: row.get(field) for name, field in _PRICES}
        if not isinstance(figures["input"], float) or not isinstance(figures["output"], float):
            return None
        return Price(**{name: value * 1e6 for name, value in figures.items() if isinstance(value, float)})

    async def models(self) -> Sequence[Model]:
        """List the models of those services whose keys stand in the environment. Raises Refused when there is none."""
        module = await library()
        names = module.get_valid_models(check_provider_endpoint=False, api_key=self._said.api_key or None)
        rows = {name: known(name) for name in names}
        found = [_model(name, row) for name, row in rows.items() if row.get("mode") in (None, "chat")]
        if not found:
            hint = "Set the key of a service in the environment, and name a model: litellm:SERVICE/MODEL."
            raise Refused("LiteLLM finds no key of a service that it knows.", hint=hint)
        return found

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Answer a request. Raises ProviderError."""
        from hermes_provider_litellm.call import stream_chunks

        model = request.model or (await self.models())[0].name
        if self._said.base_url and "/" not in model:
            model = f"openai/{model}"  # what most servers of one's own speak
        deltas = stream_chunks(self._said, self._service(model), request, model)
        try:
            async for delta in deltas:
                yield delta
        finally:
            await deltas.aclose()

    async def close(self) -> None:
        """Let go of the library's connections."""
        if (module := loaded()) is not None:
            await module.close_litellm_async_clients()

    def _service(self, model: str) -> Service:
        return Service(
            title=f"{model.partition('/')[0]} (LiteLLM)" if "/" in model else "LiteLLM",
            url=self._said.base_url,
            key=self._said.api_key,
            model=model,
            address_hint=f"Check the network and providers.{self.name}.base_url: {self._said.base_url or 'not set'}.",
        )


def _model(name: str, row: Mapping[str, JSON]) -> Model:
    window = row.get("max_input_tokens")
    features = {feature for feature, field in _FEATURES.items() if row.get(field, not row)}
    return Model(name=name, context=window if isinstance(window, int) else 0, features=frozenset(features))
