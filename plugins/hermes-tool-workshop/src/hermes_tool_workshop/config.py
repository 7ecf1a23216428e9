"""The settings of the workshop."""

from hermes_core.options import ge, le, option, settings


@settings
class Config:
    """Tools that the agent writes for itself."""

    most: int = option("Tools that one person may have.", default=50, validator=[ge(1), le(500)])
    seconds: int = option("The longest a call of such a tool may take.", default=120, validator=[ge(1), le(3600)])
    memory_mb: int = option("Memory of one call, in megabytes.", default=1024, validator=[ge(64), le(65_536)])
    curate: bool = option("Once a week put away what was not called for long; it can be brought back.", default=True)
    stale_days: int = option("Days without a call after which a tool counts as stale.", default=30, validator=ge(1))
    archive_days: int = option("Days without a call after which it is put away.", default=90, validator=ge(1))
    failures: int = option("Crashes in a row after which a tool is set aside.", default=3, validator=[ge(1), le(20)])
