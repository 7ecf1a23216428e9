"""Settings of the plugin."""

from typing import Literal

from hermes_core import option, settings


@settings
class Config:
    """Pictures in words."""

    describe: Literal["auto", "always", "never"] = option(
        "Which models are told in words what pictures show. auto: those whose service says that they take none, and "
        "that others do.",
        default="auto",
    )
    question: str = option(
        "What is asked about each picture.",
        default="Say what this picture shows, for somebody who works with it and does not see it. Repeat any text in "
        "it word for word.",
    )
