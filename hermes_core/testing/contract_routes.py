"""What everything that is served promises: an answer to every request, for whom it is meant, and nothing left over."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import pytest

from hermes_core.testing.contract_base import PluginContract
from hermes_core.testing.leftovers import Traces
from hermes_core.types import Principal, Routes
from hermes_core.values import frozen

if TYPE_CHECKING:
    from hermes_core.plugins.manifest import Manifest

__all__ = ["RoutesContract", "Served", "serve"]


@frozen
class Served:
    """What came of a request: ``status`` 0 where no answer began, ``whole`` when it had its end."""

    status: int
    body: bytes
    whole: bool


async def serve(
    routes: Routes,
    method: str = "GET",
    path: str = "/",
    *,
    body: bytes = b"",
    headers: Mapping[str, str] | None = None,
    owner: Principal | None = None,
    leaves: bool = False,
) -> Served:
    """Ask an application as a host does, in this process; a client that ``leaves`` is gone before its body came.

    ``owner`` is who asks, None for anybody. Raises what the application raises.
    """
    assert not isinstance(routes.app, Path), f"{routes.name} is a folder; a host serves its files"
    root, status, got, whole = f"/tool/test/{routes.name}", 0, b"", False
    said: list[dict[str, Any]] = [] if leaves else [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        return said.pop() if said else {"type": "http.disconnect"}

    async def send(message: Mapping[str, Any]) -> None:
        nonlocal status, got, whole
        if message["type"] == "http.response.start":
            status = int(message["status"])
        elif message["type"] == "http.response.body":
            got += message.get("body", b"")
            whole = not message.get("more_body", False)

    where, _, query = path.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": root + where,
        "raw_path": (root + where).encode(),
        "root_path": root,
        "query_string": query.encode(),
        "headers": [(name.lower().encode(), value.encode()) for name, value in (headers or {}).items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "hermes.owner": owner,
    }
    await routes.app(scope, receive, send)
    return Served(status, got, whole)


class RoutesContract(PluginContract):
    """Inherit once for each route; name your ``module`` and give ``route`` when the plugin has several.

    ``asked`` are requests that are answered well: method and path, from the route's own on.
    """

    asked: ClassVar[Sequence[tuple[Literal["GET", "POST", "PUT", "PATCH", "DELETE"], str]]] = (("GET", "/"),)

    @pytest.fixture
    def route(self, contributed: Mapping[str, list[Any]]) -> Routes:
        """The route under test; by default the first one the plugin contributes."""
        assert contributed.get("routes"), "the plugin contributes no route; give a route fixture"
        route: Routes = contributed["routes"][0]
        return route

    @pytest.fixture
    def owner(self, route: Routes, manifest: "Manifest") -> Principal | None:
        """Who asks: the owner of this Hermes, and nobody of a public route."""
        return None if route.name in manifest.public else Principal()

    def test_what_is_public_is_served(self, contributed: Mapping[str, list[Any]], manifest: "Manifest") -> None:
        """What ``[permissions] public`` names is a route of the plugin, so that a person consents to what there is.

        If this fails: name the routes as ``register_routes`` does, without a slash.
        """
        stray = set(manifest.public) - {one.name for one in contributed.get("routes", ())}
        assert not stray, f"[permissions] public names {', '.join(sorted(stray))}, and no such route is given"

    @pytest.mark.asyncio
    async def test_what_is_asked_is_answered(self, route: Routes, owner: Principal | None) -> None:
        """Each request of ``asked`` has a whole answer that is no error; of a folder, there are files.

        If this fails: give ``asked`` that work; send a response start, and a body whose ``more_body`` is false.
        """
        if isinstance(route.app, Path):
            assert any(route.app.iterdir()), f"there is nothing in {route.app}"
            return
        for method, path in self.asked:
            answer = await serve(route, method, path, owner=owner)
            assert answer.whole, f"{method} {path} has no whole answer"
            assert answer.status < 400, f"{method} {path} is answered with {answer.status}: {answer.body[:200]!r}"

    @pytest.mark.asyncio
    async def test_what_is_not_there_is_told(self, route: Routes, owner: Principal | None) -> None:
        """Strange paths, methods and bodies are answered, with anything but a server error.

        If this fails: what a person or a program may send is no reason to raise. Answer 404, 405 or 400.
        """
        if isinstance(route.app, Path):
            pytest.skip("a folder is served by the host")
        strange = [("GET", "/no-such-path_"), ("GET", "/%00?a=%ff&a"), ("BREW", "/"), ("POST", "/../.."), ("GET", "")]
        for method, path in (*strange, *self.asked):
            answer = await serve(route, method, path, body=b"\xff{" * 1000, owner=owner)
            assert answer.whole, f"{method} {path} has no whole answer"
            assert answer.status < 500, f"{method} {path} with a strange body is answered with {answer.status}"

    @pytest.mark.asyncio
    async def test_a_client_that_leaves_leaves_nothing_behind(self, route: Routes, owner: Principal | None) -> None:
        """A request whose client is gone, or that is cancelled, ends, and the next one is answered.

        If this fails: let CancelledError pass, and stop at ``http.disconnect``. What goes on after the answer is a
        service's or a turn's work, not the request's.
        """
        if isinstance(route.app, Path):
            pytest.skip("a folder is served by the host")
        before = Traces.now()
        for method, path in self.asked:
            for leaves in (True, False):
                asking = asyncio.ensure_future(serve(route, method, path, owner=owner, leaves=leaves))
                await asyncio.sleep(0)
                if not leaves:
                    asking.cancel()
                done, _ = await asyncio.wait([asking], timeout=5)
                assert done, f"{method} {path} goes on although its client is gone"
                asking.cancelled() or asking.exception()
        left = await before.left()
        assert not left, "after a client that left: " + "; ".join(left)
        await self.test_what_is_asked_is_answered(route, owner)
