"""Which settings of Hermes Agent mean the same here, and under which name."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from hermes_core.types import JSON
from hermes_tool_migrate.found import Found, Known, commands_of, is_key

__all__ = ["read_environment", "read_settings"]

# Its dotted name -> ours, and its default: a value that it would have anyway says nothing of the person.
_BY_NAME: dict[str, tuple[str, object]] = {
    "agent.max_turns": ("agent.max_calls", 90),
    "agent.api_max_retries": ("agent.model_tries", 3),
    "agent.reasoning_effort": ("model.effort", ""),
    "terminal.backend": ("terminal.backend", "local"),
    "terminal.docker_image": ("backends.docker.image", "nikolaik/python-nodejs:python3.11-nodejs20"),
    "memory.memory_char_limit": ("memories.files.memory_chars", 2200),
    "memory.user_char_limit": ("memories.files.user_chars", 1375),
    "privacy.redact_pii": ("privacy.redact_pii", False),
    "security.allow_private_urls": ("security.allow_private_urls", False),
    "security.website_blocklist.domains": ("security.blocked_sites", []),
    "logging.level": ("logging.level", "INFO"),
    "logging.max_size_mb": ("logging.max_size_mb", 5),
    "logging.backup_count": ("logging.backup_count", 3),
    "tool_output.max_bytes": ("agent.output_bytes", 50_000),
    "group_sessions_per_user": ("gateway.group_sessions_per_user", None),
    "thread_sessions_per_user": ("gateway.thread_sessions_per_user", None),
    "streaming.enabled": ("gateway.streaming", False),
    "display.interface": ("display.interface", "cli"),
    "display.personality": ("tools.persona.personality", ""),
}
_MODES = {"manual": "ask", "smart": "smart"}
_PROTOCOLS = {"chat_completions": "chat", "codex_responses": "responses", "anthropic_messages": "messages"}
_PROVIDER = {
    "base_url": "base_url",
    "key_env": "key_env",
    "context_length": "context_length",
    "extra_body": "extra_body",
}
_IN_BLOCKS = {"require_mention", "free_response_chats"}  # of the block of a platform
_PEOPLE = {  # of the environment, behind the platform's name
    "allowed_users": "allowed_users",
    "group_allowed_chats": "allowed_chats",
    "free_response_chats": "free_response_chats",
}
_READ = {
    "model", "providers", "custom_providers", "fallback_providers", "approvals", "command_allowlist", "mcp_servers",
    "quick_commands", "secrets", "toolsets",
}  # fmt: skip


def read_settings(config: Mapping[str, Any], known: Known, found: Found) -> None:
    """Fill in what its settings say, and name those that mean nothing here."""
    own = _providers(config, found)
    _model(config, known.providers | own, found)
    _approvals(_section(config, "approvals"), config.get("command_allowlist"), found)
    found.servers(_section(config, "mcp_servers"))
    _stores(_section(config, "secrets"), found)
    for name, one in _section(config, "quick_commands").items():
        command = one.get("command") if isinstance(one, dict) else None
        if isinstance(command, str) and one.get("type", "exec") == "exec":
            found.settings[f"quick_commands.{name}"] = {"type": "exec", "command": command}
        else:
            found.left.append((f"quick_commands.{name}", "only those that run a command have a place here"))
    for name in known.platforms:
        block = _section(config, name)
        found.settings |= {f"platforms.{name}.{key}": block[key] for key in _IN_BLOCKS & block.keys()}
    _others({key: one for key, one in config.items() if key not in _READ | known.platforms}, known, found)


def _stores(stores: Mapping[str, Any], found: Found) -> None:
    """Fill in which keys are read in a password store; the keys themselves stay there."""
    one, places = _section(stores, "onepassword"), _section(_section(stores, "onepassword"), "env")
    for name, place in places.items() if one.get("enabled") else ():
        if isinstance(place, str) and place.startswith("op://") and re.fullmatch(r"[A-Z][A-Z0-9_]*", str(name)):
            found.settings[f"secrets.env.{name}"] = place
        else:
            found.left.append((f"secrets.onepassword.env.{name}", "it names no place of 1Password"))
    if _section(stores, "bitwarden").get("enabled"):
        found.settings["secrets.bulk"] = ["bws"]


def _section(config: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    one = config.get(name)
    return one if isinstance(one, dict) else {}


def _others(config: Mapping[str, Any], known: Known, found: Found) -> None:
    unknown: dict[str, list[str]] = {}
    for key, value in _flat(config):
        ours, default = _BY_NAME.get(key, ("", None))
        if key == "terminal.cwd" and isinstance(value, str) and value.startswith(("/", "~")):
            found.settings[key] = value
        elif ours == "terminal.backend" and value not in known.backends:
            found.left.append((f"{key}: {value}", "no backend of that name is here"))
        elif ours and value != default:
            found.settings[ours] = value
        elif not ours and value not in (None, "", [], {}):
            section, _, rest = key.partition(".")
            unknown.setdefault(section, []).append(rest)
    for section, keys in sorted(unknown.items()):
        named = f"{section}: {', '.join(keys)}" if any(keys) else section
        found.left.append((named, "no setting here means the same"))


def _flat(data: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in data.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value


def _providers(config: Mapping[str, Any], found: Found) -> set[str]:
    """Fill in the providers that a person wrote down, and return their names."""
    own = {str(name): one for name, one in _section(config, "providers").items() if isinstance(one, dict)}
    customs = config.get("custom_providers")
    for one in customs if isinstance(customs, list) else ():
        if isinstance(one, dict) and isinstance(one.get("name"), str):
            own[re.sub(r"[^a-z0-9_-]+", "-", one["name"].lower()).strip("-") or "custom"] = one
    for name, one in own.items():
        place = f"providers.{name}"
        found.settings |= {f"{place}.{ours}": one[key] for key, ours in _PROVIDER.items() if key in one}
        if one.get("api_mode") in _PROTOCOLS:
            found.settings[f"{place}.protocol"] = _PROTOCOLS[one["api_mode"]]
        if is_key(variable := f"{name.upper().replace('-', '_')}_API_KEY", one.get("api_key")):
            found.keys[variable] = one["api_key"]
            found.settings[f"{place}.key_env"] = variable
    return set(own)


def _model(config: Mapping[str, Any], known: frozenset[str], found: Found) -> None:
    model = config.get("model")
    said = {"default": model} if isinstance(model, str) else model if isinstance(model, dict) else {}
    provider, name = str(said.get("provider") or "").replace("auto", ""), said.get("default") or said.get("model")
    if provider and provider not in known:
        found.left.append((f"model: {name} of {provider}", "no provider of that name is here; choose: hermes model"))
    elif name:
        chosen = {key: said.get(key) for key in ("base_url", "context_length", "max_tokens")}
        chosen |= {"provider": provider, "default": name, "protocol": _PROTOCOLS.get(str(said.get("api_mode")), "")}
        found.settings |= {f"model.{key}": value for key, value in chosen.items() if value}
        if is_key(variable := f"{(provider or 'custom').upper().replace('-', '_')}_API_KEY", said.get("api_key")):
            found.keys[variable] = said["api_key"]
    fallbacks: list[JSON] = []
    others = config.get("fallback_providers")
    for one in others if isinstance(others, list) else ():
        if isinstance(one, dict) and one.get("provider") in known:
            fallbacks.append({key: one[key] for key in ("provider", "model", "base_url", "key_env") if one.get(key)})
        else:
            found.left.append((f"fallback: {one}", "no provider of that name is here"))
    if fallbacks:
        found.settings["fallback_providers"] = fallbacks


def _approvals(rules: Mapping[str, Any], allowed: object, found: Found) -> None:
    mode = "off" if rules.get("mode") is False else rules.get("mode")  # YAML takes a bare off for false
    if mode in _MODES:
        found.settings["policy.mode"] = _MODES[mode]
    elif mode:
        found.left.append((f"approvals.mode: {mode}", "nothing is asked then; say so yourself: policy.mode"))
    if rules.get("timeout", 60) != 60:
        found.settings["policy.ask_seconds"] = rules["timeout"]
    for key, given, ours in (("approvals.deny", rules.get("deny"), "policy.deny"),
                             ("command_allowlist", allowed, "policy.allow")):  # fmt: skip
        if made := commands_of(given if isinstance(given, list) else (), found, key):
            found.settings[ours] = made
    if left := sorted(rules.keys() - {"mode", "timeout", "deny"}):
        found.left.append((f"approvals: {', '.join(left)}", "no setting here means the same"))


def read_environment(env: Mapping[str, str], known: Known, found: Found) -> None:
    """Fill in the keys of its ``.env``, and who may talk on which platform."""
    for name, value in env.items():
        platform, _, rest = name.lower().partition("_")
        people: list[JSON] = [one.strip() for one in value.split(",") if one.strip() not in ("", "*")]
        if is_key(name, value):
            found.keys[name] = value
        elif rest in _PEOPLE and platform in known.platforms and people:
            found.settings[f"platforms.{platform}.{_PEOPLE[rest]}"] = people
        elif rest == "home_channel":
            found.left.append((f"{name}: {value}", "say /sethome in that chat"))
        elif rest.endswith(("allowed_users", "allowed_chats")) or rest == "allow_all_users":
            here = platform in (*known.platforms, "gateway")  # the latter stands for all of them
            found.left.append((name, "say yourself who may talk there" if here else f"no platform {platform} is here"))
