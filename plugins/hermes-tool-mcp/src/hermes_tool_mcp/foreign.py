"""Servers in the settings of other programs: read when a person asks for it, and never started from there."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hermes_core.types import JSON
from hermes_core.values import frozen

__all__ = ["Foreign", "found", "taken"]

_HOME = (
    (".claude.json", "Claude Code"),
    (".config/Claude/claude_desktop_config.json", "Claude"),
    ("Library/Application Support/Claude/claude_desktop_config.json", "Claude"),
    (".cursor/mcp.json", "Cursor"),
    (".config/Code/User/mcp.json", "VS Code"),
    ("Library/Application Support/Code/User/mcp.json", "VS Code"),
    (".codex/config.toml", "Codex"),
    (".gemini/settings.json", "Gemini"),
)
_HERE = ((".mcp.json", "this folder"), (".vscode/mcp.json", "this folder"), (".cursor/mcp.json", "this folder"))
_SECRET = re.compile(r"key|token|secret|password|passwd|credential|auth", re.IGNORECASE)
_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_]\w*)(?::-[^}]*)?\}")
_LARGEST = 20_000_000


@frozen(kw_only=True)
class Foreign:
    """A server that another program knows: its name here, whose it is, and what its settings say there."""

    name: str
    source: str
    path: Path
    settings: Mapping[str, JSON]

    @property
    def words(self) -> str:
        """What it is, in a line."""
        if url := self.settings.get("url"):
            return str(url)
        return " ".join([str(self.settings.get("command", "")), *self.args])

    @property
    def args(self) -> list[str]:
        """What its program is given."""
        given = self.settings.get("args")
        return [str(one) for one in given] if isinstance(given, list) else []


def found(home: Path, folder: Path) -> Iterator[Foreign]:
    """Yield the servers of a folder and of other programs; one whose name came before is left out."""
    names: set[str] = set()
    places = [*((folder / path, source) for path, source in _HERE), *((home / path, source) for path, source in _HOME)]
    for path, source in places:
        for name, settings in _servers(path).items():
            plain = re.sub(r"[^a-z0-9-]+", "-", str(name).lower()).strip("-")[:24].strip("-")
            reached = isinstance(settings, dict) and any(settings.get(key) for key in ("command", "url", "httpUrl"))
            if plain and plain not in names and reached:
                names.add(plain)
                yield Foreign(name=plain, source=source, path=path, settings=settings)


def _servers(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > _LARGEST:
            return {}
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except (OSError, ValueError, RecursionError):
        return {}
    for key in ("mcpServers", "servers", "mcp_servers"):
        if isinstance(data, dict) and isinstance(data.get(key), dict):
            return dict(data[key])
    return {}


def taken(one: Foreign, environ: Mapping[str, str]) -> tuple[dict[str, JSON], dict[str, str], list[str]]:
    """Return the settings of a server here, its secrets by name, and the secrets that are still to be set."""
    secrets: dict[str, str] = {}
    wanting: list[str] = []

    def kept(key: str, value: str) -> str:
        def named(match: re.Match[str]) -> str:
            name = match[1] if match[1].startswith("MCP_") else f"MCP_{match[1]}"
            if match[1] in environ:
                secrets[name] = environ[match[1]]
            else:
                wanting.append(name)
            return f"${{{name}}}"

        if _VARIABLE.search(value):
            return _VARIABLE.sub(named, value)
        if _SECRET.search(key) and value:
            name = re.sub(r"\W", "_", f"MCP_{one.name}_{key}").upper()
            secrets[name] = value
            return f"${{{name}}}"
        return value

    def mapped(key: str) -> dict[str, str]:
        held = one.settings.get(key) or one.settings.get("http_headers" if key == "headers" else key) or {}
        return {str(k): kept(str(k), str(v)) for k, v in held.items()} if isinstance(held, dict) else {}

    settings: dict[str, JSON] = {}
    if url := one.settings.get("url") or one.settings.get("httpUrl"):
        settings["url"] = str(url)
        if one.settings.get("type") == "sse":
            settings["transport"] = "sse"
        if headers := mapped("headers"):
            settings["headers"] = headers
        return settings, secrets, wanting
    settings["command"] = str(one.settings["command"])
    if args := one.args:
        settings["args"] = args
    if env := mapped("env"):
        settings["env"] = env
    return settings, secrets, wanting
