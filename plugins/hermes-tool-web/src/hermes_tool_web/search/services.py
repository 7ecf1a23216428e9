"""The services that web_search may ask, one row of ``services.toml`` each."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from hermes_core.values import frozen

__all__ = ["SECRETS", "Service", "services"]

# What the manifest declares; a test compares it with the rows.
SECRETS = (
    "BRAVE_API_KEY", "TAVILY_API_KEY", "EXA_API_KEY", "FIRECRAWL_API_KEY", "PARALLEL_API_KEY", "YDC_API_KEY",
    "PERPLEXITY_API_KEY", "LINKUP_API_KEY", "SERPER_API_KEY", "KAGI_API_KEY", "JINA_API_KEY", "GOOGLE_CSE_API_KEY",
    "GOOGLE_CSE_ID", "MARGINALIA_API_KEY",
)  # fmt: skip


@frozen(kw_only=True)
class Service:
    """One row; what its parts mean stands at the head of ``services.toml``."""

    name: str
    title: str
    source: str
    terms: str
    checked: str
    about: str
    url: str
    most: int
    results: Sequence[str]
    fields: Mapping[str, str]
    key: str = ""
    other: str = ""
    keyless: bool = False
    own: bool = False
    when: str = ""
    without_url: str = ""
    param: Mapping[str, str] = {}
    json: Mapping[str, Any] = {}
    headers: Mapping[str, str] = {}
    with_key: Mapping[str, str] = {}
    without_key: Mapping[str, str] = {}
    link: str = ""
    shape: str = "json"
    pause: float = 0.0

    @property
    def general(self) -> bool:
        """Whether it searches the web at large."""
        return self.about == "web"

    def knows(self, query: str) -> bool:
        """Tell whether a query is of what a service for one thing knows."""
        return bool(self.when) and re.search(self.when, query, re.IGNORECASE) is not None

    def hosts(self, base: str = "") -> set[str]:
        """Return the hosts it is asked at."""
        found = (urlsplit(url.replace("{base}", base)).hostname for url in (self.url, self.without_url) if url)
        return {host for host in found if host}


@cache
def services() -> Mapping[str, Service]:
    """Return all rows by name, in their order."""
    table = tomllib.loads(files("hermes_tool_web.search").joinpath("services.toml").read_text("utf-8"))
    return {name: Service(name=name, **row) for name, row in table.items()}
