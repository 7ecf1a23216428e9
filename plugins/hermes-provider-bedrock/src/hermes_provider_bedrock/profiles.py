"""What AWS's own files and variables say, read by AWS's library."""

from typing import Any

from hermes_core.errors import UserError

__all__ = ["region_of", "session_of"]

HINT = "See `aws configure list-profiles`, and providers.bedrock.profile."


def session_of(profile: str) -> Any:
    """Open what a profile says; of the usual one where none is named. Raises UserError when it cannot be read."""
    from botocore.exceptions import BotoCoreError  # type: ignore[import-untyped]
    from botocore.session import Session  # type: ignore[import-untyped]

    try:
        made = Session(profile=profile or None)
        made.get_scoped_config()
    except BotoCoreError as error:
        raise UserError(f"The profile of AWS cannot be used: {error}", hint=HINT) from None
    return made


def region_of(profile: str) -> str:
    """Say which region a profile names; empty where it names none. Raises UserError."""
    return str(session_of(profile).get_config_variable("region") or "")
