"""What ``hermes web`` does."""

import asyncio
import contextlib
import json
import os
import socket
import sys
import tempfile
import webbrowser
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click

from hermes_core.errors import UserError
from hermes_platform_tui.web import child, surroundings, token_from
from hermes_platform_tui.web.gate import is_loopback
from hermes_platform_tui.web.server import Site, listen

__all__ = ["run"]

_WARNING = (
    "Other machines can reach this. All that stands before your agent, and before every command it may run, is the "
    "token, and without TLS it travels in the clear."
)


def run(scope: Any, *, port: int, host: str, expose: bool, opened: bool | None, visitors: int, as_json: bool) -> int:
    """Serve until stopped; 0. Raises UserError."""
    token = token_from(os.environ)
    loopback = is_loopback(host)
    if not loopback and not expose:
        raise UserError(
            f"{host} may be reached from other machines.",
            hint="Leave --host away and use ssh -L, or say --expose if you mean it.",
        )
    settings = scope.home  # raises for a profile that there is not, before anything listens
    listening = listen(host, port)
    number = int(listening.getsockname()[1])
    name = _name(host, listening)
    url = f"http://{name}:{number}/?token={quote(token, safe='')}"
    site = Site(
        child(scope, sys.argv[0], sys.executable),
        surroundings(scope, os.environ),
        token,
        visitors=visitors,
        exposed="" if loopback else host,
    )

    def ready() -> None:
        if as_json:
            click.echo(json.dumps({"url": url, "host": name, "port": number, "pid": os.getpid()}))
            if not loopback:
                click.echo(_WARNING, err=True)
            return
        click.echo(f"Hermes is at {url}")
        click.echo("Whoever has this address talks to your agent. Stop with Ctrl+C.", err=True)
        if not loopback:
            click.echo(_WARNING, err=True)

    wanted = _has_desktop(os.environ) if opened is None else opened
    with _signpost(settings.cache, url) if wanted else contextlib.nullcontext() as signpost:

        def started() -> None:
            ready()
            if signpost is not None:
                asyncio.get_running_loop().run_in_executor(None, webbrowser.open, signpost.as_uri())

        asyncio.run(site.serve(listening, started))
    return 0


@contextlib.contextmanager
def _signpost(folder: Path, url: str) -> Iterator[Path]:
    """A file for the owner alone that leads to the address: on a command line everybody could read the token."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix="web-", suffix=".html", dir=folder)
    path = Path(name)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(f'<!doctype html><meta http-equiv="refresh" content="0;url={escape(url)}"><title>Hermes</title>')
        yield path
    finally:
        path.unlink(missing_ok=True)


def _has_desktop(environ: Mapping[str, str]) -> bool:
    if environ.get("SSH_TTY") or environ.get("SSH_CONNECTION"):
        return False
    return sys.platform == "darwin" or bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))


def _name(host: str, listening: socket.socket) -> str:
    """The host as it stands in an address that a person can open."""
    if host in ("0.0.0.0", "::", ""):  # noqa: S104 - it is not bound here
        host = socket.gethostbyname(socket.gethostname()) if listening.family == socket.AF_INET else "[::1]"
    return f"[{host}]" if ":" in host and not host.startswith("[") else host
