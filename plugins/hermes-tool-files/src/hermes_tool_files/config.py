"""The settings of the file tools."""

from typing import Literal

from hermes_core.options import option, settings


@settings
class Config:
    """Files of the workspace."""

    patches: Literal["auto", "on", "off"] = option(
        "Whether models are offered `apply_patch`, which changes several files by one text; auto: those of OpenAI,"
        " which are trained on it.",
        default="auto",
    )
    notebooks: Literal["auto", "on", "off"] = option(
        "Whether models are offered `edit_notebook`, which adds, replaces and removes cells; auto: where a notebook"
        " lies in the session's folder.",
        default="auto",
    )
