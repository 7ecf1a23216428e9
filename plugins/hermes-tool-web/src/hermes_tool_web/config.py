"""The settings of the web tools."""

from typing import Literal

from hermes_core.options import ge, gt, le, matches_re, option, settings


@settings
class Config:
    """Searching and reading the web."""

    seconds: float = option("How long fetching one page may take, redirects included.", default=30.0, validator=gt(0))
    megabytes: int = option("How much of a page is taken at most.", default=5, validator=[ge(1), le(50)], example=10)
    search: list[str] = option(
        "Who searches: auto, or names of services, which are all asked.",
        factory=lambda: ["auto"],
        example=["brave", "wikipedia"],
        ids=True,
    )
    searxng: str = option(
        "Address of a SearXNG of your own; auto asks it first.",
        default="",
        validator=matches_re(r"(https?://\S+)?"),
        example="http://127.0.0.1:8888",
    )
    search_seconds: float = option("How long one service may take to answer a search.", default=10.0, validator=gt(0))
    crawl_pages: int = option("How many pages one crawl reads at most.", default=20, validator=[ge(1), le(200)])
    crawl_depth: int = option("How many links a crawl goes away from its first page.", default=2, validator=ge(0))
    crawl_seconds: float = option("How long one crawl may take.", default=120.0, validator=gt(0))
    crawl_pause: float = option(
        "Seconds between two pages of a crawl; a site may ask for more.", default=0.5, validator=ge(0)
    )
    citations: Literal["asked", "always"] = option(
        "Sources of an answer: models are asked to cite, or always get the list of what they cited and read.",
        default="asked",
    )
    cache: bool = option("Keep pages of which a site says when they change, and ask it whether they did.", default=True)
