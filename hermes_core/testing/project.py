"""What a plugin's project says of itself: where its manifest is, its pyproject.toml, and what it depends on."""

import importlib.util
import re
import tomllib
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

__all__ = ["is_plugin", "manifest_path", "project_folder", "project_of"]


def manifest_path(module: str) -> Path:
    """Where the manifest of an importable module is; the module is not imported."""
    spec = importlib.util.find_spec(module.partition(":")[0])
    assert spec, f"there is no module {module}; is the plugin installed or on the path?"
    assert spec.origin, f"{module} is a folder without an __init__.py"
    origin = Path(spec.origin)
    beside = origin.with_name("hermes-plugin.toml")
    return beside if origin.name == "__init__.py" or beside.is_file() else origin


def project_folder(module: str) -> Path:
    """The folder of the project a module belongs to; where there is none near, the folder of its manifest."""
    start = manifest_path(module).parent
    for folder in (start, *list(start.parents)[:3]):
        if (folder / "pyproject.toml").is_file():
            return folder
    return start


def is_plugin(requirement: str) -> bool:
    """Whether a dependency is a plugin; a library of the same family has no entry point."""
    name = re.split(r"[^\w.-]", requirement.strip(), maxsplit=1)[0]
    try:
        return any(point.group == "hermes.plugins" for point in metadata.distribution(name).entry_points)
    except metadata.PackageNotFoundError:
        return name.startswith("hermes-")


def project_of(module: str) -> Mapping[str, Any] | None:
    """The [project] table of the plugin's own pyproject.toml; None when it is not near or not a plugin's."""
    file = project_folder(module) / "pyproject.toml"
    if not file.is_file():
        return None
    project: Mapping[str, Any] = tomllib.loads(file.read_text(encoding="utf-8")).get("project", {})
    return project if "hermes.plugins" in project.get("entry-points", {}) else None
