"""Write what is derived from the catalogue: the module ``listed.py`` and the lists of the manifest.

Run it after a file in ``catalogue/`` was added or changed: ``python generate.py``. A test compares.
"""

import json
import sys
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

PACKAGE = Path(__file__).parent / "src" / "hermes_provider_openai"
sys.path.insert(0, str(PACKAGE.parent))

from hermes_openai_wire.entry import Entry, parse_entry  # noqa: E402
from hermes_provider_openai.entry import FOLDER  # noqa: E402

FIELDS = ("name", "aliases", "priority", "env", "base_url", "base_url_env", "default_model", "local")
HEAD = '''"""The services of the catalogue, as far as listing and choosing needs them. Written by ``generate.py``."""

from hermes_provider_kit.listed import Listed

__all__ = ["LISTED"]

LISTED: tuple[Listed, ...] = (
'''


def entries() -> list[Entry]:
    """The whole catalogue, in the order of the automatic choice."""
    found = [parse_entry(tomllib.loads(p.read_text(encoding="utf-8")), where=p.name) for p in FOLDER.glob("*.toml")]
    return sorted(found, key=lambda entry: (entry.priority, entry.name))


def listed_source(catalogue: list[Entry]) -> str:
    """The text of ``listed.py``."""
    rows = []
    for entry in catalogue:
        fields = [getattr(entry, name) for name in FIELDS]
        rows.append("    Listed(\n" + "".join(f"        {_literal(field)},\n" for field in fields) + "    ),\n")
    return HEAD + "".join(rows) + ")\n"


def _literal(value: object) -> str:
    if isinstance(value, tuple):
        inner = ", ".join(json.dumps(item) for item in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    return json.dumps(value) if isinstance(value, str) else repr(value)


def manifest_source(catalogue: list[Entry]) -> str:
    """The text of the manifest."""
    names = [name for entry in catalogue for name in (entry.name, *entry.aliases)]
    secrets = {name for entry in catalogue for name in (*entry.env, entry.base_url_env) if name}
    hosts = {urlsplit(entry.base_url).hostname or "" for entry in catalogue} - {""}
    return (
        'api = 1\nname = "openai"\nkind = "provider"\n'
        'summary = "Every service that speaks the OpenAI chat-completions or responses protocol."\n\n'
        f"[contributes]\nproviders = {_list(names)}\n\n"
        f"[setup]\n{''.join(map(_record, catalogue))}\n"
        "[permissions]\n"
        f"secrets = {_list(sorted(secrets))}\n"
        "# and whatever address you set yourself\n"
        f"network = {_list([*sorted(hosts), '*'])}\n"
    )


def _record(entry: Entry) -> str:
    """What people see of a service before it is set up."""
    summary = json.dumps(f"{entry.title}: {entry.summary}", ensure_ascii=False)
    return f'{entry.name} = {{ summary = {summary}, group = "Who answers" }}\n'


def _list(items: list[str]) -> str:
    return "[\n" + "".join(f"    {json.dumps(item)},\n" for item in items) + "]"


if __name__ == "__main__":
    (PACKAGE / "listed.py").write_text(listed_source(entries()), encoding="utf-8")
    (PACKAGE / "hermes-plugin.toml").write_text(manifest_source(entries()), encoding="utf-8")
