"""Addresses that programs get something from: known when it is judged, on this machine, or where tools may go."""

import re
from urllib.parse import SplitResult, unquote, urlsplit

from hermes_core.types import Effect
from hermes_tool_guard.judgement import UNKNOWN, Class
from hermes_tool_guard.run import Run
from hermes_tool_guard.scene import shown

__all__ = ["LOCAL", "fetches"]

LOCAL = re.compile(
    r"localhost$|127\.\d+\.\d+\.\d+$|\[?::1\]?$|0\.0\.0\.0$|[\w.-]+\.localhost$"
    r"|host\.docker\.internal$"
)
_METADATA = re.compile(r"169\.254\.|metadata\.google|100\.100\.100\.200|fd00:ec2|\[?fe80|metadata\.azure|instance-data")


def _parts(url: str) -> SplitResult | None:
    """The parts of an address; None where it is none: brackets that hold no number."""
    try:
        return urlsplit(url if "://" in url else f"http://{url}")
    except ValueError:
        return None


def _host(url: str) -> str:
    parts = _parts(url)
    return (parts.hostname or "") if parts else ""


def fetches(run: Run, url: str) -> bool:
    """An address it gets something from; whether that is on this machine."""
    host = _host(url)
    if _METADATA.search(url):
        run.ask(Class.CREDENTIALS, "asks for the credentials of this machine in its cloud")
    if re.match(
        r"(?:file|scp|sftp|ftp|tftp|smb|telnet|dict|gopher|ldap|rtsp|smtp|imap|pop3|mqtt)s?:", url, re.IGNORECASE
    ):
        if url.lower().startswith("file:"):
            _reads_file(run, url)
        else:
            run.ask(Class.SEND, f"connects to {host or 'a host'} in an unusual way")
    local = bool(LOCAL.match(host))
    if any(c in url for c in UNKNOWN):
        known_host = re.match(r"(?:https?://)?(?:localhost|127\.0\.0\.1|0\.0\.0\.0)(?::\d+)?(?:/|$)", url)
        if not known_host:
            run.ask(Class.SEND, "sends something to the network that is only known when it runs")
    elif not local:
        run.note(Class.FETCH)
        _in_reach(run, url)
        parts = _parts(url)
        if parts is None:
            run.ask(Class.SEND, "fetches from an address that cannot be read")
        elif "@" in parts.netloc:
            run.ask(Class.SEND, f"sends a password to {host}")
        elif len(parts.query) > 300:
            run.ask(Class.SEND, f"sends a long text to {host}")
    else:
        run.note(Class.READ, Effect.NETWORK)
    return local


def _in_reach(run: Run, url: str) -> None:
    """Ask about an address that no tool may open: private ones, names inside a network, unusual spellings."""
    from hermes_core.context import UrlRules
    from hermes_core.errors import OutOfReach
    from hermes_tool_kit.addresses import check_url

    address = url if "://" in url else f"http://{url}"
    if not address.lower().startswith(("http://", "https://")):
        return
    try:
        check_url(address, UrlRules())
    except OutOfReach as error:
        why = str(error).split("\n")[0].partition(" was not opened: ")[2].rstrip(".")
        run.ask(Class.SEND, f"opens {shown(url)}, and {why}")


def _reads_file(run: Run, url: str) -> None:
    """``file:`` on this machine, whatever host it names; curl knows patterns of its own."""
    path = unquote(re.sub(r"(?i)^file:(?://[^/]*)?", "", url))
    if re.search(r"[\[{]", url):
        run.ask(Class.UNCLEAR, "reads files whose names are only known when it runs")
    run.read(path)
