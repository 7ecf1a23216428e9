"""Reading several pages of one site, from link to link: as many as were asked for, as its robots.txt allows."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hermes_core.context import UrlRules
from hermes_core.errors import OutOfReach, ToolError
from hermes_core.values import frozen
from hermes_tool_kit.addresses import check_url
from hermes_tool_kit.fetching import Fetched, fetch
from hermes_tool_web.config import Config
from hermes_tool_web.readable import Page, links_of, read

if TYPE_CHECKING:
    from urllib.robotparser import RobotFileParser

__all__ = ["Crawled", "crawl"]

_ROBOTS = 500_000  # bytes of a robots.txt that are read, as RFC 9309 asks
_AGENT = "hermes"
_LONGEST_PAUSE = 10.0
_QUEUE = 2_000  # addresses that wait
_NO_PAGES = (
    *(".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".ico", ".css", ".js", ".woff2", ".mp4", ".mp3", ".zip"),
    *(".gz", ".tar", ".exe", ".dmg", ".iso", ".apk", ".deb", ".rpm", ".7z", ".avi", ".mov", ".wav", ".xml"),
)


@frozen(kw_only=True)
class Crawled:
    """The pages, in the order they were found, and what is missing."""

    pages: Sequence[Page]
    notes: Sequence[str]


class _Waiting(NamedTuple):
    url: str
    depth: int


async def crawl(
    start: str,
    most: int,
    rules: UrlRules,
    config: Config,
    must_be_fine: Callable[[Fetched], None],
    told: Callable[[str], None] = lambda text: None,
) -> Crawled:
    """Read up to ``most`` pages of a site. Raises ToolError when not even the first can be had."""
    most, target = min(most, config.crawl_pages), check_url(start, rules)
    robots = await _robots(f"{target.scheme}://{target.authority}", rules, config)
    if not robots.can_fetch(_AGENT, target.url):
        raise ToolError(f"The robots.txt of {target.host} forbids programs to read {target.url}.", retry=False)
    pause = max(config.crawl_pause, float(robots.crawl_delay(_AGENT) or 0))
    if pause > _LONGEST_PAUSE:
        raise ToolError(f"{target.host} asks for {pause:g} seconds between pages, too long for a crawl.", retry=False)
    run = _Crawl(target.host, rules, config, must_be_fine, robots)
    try:
        async with asyncio.timeout(config.crawl_seconds):
            await run.through(target.url, most, pause, told)
    except TimeoutError:
        run.notes.append(f"It was ended after {config.crawl_seconds:g} seconds.")
    if not run.pages:
        raise run.first or ToolError(f"{target.host} gave no page to read.")
    if run.forbidden:
        run.notes.append(f"Closed to programs by its robots.txt: {run.forbidden}.")
    if run.failed:
        run.notes.append(f"Could not be read: {run.failed}.")
    if run.waiting:
        run.notes.append(f"Found and not read: {len(run.waiting)}.")
    return Crawled(pages=run.pages, notes=run.notes)


class _Crawl:
    def __init__(
        self,
        host: str,
        rules: UrlRules,
        config: Config,
        must_be_fine: Callable[[Fetched], None],
        robots: "RobotFileParser",
    ) -> None:
        self._host, self._rules, self._config = host, rules, config
        self._must_be_fine, self._robots = must_be_fine, robots
        self.pages: list[Page] = []
        self.notes: list[str] = []
        self.waiting: deque[_Waiting] = deque()
        self.first: ToolError | None = None
        self.failed = self.forbidden = 0
        self._seen: set[str] = set()

    async def through(self, start: str, most: int, pause: float, told: Callable[[str], None]) -> None:
        """Read page after page."""
        self.waiting.append(_Waiting(start, 0))
        self._seen.add(_key(start))
        tries = 0
        while self.waiting and len(self.pages) < most and tries < most * 3:
            url, depth = self.waiting.popleft()
            if tries:
                await asyncio.sleep(pause)
            tries += 1
            try:
                answer = await self._fetched(url)
                page = await read(answer, links=False, seconds=self._config.seconds)
            except ToolError as error:
                self.first = self.first or error
                self.failed += 1
                continue
            self._seen.add(_key(answer.url))
            self.pages.append(page)
            told(f"{len(self.pages)}/{most} {answer.url}\n")
            if depth < self._config.crawl_depth:
                self._add(links_of(answer), depth + 1)

    async def _fetched(self, url: str) -> Fetched:
        limit = self._config.megabytes * 1_000_000
        answer = await fetch(url, self._rules, accept="text/html,*/*;q=0.5", limit=limit, seconds=self._config.seconds)
        if answer.moved:
            raise ToolError(f"{url} sends you on to another site, which was not opened: {answer.moved}")
        self._must_be_fine(answer)
        return answer

    def _add(self, links: Sequence[str], depth: int) -> None:
        for link in links:
            if len(self.waiting) >= _QUEUE:
                return
            try:
                target = check_url(link, self._rules)
            except OutOfReach:
                continue
            same = target.host.removeprefix("www.") == self._host.removeprefix("www.")
            path = target.path.partition("?")[0].lower()
            if not same or _key(target.url) in self._seen or path.endswith(_NO_PAGES):
                continue
            self._seen.add(_key(target.url))
            if self._robots.can_fetch(_AGENT, target.url):
                self.waiting.append(_Waiting(target.url, depth))
            else:
                self.forbidden += 1


def _key(url: str) -> str:
    return url.partition("://")[2].removeprefix("www.").rstrip("/")


async def _robots(site: str, rules: UrlRules, config: Config) -> "RobotFileParser":
    """Return what a site lets programs read. One whose answer cannot be had lets nothing: RFC 9309."""
    from urllib.robotparser import RobotFileParser

    url = f"{site}/robots.txt"
    found = RobotFileParser(url)
    try:
        answer = await fetch(url, rules, accept="text/plain", limit=_ROBOTS, seconds=config.seconds)
    except OutOfReach:
        raise
    except ToolError as error:
        raise ToolError(f"Nothing was crawled, as {url} could not be read: {error.text}") from error
    if answer.status >= 500:
        raise ToolError(f"Nothing was crawled, as {url} was answered with {answer.status}.")
    plain = 200 <= answer.status < 300 and not answer.moved
    found.parse(answer.body.decode("utf-8", "replace").splitlines() if plain else [])
    return found
