"""What doctor finds out about the account."""

from collections.abc import Callable, Sequence
from pathlib import Path

from hermes_core.errors import HermesError, UserError
from hermes_core.types import Check, Finding
from hermes_platform_matrix.config import Config

__all__ = ["check_account"]


def check_account(config: Config, resolve: Callable[[str], str], folder: Path) -> Check:
    """Whether the homeserver knows us, and whether others trust this device. Changes nothing."""

    async def run() -> Sequence[Finding]:
        from hermes_platform_matrix.homeserver import Homeserver
        from hermes_platform_matrix.login import homeserver_url

        if not config.homeserver:
            return [Finding(level="ok", text="Matrix is not set up.")]
        try:
            server = Homeserver(await homeserver_url(config.homeserver))
            try:
                return await _look(server, config, resolve, folder)
            finally:
                await server.close()
        except UserError as error:
            return [Finding(level="fault", text=error.text, fix=error.hint)]
        except HermesError as error:
            fix = "Look at platforms.matrix.homeserver, and whether the homeserver is up."
            return [Finding(level="fault", text=error.text, fix=fix)]

    return Check(name="matrix account", run=run)


async def _look(server: object, config: Config, resolve: Callable[[str], str], folder: Path) -> list[Finding]:
    from hermes_platform_matrix.homeserver import Homeserver, Refused, path
    from hermes_platform_matrix.login import Login

    assert isinstance(server, Homeserver)
    kept = Login(config, resolve, folder).kept()
    server.token = resolve(config.access_token) or (kept.token if kept else "")
    if not server.token:
        if resolve(config.password) and config.user:
            await server.ask("GET", "/_matrix/client/versions")
            return [
                Finding(level="ok", text=f"Matrix: {server.url} answers; {config.user} logs in at the first start.")
            ]
        fix = "Set MATRIX_ACCESS_TOKEN, or MATRIX_PASSWORD and platforms.matrix.user."
        return [Finding(level="fault", text="Matrix: there is neither an access token nor a password.", fix=fix)]
    try:
        who = await server.ask("GET", path("v3", "account", "whoami"))
    except Refused as refused:
        if refused.unknown_token:
            fix = "Set MATRIX_ACCESS_TOKEN anew, or MATRIX_PASSWORD and platforms.matrix.user to log in by itself."
            return [Finding(level="fault", text="Matrix: the access token is not valid (any more).", fix=fix)]
        raise
    user, device = str(who.get("user_id", "")), str(who.get("device_id", ""))
    findings = [Finding(level="ok", text=f"Matrix: {server.url} knows us as {user}, device {device or 'none'}.")]
    if config.encryption:
        findings.append(_encryption(folder, user, device))
    return findings


def _encryption(folder: Path, user: str, device: str) -> Finding:
    from hermes_platform_matrix.connection import store_file
    from hermes_platform_matrix.store import AccountStore

    if not device:
        fix = "Take the token of a login; one of an application service has no device."
        return Finding(
            level="warning", text="Matrix: the token has no device; encrypted rooms are closed to it.", fix=fix
        )
    file = store_file(folder, user)
    if not file.is_file():
        return Finding(level="ok", text="Matrix: encryption is set up at the first start.")
    store = AccountStore(file)
    try:
        reason, waiting = store.get(device, "unsigned"), len(store.all("waiting"))
    finally:
        store.close()
    if reason:
        fix = "Set MATRIX_RECOVERY_KEY to the account's recovery key and start again."
        return Finding(level="warning", text=f"Matrix: device {device} is not signed: {reason}.", fix=fix)
    if waiting:
        fix = "Ask who wrote them to send them again."
        return Finding(level="warning", text=f"Matrix: {waiting} messages wait for their keys.", fix=fix)
    return Finding(level="ok", text=f"Matrix: device {device} is signed by its account.")
