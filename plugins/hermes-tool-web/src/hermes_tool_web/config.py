"""The settings of the web tool."""

from hermes_core.options import ge, gt, le, option, settings


@settings
class Config:
    """Web pages."""

    seconds: float = option("How long fetching one page may take, redirects included.", default=30.0, validator=gt(0))
    megabytes: int = option("How much of a page is taken at most.", default=5, validator=[ge(1), le(50)], example=10)
