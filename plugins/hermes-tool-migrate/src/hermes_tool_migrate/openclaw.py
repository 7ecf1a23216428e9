"""What OpenClaw keeps in ``~/.openclaw``, and in its workspace."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hermes_core.types import JSON
from hermes_tool_migrate.found import Found, Known, Past, blocks, is_key, one_model, skills_below, text_of
from hermes_tool_migrate.json5 import loads
from hermes_tool_migrate.past import Telling, lines_of, texts_of

__all__ = ["read"]

_READ = {"agents", "channels", "env", "models", "mcp", "$schema", "meta"}
_PROTOCOLS = {"openai-completions": "chat", "openai-responses": "responses", "anthropic-messages": "messages"}
_VARIABLES = {"telegram": "TELEGRAM_BOT_TOKEN"}


def read(folder: Path, known: Known) -> Found:
    """Read the folder. Raises OSError."""
    found = Found()
    try:
        config = loads(text_of(folder / "openclaw.json") or "{}")
    except ValueError as error:
        found.left.append(("openclaw.json", f"it cannot be read: {error}"))
        config = {}
    config = config if isinstance(config, dict) else {}
    defaults = _at(config, "agents", "defaults")
    _models(config, defaults, known, found)
    env = _at(config, "env")
    for name, value in {**env, **_at(env, "vars")}.items():
        if is_key(name, value):
            found.keys[name] = value
    _profiles(folder, found)
    for name, channel in _at(config, "channels").items():
        _channel(folder, name, channel, known, found)
    found.servers(_at(config, "mcp", "servers"))
    for name in sorted(config.keys() - _READ):
        found.left.append((name, "no setting here means the same"))
    if (folder / "cron" / "jobs.json").is_file():
        found.aside["cron-jobs.json"] = (folder / "cron" / "jobs.json", "schedules are no part of this Hermes yet")
    _workspace(_workspace_of(folder, defaults), found)
    found.skills += skills_below(folder / "skills")
    found.sessions = lambda: _sessions(folder / "agents")
    if any((folder / "agents").glob("*/**/*.sqlite")):
        found.left.append(("agents/*.sqlite", "conversations in a database of its own are not read, only .jsonl"))
    return found


def _at(data: object, *path: str) -> dict[str, Any]:
    for step in path:
        data = data.get(step) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}


def _models(config: dict[str, Any], defaults: dict[str, Any], known: Known, found: Found) -> None:
    made: set[str] = set()
    for name, one in _at(config, "models", "providers").items():
        if not isinstance(one, dict) or not isinstance(one.get("baseUrl"), str):
            continue
        made.add(name)
        found.settings[f"providers.{name}.base_url"] = one["baseUrl"]
        if protocol := _PROTOCOLS.get(one.get("api", "")):
            found.settings[f"providers.{name}.protocol"] = protocol
        variable = f"{name.upper().replace('-', '_').replace('.', '_')}_API_KEY"
        if is_key(variable, one.get("apiKey")):
            found.keys[variable] = one["apiKey"]
            found.settings[f"providers.{name}.key_env"] = variable
    wanted = known._replace(providers=known.providers | made)
    model = defaults.get("model")
    primary, others = (model.get("primary"), model.get("fallbacks")) if isinstance(model, dict) else (model, None)
    if chosen := one_model(primary, wanted, found, "model"):
        found.settings |= {"model.provider": chosen[0], "model.default": chosen[1]}
    named = [one_model(words, wanted, found, "fallback") for words in (others if isinstance(others, list) else ())]
    if fallbacks := [{"provider": one[0], "model": one[1]} for one in named if one]:
        found.settings["fallback_providers"] = list[JSON](fallbacks)


def _profiles(folder: Path, found: Found) -> None:
    """Find the keys of providers; what was logged in to is left."""
    for path in sorted((folder / "agents").glob("*/agent/auth-profiles.json")):
        try:
            kept = json.loads(text_of(path) or "{}")
        except ValueError:
            continue
        for name, one in _at(kept, "profiles").items():
            key, provider = (one.get("key"), one.get("provider")) if isinstance(one, dict) else (None, None)
            if isinstance(key, str) and isinstance(provider, str) and one.get("type") == "api_key":
                found.keys.setdefault(f"{provider.upper().replace('-', '_')}_API_KEY", key)
            else:
                found.left.append((f"login {name}", "a login is not carried over; log in with: hermes setup"))


def _channel(folder: Path, name: str, channel: object, known: Known, found: Found) -> None:
    if name not in known.platforms or not isinstance(channel, dict):
        if name not in ("defaults", "modelByChannel"):
            found.left.append((f"channels.{name}", f"no platform {name} is installed here"))
        return
    token = channel.get("botToken")
    if name in _VARIABLES and is_key(_VARIABLES[name], token):
        found.keys[_VARIABLES[name]] = str(token)
    paired: object = None
    try:
        paired = _at(json.loads(text_of(folder / "credentials" / f"{name}-allowFrom.json") or "{}")).get("allowFrom")
    except ValueError:
        found.left.append((f"{name}-allowFrom.json", "it cannot be read"))
    people = [*_people(channel.get("allowFrom")), *_people(paired)]
    if channel.get("dmPolicy") == "open" or "*" in people:
        found.left.append((f"channels.{name}", "everybody may talk there; say so yourself: allow_all_users"))
    if people := [one for one in dict.fromkeys(people) if one != "*"]:
        found.settings[f"platforms.{name}.allowed_users"] = list[JSON](people)
    if groups := _at(channel, "groups"):
        told = ", ".join(groups)
        found.left.append((f"channels.{name}.groups: {told}", "say who may talk in a group: allowed_chats"))


def _people(given: object) -> Iterable[str]:
    for one in given if isinstance(given, list) else ():
        if isinstance(one, str | int) and str(one):
            yield str(one).rpartition(":")[2]  # with or without the service's name before it


def _workspace_of(folder: Path, defaults: Mapping[str, Any]) -> Path:
    """Find the workspace: the one in a folder that was copied here goes before the place it once had."""
    inside, said = folder / "workspace", defaults.get("workspace")
    if inside.is_dir() or not isinstance(said, str):
        return inside
    return Path(said).expanduser()


def _workspace(place: Path, found: Found) -> None:
    found.soul = text_of(place / "SOUL.md")
    found.memory += blocks(text_of(place / "MEMORY.md"))
    found.user += blocks(text_of(place / "USER.md"))
    found.skills += skills_below(place / "skills")
    for name in ("AGENTS.md", "IDENTITY.md", "TOOLS.md", "HEARTBEAT.md"):
        if (place / name).is_file():
            found.aside[name] = (place / name, "put what should hold into SOUL.md, or AGENTS.md of a project")
    if days := sorted((place / "memory").glob("*.md")):
        found.aside["memory"] = (place / "memory", f"{len(days)} notes of days; what matters belongs into MEMORY.md")


def _sessions(agents: Path) -> Iterator[Past]:
    for path in sorted(agents.glob("*/sessions/*.jsonl")):
        telling, name, when = Telling(), path.stem, ""
        for line in lines_of(path):
            if line.get("type") == "session":
                name, when = str(line.get("id") or name), str(line.get("timestamp", ""))
            elif line.get("type") == "message" and isinstance(line.get("message"), dict):
                _message(telling, line["message"])
        if messages := telling.messages():
            yield Past(name, "", when, messages)


def _message(telling: Telling, message: dict[str, Any]) -> None:
    role, content = str(message.get("role", "")), message.get("content")
    if role == "toolResult":
        text = "\n".join(texts_of(content))
        name = str(message.get("toolName", ""))
        telling.result(str(message.get("toolCallId", "")), text, name=name, failed=bool(message.get("isError")))
        return
    telling.say(role, *texts_of(content))
    for one in content if isinstance(content, list) else ():
        if isinstance(one, dict) and one.get("type") == "toolCall":
            telling.call(str(one.get("id", "")), str(one.get("name", "")), one.get("arguments"))
