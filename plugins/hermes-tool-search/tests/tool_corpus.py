"""Two thousand tools in the manner of what servers offer, and what a person would say who wants one of them.

Names and resources are those of well-known services; every description is of our own words. Of the questions, which
were written before there was a search, each second one is held out: nothing was chosen by them.
"""

import json
from pathlib import Path

from hermes_core.types import ToolSpec

_HERE = Path(__file__).with_name("corpus")
# Servers word the same thing in different ways, and so does this corpus.
_STYLES = (
    {
        "create": "Creates a new {one} in {where}.",
        "list": "Lists the {many} of {where}, page by page.",
        "get": "Retrieves one {one} of {where} by its identifier.",
        "update": "Updates fields of an existing {one} in {where}.",
        "delete": "Deletes a {one} from {where} permanently.",
        "search": "Searches {where} for {many} that match a query.",
    },
    {
        "create": "Add a {one} to {where} with the given properties.",
        "list": "Return all {many} in {where}, optionally filtered.",
        "get": "Fetch the details of a {one}.",
        "update": "Modify a {one}; only what is given is changed.",
        "delete": "Remove a {one}. This cannot be undone.",
        "search": "Find {many} by text, owner or date.",
    },
    {
        "create": "{where}: make a {one}. Returns its id.",
        "list": "{where}: enumerate {many} visible to the current user.",
        "get": "{where}: read a {one}.",
        "update": "{where}: edit a {one}.",
        "delete": "{where}: destroy a {one}.",
        "search": "{where}: query {many}.",
    },
)


def _many(one: str) -> str:
    if one.endswith("y") and one[-2] not in "aeiou":
        return f"{one[:-1]}ies"
    return f"{one}es" if one.endswith(("s", "x", "ch")) else f"{one}s"


def tools() -> tuple[list[ToolSpec], dict[str, str]]:
    """The tools, and the toolset of each."""
    found: dict[str, str] = {}
    for number, line in enumerate(_lines("services.txt")):
        service, where, things = line.split("|")
        for thing in things.split():
            words = {"one": thing.replace("_", " "), "many": _many(thing).replace("_", " "), "where": where}
            for verb, text in _STYLES[number % len(_STYLES)].items():
                named = _many(thing) if verb in ("list", "search") else thing
                found[f"{service}_{verb}_{named}"] = text.format(**words)
    found |= dict(line.split("\t") for line in _lines("special.tsv"))
    schema = {"type": "object", "properties": {"id": {"type": "string"}}}
    specs = [ToolSpec(name=f"mcp__{name}", description=text, schema=schema) for name, text in found.items()]
    return specs, {spec.name: f"mcp-{spec.name.removeprefix('mcp__').partition('_')[0]}" for spec in specs}


def asked(*, held_out: bool) -> list[tuple[str, str]]:
    """What is asked for, with the name of the tool that does it."""
    pairs = [line.split("\t") for line in _lines("asked.tsv")]
    return [(words, f"mcp__{name}") for words, name in pairs[1 if held_out else 0 :: 2]]


def registry(checkout: Path) -> list[tuple[str, str, str, str]]:
    """What servers of a public catalogue say of their tools: a checkout of ``github.com/docker/mcp-registry``.

    Of each its name, its toolset, its description, the names of its arguments.
    """
    found: dict[str, tuple[str, str, str]] = {}
    for path in sorted(checkout.glob("servers/*/tools.json")):
        server, said = path.parent.name, json.loads(path.read_text(encoding="utf-8"))
        for one in said if isinstance(said, list) else said["tools"]:
            arguments = " ".join(argument["name"] for argument in one.get("arguments") or ())
            found[f"mcp__{server}__{one['name']}"] = f"mcp-{server}", one.get("description") or "", arguments
    return [(name, *said) for name, said in found.items()]


def asked_of_registry(*, held_out: bool) -> list[tuple[str, str]]:
    """The same for a hundred tools of that catalogue, drawn by dice; each second question is held out."""
    pairs = [line.split("\t") for line in _lines("registry.tsv")]
    return [(words, f"mcp__{name.replace('/', '__')}") for words, name in pairs[1 if held_out else 0 :: 2]]


def _lines(name: str) -> list[str]:
    return [line for line in (_HERE / name).read_text(encoding="utf-8").splitlines() if line]
