"""Browsers of services: a row says how one is asked for and given back; the browser is then reached by its CDP address.

What was asked for is written down before it is used, so what a Hermes left that was killed is given back by the next.
"""

import contextlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError
from hermes_core.values import frozen
from hermes_tool_browser.backends import Backend, reached
from hermes_tool_browser.config import Config

if TYPE_CHECKING:
    from playwright.async_api import Browser

__all__ = ["SERVICES", "Cloud", "Service"]

_MINUTES = 30  # the longest that a service keeps what nobody gives back


@frozen(kw_only=True)
class Service:
    """One service. ``asked`` and ``end`` are bodies of requests, ``address`` the field of the answer with the address.

    Of ``asked`` what is in angle brackets is a secret by that name, left out where it is not set.
    """

    title: str
    base: str
    path: str
    key: str
    header: str
    asked: Mapping[str, Any]
    address: str
    end_method: str
    end: Mapping[str, Any]


SERVICES: Mapping[str, Service] = {
    "browserbase": Service(
        title="Browserbase",
        base="https://api.browserbase.com",
        path="/v1/sessions",
        key="BROWSERBASE_API_KEY",
        header="X-BB-API-Key",
        asked={"projectId": "<BROWSERBASE_PROJECT_ID>", "timeout": _MINUTES * 60},
        address="connectUrl",
        end_method="POST",
        end={"status": "REQUEST_RELEASE"},
    ),
    "browser-use": Service(
        title="Browser Use",
        base="https://api.browser-use.com",
        path="/api/v3/browsers",
        key="BROWSER_USE_API_KEY",
        header="X-Browser-Use-API-Key",
        asked={"timeout": _MINUTES},
        address="cdpUrl",
        end_method="PATCH",
        end={"action": "stop"},
    ),
}


class Cloud(Backend):
    """One browser of a service."""

    def __init__(self, ctx: PluginContext, name: str) -> None:
        self._ctx, self._name, self._service = ctx, name, SERVICES[name]
        config: Config = ctx.config or Config()
        self._base = config.service_url.rstrip("/") or self._service.base
        self._id = ""
        self._notes = ctx.paths.data / "asked-for"

    def check(self) -> None:
        """There is a key."""
        name = self._service.key
        if not self._ctx.secrets.get(name):
            raise ToolError(
                f"{self._service.title} needs the secret {name}.",
                hint=f"Tell the person: put {name}=… into the file .env of Hermes' home.",
                retry=False,
            )

    async def open(self, playwright: Any) -> "Browser":
        """Ask for one and reach it."""
        await self._give_back_old()
        made = await self._request("POST", self._service.path, self._body())
        self._id, address = str(made.get("id", "")), str(made.get(self._service.address, ""))
        if not re.fullmatch(r"[\w-]{1,100}", self._id) or not address:
            raise ToolError(f"{self._service.title} answered without a browser.", retry=False)
        self._notes.mkdir(parents=True, exist_ok=True)
        self._note(self._id).write_text(str(os.getpid()))
        try:
            return await reached(playwright, address, f"The browser of {self._service.title}")
        except BaseException:
            await self.close()
            raise

    def _body(self) -> Mapping[str, Any]:
        body = {}
        for name, value in self._service.asked.items():
            if isinstance(value, str) and value.startswith("<"):
                value = self._ctx.secrets.get(value.strip("<>"))  # noqa: PLW2901 - its value
            if value:
                body[name] = value
        return body

    def _note(self, browser: str) -> Path:
        return self._notes / f"{self._name}.{browser}"

    async def _give_back_old(self) -> None:
        """Give back what a Hermes asked for that is dead."""
        for path in self._notes.glob(f"{self._name}.*"):
            try:
                os.kill(int(path.read_text()), 0)
            except (ProcessLookupError, ValueError, OSError):
                await self._give_back(path.name.partition(".")[2])

    async def _give_back(self, browser: str) -> None:
        with contextlib.suppress(ToolError):  # it ends by itself after a while
            await self._request(self._service.end_method, f"{self._service.path}/{browser}", self._service.end)
            self._note(browser).unlink(missing_ok=True)

    async def _request(self, method: str, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Ask the service. Raises ToolError; no key is in its words."""
        from hermes_core.context import UrlRules
        from hermes_tool_kit.fetching import Order, fetch

        service, key = self._service, self._ctx.secrets.get(self._service.key)
        order = Order(method, {service.header: key, "Content-Type": "application/json"}, json.dumps(body).encode())
        rules = UrlRules(allow_private=True) if self._base != service.base else UrlRules()  # a person set the address
        answer = await fetch(f"{self._base}{path}", rules, order=order, accept="application/json", limit=1_000_000)
        if answer.status in (401, 403):
            raise ToolError(f"{service.title} does not take the key in {service.key}.", retry=False)
        if answer.status == 429 or answer.status == 402:
            raise ToolError(f"{service.title} gives no more browsers now (HTTP {answer.status}).")
        if not 200 <= answer.status < 300:
            raise ToolError(f"{service.title} answered HTTP {answer.status}.")
        try:
            made = json.loads(answer.body or b"{}")
        except ValueError:
            raise ToolError(f"{service.title} answered what is no JSON.") from None
        return made if isinstance(made, dict) else {}

    async def close(self) -> None:
        """Give it back."""
        browser, self._id = self._id, ""
        if browser:
            await self._give_back(browser)

    def describe(self) -> str:
        """Whose it is."""
        return f"browser of {self._service.title}"
