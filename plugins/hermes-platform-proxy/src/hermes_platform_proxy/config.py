"""The settings of the proxy, in the section ``platforms.proxy``."""

from hermes_core.options import ge, le, option, settings

__all__ = ["Config"]


@settings
class Config:
    """The proxy for other programs on this machine."""

    serve: bool = option("Whether a gateway serves it, too; hermes proxy does in any case.", default=False)
    port: int = option("The port on 127.0.0.1; it listens nowhere else.", default=8645, validator=[ge(1), le(65_535)])
    service: str = option(
        "Whose login is used; empty: the first there is. hermes auth list shows them.", default="", example="xai-oauth"
    )
    account: str = option("The account that answers first; empty: the one called default.", default="", example="work")
