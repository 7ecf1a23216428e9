"""What this repository has: plugins that need no question, commands. Made by tests/house/published.py."""
# fmt: off
# ruff: noqa: E501

__all__ = ["COMMANDS", "MOST", "OWN"]

MOST = "hermes-core[standard]"  # what most people want
OWN = (
    "hermes-backend-bubblewrap",
    "hermes-backend-docker",
    "hermes-backend-local",
    "hermes-backend-postgresql",
    "hermes-backend-procrastinate",
    "hermes-backend-ssh",
    "hermes-memory-compressor",
    "hermes-memory-files",
    "hermes-platform-api",
    "hermes-platform-cli",
    "hermes-platform-gateway",
    "hermes-platform-matrix",
    "hermes-platform-telegram",
    "hermes-platform-tui",
    "hermes-provider-anthropic",
    "hermes-provider-offline",
    "hermes-provider-openai",
    "hermes-tool-checkpoints",
    "hermes-tool-clarify",
    "hermes-tool-commands",
    "hermes-tool-context-files",
    "hermes-tool-delegate",
    "hermes-tool-files",
    "hermes-tool-guard",
    "hermes-tool-loops",
    "hermes-tool-message",
    "hermes-tool-persona",
    "hermes-tool-recall",
    "hermes-tool-redaction",
    "hermes-tool-references",
    "hermes-tool-search",
    "hermes-tool-skills",
    "hermes-tool-terminal",
    "hermes-tool-todo",
    "hermes-tool-transcripts",
    "hermes-tool-web",
    "hermes-tool-workshop",
)
COMMANDS = {  # their first words; of those below a heading of the kernel all
    "hermes-platform-api": ("api",),
    "hermes-platform-cli": ("approvals", "config show", "grants", "insights", "logs", "model", "plugins install", "plugins remove", "plugins sync", "prompt-size", "resume", "sessions", "setup", "tools", "why"),
    "hermes-platform-gateway": ("gateway",),
    "hermes-platform-tui": ("web",),
    "hermes-tool-checkpoints": ("checkpoints",),
    "hermes-tool-guard": ("guard",),
    "hermes-tool-metrics": ("metrics",),
    "hermes-tool-redaction": ("redact",),
    "hermes-tool-skills": ("skills",),
    "hermes-tool-workshop": ("workshop",),
}
