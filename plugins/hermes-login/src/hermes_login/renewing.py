"""One login in use: a token that counts now, renewed before it ends, by one process at a time."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from attrs import Factory, evolve, field

from hermes_atomic.whole import Busy, held
from hermes_core.errors import AuthError, ProviderError, Unavailable, UserError
from hermes_core.types import JSON
from hermes_core.values import frozen
from hermes_login.asking import Answer, ask, error_of
from hermes_login.foreign import PROGRAMS, path_of, read_bytes, read_foreign
from hermes_login.kept import Kept, Logins
from hermes_login.service import LoginService
from hermes_login.tokens import Tokens, is_token, place_of, read_tokens

__all__ = ["Bearer", "Login"]

_PATIENCE = 90.0  # seconds that others may take to renew it
_ENDED = frozenset(  # RFC 6749, 5.2, and the words of OpenAI's server for it
    ("invalid_grant", "refresh_token_expired", "refresh_token_reused", "refresh_token_invalidated", "status 401")
)


@frozen(kw_only=True)
class Bearer:
    """What a request carries. ``base_url`` is where it counts, empty where the service named no place."""

    token: str = field(repr=False)
    headers: Mapping[str, str] = Factory(dict)
    base_url: str = ""


class Login:
    """One account of one service.

    Args:
        service: Whose login it is.
        logins: Where it is kept.
        account: The name of the account.
        again: The command that logs in, for hints.
    """

    def __init__(self, service: LoginService, logins: Logins, account: str, *, again: str) -> None:
        self._service, self._logins, self.account, self._again = service, logins, account, again
        self.hint = f"Log in once more: {again}"

    async def bearer(self, refused: str = "") -> Bearer:
        """Return what requests carry now.

        Args:
            refused: A token that the service took no more; another one is had, once.

        Raises:
            AuthError: Nobody is logged in, or the login has ended.
            Unavailable: It cannot be renewed now.
        """
        kept = self._read()
        if found := self._good(kept, refused, self._service.early):
            return found
        task = asyncio.ensure_future(self._renewed(refused))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait({task}, timeout=5)  # what was renewed is good once: it must be kept, whoever waits
            if task.done() and not task.cancelled():
                task.exception()  # nobody is left to be told
            raise

    async def keep(self, kept: Kept) -> None:
        """Keep a login that a person made, in the place of an older one. Raises Unavailable, UserError."""
        try:
            self._logins.make_room(self._service.name)
        except OSError as error:
            raise UserError(f"Logins cannot be kept in {self._logins.folder}: {error.strerror}.") from error
        async with self._alone():
            self._logins.write(self._service.name, self.account, kept)

    async def forget(self) -> bool:
        """Forget the login here; whether there was one. What the service knows of it stays. Raises as ``keep``."""
        if not self._logins.path(self._service.name, self.account).exists():
            return False
        async with self._alone():
            return self._logins.forget(self._service.name, self.account)

    def _read(self) -> Kept:
        try:
            kept = self._logins.read(self._service.name, self.account)
        except UserError as error:
            raise AuthError(error.text, hint=self._again) from error
        if kept is None:
            raise AuthError(f"Nobody is logged in to {self._service.title}.", hint=f"Log in: {self._again}")
        if kept.borrowed and not self._service.mints:  # of which nothing is sent to token_url
            return self._borrowed(kept)
        if not kept.borrowed and (kept.ended or kept.tokens is None):
            raise self._over()
        if kept.token_url != self._service.token_url:
            raise AuthError(
                f"The login {self.account} was made at {kept.token_url}, and {self._service.title} is now set up "
                "to be elsewhere.",
                hint=f"Log in: {self._again}",
            )
        return self._borrowed(kept) if kept.borrowed else kept

    def _borrowed(self, kept: Kept) -> Kept:
        """Return what is kept with what the other program has now. Raises AuthError, Unavailable."""
        try:
            tokens = read_foreign(kept.borrowed, kept.path)
        except UserError as error:
            raise AuthError(error.text, hint=error.hint) from error
        return evolve(kept, tokens=evolve(tokens, place=place_of(tokens.place, self._service)))

    def _over(self) -> AuthError:
        text = f"The login {self.account} to {self._service.title} has ended."
        return AuthError(text, hint=self.hint)

    def _good(self, kept: Kept, refused: str, early: float) -> Bearer | None:
        """Return what is kept, if it counts for so many seconds more and was not refused."""
        tokens = kept.short if self._service.lends else kept.tokens
        if tokens is None or tokens.access == refused or (tokens.ends and tokens.ends - early <= time.time()):
            return None
        return self._bearer(kept, tokens)

    def _bearer(self, kept: Kept, tokens: Tokens) -> Bearer:
        headers = {**self._service.headers, **(kept.tokens.headers if kept.tokens else {})}
        return Bearer(token=tokens.access, headers=headers, base_url=kept.base_url or tokens.place)

    async def _renewed(self, refused: str) -> Bearer:
        async with self._alone():
            kept = self._read()  # another process may have done it meanwhile
            if found := self._good(kept, refused, self._service.early):
                return found
            try:
                renew = self._minted if self._service.mints else self._exchanged
                kept = await (renew(kept) if self._service.lends else self._refreshed(kept))
            except Unavailable:
                if found := self._good(kept, refused, 0):  # it was early, and counts still
                    return found
                raise
            tokens = kept.short if self._service.lends else kept.tokens
            if tokens is None:
                raise self._over()
            return self._bearer(kept, tokens)  # whatever the clock of this machine says of its end

    async def _refreshed(self, kept: Kept) -> Kept:
        """Have the tokens renewed, and keep the new ones. Raises ProviderError."""
        if kept.borrowed:
            program = PROGRAMS[kept.borrowed]
            text = f"The login that {self._service.title} gave to {program.title} has ended."
            here = "" if self._service.flow == "borrow" else f", or log in here: {self._again}"
            raise AuthError(text, hint=f"Use {program.title} once{here}.")
        tokens = kept.tokens
        if tokens is None or not tokens.refresh:
            raise self._ended(kept)
        service = self._service
        form, headers = {"grant_type": "refresh_token", **service.client()}, {}
        if service.refresh_header:
            headers[service.refresh_header] = tokens.refresh
        else:
            form["refresh_token"] = tokens.refresh
        answer = await ask(service.title, service.token_url, form, headers)
        word, said = error_of(answer)
        if word in _ENDED:
            raise self._ended(kept)
        if word:
            raise self._not_now(answer, said)
        renewed = evolve(kept, tokens=read_tokens(answer[1], service, before=tokens), short=None)
        self._write(renewed)
        return renewed

    async def _exchanged(self, kept: Kept) -> Kept:
        """Have a token for minutes made of the login, and keep it. Raises ProviderError."""
        service, tokens = self._service, kept.tokens
        if tokens is None:
            raise self._over()
        if tokens.ends and tokens.ends - service.early <= time.time():
            kept = await self._refreshed(kept)
            tokens = kept.tokens or tokens
        headers = {**service.headers, "authorization": f"token {tokens.access}"}
        answer = await ask(service.title, service.exchange_url, headers=headers)
        word, said = error_of(answer)
        if answer[0] == 401:
            raise self._ended(kept)
        if answer[0] in (403, 404):
            raise AuthError(
                f"{service.title} has nothing for this account: {said}",
                hint="See with the service whether the account has a plan for it.",
            )
        if word:
            raise self._not_now(answer, said)
        token, ends = answer[1].get("token"), answer[1].get("expires_at")
        if not isinstance(token, str) or not is_token(token):
            raise Unavailable(f"{service.title} sent no token that can be used.", transient=False)
        said_end = float(ends) if isinstance(ends, int | float) and 0 < ends < 1e11 else 0.0
        short = Tokens(access=token, ends=said_end or time.time() + 600)
        made = evolve(kept, short=short, base_url=self._place(answer[1]))
        # what is borrowed is not written down: it stays in the other program's file
        self._write(evolve(made, tokens=None) if kept.borrowed else made)
        return made

    async def _minted(self, kept: Kept) -> Kept:
        """Have a token for an hour made of the credentials in a file, and keep it. Raises ProviderError."""
        from hermes_login.google import Credentials

        service = self._service
        try:
            path = Path(kept.path) if kept.path else path_of(kept.borrowed)
            form = Credentials.read(read_bytes(path)).form(service.token_url)
        except UserError as error:
            raise AuthError(error.text, hint=error.hint) from error
        answer = await ask(service.title, service.token_url, form)
        word, said = error_of(answer)
        if word in _ENDED:
            raise AuthError(f"{service.title} takes the credentials in {path} no more: {said}", hint=self.hint)
        if word:
            raise self._not_now(answer, said)
        made = evolve(kept, short=read_tokens(answer[1], service))
        self._write(evolve(made, tokens=None))
        return made

    def _place(self, reply: Mapping[str, JSON]) -> str:
        named = reply.get("endpoints")
        url = named.get("api") if isinstance(named, dict) else None
        if not isinstance(url, str) or not url:
            return ""
        if not self._service.may_have_tokens(url):
            raise Unavailable(f"{self._service.title} names a place that is not its own.", transient=False)
        return url.rstrip("/")

    def _ended(self, kept: Kept) -> AuthError:
        if not kept.borrowed:
            self._write(evolve(kept, ended=True))
        return self._over()

    def _not_now(self, answer: Answer, said: str) -> ProviderError:
        text = f"{self._service.title} does not renew the login now: {said}"
        return Unavailable(text, transient=answer[0] in (408, 425, 429) or answer[0] >= 500)

    def _write(self, kept: Kept) -> None:
        try:
            if self._logins.read(self._service.name, self.account) is None:
                return  # logged out meanwhile
            self._logins.write(self._service.name, self.account, kept)
        except UserError as error:
            raise Unavailable(error.text, hint=error.hint, transient=False) from error

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        """Keep others out, also of this process. Raises Unavailable where one of them does not come to an end."""
        path = self._logins.path(self._service.name, self.account)
        lock, until = path.with_name(f".{path.stem}.lock"), time.monotonic() + _PATIENCE
        while True:
            holding = held(lock, seconds=-1)
            try:
                holding.__enter__()
            except Busy:
                if time.monotonic() > until:
                    text = f"Another process renews the login to {self._service.title} and does not come to an end."
                    raise Unavailable(text) from None
                await asyncio.sleep(0.05)
                continue
            except OSError as error:
                text = f"The login to {self._service.title} cannot be locked at {lock}: {error.strerror}."
                raise Unavailable(text, transient=False) from error
            break
        try:
            yield
        finally:
            holding.__exit__(None, None, None)
