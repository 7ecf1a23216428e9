"""A new plugin as a whole package: manifest, module, README, quality scale, a passing contract test, one own test."""

import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from string import Template

from hermes_core.errors import UnknownName, UserError

__all__ = ["new_plugin"]

TABLES = {
    "backend": "backends",
    "memory": "memories",
    "platform": "platforms",
    "provider": "providers",
    "tool": "tools",
}
TEMPLATES = Path(__file__).with_name("templates")
KINDS = tuple(sorted(path.name for path in TEMPLATES.iterdir() if path.name != "common"))


def new_plugin(kind: str, name: str, into: Path) -> list[Path]:
    """Write the package ``hermes-KIND-NAME`` into a folder; the written files, sorted.

    What is no kind of its own is a tool that adds no tool: ``command`` and ``slash`` are typed by people, ``hooks``
    only take part in what Hermes does, ``routes`` serve HTTP, a ``service`` works in the background, ``setup`` asks a
    person.

    The package is written as a whole or not at all, and never over something that is there. Raises UnknownName for a
    kind that does not exist, UserError for a bad name or a place that cannot be written.
    """
    if kind not in KINDS:
        raise UnknownName("kind of plugin", kind, KINDS)
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) or len(name) > 40:
        raise UserError(
            f"{name!r} cannot be the name of a plugin.",
            hint="Use lower-case letters and digits, words joined by single hyphens, 40 characters at most: my-tool",
        )
    target = into / f"hermes-{_kind(kind)}-{name}"
    if target.exists():
        raise UserError(f"{target} is there already.", hint="Choose another name, or remove it first.")
    try:
        into.mkdir(parents=True, exist_ok=True)
        _write(kind, name, target)
    except OSError as error:
        raise UserError(
            f"{target} cannot be written: {error.strerror or error}.", hint="Choose another folder with --into."
        ) from error
    return sorted(path for path in target.rglob("*") if path.is_file())


def _write(kind: str, name: str, target: Path) -> None:
    scratch = Path(tempfile.mkdtemp(prefix=".hermes-new-", dir=target.parent))
    try:
        package = scratch / target.name
        for path, text in _rendered(kind, name):
            file = package / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        package.rename(target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _rendered(kind: str, name: str) -> Iterator[tuple[str, str]]:
    """Where each file goes, and what it says."""
    module = f"hermes_{_kind(kind)}_{name.replace('-', '_')}"
    constant = name.replace("-", "_").upper()
    words = {
        "kind": _kind(kind),
        "name": name,
        "constant": constant,
        "permissions": f"It asks for the secret `{constant}_TOKEN`." if kind == "setup" else "None.",
        "identifier": name.replace("-", "_"),
        "class_name": _class_name(kind, name),
        "module": module,
        "distribution": f"hermes-{_kind(kind)}-{name}",
        "table": TABLES.get(kind, ""),
    }
    places = {
        "pyproject.toml": "pyproject.toml",
        "README.md": "README.md",
        "quality.yaml": "quality.yaml",
        "gitignore": ".gitignore",
        "manifest.toml": f"src/{module}/hermes-plugin.toml",
        "module.py": f"src/{module}/__init__.py",
        "config.py": f"src/{module}/config.py",
        "py.typed": f"src/{module}/py.typed",
        "test_contract.py": f"tests/test_{words['identifier']}_contract.py",
        "test_own.py": f"tests/test_{words['identifier']}.py",
    }
    for source, place in places.items():
        own, common = TEMPLATES / kind / f"{source}.in", TEMPLATES / "common" / f"{source}.in"
        template = own if own.is_file() else common
        if template.is_file():
            yield place, Template(template.read_text(encoding="utf-8")).substitute(words)


def _kind(kind: str) -> str:
    """What stands in the manifest and in names."""
    return kind if kind in TABLES else "tool"


def _class_name(kind: str, name: str) -> str:
    """The name in capitals; with ``My`` in front when the template has a class, or another word, of that name."""
    words = "".join(word.capitalize() for word in name.split("-"))
    taken = (TEMPLATES / kind / "module.py.in").read_text(encoding="utf-8")
    return f"My{words}" if re.search(rf"\b{words}\b", taken) else words
