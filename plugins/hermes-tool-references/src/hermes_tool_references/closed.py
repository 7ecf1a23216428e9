"""Places whose files hold keys and passwords. They are never put before a model, whoever names them."""

import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from hermes_core.context import PluginContext

_NAMES = (
    ".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure", ".config/gh", ".config/gcloud", ".netrc", ".pgpass",
    ".npmrc", ".pypirc", ".env", ".git-credentials", ".config/git/credentials", ".bashrc", ".bash_profile",
    ".bash_login", ".bash_history", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zsh_history",
    ".kshrc", ".cshrc", ".tcshrc", ".config/fish", ".password-store",
)  # fmt: skip


@cache
def credentials(home: str) -> tuple[str, ...]:
    """The files and folders of a home that hold credentials, or what a shell runs by itself."""
    return tuple(os.path.join(home, name) for name in _NAMES)  # noqa: PTH118 - need not exist


def closed(ctx: PluginContext) -> Sequence[str | Path]:
    """All that references do not open: credentials, and what belongs to Hermes itself."""
    own = (ctx.paths.home / ".env", ctx.paths.home / "skills" / ".hub")
    return (*ctx.paths.guarded, *own, *credentials(os.path.expanduser("~")))  # noqa: PTH111 - never raises
