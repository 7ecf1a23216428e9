"""What Claude Code keeps: ``~/.claude`` and ``~/.claude.json`` beside it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hermes_tool_migrate.found import Found, Known, Past, blocks, commands_of, is_key, skills_below, text_of
from hermes_tool_migrate.past import Telling, lines_of, texts_of

__all__ = ["read"]

_SETTINGS = {"model", "env", "permissions", "$schema"}


def read(folder: Path, known: Known) -> Found:
    """Read the folder. Raises OSError."""
    found = Found()
    settings = _json(folder / "settings.json", found)
    _model(settings.get("model"), known, found)
    env = settings.get("env")
    for name, value in (env if isinstance(env, dict) else {}).items():
        if is_key(name, value):
            found.keys[name] = value
        else:
            found.left.append((f"env.{name}", "a variable of its own commands; set it in your shell"))
    _permissions(settings.get("permissions"), found)
    for name in sorted(settings.keys() - _SETTINGS):
        found.left.append((name, "no setting here means the same"))
    beside = _json(folder.parent / f"{folder.name}.json", found)
    projects = beside.get("projects") if isinstance(beside.get("projects"), dict) else {}
    servers: dict[str, Any] = {}
    for one in (beside, *(projects or {}).values()):
        if isinstance(one, dict) and isinstance(one.get("mcpServers"), dict):
            servers |= one["mcpServers"]
    found.servers(servers)
    found.user += blocks(text_of(folder / "CLAUDE.md"))
    found.skills += skills_below(folder / "skills")
    found.sessions = lambda: _sessions(folder / "projects")
    for name, why in (
        ("commands", "commands are skills here: write one with hermes skills new"),
        ("agents", "there are no agents with names here"),
        ("plugins", "plugins of another agent do not run here"),
        (".credentials.json", "a login is not carried over; log in with: hermes setup"),
    ):
        if (folder / name).exists():
            found.left.append((name, why))
    if notes := sorted(path.parent.parent.name for path in (folder / "projects").glob("*/memory/MEMORY.md")):
        found.left.append((f"memories of {len(notes)} projects", "put them into AGENTS.md of the project"))
    return found


def _json(path: Path, found: Found) -> dict[str, Any]:
    try:
        data = json.loads(text_of(path) or "{}")
    except ValueError as error:
        found.left.append((path.name, f"it cannot be read: {error}"))
        return {}
    return data if isinstance(data, dict) else {}


def _model(model: object, known: Known, found: Found) -> None:
    if not model:
        return
    if isinstance(model, str) and model.startswith("claude-") and "anthropic" in known.providers:
        found.settings |= {"model.provider": "anthropic", "model.default": model}
    else:
        found.left.append((f"model: {model}", "a short name of its own; choose with: hermes model"))


def _permissions(given: object, found: Found) -> None:
    rules = given if isinstance(given, dict) else {}
    for key, ours in (("allow", "policy.allow"), ("deny", "policy.deny")):
        commands = []
        for rule in rules.get(key) or ():
            name, _, glob = str(rule).partition("(")
            glob = glob.removesuffix(")")
            if name == "Bash" and glob:
                commands.append(f"{glob.removesuffix(':*')}*" if glob.endswith(":*") else glob)
            else:
                found.left.append((f"permissions.{key}: {rule}", "no rule here says the same and no more"))
        if made := commands_of(commands, found, f"permissions.{key}"):
            found.settings[ours] = made
    if rules.get("ask"):
        found.left.append(("permissions.ask", "what is risky is asked about here anyway"))
    if (mode := rules.get("defaultMode")) and mode not in ("default", "plan"):
        found.left.append((f"permissions.defaultMode: {mode}", "it asks less; say so yourself: policy.mode"))


def _sessions(projects: Path) -> Iterator[Past]:
    for path in sorted(projects.glob("*/*.jsonl")):
        telling, title, when, session = Telling(), "", "", path.stem
        for line in lines_of(path):
            if line.get("type") in ("summary", "custom-title"):
                title = str(line.get("summary") or line.get("customTitle") or title)
            message = line.get("message")
            if line.get("type") not in ("user", "assistant") or not isinstance(message, dict):
                continue
            if line.get("isSidechain") or line.get("isMeta"):
                continue  # a helper's own conversation; what was put in for the model and not said
            when = when or str(line.get("timestamp", ""))
            _line(telling, line["type"], message.get("content"))
        if messages := telling.messages():
            yield Past(session, title, when, messages)


def _line(telling: Telling, role: str, content: object) -> None:
    if isinstance(content, str):
        telling.say(role, content)
        return
    for one in content if isinstance(content, list) else ():
        kind = one.get("type") if isinstance(one, dict) else ""
        if kind == "text":
            telling.say(role, str(one.get("text", "")))
        elif kind == "tool_use":
            telling.call(str(one.get("id", "")), str(one.get("name", "")), one.get("input"))
        elif kind == "tool_result":
            text = "\n".join(texts_of(one.get("content")))
            telling.result(str(one.get("tool_use_id", "")), text, failed=bool(one.get("is_error")))
