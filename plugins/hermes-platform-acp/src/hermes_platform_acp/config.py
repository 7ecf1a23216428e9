"""The settings under ``acp``."""

from hermes_core.options import option, settings

__all__ = ["Config"]


@settings
class Config:
    """Hermes in editors."""

    draft_v2: bool = option(
        "Speak version 2 of the protocol with editors that ask for it. It is a draft and may still change.",
        default=False,
    )
