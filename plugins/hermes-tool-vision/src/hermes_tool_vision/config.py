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
    see_with: Literal["auto", "model", "ocr"] = option(
        "Who looks: a model that sees (`model`), what reads text in pictures on this machine (`ocr`), or that where no "
        "model can (`auto`).",
        default="auto",
    )
    question: str = option(
        "What is asked about each picture.",
        default="Say what this picture shows, for somebody who works with it and does not see it. Repeat any text in "
        "it word for word.",
    )
