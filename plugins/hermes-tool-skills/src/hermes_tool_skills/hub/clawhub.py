"""ClawHub, or a registry that speaks as it does: https://docs.openclaw.ai/clawhub, ``/api/v1``."""

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from hermes_core.errors import UserError
from hermes_tool_skills.fetch import Fetched, answer_of, repository
from hermes_tool_skills.hub import Offer
from hermes_tool_skills.hub.asked import ask, refuse, rows, text
from hermes_tool_skills.unpack import MOST_ARCHIVE, unpack

KIND = "clawhub"


def search(base: str, words: str, most: int) -> Sequence[Offer]:
    """What its search finds, in its order; what it calls suspicious is left out."""
    found = ask(base, "api/v1/search", q=words, limit=str(most), nonSuspiciousOnly="true")
    return [_offer(base, row) for row in rows(found, "results") if text(row, "slug")]


def browse(base: str, most: int) -> Sequence[Offer]:
    """What is fetched from it most."""
    found = ask(base, "api/v1/skills", sort="downloads", limit=str(min(most, 200)), nonSuspiciousOnly="true")
    return [_offer(base, row) for row in rows(found, "items") if text(row, "slug")]


def fetch(base: str, wanted: str, *, archives: str) -> Fetched:
    """The files of ``SLUG`` or ``OWNER/SLUG``, with ``@VERSION``. What it blocks as malware is refused."""
    name, _, version = wanted.removeprefix("@").partition("@")
    owner, _, slug = name.rpartition("/")
    about = ask(base, f"api/v1/skills/{slug}", ownerHandle=owner)
    owner = text(about.get("owner"), "handle") or owner
    state = about.get("moderation") or {}
    if isinstance(state, dict) and state.get("isMalwareBlocked"):
        raise UserError(f"{base} blocks {slug} as malware.", hint="It is not installed, whatever you say.")
    version = version or text(about.get("latestVersion"), "version")
    query = {"slug": slug, "version": version, "ownerHandle": owner}
    address = f"{base.rstrip('/')}/api/v1/download?{urlencode({k: v for k, v in query.items() if v})}"
    answer = answer_of(address, limit=MOST_ARCHIVE)
    refuse(address, answer.status, answer.headers, answer.body)
    source = f"{KIND}:{base.rstrip('/')}#{f'{owner}/' if owner else ''}{slug}"
    if "json" in answer.headers.get("content-type", ""):
        tree, commit = _handed_on(answer.body, archives)
        return Fetched(tree=tree, source=source, resolved=commit)
    tree, _ = unpack(answer.body)
    return Fetched(tree=tree, source=source, resolved=f"{slug}@{version}" if version else slug)


def _handed_on(body: bytes, archives: str) -> tuple[dict[str, bytes], str]:
    """The files of a skill that lies on GitHub and not with the registry, at the commit that it names."""
    try:
        data: Any = json.loads(body)
    except ValueError:
        data = None
    if not isinstance(data, dict) or data.get("sourceRef") != "public-github":
        raise UserError("The registry names a place for this skill that is not known here.")
    (owner, _, repo), commit = text(data, "repo").partition("/"), text(data, "commit")
    if not (owner and repo and commit):
        raise UserError("The registry does not say where this skill lies.")
    path = text(data, "path").strip("/")
    return repository(archives, owner, repo, path or None, commit).tree, commit


def _offer(base: str, row: Any) -> Offer:
    owner = text(row, "ownerHandle") or text(row.get("owner"), "handle")
    slug, stats = text(row, "slug"), row.get("stats")
    return Offer(
        name=slug,
        description=text(row, "summary", "displayName"),
        install=f"{KIND}:{f'{owner}/' if owner else ''}{slug}",
        version=text(row, "version") or text(row.get("latestVersion"), "version"),
        uses=int(text(stats, "downloads") or 0) if text(stats, "downloads").isdigit() else 0,
    )
