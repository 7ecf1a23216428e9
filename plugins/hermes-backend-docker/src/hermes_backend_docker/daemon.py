"""Where the daemon is, how it is spoken to, and what its silence means."""

import asyncio
import os
import ssl
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from hermes_core.errors import UserError
from hermes_core.values import frozen

_T = TypeVar("_T")
PATIENCE = 60  # seconds for an answer to anything that is not a command or a pull
QUICK = 3.0  # seconds for a sign of life
_DEFAULT = "unix:///var/run/docker.sock"
_START = "Start it: `sudo systemctl start docker`, or `systemctl --user start podman.socket`, or Docker Desktop."
_INSTALL = "Install Docker or Podman and start it, or set backends.docker.host or DOCKER_HOST to where it listens."


@frozen
class Address:
    """Where a daemon listens: a Unix socket's path, or a host and port, with TLS or without."""

    url: str
    tls: Any = None  # docker's TLSConfig

    @property
    def local(self) -> bool:
        """Whether its containers see this machine's files."""
        return self.url.startswith(("unix://", "http+unix://"))

    @property
    def socket(self) -> str:
        """The path of the Unix socket; empty for a daemon elsewhere."""
        return self.url.partition("unix://")[2] if self.local else ""


def find(host: str = "") -> Address:
    """The daemon that is configured, or the one the ``docker`` command would use. Raises UserError."""
    from hermes_backend_docker.sdk import ContextAPI, DockerException, kwargs_from_env

    try:
        given = kwargs_from_env()
        if not host and not given.get("base_url"):
            name = os.environ.get("DOCKER_CONTEXT")
            context = ContextAPI.get_context(name or None)
            if context is None:
                raise UserError(f"There is no docker context {name!r}.", hint="See: docker context ls")
            if context.Host and context.Name != "default":
                return _checked(Address(context.Host, context.TLSConfig))
    except (DockerException, OSError, ValueError) as error:
        raise UserError(f"docker: its settings cannot be read: {error}.", hint="See ~/.docker and DOCKER_*.") from error
    url = host or given.get("base_url") or _there()
    return _checked(Address(url, None if url.startswith("unix:") else given.get("tls")))


def _there() -> str:
    running = Path(os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}")
    sockets = [Path("/var/run/docker.sock"), running / "docker.sock", Path.home() / ".docker/run/docker.sock"]
    sockets += [running / "podman/podman.sock", Path("/run/podman/podman.sock")]
    for path in sockets:
        with suppress(OSError):
            # One that is there and closed to us is still the one that is meant, unless another is open.
            if path.is_socket() and os.access(path, os.R_OK | os.W_OK):
                return f"unix://{path}"
    return _DEFAULT


def _checked(address: Address) -> Address:
    if address.url.startswith("ssh://"):
        raise UserError(
            f"docker: {address.url} cannot be used directly.",
            hint=f"Forward its socket: ssh -nNT -L /tmp/docker.sock:/var/run/docker.sock {address.url[6:]} &"
            " export DOCKER_HOST=unix:///tmp/docker.sock",
        )
    if not address.url.startswith(("unix://", "http+unix://", "tcp://", "http://", "https://")):
        raise UserError(
            f"docker: {address.url!r} is no address of a daemon.", hint="Such as unix:///var/run/docker.sock"
        )
    return address


async def connect(address: Address) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection of its own. Raises OSError."""
    if address.local:
        return await asyncio.open_unix_connection(address.socket)
    from urllib.parse import urlsplit

    parts = urlsplit(address.url)
    secure = bool(address.tls) or parts.scheme == "https"
    context = _tls(address.tls) if secure else None
    return await asyncio.open_connection(parts.hostname, parts.port or (2376 if secure else 2375), ssl=context)


def _tls(tls: Any) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=getattr(tls, "ca_cert", None) or None)
    if tls is not None and not tls.verify:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if tls is not None and getattr(tls, "cert", None):
        context.load_cert_chain(*tls.cert)
    return context


async def alive(address: Address) -> bool:
    """Whether a daemon answers there. Never raises."""
    with suppress(OSError, TimeoutError, ssl.SSLError, asyncio.IncompleteReadError, ValueError):
        async with asyncio.timeout(QUICK):
            reader, writer = await connect(address)
            try:
                writer.write(b"GET /_ping HTTP/1.1\r\nHost: docker\r\nConnection: close\r\n\r\n")
                return b" 200 " in await reader.readline()
            finally:
                writer.close()
    return False


async def client(address: Address) -> Any:
    """docker's own client for everything but commands; blocking, so use ``blocking``. Raises UserError."""
    try:
        async with asyncio.timeout(QUICK * 3):
            _, writer = await connect(address)  # says what is wrong better than a pool of connections does
            writer.close()
    except (OSError, TimeoutError) as error:
        raise explain(error, address) from error
    return await blocking(address, lambda: _client(address))


def _client(address: Address) -> Any:
    from hermes_backend_docker.sdk import Client

    return Client(base_url=address.url, tls=address.tls or False, version="auto", timeout=PATIENCE)


async def blocking(address: Address, call: Callable[[], _T]) -> _T:
    """What a blocking call gives. Raises UserError when the daemon does not answer; its refusals pass as they are."""
    from hermes_backend_docker.sdk import APIError, DockerException, RequestException

    try:
        return await asyncio.to_thread(call)
    except APIError:
        raise
    except (RequestException, DockerException, OSError) as error:
        raise explain(error, address) from error


def explain(error: BaseException, address: Address) -> UserError:
    """Why the daemon cannot be reached, and what to do about it."""
    where = address.socket or address.url
    for cause in _causes(error):
        if isinstance(cause, PermissionError):
            return UserError(
                f"docker: you may not use the daemon at {where}.",
                hint="Join its group, `sudo usermod -aG docker $USER`, and log in again; or use rootless Docker or"
                " Podman. Whoever is in that group can become root on this machine.",
            )
        if isinstance(cause, FileNotFoundError):
            return UserError(f"docker: no daemon listens at {where}.", hint=_INSTALL)
        if isinstance(cause, ConnectionRefusedError):
            return UserError(f"docker: the daemon at {where} is not running.", hint=_START)
        if isinstance(cause, ssl.SSLError):
            return UserError(
                f"docker: no trusted connection to {where}: {cause}.",
                hint="Check DOCKER_CERT_PATH. Python 3.13 wants keyUsage in the authority's certificate.",
            )
        if isinstance(cause, TimeoutError) or "Timeout" in type(cause).__name__:
            return UserError(f"docker: the daemon at {where} does not answer.", hint=_START)
    last = list(_causes(error))[-1]
    return UserError(f"docker: the daemon at {where} cannot be reached: {last}.", hint=_START)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: list[BaseException] = []
    waiting = [error]
    while waiting:
        one = waiting.pop(0)
        if one is None or one in seen:
            continue
        seen.append(one)
        yield one
        waiting += [one.__cause__, one.__context__, *(a for a in one.args if isinstance(a, BaseException))]
        waiting.append(
            getattr(one, "reason", None) if isinstance(getattr(one, "reason", None), BaseException) else None
        )


def said(error: Any) -> str:
    """What the daemon says in a refusal, in one line."""
    text = str(getattr(error, "explanation", None) or error)
    return " ".join(text.split()).rstrip(".")[:500]
