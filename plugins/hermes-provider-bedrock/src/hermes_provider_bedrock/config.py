"""The settings under ``providers.bedrock`` that are its own; address, key and headers are the kernel's."""

from typing import Literal

from hermes_core.options import matches_re, option, settings

__all__ = ["Config"]


@settings
class Config:
    """Amazon Bedrock."""

    region: str = option(
        "The AWS region that answers; else AWS_REGION, else the profile's.",
        default="",
        example="eu-central-1",
        validator=matches_re(r"[a-z]{2}[a-z0-9-]{0,30}|"),
    )
    profile: str = option(
        "The profile of ~/.aws whose credentials are used, also to assume a role; else AWS_PROFILE.",
        default="",
        example="work",
    )
    cache: Literal["auto", "on", "off"] = option(
        "Whether the models are asked to keep what they were sent; auto asks those that are known to.", default="auto"
    )
