"""Results of several services as one list: the same page once, the best of all first."""

from collections.abc import Iterable, Sequence
from urllib.parse import parse_qsl, urlencode, urlsplit

from hermes_tool_web.search.asking import Hit

__all__ = ["fused", "same_page"]

_DAMPING = 60  # of reciprocal rank fusion (Cormack and others, 2009): how little the first places outweigh the next
_TRAILS = frozenset({"gclid", "fbclid", "msclkid", "mc_cid", "mc_eid", "igshid", "ref_src"})


def fused(lists: Iterable[tuple[Sequence[Hit], float]], most: int) -> list[Hit]:
    """Return the results of weighted lists by reciprocal rank; of one page the first that has a text is shown."""
    scores: dict[str, float] = {}
    shown: dict[str, Hit] = {}
    for hits, weight in lists:
        seen: set[str] = set()
        for rank, hit in enumerate(hits):
            page = same_page(hit.url)
            if page in seen:
                continue
            seen.add(page)
            scores[page] = scores.get(page, 0.0) + weight / (_DAMPING + rank + 1)
            if page not in shown or (hit.text and not shown[page].text):
                shown[page] = hit
    return [shown[page] for page in sorted(scores, key=lambda page: -scores[page])][:most]


def same_page(url: str) -> str:
    """Return what two spellings of one address have in common: no scheme, no www, no fragment, no trail of adverts."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").removeprefix("www."), parts.port
    except ValueError:
        return url
    query = [(k, v) for k, v in parse_qsl(parts.query, keep_blank_values=True) if not _trail(k)]
    at = f":{port}" if port and port not in (80, 443) else ""
    return f"{host}{at}{parts.path.rstrip('/')}?{urlencode(sorted(query))}".rstrip("?")


def _trail(name: str) -> bool:
    return name.lower().startswith("utm_") or name.lower() in _TRAILS
