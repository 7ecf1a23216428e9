"""Who has model calls answered: a provider over providers."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from attrs import field

from hermes_core.errors import ProviderError, UserError
from hermes_core.kinds.provider import Provider
from hermes_core.types import Endpoint, EndpointKey, Request, Response
from hermes_core.values import frozen

if TYPE_CHECKING:
    from hermes_core.types import KeyRow

__all__ = ["Attempt", "ModelCall", "ModelRoute", "RetryLimits", "Router"]


@frozen(kw_only=True, eq=False)
class ModelRoute:
    """Who answers. ``notice`` is one line for the person, when there is something to say.

    ``endpoint`` is what the user said of it; ``effort`` how hard it thinks, when that is its own.
    """

    name: str
    provider: Provider
    model: str
    notice: str = ""
    endpoint: Endpoint | None = field(default=None, repr=False)
    effort: str = ""

    @property
    def label(self) -> str:
        """The model and where it answers, for people; also what tells two routes apart."""
        url = self.endpoint.base_url if self.endpoint else ""
        return f"{self.model} from {self.name}" + (f" at {url}" if url else "")


class Attempt(NamedTuple):
    """One request, which names the model, to one provider. ``note`` is for the person, if its answer is the one."""

    route: ModelRoute
    request: Request
    note: str = ""


class RetryLimits(NamedTuple):
    """How often one request is tried with one model, and how long is waited, in seconds, as the person set it up."""

    tries: int
    first_pause: float
    longest_pause: float
    longest_wait: float  # that a provider may ask for


class ModelCall:
    """One call that a router has answered: ``route`` is the first choice, ``request`` what it is asked.

    ``task`` is empty in a conversation. ``alone``: nobody else may answer. ``private``: no service elsewhere is told of
    people. ``shown``: a person saw text of the last attempt, which is no part of the answer if there is another.
    """

    route: ModelRoute
    request: Request
    task: str = ""
    alone: bool = True
    private: bool = False
    shown: bool = False

    @property
    def limits(self) -> RetryLimits:
        """What the settings say of trying again."""
        raise NotImplementedError

    def fallbacks(self) -> AsyncIterator[ModelRoute]:
        """Yield who else may answer, as the person named them; each is opened when it is its turn."""
        raise NotImplementedError

    def renewed(self, route: ModelRoute) -> ModelRoute | None:
        """Return a route with the keys that are set now; None when none changed since they were read."""
        raise NotImplementedError

    def tell(self, text: str) -> None:
        """Say one line to the person who waits."""
        raise NotImplementedError


class Router:
    """Has model calls answered. This one asks the first choice, once.

    A plugin's needs the permission ``models.route``. A home has one: of several, the first in ``plugins.order``.
    """

    name: str = ""

    async def attempts(self, call: ModelCall) -> AsyncGenerator[Attempt, Response | ProviderError]:
        """Yield what to try, one after another: each ``yield`` gives what came of the attempt.

        The call ends with the first Response; with a ProviderError that is raised here; and with the last one when
        nothing more is tried. Pauses are made here: as long as the settings allow, and a minute for everything else;
        after the Response there are 1.5 seconds. Who tries nothing at all has failed. After ContextTooLong the request
        is built again for its ``window``, if that is set and something makes the request smaller.
        """
        if call.private:
            hint = "hermes plugins install hermes-provider-router, or set privacy.redact_pii to false"
            raise UserError("Nothing here takes people out of what a model is sent.", hint=hint)
        yield Attempt(route=call.route, request=call.request)

    def window(self, route: ModelRoute) -> int:
        """Say how many tokens fit into a route's model, 0 when nobody said. Asks nobody."""
        return (route.endpoint.context if route.endpoint else 0) or route.provider.window(route.model)

    async def keys(self, given: Mapping[str, Sequence[EndpointKey]], *, reset: str = "") -> "Sequence[KeyRow]":
        """Say how the keys of providers with several do. ``reset`` as in ``ctx.models.keys``. Raises HermesError."""
        if given:
            hint = "hermes plugins install hermes-provider-router"
            raise UserError("Of several keys only the first is used.", hint=hint)
        return ()

    async def close(self) -> None:
        """Let go of what was opened here, within 1.5 seconds."""
