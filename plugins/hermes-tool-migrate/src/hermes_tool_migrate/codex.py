"""What Codex keeps in ``~/.codex``."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hermes_tool_migrate.found import Found, Known, Past, blocks, skills_below, text_of
from hermes_tool_migrate.past import Telling, lines_of, texts_of

__all__ = ["read"]

_READ = {"model", "model_provider", "model_providers", "model_reasoning_effort", "mcp_servers", "approval_policy"}
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
_PROTOCOLS = {"chat": "chat", "responses": "responses"}
_PUT_IN = ("<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<permissions instructions>")


def read(folder: Path, known: Known) -> Found:
    """Read the folder. Raises OSError."""
    found = Found()
    config = _config(folder / "config.toml", found)
    _model(config, known, found)
    if (effort := config.get("model_reasoning_effort")) in _EFFORTS:
        found.settings["model.effort"] = effort
    servers = config.get("mcp_servers")
    found.servers(servers if isinstance(servers, dict) else {})
    if (policy := config.get("approval_policy")) == "never":
        found.left.append((f"approval_policy: {policy}", "it asks nothing; say so yourself: policy.mode"))
    elif policy:
        found.left.append(("approval_policy", "what is risky is asked about here anyway"))
    for name in sorted(config.keys() - _READ):
        found.left.append((name, "no setting here means the same"))
    _login(folder / "auth.json", found)
    found.user += blocks(text_of(folder / "AGENTS.md"))
    found.skills += skills_below(folder / "skills")
    found.sessions = lambda: _sessions(folder)
    for name, why in (
        ("prompts", "prompts are skills here: write one with hermes skills new"),
        ("rules", "rules over commands are written otherwise here: policy.allow, policy.deny"),
    ):
        if (folder / name).exists():
            found.left.append((name, why))
    return found


def _config(path: Path, found: Found) -> dict[str, Any]:
    try:
        return tomllib.loads(text_of(path))
    except tomllib.TOMLDecodeError as error:
        found.left.append((path.name, f"it cannot be read: {error}"))
        return {}


def _model(config: dict[str, Any], known: Known, found: Found) -> None:
    own = config.get("model_providers")
    made: set[str] = set()
    for name, one in (own if isinstance(own, dict) else {}).items():
        if not isinstance(one, dict) or not isinstance(one.get("base_url"), str):
            found.left.append((f"model_providers.{name}", "it has no address"))
            continue
        made.add(name)
        found.settings[f"providers.{name}.base_url"] = one["base_url"]
        if isinstance(one.get("env_key"), str):
            found.settings[f"providers.{name}.key_env"] = one["env_key"]
        if protocol := _PROTOCOLS.get(one.get("wire_api", "")):
            found.settings[f"providers.{name}.protocol"] = protocol
    model, provider = config.get("model"), config.get("model_provider", "openai")
    if not isinstance(model, str):
        return
    if provider in known.providers or provider in made:
        found.settings |= {"model.provider": provider, "model.default": model}
    else:
        found.left.append((f"model: {model}", f"no provider {provider} is here; choose with: hermes model"))


def _login(path: Path, found: Found) -> None:
    try:
        kept = json.loads(text_of(path) or "{}")
    except ValueError:
        kept = {}
    if not isinstance(kept, dict):
        return
    key = kept.get("OPENAI_API_KEY")
    if isinstance(key, str) and key:
        found.keys["OPENAI_API_KEY"] = key
    if kept.get("tokens"):
        found.left.append(("auth.json", "a login is not carried over; log in with: hermes setup"))


def _sessions(folder: Path) -> Iterator[Past]:
    paths = [*(folder / "sessions").rglob("rollout-*.jsonl"), *(folder / "archived_sessions").rglob("rollout-*.jsonl")]
    for path in sorted(paths):
        telling, name, when = Telling(), path.stem, ""
        for line in lines_of(path):
            payload = line.get("payload")
            if not isinstance(payload, dict):
                continue
            if line.get("type") == "session_meta":
                name, when = str(payload.get("id") or name), str(payload.get("timestamp") or line.get("timestamp", ""))
            elif line.get("type") == "response_item":
                _item(telling, payload)
        if messages := telling.messages():
            yield Past(name, "", when, messages)


def _item(telling: Telling, item: dict[str, Any]) -> None:
    kind, call_id = item.get("type"), str(item.get("call_id", ""))
    if kind == "message":
        said = [text for text in texts_of(item.get("content")) if not text.lstrip().startswith(_PUT_IN)]
        telling.say(str(item.get("role", "")), *said)
    elif kind in ("function_call", "custom_tool_call"):
        telling.call(call_id, str(item.get("name", "")), item.get("arguments", item.get("input")))
    elif kind in ("function_call_output", "custom_tool_call_output"):
        output = item.get("output")
        if isinstance(output, dict):
            output = output.get("content")
        telling.result(call_id, output if isinstance(output, str) else "\n".join(texts_of(output)))
