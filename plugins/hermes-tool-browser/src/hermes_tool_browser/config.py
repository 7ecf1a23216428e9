"""The settings of the browser."""

from typing import Literal

from hermes_core.options import Secret, ge, le, option, settings


@settings
class Config:
    """The browser of the agent."""

    backend: Literal["local", "cdp", "browserbase", "browser-use"] = option(
        "Whose browser it is: one that is started here, one that runs already (`cdp_url`), or one of a service.",
        default="local",
    )
    executable: str = option(
        "The Chromium that is started; empty: the one that is found.", default="", example="/opt/chrome/chrome"
    )
    cdp_url: Secret = option(
        "Address of a running browser for the backend cdp, or env:NAME.",
        default=Secret("env:BROWSER_CDP_URL"),
        example="http://127.0.0.1:9222",
    )
    service_url: str = option("Address of the service, where it is not its usual one.", default="")
    headed: bool = option("Whether it has a window that you see.", default=False)
    wall: Literal["auto", "none"] = option(
        "What holds a browser that is started here: `auto` is bubblewrap and Chromium's own sandbox, `none` is nothing "
        "at all, for a container that is a wall itself.",
        default="auto",
    )
    sites: list[str] = option(
        "Sites where clicks and typing ask nobody; *.example.org means those below.",
        factory=list,
        example=["wiki.example.org"],
    )
    dialogs: Literal["ask", "accept", "dismiss"] = option(
        "What answers dialogs of pages: the model (`ask`), or always the same.", default="ask"
    )
    seconds: int = option(
        "The longest that a page, a click or the like may take.", default=30, validator=[ge(1), le(300)]
    )
    idle: int = option(
        "Seconds after which a browser is closed that no call used.", default=600, validator=[ge(10), le(86_400)]
    )
    memory_mb: int = option(
        "Memory of one browser in megabytes; it is ended above that.", default=3_000, validator=[ge(300), le(65_536)]
    )
    download_mb: int = option(
        "The largest file it may download, in megabytes.", default=200, validator=[ge(1), le(10_000)]
    )
