"""What was said."""

from hermes_platform_tui.transcript.hunt import SearchState
from hermes_platform_tui.transcript.transcript import Transcript

__all__ = ["SearchState", "Transcript"]
