"""A request of another program, sent on with a login: which account, renewed where refused, rested where limited."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from attrs import evolve, field

from hermes_core.errors import AuthError, RateLimited, UserError
from hermes_core.values import frozen
from hermes_login.kept import Logins
from hermes_login.renewing import Bearer, Login
from hermes_login.service import SERVICES, LoginService, load_service
from hermes_provider_kit.limits import Limits, mark_of

if TYPE_CHECKING:
    import httpx2

    from hermes_core.context import PluginContext
    from hermes_provider_kit.failures import Service
    from hermes_provider_kit.transport import Connection

__all__ = ["Answer", "Asked", "Upstream"]

_SECONDS = 300.0  # of silence; models think for minutes and say nothing meanwhile
_LIMITED, _REFUSED = 429, 401


@frozen(kw_only=True)
class Asked:
    """What a program asked: ``path`` is below the service's address, ``query`` begins with its question mark."""

    method: str
    path: str
    query: str = ""
    accept: str = "application/json"
    body: bytes = field(default=b"", repr=False)


@frozen(kw_only=True)
class Answer:
    """What the service says. ``token`` is what it was asked with, and must not be in what a program gets."""

    status: int
    headers: Mapping[str, str]
    pieces: AsyncIterator[bytes]
    token: str = field(repr=False)


class Upstream:
    """The service behind the proxy, with the accounts that people are logged in with.

    Args:
        ctx: The plugin's.
        service: Which one; empty for the first that somebody is logged in to.
        account: The account that answers first.
    """

    def __init__(self, ctx: "PluginContext", service: str = "", account: str = "") -> None:
        self._ctx, self._wanted, self._account = ctx, service, account
        self._logins = Logins.of_home(ctx.paths.data.parent)
        self._limits = Limits(ctx.paths.cache.parent / "limits")
        self._connections: dict[str, Connection] = {}

    def begin(self) -> str:
        """Return the name of the service. Raises UserError where nobody is logged in to it as was said."""
        name = self.service()
        accounts = self._logins.accounts(name)
        if self._account and self._account not in accounts:
            raise UserError(f"There is no login {self._account} of {name}.", hint=f"There is {', '.join(accounts)}.")
        return name

    def service(self) -> str:
        """Return the name of the service, whose last part may be left out. Raises UserError as ``begin``."""
        known = sorted(path.stem for path in SERVICES.glob("*.toml"))
        meant = [name for name in known if self._wanted in ("", name, name.rpartition("-")[0])]
        if not meant:
            raise UserError(f"There is no service {self._wanted!r} to log in to.", hint=f"There is {', '.join(known)}.")
        for name in meant:
            if self._logins.accounts(name):
                return name
        raise UserError(
            f"Nobody is logged in to {self._wanted or 'any service'}.",
            hint=f"Log in: {self._ctx.program} auth login {self._wanted or 'SERVICE'}",
        )

    @asynccontextmanager
    async def answered(self, asked: Asked) -> AsyncGenerator[Answer, None]:
        """Send a request on, and give the answer as it comes. Raises UserError, ProviderError, also in its pieces."""
        from hermes_provider_kit.failures import Service
        from hermes_provider_kit.failures.waiting import wait_in

        name = self.service()
        accounts = self._free(name)
        for account in accounts:
            last, token = account is accounts[-1], ""
            for renewed in (False, True):
                service, login = self._login(name, account)
                try:
                    bearer = await login.bearer(token)
                except AuthError:
                    if last:
                        raise
                    break
                token, mark = bearer.token, mark_of(name, account)
                response = await self._sent(service, bearer, asked)
                try:
                    status, headers = response.status_code, dict(response.headers)
                    if status == _LIMITED:
                        self._limits.rest(mark, wait_in(headers))
                    if status == _REFUSED and renewed and last:
                        raise AuthError(f"{service.title} refuses the login {account}.", hint=login.hint)
                    if status == _REFUSED and not renewed:
                        continue
                    if status in (_LIMITED, _REFUSED) and not last:
                        break
                    self._limits.hear(mark, headers)
                    pieces = _pieces(response, Service(title=service.title, url=_base(service, bearer)))
                    yield Answer(status=status, headers=headers, pieces=pieces, token=token)
                    return
                finally:
                    await response.aclose()

    async def close(self) -> None:
        """Let go of connections."""
        for connection in self._connections.values():
            await connection.close()

    def _free(self, name: str) -> Sequence[str]:
        """Return the accounts that no process of this home was told to leave alone. Raises RateLimited."""
        accounts = sorted(self._logins.accounts(name), key=lambda one: one != self._account)
        rests = {account: self._limits.left(mark_of(name, account)) for account in accounts}
        free = [account for account, left in rests.items() if not left]
        if not free:
            left = min(rests.values())
            raise RateLimited(f"{name} has said to wait {left:.0f} s more.", retry_after=left)
        return free

    def _login(self, name: str, account: str) -> tuple[LoginService, Login]:
        """Open an account, of the service as it was when somebody logged in. Raises UserError."""
        kept = self._logins.read(name, account)
        again = f"{self._ctx.program} auth login {name}"
        try:
            service = load_service(name, kept.over if kept else {})
            if service.secret:
                service = evolve(service, client_secret=self._ctx.secrets.get(service.secret))
        except ValueError as error:
            raise UserError(
                f"The login {account} of {name} cannot be used: {error}", hint=f"Once more: {again}"
            ) from None
        return service, Login(service, self._logins, account, again=again)

    async def _sent(self, service: LoginService, bearer: Bearer, asked: Asked) -> "httpx2.Response":
        """Send it to the service, and to nobody else; no redirect is followed. Raises ProviderError, UserError."""
        import httpx2

        from hermes_provider_kit.failures import Service
        from hermes_provider_kit.transport import Connection, network_failure, request_headers

        base = _base(service, bearer)
        if not base or not service.may_have_tokens(base):
            hint = f"{self._ctx.program} auth login {service.name}"
            raise UserError(f"It is not known where {service.title} answers.", hint=f"Say where, then: {hint}")
        url = f"{base.rstrip('/')}{asked.path}{asked.query}"
        connection = self._connections.setdefault(base, Connection(base, _SECONDS))
        where = Service(title=service.title, url=base, key=bearer.token)
        carried = {"authorization": f"Bearer {bearer.token}", "accept": asked.accept, "accept-encoding": "identity"}
        headers = request_headers(where, bearer.headers, carried)
        try:
            client = connection.client()
            made = client.build_request(asked.method, url, content=asked.body or None, headers=headers)
            return await client.send(made, stream=True)
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError) as error:
            raise network_failure(where, error, _SECONDS) from error


def _base(service: LoginService, bearer: Bearer) -> str:
    return bearer.base_url or service.base_url


async def _pieces(response: "httpx2.Response", where: "Service") -> AsyncIterator[bytes]:
    """Yield an answer as it comes. Raises ProviderError where it breaks off."""
    import httpx2

    from hermes_provider_kit.transport import network_failure

    try:
        async for piece in response.aiter_bytes():
            yield piece
    except (httpx2.HTTPError, httpx2.StreamError, OSError) as error:
        raise network_failure(where, error, _SECONDS) from error
