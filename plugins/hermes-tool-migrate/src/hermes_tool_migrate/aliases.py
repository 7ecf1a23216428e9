"""Settings of Hermes Agent by the names of ours: those that programs write which start it, and that mean the same here.

What is none of them stays where it is, so that the check of settings says of it that there is no such setting.
The names: verifiers 0.4, ``verifiers/v1/harnesses/hermes_agent/harness.py``.
"""

import re
from collections.abc import Mapping
from typing import Any

from hermes_core.errors import UserError

__all__ = ["spelled_here"]

_MODES = {"manual": "ask", "smart": "smart", "off": "off", False: "off"}  # YAML takes a bare off for false
_PROTOCOLS = {"chat_completions": "chat", "codex_responses": "responses", "anthropic_messages": "messages"}
_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)\}")


def spelled_here(config: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings with its names brought to ours; equal to ``config`` where none of them is there.

    ``environ`` has what ``${NAME}`` stands for in a transport, and the model of this run, ``HERMES_INFERENCE_MODEL``.
    Raises UserError for a value of theirs that means nothing here.
    """
    made = dict(config)
    for name in ("providers", "auxiliary"):
        if isinstance(section := config.get(name), dict):
            spell = _provider if name == "providers" else _auxiliary
            made[name] = {key: spell(one, environ) if isinstance(one, dict) else one for key, one in section.items()}
    if isinstance(tasks := made.get("auxiliary"), dict):  # a task of which nothing is left is no task
        made["auxiliary"] = {key: one for key, one in tasks.items() if one or not config["auxiliary"][key]}
    approvals, policy = config.get("approvals"), config.get("policy") or {}
    if isinstance(approvals, dict) and "mode" in approvals and isinstance(policy, dict):
        mode, rest = approvals["mode"], {key: one for key, one in approvals.items() if key != "mode"}
        made["policy"] = {**policy, "mode": _of(_MODES, "approvals.mode", mode)}
        made |= {"approvals": rest}
        if not rest:
            del made["approvals"]
    theirs = made != config
    if theirs and (model := environ.get("HERMES_INFERENCE_MODEL")):
        said = made.get("model")
        made["model"] = {**(said if isinstance(said, dict) else {}), "default": model}
    return made


def _provider(said: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    made = {key: one for key, one in said.items() if key not in ("api", "transport", "discover_models")}
    if "api" in said:
        made["base_url"] = said["api"]
    if "transport" in said:
        transport = _VARIABLE.sub(lambda match: environ.get(match[1], match[0]), str(said["transport"]))
        made["protocol"] = _of(_PROTOCOLS, "transport", transport)
    if not isinstance(said.get("discover_models", False), bool):
        raise UserError("discover_models of a provider is true or false.")
    return made  # which models there are is asked here when somebody wants to see them


def _auxiliary(said: Mapping[str, Any], _environ: Mapping[str, str]) -> dict[str, Any]:
    """Leave out that a task is switched off which no model is called for here: titles are words of the person."""
    return {key: one for key, one in said.items() if (key, one) != ("enabled", False)}


def _of(known: Mapping[Any, str], name: str, value: object) -> str:
    if not isinstance(value, str | bool) or value not in known:
        named = ", ".join(one for one in known if isinstance(one, str))
        raise UserError(f"{name} is {str(value)[:80]!r}, which means nothing here: {named}.")
    return known[value]
