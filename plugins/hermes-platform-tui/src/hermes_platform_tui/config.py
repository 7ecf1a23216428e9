"""The settings under ``platforms.tui``."""

from typing import Literal

from hermes_core.options import ge, le, option, settings

__all__ = ["Config"]

Fold = Literal["hidden", "collapsed", "expanded"]


@settings
class Config:
    """The full-screen terminal."""

    skin: str = option(
        "Colours: a built-in skin, or a file in skins/; auto follows the terminal's background.", default="auto"
    )
    reasoning: Fold = option("How the model's thinking is shown.", default="collapsed")
    tools: Fold = option("How tool calls are shown.", default="collapsed")
    statusbar: Literal["auto", "full", "compact", "minimal", "off"] = option(
        "What the status bar shows; auto: what fits.", default="auto"
    )
    indicator: Literal["unicode", "ascii", "emoji", "kaomoji"] = option(
        "What moves in the status bar while a turn runs.", default="unicode"
    )
    timestamps: bool = option("Show when each message was said.", default=False)
    usage: bool = option("Show tokens, cost and seconds after a turn.", default=True)
    notify: Literal["auto", "bell", "off"] = option(
        "What tells of an end or a question while the terminal is not looked at: its own notice, a bell, nothing.",
        default="auto",
    )
    images: Literal["auto", "blocks", "off"] = option(
        "How pictures are shown: as well as the terminal can.", default="auto"
    )
    mouse: bool = option("Take the mouse; without it the terminal selects text itself.", default=True)
    history: bool = option(
        "Keep what you type for the next time; a line that begins with a space is never kept.", default=True
    )
    paste_lines: int = option("A paste of this many lines is shown collapsed; 0 never.", default=5, validator=ge(0))
    paste_characters: int = option(
        "A paste of this many characters is shown collapsed; 0 never.", default=2000, validator=ge(0)
    )
    result_lines: int = option(
        "How many lines of a tool's result are shown before it is unfolded.", default=3, validator=[ge(0), le(100)]
    )
