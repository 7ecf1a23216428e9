"""What the distributions of this repository say alike, made from the folder ``plugins/``: no list is kept by hand.

A plugin's own ``pyproject.toml`` says which extras of ``hermes-core`` it is part of and whether it is on without being
asked about (``[tool.hermes]``). From that come the extras and the workspace's sources in the root's ``pyproject.toml``,
and ``hermes_core/own.py``. Each distribution gets the kernel's version, licence, addresses and classifiers.

    python tests/house/published.py            # says what is behind
    python tests/house/published.py --write    # brings it up to date; `uv lock` follows
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from hermes_core import hooks
from hermes_core.plugins.consent import ENFORCED
from hermes_core.plugins.implementation import KINDS
from hermes_core.records import KERNEL

ROOT = Path(__file__).parents[2]
PLUGINS = sorted(path.parent for path in ROOT.glob("plugins/*/pyproject.toml"))
_SETS = ("standard", "all")


def behind() -> dict[Path, str]:
    """The files that are not as the folder makes them, and what they should be."""
    return {path: text for path, text in _made() if not path.is_file() or path.read_text("utf-8") != text}


def _made() -> Iterator[tuple[Path, str]]:
    root = (ROOT / "pyproject.toml").read_text("utf-8")
    known = tomllib.loads(root)
    yield ROOT / "pyproject.toml", _with_links(_with_sources(_with_extras(root)), known)
    yield ROOT / "hermes_core" / "own.py", _own()
    licence = (ROOT / "LICENSE").read_text("utf-8")
    for plugin in PLUGINS:
        text = (plugin / "pyproject.toml").read_text("utf-8")
        yield plugin / "pyproject.toml", _with_common_facts(text, known)
        yield plugin / "LICENSE", licence


def _said(plugin: Path) -> dict[str, object]:
    tool: dict[str, dict[str, object]] = tomllib.loads((plugin / "pyproject.toml").read_text("utf-8"))["tool"]
    return tool.get("hermes", {})


def _with_extras(root: str) -> str:
    for name in _SETS:
        members = [p.name for p in PLUGINS if name in _strings(_said(p).get("extras"))]
        lines = "".join(f'    "{member}>=1.0,<2",\n' for member in members)
        root = re.sub(rf"(?ms)^{name} = \[\n.*?^\]\n", f"{name} = [\n{lines}]\n", root, count=1)
    return root


def _with_sources(root: str) -> str:
    names = ["hermes-core", *(plugin.name for plugin in PLUGINS)]
    lines = "".join(f"{name} = {{ workspace = true }}\n" for name in names)
    return re.sub(r"(?ms)^\[tool\.uv\.sources\]\n(?:hermes-.*?\n)+", f"[tool.uv.sources]\n{lines}", root, count=1)


def _with_links(root: str, known: dict[str, dict[str, object]]) -> str:
    """The README's links lead to where the source is: the one place that says so is ``[project.urls]``."""
    urls = known["project"]["urls"]
    source = str(urls.get("Source", "")) if isinstance(urls, dict) else ""
    return re.sub(r"(?m)^replacement = .*$", lambda _: rf"replacement = ']({source}/\1)'", root)


def _own() -> str:
    lines = "".join(f'    "{plugin.name}",\n' for plugin in PLUGINS if _said(plugin).get("own"))
    words: dict[str, list[str]] = {}
    kernel = {record.first for record in KERNEL}
    for word, name, _ in sorted(_commands(), key=lambda one: one[:2]):
        if (first := word.partition(" ")[0]) in kernel or word == first:
            words.setdefault(name, []).append(word)
    commands = "".join(f'    "{name}": {tuple(found)!r},\n'.replace("'", '"') for name, found in sorted(words.items()))
    offers = sorted((plugin.name, sorted(found)) for plugin in PLUGINS if (found := _offered(plugin)))
    providers = "".join(f'    "{name}": {tuple(found)!r},\n'.replace("'", '"') for name, found in offers)
    about = '"""What this repository has, and what manifests may name. Made by tests/house/published.py."""'
    most = 'MOST = "hermes-core[standard]"  # what most people want'
    talks = next(word for word, _, row in _commands() if row.get("default"))
    default = f'DEFAULT = "{talks}"  # what runs where no command is named'
    names = '["COMMANDS", "DEFAULT", "HOOKS", "KERNEL", "MOST", "OWN", "PROVIDERS", "TABLES"]'
    head = f"{about}\n# fmt: off\n# ruff: noqa: E501\n\n__all__ = {names}\n\n{most}\n{default}\n"
    rest = "# their first words; of those below a heading of the kernel all"
    turned = "PROVIDERS = {one: package for package, found in _BROUGHT.items() for one in found}"
    known = f"_BROUGHT = {{\n{providers}}}\n{turned}\n"
    return f"{head}OWN = (\n{lines})\nCOMMANDS = {{  {rest}\n{commands}}}\n{known}{_contract()}"


