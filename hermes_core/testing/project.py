"""What a plugin's project says of itself: where its manifest is, its pyproject.toml, and which plugins it imports."""

import ast
import importlib.util
import tomllib
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

__all__ = ["manifest_path", "plugins_imported", "project_folder", "project_of"]


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


def plugins_imported(module: str) -> list[str]:
    """Say which installed plugins the code of this one imports; it may need one to be there, and not know it."""
    others = {one.value.partition(":")[0] for one in metadata.entry_points(group="hermes.plugins")} - {module}
    spec = importlib.util.find_spec(module)
    assert spec
    assert spec.origin
    origin = Path(spec.origin)
    found: set[str] = set()
    for source in origin.parent.rglob("*.py") if origin.name == "__init__.py" else [origin]:
        for node in ast.walk(_tree(source.read_bytes())):
            if isinstance(node, ast.Import):
                found |= {name.name.partition(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return sorted(found & others)


def _tree(source: bytes) -> ast.AST:
    try:
        return ast.parse(source)
    except SystemError:  # Python below 3.11.5 miscounts its depth when objects are collected meanwhile: cpython#106905
        return ast.parse(source)


def project_of(module: str) -> Mapping[str, Any] | None:
    """The [project] table of the plugin's own pyproject.toml; None when it is not near or not a plugin's."""
    file = project_folder(module) / "pyproject.toml"
    if not file.is_file():
        return None
    project: Mapping[str, Any] = tomllib.loads(file.read_text(encoding="utf-8")).get("project", {})
    return project if "hermes.plugins" in project.get("entry-points", {}) else None
