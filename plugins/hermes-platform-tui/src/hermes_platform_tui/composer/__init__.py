"""Where a person writes."""

from hermes_platform_tui.composer.composer import Composer
from hermes_platform_tui.composer.keys import KEYS

__all__ = ["KEYS", "Composer"]
