"""Logging in, and keeping what must not be asked for twice: the device and its token."""

import json
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from attrs import asdict, evolve

from hermes_core.errors import UserError
from hermes_core.values import frozen
from hermes_platform_matrix.config import Config
from hermes_platform_matrix.homeserver import Homeserver, Refused, path

__all__ = ["Credentials", "Login", "homeserver_url", "user_error"]


@frozen(kw_only=True)
class Credentials:
    """Who we are there. ``key`` seals the encryption keys on the store. Never printed."""

    homeserver: str
    user: str
    device: str
    token: str = ""
    key: str = ""

    def __repr__(self) -> str:
        return f"Credentials({self.user}, {self.device})"


class Login:
    """Logs in by the token that is set, the one that was kept, or the password."""

    def __init__(self, config: Config, resolve: Callable[[str], str], folder: Path) -> None:
        self._config, self.resolve, self._file = config, resolve, folder / "credentials.json"

    async def enter(self, server: Homeserver) -> Credentials:
        """Log in; ``server`` has its token then. Raises UserError for what only a person can mend; Refused, Cut."""
        token = self.resolve(self._config.access_token)
        kept = self.kept()
        if kept and kept.homeserver != server.url:
            kept = None
        if token:
            who = await self._who(server, token)
            if who is None:
                raise user_error("the access token is not valid (any more)", "access_token")
            return self._keep(kept, server.url, *who, token="")
        if kept and kept.token and self._same_user(kept.user) and (who := await self._who(server, kept.token)):
            return self._keep(kept, server.url, *who, token=kept.token)
        return await self._by_password(server, kept)

    def forget_token(self) -> None:
        """The kept token is worth nothing any more."""
        if kept := self.kept():
            self._write(evolve(kept, token=""))

    async def _by_password(self, server: Homeserver, kept: Credentials | None) -> Credentials:
        password, user = self.resolve(self._config.password), self._config.user
        if not password:
            raise user_error("there is neither an access token nor a password", "access_token")
        if not user:
            raise user_error("a password needs to know whose it is; set platforms.matrix.user", "")
        body = {
            "type": "m.login.password",
            "identifier": {"type": "m.id.user", "user": user},
            "password": password,
            "initial_device_display_name": self._config.device_name,
        }
        if kept and self._same_user(kept.user):
            body["device_id"] = kept.device
        server.token = ""
        try:
            answer = await server.ask("POST", path("v3", "login"), body)
        except Refused as refused:
            if refused.status in (400, 401, 403) and not refused.limited:
                raise user_error(f"the password was refused for {user} ({refused.said[:100]})", "password") from None
            raise
        server.token = str(answer["access_token"])
        return self._keep(kept, server.url, str(answer["user_id"]), str(answer["device_id"]), token=server.token)

    async def _who(self, server: Homeserver, token: str) -> tuple[str, str] | None:
        """Whose token it is, and of which device; None when it is nobody's."""
        server.token = token
        try:
            answer = await server.ask("GET", path("v3", "account", "whoami"))
        except Refused as refused:
            if refused.unknown_token:
                return None
            raise
        return str(answer.get("user_id", "")), str(answer.get("device_id", ""))

    def _same_user(self, user: str) -> bool:
        wanted = self._config.user
        return not wanted or wanted in (user, user[1:].partition(":")[0])

    def _keep(self, kept: Credentials | None, homeserver: str, user: str, device: str, *, token: str) -> Credentials:
        key = kept.key if kept and kept.key else secrets.token_hex(32)
        made = Credentials(homeserver=homeserver, user=user, device=device, token=token, key=key)
        if made != kept:
            self._write(made)
        return made

    def kept(self) -> Credentials | None:
        """What was kept from an earlier login. Raises UserError when it cannot be read."""
        try:
            return Credentials(**json.loads(self._file.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError) as error:
            text = f"Matrix: {self._file} cannot be read ({type(error).__name__})."
            raise UserError(text, hint=f"Mend it, or remove {self._file.parent} to start as a new device.") from error

    def _write(self, credentials: Credentials) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        part = self._file.with_suffix(".part")
        part.unlink(missing_ok=True)
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            json.dump(asdict(credentials), file)
            file.flush()
            os.fsync(file.fileno())
        part.replace(self._file)


async def homeserver_url(name: str) -> str:
    """The client API's URL for what the settings name: itself, or what ``.well-known`` of a server name says.

    Raises UserError, Cut.
    """
    if not name:
        hint = "hermes config set platforms.matrix.homeserver example.org"
        raise UserError("Matrix: no homeserver is set.", hint=hint)
    if "://" in name:
        return name.rstrip("/")
    asked = Homeserver(f"https://{name}")
    try:
        answer = await asked.ask("GET", "/.well-known/matrix/client")
        url = str(answer["m.homeserver"]["base_url"])
    except (Refused, KeyError, TypeError):  # no such file: the server answers under its own name
        return f"https://{name}"
    finally:
        await asked.close()
    if urlsplit(url).scheme != "https":
        raise UserError(f"Matrix: {name} says that its homeserver is {url[:100]!r}, which is not https.")
    return url.rstrip("/")


def user_error(text: str, setting: str) -> UserError:
    """What only a person can mend, with the place to mend it."""
    variables = {"access_token": "MATRIX_ACCESS_TOKEN", "password": "MATRIX_PASSWORD"}
    hint = f"Set {variables[setting]}, or platforms.matrix.{setting}." if setting in variables else ""
    return UserError(f"Matrix: {text}.", hint=hint)
