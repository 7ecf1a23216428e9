"""The settings of checkpoints."""

from typing import Literal

from hermes_core.options import ge, gt, le, option, settings


@settings
class Config:
    """Snapshots of the working folder."""

    enabled: bool = option("Take a snapshot before the first change of each turn.", default=True)
    max_snapshots: int = option("Snapshots kept of one folder; the oldest goes first.", default=20, validator=ge(1))
    max_total_size_mb: int = option("Megabytes that all snapshots together may take.", default=500, validator=ge(1))
    max_file_size_mb: int = option("A larger file is left out, and said so.", default=10, validator=ge(1))
    max_files: int = option("A folder with more files gets no snapshot.", default=50_000, validator=ge(1))
    retention_days: int = option("Snapshots older than this are dropped.", default=7, validator=ge(1))
    auto_prune: bool = option("Tidy up by itself: after a snapshot, and while a gateway runs.", default=True)
    min_interval_hours: int = option("The least time between two such tidyings.", default=24, validator=ge(1))
    delete_orphans: bool = option("Drop snapshots of folders that are gone for a day.", default=True)
    keep_secrets: bool = option("Keep .env files, keys and other credentials in snapshots too.", default=False)
    wait_seconds: float = option(
        "The longest a call waits for its snapshot.", default=3.0, validator=[gt(0), le(9)], example=8.0
    )
    on_failure: Literal["tell", "ask"] = option(
        "When no snapshot can be made: tell it and go on, or ask a person about the call.", default="tell"
    )
