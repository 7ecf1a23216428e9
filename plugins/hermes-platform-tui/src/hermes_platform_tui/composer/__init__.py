"""Where a person writes."""

from hermes_platform_tui.composer.composer import Composer

__all__ = ["Composer"]
