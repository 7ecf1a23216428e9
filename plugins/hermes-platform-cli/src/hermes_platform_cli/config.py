"""The settings under ``platforms.cli``."""

from typing import Literal

from hermes_core.options import ge, le, max_len, min_len, option, settings

__all__ = ["LEAVING", "Config"]

LEAVING = {"/exit": "Leave.", "/quit": "Leave."}  # ours to act on, whatever the kernel is busy with; more is its own


@settings
class Config:
    """The classic terminal conversation."""

    prompt: str = option("The symbol before what you type.", default="❯", validator=[min_len(1), max_len(12)])
    banner: bool = option("Show a line about model and folder at the start.", default=True)
    markdown: bool = option("Render answers as markdown; false shows them as they were written.", default=True)
    reasoning: Literal["folded", "full", "off"] = option(
        "What to show of the model's thinking: live and then one line, all of it, or nothing.", default="folded"
    )
    tool_feed: Literal["full", "lines", "off"] = option(
        "What to show of tool calls: a line each with the first lines of the result, a line each, or nothing.",
        default="full",
    )
    result_lines: int = option(
        "How many lines of a tool's result the full feed shows.", default=3, validator=[ge(0), le(100)]
    )
    usage: bool = option("Show tokens, cost and seconds after a turn.", default=True)
    history: bool = option(
        "Keep what you type for the next time; a line that begins with a space is never kept.", default=True
    )
    paste_lines: int = option("A paste of this many lines is shown collapsed; 0 never.", default=5, validator=ge(0))
    paste_characters: int = option(
        "A paste of this many characters is shown collapsed; 0 never.", default=2000, validator=ge(0)
    )
    index: str = option("The package index that plugins are installed from.", default="https://pypi.org/simple")
