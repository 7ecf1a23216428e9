"""Answers without a model: a small set of rules that drives real tools."""

from collections.abc import Sequence

from hermes_core.hooks import hookimpl
from hermes_core.kinds import Provider


@hookimpl
def register_providers() -> Sequence[Provider]:
    """The provider ``offline``, chosen only when nothing better is there."""
    from hermes_provider_offline.provider import Offline

    return [Offline()]
