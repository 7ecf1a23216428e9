"""Writes the pages of ``reference/`` from the code. A Sphinx extension, and a command: ``python docs/generate.py``."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_reference import cli, config, contracts, environment, errors, events, hooks, kinds, library, manifest, types

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["PAGES", "setup", "write_pages"]

PAGES: dict[str, Callable[[], str]] = {
    "hooks": hooks.page,
    "kinds": kinds.page,
    "types": types.page,
    "context": library.context_page,
    "host": library.host_page,
    "tables": library.tables_page,
    "reach": library.reach_page,
    "contract-tests": contracts.page,
    "testing": library.testing_page,
    "embedding": library.embedding_page,
    "manifest": manifest.page,
    "config": config.page,
    "providers": config.providers_page,
    "cli": cli.page,
    "slash": cli.slash_page,
    "setup": cli.setup_page,
    "events": events.page,
    "errors": errors.page,
    "environment": environment.page,
}


def write_pages(folder: Path) -> None:
    """Write every page that is not what it should be; others are not touched, so that builds stay incremental."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {name: make() for name, make in PAGES.items()} | {"index": _index()}
    for name, text in wanted.items():
        file = folder / f"{name}.md"
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
    for stray in folder.glob("*.md"):
        if stray.stem not in wanted:
            stray.unlink()


def _index() -> str:
    lines = ["# Reference", "", "Written from the code of this very version; a test holds it complete.", ""]
    return "\n".join([*lines, "```{toctree}", ":maxdepth: 1", "", *PAGES, "```", ""])


def setup(app: "Sphinx") -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("config-inited", lambda app, _config: write_pages(Path(app.srcdir) / "reference"))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
