"""What all widgets of a conversation know of it."""

from collections.abc import Callable, Mapping

from textual.widget import Widget

from hermes_core.types import Blob
from hermes_core.values import define
from hermes_platform_tui.config import Config, Fold
from hermes_platform_tui.transcript.entries import Section

__all__ = ["Frame"]


@define
class Frame:
    """What all blocks of a transcript share."""

    config: Config
    folds: Mapping[Section, Fold]
    clock: Callable[[], float]
    picture: Callable[[Blob], Widget | None] | None = None
