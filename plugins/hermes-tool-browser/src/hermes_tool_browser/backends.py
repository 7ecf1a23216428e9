"""Whose browser it is: the small interface behind which a local one, a running one and those of services stand."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError
from hermes_tool_browser.config import Config
from hermes_tool_browser.finding import found

if TYPE_CHECKING:
    from playwright.async_api import Browser, Playwright

    from hermes_tool_browser.place import Place

__all__ = ["Backend", "Local", "Running", "backend_of", "reached"]


class Backend(ABC):
    """One browser: ``open`` it once, then ``close`` it. Raises ToolError where that cannot be done.

    ``here`` says that its network is bounded by the way out of its place, and its downloads lie on this machine.
    """

    here = False

    @abstractmethod
    def check(self) -> None:
        """Make sure that it can be opened at all, before anything is started. Raises ToolError."""

    @abstractmethod
    async def open(self, playwright: "Playwright") -> "Browser":
        """Start or reach it. When this raises or is cancelled, nothing stays open."""

    async def close(self) -> None:
        """End it, also one that is dead. Called after the connection was closed."""

    def why_gone(self) -> str:
        """Why it ended by itself, as far as that is known."""
        return ""

    def why_closed(self, host: str, since: float) -> str:
        """Why a host could not be reached since then, as far as that is known."""
        return ""

    def describe(self) -> str:
        """What it is, in a few words."""
        return "browser"


class Local(Backend):
    """A Chromium that is started here, behind a wall."""

    here = True

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx, self._config = ctx, ctx.config or Config()
        self._place: Place | None = None

    def check(self) -> None:
        """There is a program, and a wall for it."""
        from hermes_tool_browser.place import wall_of

        found(self._config.executable)
        wall_of(self._config)

    async def open(self, playwright: "Playwright") -> "Browser":
        """Start it."""
        from playwright.async_api import Error

        from hermes_tool_browser.place import Place

        place = Place(found(self._config.executable), self._config, self._ctx.urls)
        self._place = place
        try:
            await place.open()
            return await playwright.chromium.launch(**place.options(), timeout=60_000)
        except Error as error:
            why = place.ended or place.complaint() or _first_line(error)
            await place.close()
            raise ToolError(
                f"The browser could not be started: {why}",
                hint="`hermes doctor --browser` says more.",
                retry=False,
            ) from error
        except BaseException:
            await place.close()
            raise

    async def close(self) -> None:
        """End all inside."""
        if self._place is not None:
            await self._place.close()

    def why_gone(self) -> str:
        """Its memory, most often."""
        return self._place.ended if self._place else ""

    def why_closed(self, host: str, since: float) -> str:
        """What the way out said."""
        return self._place.way.why(host, since) if self._place else ""

    def describe(self) -> str:
        """With its wall."""
        return f"Chromium ({self._place.wall})" if self._place else "Chromium"


class Running(Backend):
    """A browser that runs already and is reached by its CDP address. It is left running."""

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx = ctx

    def check(self) -> None:
        """There is an address."""
        if not self._address():
            raise ToolError(
                "The backend cdp needs the address of a running browser.",
                hint="Tell the person: hermes config set tools.browser.cdp_url http://127.0.0.1:9222",
                retry=False,
            )

    def _address(self) -> str:
        config: Config = self._ctx.config or Config()
        return self._ctx.secrets.resolve(config.cdp_url)

    async def open(self, playwright: "Playwright") -> "Browser":
        """Connect."""
        return await reached(playwright, self._address(), "The browser at tools.browser.cdp_url")

    def describe(self) -> str:
        """It is somebody's."""
        return "a running browser"


async def reached(playwright: "Playwright", address: str, name: str) -> "Browser":
    """Connect to an address. Raises ToolError without it: it may hold a key."""
    from playwright.async_api import Error

    try:
        return await playwright.chromium.connect_over_cdp(address, timeout=30_000)
    except Error as error:
        why = _first_line(error).replace(address, "its address")
        raise ToolError(f"{name} cannot be reached: {why}", hint="Is it running?") from None


def _first_line(error: Exception) -> str:
    """What playwright says, or the browser where it says why it ended."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return next((line.partition("FATAL:")[2] for line in lines if "FATAL:" in line), lines[0])[:300]


def backend_of(ctx: PluginContext) -> Backend:
    """The one that is set."""
    config = ctx.config or Config()
    if config.backend == "local":
        return Local(ctx)
    if config.backend == "cdp":
        return Running(ctx)
    from hermes_tool_browser.cloud import Cloud

    return Cloud(ctx, config.backend)
