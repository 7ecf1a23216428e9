"""The way out of a browser: to every site that the person allows to be opened, and to no private address.

Each connection of the browser comes here, also those of pages, workers and downloads. A name is resolved here, once,
and its addresses are judged, so a page that leads inside leads nowhere.
"""

import time
from collections import deque
from typing import NamedTuple

from hermes_backend_wall.proxy.passages import Passage
from hermes_backend_wall.proxy.rules import Rule, Rules
from hermes_backend_wall.proxy.server import Proxy
from hermes_core.context import UrlRules
from hermes_core.errors import OutOfReach
from hermes_tool_kit.addresses import check_url, resolve_with_system

__all__ = ["Closed", "WayOut"]

_OWN = frozenset(  # what Chromium would tell its maker by itself
    ("update.googleapis.com", "optimizationguide-pa.googleapis.com", "content-autofill.googleapis.com")
)
_KEPT = 100  # refusals that are remembered


class Closed(NamedTuple):
    """What was refused to a browser: a host, and why."""

    host: str
    why: str
    at: float  # of the monotonic clock


class WayOut:
    """One for each browser. ``refused`` are the last hosts that were refused, oldest first."""

    def __init__(self, urls: UrlRules, token: str = "") -> None:
        self.refused: deque[Closed] = deque(maxlen=_KEPT)
        self.proxy = Proxy(_Sites(urls), token=token, on_passage=self._heard, lookup=urls.lookup or resolve_with_system)

    def _heard(self, passage: Passage) -> None:
        if not passage.allowed:
            self.refused.append(Closed(passage.host, passage.why, time.monotonic()))

    def why(self, host: str, since: float) -> str:
        """Why a host was refused since then; empty where it was not."""
        late = [one for one in self.refused if one.at >= since and host]
        return next((one.why for one in reversed(late) if one.host == host or (not one.host and host in one.why)), "")

    async def close(self) -> None:
        """End every connection."""
        await self.proxy.close()


class _Sites(Rules):
    """Every site but those that the person closed, and private ones where they are not opened."""

    def __init__(self, urls: UrlRules) -> None:
        super().__init__()
        self._urls = urls

    def find(self, host: str, port: int) -> Rule | None:
        """The rule for a host and port."""
        if host in _OWN:
            return None
        shown = f"[{host}]" if ":" in host else host
        try:
            check_url(f"http://{shown}:{port}/", self._urls)
        except OutOfReach:
            return None
        return Rule(host, port, private=self._urls.allow_private, source="the web")