def _offered(plugin: Path) -> list[str]:
    """The providers of a plugin, by its manifest."""
    found = [tomllib.loads(one.read_text("utf-8")) for one in plugin.glob("src/*/hermes-plugin.toml")]
    return [name for one in found for name in _strings(one.get("contributes", {}).get("providers"))]


def _contract() -> str:
    """What manifests may name, from where it is said: a manifest is read where that costs too much to import."""
    tables = dict.fromkeys([*(table for table, _ in KINDS.values() if table), "skills", "checks"])
    running = [hook for hook, mode in hooks.modes().items() if mode != "contribute"]
    found = {
        "TABLES": (tables, "of [contributes]: from the hooks that contribute, and what a manifest alone declares"),
        "HOOKS": (running, "of [hooks] use: from hooks.py"),
        "KERNEL": (ENFORCED, "of [permissions] kernel: from plugins/consent.py"),
    }
    return "".join(
        f"{name} = (  # {why}\n{''.join(f'    {chr(34)}{one}{chr(34)},{chr(10)}' for one in ones)})\n"
        for name, (ones, why) in found.items()
    )


def _commands() -> Iterator[tuple[str, str, dict[str, object]]]:
    """The words of plugins' commands, the distribution of each, and what its manifest says of it."""
    for plugin in PLUGINS:
        for manifest in plugin.glob("src/*/hermes-plugin.toml"):
            for words, row in tomllib.loads(manifest.read_text("utf-8")).get("commands", {}).items():
                yield words, plugin.name, row


def _with_common_facts(text: str, root: dict[str, dict[str, object]]) -> str:
    """A plugin's ``pyproject.toml`` with what all distributions say."""
    project, urls = root["project"], root["project"]["urls"]
    classifiers = "".join(f'    "{one}",\n' for one in _strings(project["classifiers"]))
    facts = f'license-files = ["LICENSE"]\nclassifiers = [\n{classifiers}]\n'
    text = re.sub(r"(?m)^license-files = .*\n", "", text)
    text = re.sub(r"(?ms)^classifiers = \[\n.*?^\]\n", "", text)
    text = re.sub(r"(?m)^(license = .*\n)", rf"\1{facts}", text, count=1)
    mates = sorted(one for one in _names(tomllib.loads(text)["project"]["dependencies"]) if one.startswith("hermes-"))
    sources = "".join(f"{one} = {{ workspace = true }}\n" for one in mates)
    text = re.sub(r"(?ms)^\[tool\.uv\.sources\]\n(?:hermes-.*?\n)+", f"[tool.uv.sources]\n{sources}", text, count=1)
    addresses = "".join(f'{name} = "{url}"\n' for name, url in urls.items()) if isinstance(urls, dict) else ""
    text = re.sub(r"(?ms)^\[project\.urls\]\n.*?\n\n", "", text)
    text = text.replace("[tool.uv.sources]\n", f"[project.urls]\n{addresses}\n[tool.uv.sources]\n", 1)
    text = re.sub(r'(?m)^version = ".*"\n', 'dynamic = ["version"]\n', text)
    version = '[tool.hatch.version]\npath = "../../hermes_core/__init__.py"\n'
    return text if version in text else f"{text.rstrip()}\n\n{version}"


def _names(requirements: list[str]) -> list[str]:
    return [re.split(r"[^a-z0-9-]", one, maxsplit=1)[0] for one in requirements]


def _strings(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else []


if __name__ == "__main__":
    found = behind()
    for path, text in found.items():
        print(f"{'written' if '--write' in sys.argv else 'behind'}: {path.relative_to(ROOT)}")
        if "--write" in sys.argv:
            path.write_text(text, encoding="utf-8")
    sys.exit(bool(found) and "--write" not in sys.argv)
