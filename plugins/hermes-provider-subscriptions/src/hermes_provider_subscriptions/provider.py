"""A service that people log in to, as a Provider on OpenAI's protocols."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import ExitStack, aclosing
from functools import partial
from typing import TYPE_CHECKING

from attrs import evolve

from hermes_core.errors import AuthError, RateLimited, UserError
from hermes_core.kinds import Provider
from hermes_core.types import Blob, Delta, Endpoint, Model, Request, ToolResult
from hermes_provider_kit.limits import Limits, mark_of
from hermes_provider_subscriptions.accounts import (
    ALIASES,
    SERVICES,
    accounts_of,
    check_chosen,
    entry_of,
    login_of,
    service_of,
)
from hermes_provider_subscriptions.places import keep_to_its_hosts, place_of

if TYPE_CHECKING:
    from hermes_core.context import PluginContext
    from hermes_login.renewing import Bearer, Login
    from hermes_login.service import LoginService
    from hermes_openai_wire.entry import Entry
    from hermes_openai_wire.line import Line

__all__ = ["Subscription", "all_providers"]

_FIRST = 30  # the priority of the first of them; the others come after it
_ALIAS_RANK = 99


class Subscription(Provider):
    """One service. Its rows are read, and its client made, when it is first asked for something.

    A request that is refused is made once more with a renewed token, then with the next account; once something of a
    reply has come, it is not.
    """

    def __init__(
        self, ctx: "PluginContext", service: str, *, name: str = "", endpoint: Endpoint | None = None, account: str = ""
    ) -> None:
        self.name = name or service
        self.priority = _ALIAS_RANK if self.name in ALIASES else _FIRST + SERVICES.index(service)
        self._ctx, self._service, self._endpoint, self._account = ctx, service, endpoint, account
        self._rows: tuple[LoginService, Entry] | None = None
        self._lines: dict[str, Line] = {}
        self._limits = Limits(ctx.paths.cache.parent / "limits")

    def at(self, endpoint: Endpoint) -> "Subscription":
        """The same service with the user's headers and the like. Raises UserError for a key or a strange address."""
        bound = Subscription(self._ctx, self._service, name=endpoint.name or self.name, endpoint=endpoint)
        if endpoint.api_key or endpoint.protocol:
            raise UserError(
                f"Provider {bound.name} takes no key and no protocol: it is logged in to.",
                hint=f"Take api_key and protocol out of providers.{bound.name}.",
            )
        service, _ = bound._known()
        if endpoint.base_url:
            keep_to_its_hosts(service, endpoint.base_url)
        return bound

    def window(self, model: str) -> int:
        """What the user says of the model."""
        return self._endpoint.context if self._endpoint else 0

    async def ready(self) -> bool:
        """Whether somebody is logged in."""
        return self.name not in ALIASES and bool(accounts_of(self._ctx, self._service))

    async def models(self) -> Sequence[Model]:
        """What the service lists, the default model first. Raises ProviderError."""
        from hermes_provider_subscriptions.offered import list_models

        login = self._logins()[0]
        bearer = await login.bearer()
        try:
            return await list_models(self._line(bearer))
        except AuthError:
            return await list_models(self._line(await login.bearer(bearer.token)))

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Answer a request. Raises ProviderError, or UserError for a strange address."""
        with ExitStack() as leases:
            logins = self._ordered(leases)
            for login in logins:
                last, token = login is logins[-1], ""
                for renewed in (False, True):
                    said = False
                    try:
                        bearer = await login.bearer(token)
                        token = bearer.token
                        async with aclosing(self._deltas(bearer, request, login)) as deltas:
                            async for delta in deltas:
                                said = True
                                yield delta
                        return
                    except AuthError as error:
                        if said or (last and (renewed or not token)):
                            error.hint = login.hint if token else error.hint
                            raise
                        if not token:
                            break  # nobody is logged in with it, or it has ended
                    except RateLimited as error:
                        self._limits.rest(self._mark(login), error.retry_after)
                        if said or last:
                            error.retry_after = self._soonest(error.retry_after)
                            raise
                        break

    async def body(self, request: Request) -> bytes:
        """The body that ``stream`` would send. Raises as it does."""
        from hermes_login.renewing import Bearer

        line, model = self._line(Bearer(token="")), request.model or self._model()
        if line.protocol == "responses":
            from hermes_openai_wire.responses_input import responses_body

            return responses_body(line, request, model)
        from hermes_openai_wire.chat import made_body

        return await made_body(line, request, model, with_usage=not line.state.usage_refused)

    def free(self) -> None:
        """Forget what services said of limits: a person wants it asked."""
        for login in self._logins():
            self._limits.free(self._mark(login))

    async def close(self) -> None:
        """Let go of connections. The provider may be used again."""
        for line in self._lines.values():
            await line.close()

    async def _deltas(self, bearer: "Bearer", request: Request, login: "Login") -> AsyncGenerator[Delta, None]:
        line = self._line(bearer, pictures=_holds_pictures(request))
        line = evolve(line, heard=partial(self._limits.hear, self._mark(login)))
        model = request.model or self._model()
        if line.protocol == "responses":
            from hermes_openai_wire.responses import stream_responses as stream
        else:
            from hermes_openai_wire.chat import stream_chat as stream
        deltas = stream(line, request, model)
        try:
            async for delta in deltas:
                yield delta
        finally:
            await deltas.aclose()

    def _known(self) -> "tuple[LoginService, Entry]":
        if self._rows is None:
            self._rows = service_of(self._ctx, self._service), entry_of(self._ctx, self._service)
        return self._rows

    def _model(self) -> str:
        entry = self._known()[1]
        if not (entry.default_model or entry.models):
            hint = f"Name one: {self._ctx.program} config set model.default NAME"
            raise UserError(
                f"{entry.title} has a model under the name that you gave it there, and no usual one.", hint=hint
            )
        return entry.default_model or entry.models[0]

    def _logins(self) -> "Sequence[Login]":
        """The accounts that may answer; one that nobody logged in with says so."""
        service, _ = self._known()
        if not self._account:
            check_chosen(self._ctx, self._service)
        names = [self._account] if self._account else accounts_of(self._ctx, self._service)
        return [login_of(self._ctx, service, name) for name in names or ["default"]]

    def _ordered(self, leases: ExitStack) -> "Sequence[Login]":
        """The accounts that may answer now: those that nobody was told to leave alone. Raises RateLimited.

        Spread over them, the first is one that no other request of this home uses, as long as there is such a one.
        """
        logins = self._logins()
        free = [login for login in logins if not self._limits.left(self._mark(login))]
        if not free:
            left = min(self._limits.left(self._mark(login)) for login in logins)
            title, many = self._known()[0].title, f"all {len(logins)} accounts" if len(logins) > 1 else "this account"
            text = f"{title} has said to wait {left:.0f} s more, for {many}."
            raise RateLimited(
                text, retry_after=left, hint=f"{self._ctx.program} auth test {self._service} asks at once."
            )
        if not (len(free) > 1 and self._ctx.config and self._ctx.config.spread):
            return free
        for login in free:
            if leases.enter_context(self._limits.lease(self._mark(login))):
                return sorted(free, key=lambda one: one is not login)
        return free

    def _soonest(self, said: float | None) -> float | None:
        """When the first of all accounts may be asked again, in seconds."""
        every = [self._limits.left(self._mark(login)) for login in self._logins()]
        return min(filter(None, every), default=said) if all(every) else said

    def _mark(self, login: "Login") -> str:
        return mark_of(self._service, login.account)

    def _line(self, bearer: "Bearer", *, pictures: bool = False) -> "Line":
        from hermes_openai_wire.line import open_line

        service, entry = self._known()
        said = self._endpoint or Endpoint(name=self.name)
        url = said.base_url or bearer.base_url or place_of(self._ctx, service, entry)
        if url not in self._lines:
            keep_to_its_hosts(service, url)
            self._lines[url] = open_line(entry, self.name, self._ctx.secrets, evolve(said, base_url=url))
        line = self._lines[url]
        looks = {"copilot-vision-request": "true"} if pictures and self._service == "copilot" else {}
        headers = {**bearer.headers, **looks, **said.headers}
        return evolve(line, service=evolve(line.service, key=bearer.token), headers=headers)


def all_providers(ctx: "PluginContext") -> list[Provider]:
    """Every service, once under its own name and once under each alias."""
    pairs = [*((name, name) for name in SERVICES), *ALIASES.items()]
    return [Subscription(ctx, service, name=name, endpoint=ctx.endpoints.get(name)) for name, service in pairs]


def _holds_pictures(request: Request) -> bool:
    parts = [part for message in request.messages for part in message.parts]
    parts += [part for result in parts if isinstance(result, ToolResult) for part in result.parts]
    return any(isinstance(part, Blob) for part in parts)
