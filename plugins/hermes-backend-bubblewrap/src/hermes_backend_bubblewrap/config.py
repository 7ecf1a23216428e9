"""The settings of the bubblewrap backend."""

from typing import Literal

from hermes_core.options import ge, option, settings


@settings
class Config:
    """Commands on this machine in a sandbox that sees only the session's folder."""

    network: bool = option(
        "Share this machine's network. Commands then reach its services too, and are asked about as outside a sandbox.",
        default=False,
    )
    readable: list[str] = option(
        "More files and folders that commands may read.", factory=list, example=["~/.gitconfig", "/opt/toolchain"]
    )
    writable: list[str] = option(
        "More folders that commands may change, such as a cache of packages.", factory=list, example=["~/.cache/pip"]
    )
    git: Literal["guarded", "read-only", "writable"] = option(
        "What commands may change in .git: all but its hooks and settings, which your own git would run; nothing; all.",
        default="guarded",
    )
    memory_mb: int = option(
        "Memory in MB; of all with cgroups, else of one process; 0: no limit.", default=4096, validator=ge(0)
    )
    processes: int = option("Processes and threads in a sandbox at most; 0: no limit.", default=512, validator=ge(0))
    file_mb: int = option("The largest file a command may write, in MB; 0: no limit.", default=8192, validator=ge(0))
    open_files: int = option("Files one process may have open; 0: no limit.", default=4096, validator=ge(0))
    tmp_mb: int = option(
        "MB that fit into each of /tmp, /var/tmp, /dev/shm and the home folder inside; they live in memory.",
        default=1024,
        validator=ge(1),
    )
    env_passthrough: list[str] = option(
        "Environment variables that commands see besides the usual few.", factory=list, example=["CFLAGS"]
    )
