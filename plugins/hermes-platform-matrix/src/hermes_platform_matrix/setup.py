"""How an account is set up: its homeserver, and a token or a password that it takes."""

import re
from collections.abc import Mapping

from hermes_core.errors import UserError
from hermes_core.kinds import SetupField, SetupStep
from hermes_platform_matrix.homeserver import Homeserver, Refused, path
from hermes_platform_matrix.login import homeserver_url, user_error

__all__ = ["AccountStep"]


def _user(text: str) -> str:
    return "" if re.fullmatch(r"@[^\s:]+:[^\s]+|[^\s@:]+", text) else "A user id looks like @hermes:example.org."


class AccountStep(SetupStep):
    """An account of its own on a homeserver, by a password or an access token."""

    name = "matrix"
    fields = (
        SetupField("homeserver", "Homeserver (example.org, or its URL)", "platforms.matrix.homeserver"),
        SetupField("user", "User id, needed with a password", "platforms.matrix.user", required=False, check=_user),
        SetupField("password", "Password", "MATRIX_PASSWORD", secret=True, required=False),
        SetupField("token", "Access token", "MATRIX_ACCESS_TOKEN", secret=True, required=False),
    )

    async def test(self, values: Mapping[str, str]) -> str:
        """Ask the homeserver whose token or password it is. A login to find out is ended at once.

        Raises UserError for what is wrong, HermesError where nobody answers.
        """
        server = Homeserver(await homeserver_url(values["homeserver"]))
        try:
            if values["token"]:
                return f"{server.url} knows the bot as {await _by_token(server, values['token'])}."
            return f"{server.url} knows the bot as {await _by_password(server, values['user'], values['password'])}."
        finally:
            await server.close()


async def _by_token(server: Homeserver, token: str) -> str:
    server.token = token
    try:
        return str((await server.ask("GET", path("v3", "account", "whoami"))).get("user_id", ""))
    except Refused as refused:
        if refused.unknown_token:
            raise user_error("the access token is not valid", "access_token") from None
        raise


async def _by_password(server: Homeserver, user: str, password: str) -> str:
    if not password:
        raise UserError("Matrix: there is neither a password nor an access token.", hint="Give one of them.")
    if not user:
        raise UserError("Matrix: a password needs to know whose it is.", hint="Give the user id.")
    who = {"type": "m.id.user", "user": user}
    try:
        answer = await server.ask(
            "POST", path("v3", "login"), {"type": "m.login.password", "identifier": who, "password": password}
        )
    except Refused as refused:
        if refused.status in (400, 401, 403) and not refused.limited:
            raise user_error(f"the password was refused for {user} ({refused.said[:100]})", "password") from None
        raise
    server.token = str(answer["access_token"])
    await server.ask("POST", path("v3", "logout"), {})  # a login leaves a device behind, and this one has no use
    return str(answer["user_id"])
