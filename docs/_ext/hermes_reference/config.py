"""The pages of the settings: the kernel's, those of the plugins of this repository, and the catalogue of providers."""

import importlib
import tomllib
from collections.abc import Iterator
from functools import cache

from hermes_core.config.schema import PLUGIN_SPACES, Config
from hermes_core.platforms import PlatformSettings
from hermes_core.plugins.manifest import Manifest, read_manifest
from hermes_core.testing.readme import settings_block
from hermes_reference.markdown import block, code, joined, table
from hermes_reference.source import REPOSITORY
from hermes_shapes.describe import settings_rows


def manifests() -> list[Manifest]:
    """The manifests of the plugins in this repository, by label."""
    found = (REPOSITORY / "plugins").glob("*/src/*/hermes-plugin.toml")
    return sorted((read_manifest(path) for path in found), key=lambda m: m.label)


def sections() -> Iterator[tuple[Manifest, type]]:
    """Each manifest that has settings of its own, with their class."""
    for one in manifests():
        if one.config_section:
            module, _, name = one.config_class.partition(":")
            yield one, getattr(importlib.import_module(module), name)


def keys() -> list[str]:
    """Every setting's dotted key."""
    rows = settings_rows(Config, "", named=True)
    rows += settings_rows(PlatformSettings, "platforms.NAME", named=True)
    for manifest, cls in sections():
        rows += settings_rows(cls, manifest.config_section, named=True)
    return [row.key for row in rows]


def page() -> str:
    """Every setting."""
    plugins = [joined(f"### {m.label}", settings_block(cls, m.config_section)) for m, cls in sections()]
    return joined(
        "# Settings",
        "They live in `~/.hermes/config.yaml`. `hermes config show --all` prints those in force, "
        "`hermes config set KEY VALUE` changes one and keeps your comments, `hermes config check` finds every problem "
        "at once, `hermes config schema` prints a JSON Schema for your editor.",
        "`${NAME}` in a text is replaced by the secret or environment variable of that name. A setting of type "
        "*Secret* may be a reference, `env:NAME`, instead of the secret itself. A secret belongs into `.env`: "
        "`hermes config set OPENROUTER_API_KEY`, which asks.",
        "## Kernel",
        settings_block(Config, ""),
        "### Other spellings",
        "`model: NAME` and `model: PROVIDER:NAME` are short for the section. In it `model` means `default`, and "
        "`api_mode: chat_completions` or `codex_responses` mean `protocol: chat` and `responses`.",
        "### Every platform",
        "These stand in the section of each platform, beside what its plugin adds; see {doc}`/how-to/people`.",
        settings_block(PlatformSettings, "platforms.NAME"),
        "## Plugins",
        f"A plugin's section stands under {', '.join(code(s) for s in PLUGIN_SPACES)}, or at the top. "
        "The section of a plugin that is not installed is kept as it is, and `hermes doctor` mentions it; one at the "
        "top is refused.",
        *plugins,
    )


@cache
def catalogue(plugin: str) -> tuple[dict[str, object], ...]:
    """The entries of a provider plugin's catalogue, in the order of the automatic choice."""
    files = (REPOSITORY / "plugins").glob(f"hermes-provider-{plugin}/src/*/catalogue/*.toml")
    found = [tomllib.loads(p.read_text(encoding="utf-8")) for p in files]
    return tuple(sorted(found, key=lambda e: (e.get("priority", 10), e["name"])))


def providers_page() -> str:
    """Every provider that can be named."""
    others = [m for m in manifests() if (m.kind == "provider" or m.contributes["providers"]) and not catalogue(m.name)]
    listed = "\n".join(f"- {', '.join(map(code, m.contributes['providers'] or (m.name,)))}: {_told(m)}" for m in others)
    return joined(
        "# Providers",
        "Say one with `--provider NAME`, `--model NAME:MODEL` or `model.provider`. Without a choice the first that is "
        "ready answers: a hosted one whose key is set, then a server on this machine, then the rules.",
        "## By the OpenAI protocol",
        services("openai"),
        "Any other server that speaks the protocol is `custom`, or a name of your own under `providers`:",
        block("providers:\n  acme: {base_url: https://llm.example.org/v1, key_env: ACME_API_KEY}", "yaml"),
        "## By the Anthropic protocol",
        services("anthropic"),
        "Any other server that speaks it is a name of your own with `like: anthropic`.",
        "## Others",
        listed,
    )


def _told(manifest: Manifest) -> str:
    """What a provider outside the catalogues is, and the secrets it looks for."""
    keys = ", ".join(map(code, manifest.secrets))
    return f"{manifest.summary} It looks for {keys}." if keys else manifest.summary


def services(plugin: str) -> str:
    """The table of a catalogue."""
    rows = []
    for entry in catalogue(plugin):
        names = ", ".join(code(str(n)) for n in (entry["name"], *entry.get("aliases", ())))  # type: ignore[misc]
        secrets = ", ".join(code(str(n)) for n in entry.get("env", ()))  # type: ignore[attr-defined]
        rows.append((names, str(entry["title"]), secrets, code(str(entry.get("base_url", "")))))
    return table(("name", "service", "key", "address"), rows)
