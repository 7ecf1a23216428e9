"""The settings of the vault."""

from typing import Literal

from hermes_core.options import option, settings


@settings
class Config:
    """The vault."""

    key: Literal["auto", "keyring", "file"] = option(
        "Where the key of a new vault is kept: in the system's keyring, in a file beside it, or wherever it can be.",
        default="auto",
    )
