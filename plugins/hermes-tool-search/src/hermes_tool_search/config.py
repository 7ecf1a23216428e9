"""The settings of the search, in the section ``agent`` beside the kernel's own."""

from typing import Literal

from hermes_core.options import option, settings


@settings
class Config:
    """Which tools are found by search."""

    tool_search: Literal["auto", "on", "off"] = option(
        "Offer the tools outside of core_toolsets by search: auto does so when they would take more than a "
        "tenth of the model's window.",
        default="auto",
    )
    tool_search_meaning: bool = option(
        "Rank what is found by meaning too: the model of auxiliary.embed is sent what tools say of themselves and what "
        "is searched for.",
        default=False,
    )
    core_toolsets: list[str] = option(
        "Toolsets that are always offered whole.",
        factory=lambda: [
            "clarify",
            "cron",
            "delegate",
            "files",
            "memory",
            "recall",
            "skills",
            "terminal",
            "todo",
            "web",
        ],
    )
