"""The text engine, in one place."""

from hermes_platform_tui.transcript.standin import MarkdownBody

__all__ = ["MarkdownBody"]
