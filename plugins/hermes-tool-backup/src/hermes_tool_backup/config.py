"""The settings of backups."""

from hermes_core.options import ge, option, settings


@settings
class Config:
    """Copies of the home."""

    every: int = option(
        "Hours between two copies that a gateway makes by itself; 0 for none.", default=24, validator=ge(0)
    )
    keep: int = option("How many of these are kept; the oldest goes first.", default=7, validator=ge(1))
    folder: str = option("Where copies go; empty for the folder `backups` of the home.", default="", example="/mnt/b")
