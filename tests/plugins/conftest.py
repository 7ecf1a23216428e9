"""Builds throwaway plugins: as installed distributions in a folder on sys.path, or as files in a user's folder.

Plugins that are only a few hooks are made with ``hooked``.
"""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


def manifest_text(label: str, tables: dict[str, dict[str, list[str]]] | None = None, api: object = 1) -> str:
    kind, name = label.split("/")
    lines = [f"api = {api}", f'name = "{name}"', f'kind = "{kind}"', 'summary = "For a test."']
    for table, values in (tables or {}).items():
        lines += [f"[{table}]", *(f"{key} = {json.dumps(value)}" for key, value in values.items())]
    return "\n".join(lines) + "\n"


class Site:
    """A folder that stands for site-packages, and a user's plugins folder beside it."""

    text = staticmethod(manifest_text)

    def __init__(self, root: Path) -> None:
        self.packages = root / "site"
        self.user = root / "home" / "plugins"
        self.cache = root / "home" / "cache" / "plugins.json"
        self.lock = root / "home" / "plugins.lock"
        self.crash_markers = root / "home" / "cache" / "importing"
        self.packages.mkdir(parents=True)
        self.user.mkdir(parents=True)

    def package(
        self, label, code="", *, tables=None, distribution="", module="", manifest=None, version="1.0", api=1, files=(),
        attribute="",
    ):  # fmt: skip
        """Install a distribution. ``manifest=""`` leaves the manifest out; ``attribute`` is of its entry point."""
        distribution = distribution or "hermes-" + label.replace("/", "-")
        module = module or distribution.replace("-", "_")
        folder = self.packages / module
        folder.mkdir()
        (folder / "__init__.py").write_text(code)
        for name, text in dict(files).items():
            (folder / name).write_text(text)
        text = manifest_text(label, tables, api) if manifest is None else manifest
        if text:
            (folder / "hermes-plugin.toml").write_text(text)
        info = self.packages / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(
            f"[hermes.plugins]\n{label.split('/')[1]} = {module}{attribute and ':' + attribute}\n"
        )
        return folder

    def file(self, label, code="", *, tables=None, name=""):
        """Put a single-file plugin into the user's folder."""
        path = self.user / f"{name or label.split('/')[1]}.py"
        block = "".join(f"# {line}".rstrip() + "\n" for line in manifest_text(label, tables).splitlines())
        path.write_text(f"# /// hermes\n{block}# ///\n{code}")
        return path

    def folder(self, label, code="", *, tables=None, files=()):
        """Put a plugin folder into the user's folder."""
        path = self.user / label.split("/")[1]
        path.mkdir()
        (path / "__init__.py").write_text(code)
        (path / "hermes-plugin.toml").write_text(manifest_text(label, tables))
        for name, text in dict(files).items():
            (path / name).write_text(text)
        return path


@pytest.fixture(scope="session")
def libraries(tmp_path_factory):
    """The libraries of this environment without their metadata, so that no installed plugin is found."""
    folder = tmp_path_factory.mktemp("libraries")
    for entry in Path(pytest.__file__).parents[1].iterdir():
        if entry.suffix not in (".dist-info", ".pth"):
            (folder / entry.name).symlink_to(entry)
    return folder


@pytest.fixture
def site(tmp_path, monkeypatch, libraries):
    made = Site(tmp_path)
    before = set(sys.modules)
    rest = [entry for entry in sys.path if "site-packages" not in entry]
    monkeypatch.setattr(sys, "path", [str(made.packages), *rest, str(libraries)])
    yield made
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]
