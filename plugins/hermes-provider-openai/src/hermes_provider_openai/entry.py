"""The rows of the catalogue, a TOML file each, read when a service is first used."""

from pathlib import Path

from hermes_openai_wire.entry import Entry, parse_entry
from hermes_provider_kit.catalogue import read_row

__all__ = ["FOLDER", "load_entry"]

FOLDER = Path(__file__).with_name("catalogue")


def load_entry(name: str) -> Entry:
    """Read a service's file. Raises ValueError when the file is not as it should be."""
    return parse_entry(read_row(FOLDER, name), where=f"{name}.toml")
