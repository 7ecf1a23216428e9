"""Skills that a site publishes itself, by Agent Skills Discovery: ``/.well-known/agent-skills/index.json`` of 0.2.0.

Also ``/.well-known/skills/index.json`` of 0.1.0, which has no digests.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from hermes_core.errors import UnknownName, UserError
from hermes_tool_skills.fetch import Fetched, answer_of, download, parts_of
from hermes_tool_skills.hub import Offer
from hermes_tool_skills.hub.asked import MOST, json_of, parsed, refuse, rows, text
from hermes_tool_skills.tree import MAIN, MOST_FILES, BadTree, path_problem
from hermes_tool_skills.unpack import unpack

KIND = "index"
SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
PLACE = ".well-known/agent-skills"
_OLDER = ".well-known/skills"


def browse(base: str, most: int) -> Sequence[Offer]:
    """Everything it publishes."""
    _, entries = _read(base)
    return [
        Offer(name=name, description=text(row, "description"), install=f"{KIND}:{base}#{name}")
        for name, row in list(entries.items())[:most]
    ]


def fetch(base: str, wanted: str, *, archives: str) -> Fetched:
    """The files of one of its skills, held against the digest that it gives."""
    where, entries = _read(base)
    if not wanted and len(entries) == 1:
        wanted = next(iter(entries))
    if wanted not in entries:
        raise UnknownName("skill there", wanted, entries, hint=f"hermes skills browse {KIND}:{base}")
    row, source = entries[wanted], f"{KIND}:{base}#{wanted}"
    if "files" in row:
        return Fetched(tree=_older(where, wanted, row["files"]), source=source, resolved=where)
    address = parts_of(text(row, "url"), below=where).geturl()
    data, _ = download(address)
    digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
    if digest != row.get("digest"):
        raise UserError(f"{address[:200]} is not what the index of {base} promises, so it is not used.")
    tree = {MAIN: data} if row.get("type") == "skill-md" else unpack(data)[0]
    return Fetched(tree=tree, source=source, resolved=digest)


def _read(base: str) -> tuple[str, Mapping[str, Mapping[str, Any]]]:
    """The address of the index, and its entries by name. Raises UserError."""
    place = base.rstrip("/")
    if place.endswith("/index.json"):
        return place, _entries(place, json_of(place))
    for folder in (PLACE, _OLDER):
        address = f"{place}/{folder}/index.json"
        answer = answer_of(address, limit=MOST)
        if answer.status != 404:
            refuse(address, answer.status, answer.headers, answer.body)
            return address, _entries(address, parsed(address, answer.body))
    raise UserError(f"{parts_of(base).netloc} publishes no skills.", hint=f"It would at {place}/{PLACE}/index.json")


def _entries(address: str, data: Any) -> Mapping[str, Mapping[str, Any]]:
    schema = data.get("$schema") if isinstance(data, dict) else ""
    if schema not in (None, SCHEMA):
        raise UserError(f"{address} is of a form that is not known here: {str(schema)[:200]}.")
    wanted = ("type", "url", "digest") if schema else ("files",)
    return {
        name: row
        for row in rows(data, "skills")
        if (name := text(row, "name")) and all(key in row for key in wanted)
        if not schema or row["type"] in ("skill-md", "archive")
    }


def _older(where: str, name: str, files: Any) -> dict[str, bytes]:
    if not isinstance(files, list) or not all(isinstance(path, str) for path in files) or len(files) > MOST_FILES:
        raise UserError(f"{where} does not say which files {name} has.")
    tree: dict[str, bytes] = {}
    for path in files:
        if problem := path_problem(path):
            raise BadTree(f"The path {path!r} {problem}.")
        tree[path], _ = download(parts_of(f"{quote(name)}/{quote(path)}", below=where).geturl())
    return tree
