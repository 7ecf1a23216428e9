"""The way out of a wall: the proxy of one workspace, with the hosts that its commands may reach.

Open are the registries of package managers, the person's own mirrors of them, ``backends.local.hosts``, and the hosts
of the remotes that the folder had before its first command. For any other host the commands that run now are asked
(``asking``).
"""

import contextlib
import json
import os
import socket
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_backend_local.asking import Asking, Keep
from hermes_backend_wall.hosts.remotes import configuration
from hermes_core.errors import HermesError
from hermes_core.values import frozen

if TYPE_CHECKING:
    from hermes_backend_wall.proxy.passages import Passage
    from hermes_backend_wall.proxy.questions import Crossing
    from hermes_backend_wall.proxy.rules import Rule
    from hermes_backend_wall.proxy.server import Proxy

__all__ = ["Since", "WayOut"]

_MOST = 1000  # refusals kept for commands that run now


@frozen
class Since:
    """A moment: how many passages there had been, and how many refusals."""

    passed: int
    refused: int


class WayOut:
    """Hands connections to a proxy that is made with the first of them. ``hosts`` are those a person added.

    ``keep`` adds one to them for good.
    """

    def __init__(self, folder: str, hosts: Sequence[str], keep: Keep | None = None) -> None:
        self.asking = Asking(keep)
        self._kept: list[Sequence[str]] = []  # patterns of commands that may reach these hosts only
        self._folder, self._hosts = Path(folder), tuple(hosts)
        self._remotes: str | None = None
        self._proxy: Proxy | None = None
        self._passed, self._open = 0, 0
        self._refused: list[str] = []

    @contextlib.contextmanager
    def keep_to(self, hosts: Sequence[str] | None, *, for_good: bool = False) -> Iterator[None]:
        """While a command runs that may reach these only; nobody can tell whose a connection is, so all are kept to it.

        ``for_good``: what it leaves running is, too.
        """
        if hosts is None:
            yield
            return
        self._kept.append(hosts)
        try:
            yield
        finally:
            if not for_good:
                self._kept.remove(hosts)

    def within(self, host: str) -> bool:
        """Whether the commands that run may reach a host, whatever else opens it."""
        return all(any(fnmatchcase(host, pattern.lower()) for pattern in hosts) for hosts in self._kept)

    async def _ask(self, crossing: "Crossing") -> bool | None:
        return await self.asking.ask(crossing) if self.within(crossing.host) else False

    def look(self) -> None:
        """Read the remotes, once: what commands write there later opens nothing."""
        if self._remotes is None:
            self._remotes = configuration(self._folder)

    async def serve(self, connected: socket.socket) -> None:
        """Serve one connection of a command to its end. Raises nothing but its cancelling."""
        if self._proxy is None:
            try:
                self._proxy = self._made()
            except HermesError as error:
                connected.close()
                self._refused.append(f"the network is closed: {error.text}")
                return
        await self._proxy.serve(connected)

    def now(self) -> Since:
        """This moment, for what ``online`` and ``refused`` say later."""
        return Since(self._passed, len(self._refused))

    def online(self, since: Since) -> bool:
        """Whether a connection led out since then. One that still stands does so too: it may bring something."""
        return bool(self._open) or self._passed > since.passed

    def refused(self, since: Since) -> list[str]:
        """What was refused since then, each with what opens it."""
        return list(dict.fromkeys(self._refused[since.refused :]))

    async def close(self) -> None:
        """End every connection."""
        proxy, self._proxy = self._proxy, None
        if proxy is not None:
            await proxy.close()

    def _made(self) -> "Proxy":
        from hermes_backend_wall.proxy.rules import Rules
        from hermes_backend_wall.proxy.server import Proxy
        from hermes_backend_wall.proxy.upstream import Upstreams

        class Kept(Rules):
            """Rules that open nothing beyond what the commands that run may reach."""

            def find(kept, host: str, port: int) -> "Rule | None":  # noqa: N805 - self is the way out
                return super().find(host, port) if self.within(host) else None

        upstream = Upstreams(os.environ)
        mend = f"To open it: {self._mend('its name')}"
        return Proxy(Kept(self._rules()), self._ask, on_passage=self._heard, upstream=upstream, mend=mend)

    def _mend(self, host: str) -> str:
        return f"hermes config set backends.local.hosts '{json.dumps([*self._hosts, host])}'"

    def _rules(self) -> "list[Rule]":
        from hermes_backend_wall.hosts.forges import hosts_in
        from hermes_backend_wall.hosts.mirrors import mirrors
        from hermes_backend_wall.hosts.registries import registries
        from hermes_backend_wall.proxy.rules import Rule

        own = [Rule.read(host, private=True, source="backends.local.hosts") for host in self._hosts]
        remotes = hosts_in(self._remotes or "", f"the remotes of {self._folder.name}")
        return [*registries(), *mirrors(Path.home(), os.environ).rules, *own, *remotes]

    def _heard(self, passage: "Passage") -> None:
        from hermes_backend_wall.proxy.questions import REFUSED

        if passage.over:
            self._open -= 1
            if not passage.allowed and len(self._refused) < _MOST:
                self._refused.append(f"{passage.host} was not reached: {passage.why}")
        elif passage.allowed:
            self._open += 1
            self._passed += 1
        elif passage.host and len(self._refused) < _MOST:
            no = passage.why.endswith(REFUSED)
            why = "the person said no" if no else f"to open it: {self._mend(passage.host)}"
            self._refused.append(f"{passage.host} is closed; {why}")
