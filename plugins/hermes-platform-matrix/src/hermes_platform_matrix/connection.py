"""Everything that is there while the platform is open: the login, the store, encryption, rooms, files."""

import hashlib
import logging
from collections.abc import Callable
from pathlib import Path

from hermes_core.errors import UserError
from hermes_core.values import define
from hermes_platform_matrix.config import Config
from hermes_platform_matrix.e2ee.account import OwnDevice
from hermes_platform_matrix.e2ee.cross_signing import BadRecoveryKey, CrossSigning
from hermes_platform_matrix.e2ee.machine import Machine
from hermes_platform_matrix.homeserver import Cut, Homeserver, Refused, path
from hermes_platform_matrix.login import Login, homeserver_url
from hermes_platform_matrix.media import Media
from hermes_platform_matrix.rooms import Rooms
from hermes_platform_matrix.store import AccountStore

__all__ = ["Connection", "connect", "store_file"]


@define
class Connection:
    """One login. ``names`` are what people call us by."""

    login: Login
    server: Homeserver
    store: AccountStore
    rooms: Rooms
    media: Media
    machine: Machine | None
    user: str
    names: tuple[str, ...]

    async def close(self) -> None:
        """Close the connections and the store."""
        await self.server.close()
        self.store.close()


def store_file(folder: Path, user: str) -> Path:
    """Where what must not be forgotten of an account lies."""
    return folder / f"{hashlib.sha256(user.encode()).hexdigest()[:16]}.db"


async def connect(config: Config, resolve: Callable[[str], str], folder: Path, log: logging.Logger) -> Connection:
    """Log in and make ready. Raises UserError for what only a person can mend; Refused, Cut."""
    server = Homeserver(await homeserver_url(config.homeserver))
    login = Login(config, resolve, folder)
    try:
        me = await login.enter(server)
        store = AccountStore(store_file(folder, me.user))
        try:
            machine = None
            if config.encryption and me.device:
                own = _device(store, me.device, bytes.fromhex(me.key), me.user, folder)
                machine = Machine(own, server, log, only_owned=config.exclude_unsigned_devices)
                await secure(own, server, resolve(config.recovery_key), resolve(config.password), log)
            media = Media(server, folder / "media", config.max_media_bytes, config.media_days)
            name = await _display_name(server, me.user)
        except BaseException:
            store.close()
            raise
    except BaseException:
        await server.close()
        raise
    names = tuple(dict.fromkeys(n for n in (name, me.user[1:].partition(":")[0]) if n))
    return Connection(login, server, store, Rooms(server, store), media, machine, me.user, names)


def _device(store: AccountStore, device: str, key: bytes, user: str, folder: Path) -> OwnDevice:
    try:
        return OwnDevice(store, device, key, user, device)
    except ValueError as error:
        raise UserError(
            "Matrix: the encryption keys of this device cannot be opened; credentials.json is not theirs.",
            hint=f"Bring it back, or remove {folder} to start as a new device.",
        ) from error


async def secure(own: OwnDevice, server: Homeserver, recovery_key: str, password: str, log: logging.Logger) -> None:
    """Make sure that others can encrypt for this device, and that its account vouches for it.

    Raises UserError when the device is known with other keys, Refused, Cut.
    """
    answer = await server.ask("POST", path("v3", "keys", "query"), {"device_keys": {own.user: []}})
    there = answer.get("device_keys", {}).get(own.user, {}).get(own.device)
    if there is None:
        own.store.drop(own.space, "published")
    elif there.get("keys") != own.device_keys["keys"]:
        raise UserError(
            f"Matrix: the device {own.device} of {own.user} is known with other encryption keys than are kept here.",
            hint="One device is one store of keys. Log in anew to get a device of its own, or bring the store back.",
        )
    await own.publish(server, there=0 if there is None else 50, fallback=False)
    try:
        reason = await CrossSigning(own, server, "cross-signing").sign_device(recovery_key, password)
    except (BadRecoveryKey, Refused) as error:
        if isinstance(error, Refused) and (error.limited or error.status >= 500 or error.unknown_token):
            raise
        reason = str(error)
    own.store.put(own.space, "unsigned", reason)
    if reason:
        log.warning("matrix: device %s is not signed (%s); some clients will leave it out.", own.device, reason)


async def _display_name(server: Homeserver, user: str) -> str:
    try:
        name = (await server.ask("GET", path("v3", "profile", user, "displayname"))).get("displayname")
    except (Refused, Cut):  # it only helps to hear our name
        return ""
    return name if isinstance(name, str) else ""
