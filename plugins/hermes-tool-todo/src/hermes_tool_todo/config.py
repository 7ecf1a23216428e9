"""The settings of the plan."""

from typing import Literal

from hermes_core.options import option, settings


@settings
class Config:
    """The plan of a conversation."""

    finish: Literal["unattended", "always", "never"] = option(
        "When a model is sent on, once a turn, that would end with items open on a plan it changed: where nobody is"
        " there to say so, always, or never.",
        default="unattended",
    )
