"""The page of the manifest's keys."""

import re

from hermes_core.plugins import manifest
from hermes_reference.markdown import block, code, joined, table
from hermes_reference.source import REPOSITORY

MEANINGS = {
    "api": "The version of the plugin API: `1`. It is read first, so that a future manifest says so plainly.",
    "name": "Lower-case letters, digits, `-` and `_`. Unique within its kind.",
    "kind": "What the plugin is.",
    "summary": "One sentence for `hermes plugins list`.",
    "homepage": "Where to read more.",
    "alive": "With `serving`, its hooks, tool sources, services and the like live only where it serves; else always.",
    "contributes.providers": "Providers that `register_providers` gives.",
    "contributes.routers": "Who has model calls answered, that `register_routers` gives.",
    "contributes.tools": "Tools that `register_tools` gives.",
    "contributes.tool_sources": "Where tools come from that come and go, given by `register_tool_sources`.",
    "contributes.backends": "Backends that `register_backends` gives.",
    "contributes.platforms": "Platforms that `register_platforms` gives.",
    "contributes.memories": "Memories that `register_memories` gives.",
    "contributes.queues": "Turn queues that `register_queues` gives.",
    "contributes.stores": "Schemes of addresses whose stores `register_stores` opens: `postgresql`.",
    "contributes.services": "Work in the background that `register_services` gives.",
    "contributes.resources": "Long-lived things of a session that `register_resources` gives.",
    "contributes.routes": "What is served over HTTP, that `register_routes` gives.",
    "contributes.jobs": "Work beside conversations that `register_jobs` gives.",
    "contributes.openings": "What `register_openings` asks before a new conversation begins in a folder.",
    "contributes.checks": "Checks of `register_checks` that `hermes doctor --NAME` runs in full, and cheap ones.",
    "contributes.completers": "Ways to go on typing that `register_completers` gives.",
    "contributes.mailboxes": "Who sends to chats, that `register_mailboxes` gives.",
    "contributes.purses": "Who limits what turns use, that `register_purses` gives.",
    "contributes.roles": "Who says what people other than the owner may do, that `register_roles` gives.",
    "contributes.consoles": "What drives the console of a terminal, that `register_consoles` gives.",
    "contributes.maskers": "What finds secrets in texts, that `register_maskers` gives.",
    "contributes.secret_sources": "Where secrets are read that lie elsewhere, that `register_secret_sources` gives.",
    "contributes.setup": "Setup steps without a table of their own: only for older plugins.",
    "contributes.commands": "`hermes` commands that are headings, too; others need their table alone.",
    "commands.WORDS.summary": 'What the `hermes` command of these words does: `[commands."telegram login"]`.',
    "commands.WORDS.group": "Under which heading of `hermes --help` it stands.",
    "commands.WORDS.who": "Who may run it; `person`: no tool of Hermes.",
    "commands.WORDS.examples": "What one may type, each a whole line; shown by `--help`.",
    "commands.WORDS.default": "Whether `hermes` without a command runs it, and `hermes -z TEXT`.",
    "contributes.slash": "Slash commands without a table of their own: only for older plugins.",
    "slash.NAME.summary": "What the slash command of this name does: `[slash.rollback]`.",
    "slash.NAME.group": "Under which heading it stands.",
    "slash.NAME.who": "Who may use it; `person`: admins, and no tool of Hermes. Usually `admin`.",
    "slash.NAME.examples": "What one may type, each a whole line; `/help NAME` shows it.",
    "slash.NAME.usage": "What may follow its name, as help shows it.",
    "slash.NAME.where": "Where it works; usually everywhere.",
    "slash.NAME.aliases": "Other names of it.",
    "slash.NAME.at_once": "It does not wait for the end of a running turn.",
    "slash.NAME.each": "Every one of its options is a command as well: `/NAME` for `/skill NAME`.",
    "slash.NAME.confirm": "It asks before it takes something away.",
    "setup.NAME.summary": "What `hermes setup NAME` sets up.",
    "setup.NAME.group": "Under which heading it stands.",
    "setup.NAME.who": "Who may run it; `person`: no tool of Hermes, as it is unless you say so.",
    "setup.NAME.examples": "What one may type, each a whole line.",
    "contributes.skills": "Folders beside the manifest.",
    "hooks.use": "Hooks that need the plugin during a session: every hook that is not `register_*`.",
    "config.section": "Where its settings stand in `config.yaml`: `platforms.telegram`.",
    "config.class": "The settings class: `package.module:Class`.",
    "config.summary": "What these settings are for, where the summary of the plugin does not say it.",
    "config.group": "Under which heading they stand.",
    "config.examples": "What one may write, each a whole line: `hermes config set …`.",
    "permissions.secrets": "**Enforced.** Secrets it may read, by the names of environment variables.",
    "permissions.kernel": "**Enforced.** What it may ask of the kernel.",
    "permissions.public": "**Enforced.** Its routes that anybody is answered at, without a key.",
    "permissions.network": "Disclosed. Hosts it connects to.",
    "permissions.processes": "Disclosed. Programs it starts.",
    "permissions.files": "Disclosed. Files and folders of yours it opens.",
}
TYPES = {int: "whole number", bool: "true or false", str: "text", list: "list of texts", dict: "table"}


def keys() -> dict[str, type]:
    """Every key a manifest may hold, dotted, with its type."""
    shape = manifest._SHAPE
    top = {key: kind for key, kind in shape[""].items() if kind is not dict}
    for table_, known in manifest.RECORDS.items():
        top |= {f"{table_}.{'WORDS' if table_ == 'commands' else 'NAME'}.{key}": kind for key, kind in known.items()}
    return top | {f"{t}.{key}": kind for t, inner in shape.items() if t for key, kind in inner.items()}


def page() -> str:
    """Every key of a manifest."""
    rows = [(code(key), TYPES[kind], _must(key), MEANINGS[key] + _choices(key)) for key, kind in keys().items()]
    example = REPOSITORY / "plugins/hermes-memory-files/src/hermes_memory_files/hermes-plugin.toml"
    return joined(
        "# Manifest",
        f"`{manifest.FILE}` says what a plugin is, adds and asks for. It is read without running the plugin.",
        table(("key", "type", "", "meaning"), rows),
        "Tables that start with `x-` are ignored. Any other unknown key is an error that names the nearest key. "
        "A name in `[contributes]` may end with `*` when the rest is only known at run time.",
        "## Where it stands",
        "In a package: beside `__init__.py`. In a folder under `~/.hermes/plugins/`: the same. In a single file "
        "under `~/.hermes/plugins/`: as a comment block.",
        block('# /// hermes\n# api = 1\n# name = "dice"\n# kind = "tool"\n# summary = "Rolls dice."\n#\n'
              '# [contributes]\n# tools = ["roll"]\n# ///'),
        "## An example",
        "From hermes-memory-files:",
        block(example.read_text(encoding="utf-8").strip(), "toml"),
    )  # fmt: skip


def _must(key: str) -> str:
    return "required" if key in ("api", "name", "kind", "summary") or re.fullmatch(r"\w+\.[A-Z]+\.summary", key) else ""


def _choices(key: str) -> str:
    if key == "hooks.use":
        return " See {doc}`hooks`."
    found = manifest._CHOICES.get(re.sub(r"\.[A-Z]+\.", ".", key)) or manifest._CHOICES.get(key.rpartition(".")[2], ())
    return f" One of: {', '.join(code(c) for c in found)}." if found else ""
