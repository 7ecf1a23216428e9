"""The settings that every platform has: who may talk there. The kernel reads them beside the plugin's own."""

from typing import Literal

from hermes_core.options import option, settings

__all__ = ["ChannelSettings", "PlatformSettings"]


@settings
class ChannelSettings:
    """What is special in one chat."""

    prompt: str = option("What the model is told besides, in conversations that begin there.", default="")
    model: str = option("Who answers there, as [provider:]model; /model there is stronger.", default="")


@settings
class PlatformSettings:
    """Who may talk on a platform. The kernel asks this of every platform; what else stands in its section is its own.

    People are named by the ids that the service gives them, as `hermes gateway pair list` and the log show them.
    """

    enabled: bool | None = option(
        "Serve it; empty: when something else stands here, or its secrets are set.", default=None
    )
    allowed_users: list[str] = option(
        "Who may talk, in direct messages and in groups; `*` is everybody.",
        factory=list,
        ids=True,
        example=["123456789"],
    )
    allowed_chats: list[str] = option(
        "Groups and channels in which everybody may talk; `*` is every group.",
        factory=list,
        ids=True,
        example=["-100200300"],
    )
    allowed_roles: list[str] = option(
        "Roles, as the service knows them, whose members may talk.", factory=list, ids=True
    )
    allow_all_users: bool = option("Let everybody talk. Everybody spends your money then.", default=False)
    admins: list[str] = option(
        "Who may also use the commands that are for admins; they may talk, too.",
        factory=list,
        ids=True,
        example=["123456789"],
    )
    unknown: Literal["", "pair", "ignore"] = option(
        "What a stranger gets for a direct message: pair is a code to show you, ignore nothing; empty as in "
        "gateway.unknown.",
        default="",
    )
    channels: dict[str, ChannelSettings] = option(
        "What is special in a chat, by its id; CHAT:THREAD in a thread, which else has what its chat has.",
        factory=dict,
        example={"-100200300": {"prompt": "Answer in French."}},
    )
    require_mention: bool = option("In groups, answer only what speaks to the bot.", default=True)
    free_response_chats: list[str] = option(
        "Groups in which everything is answered all the same; `*` is every group.", factory=list, ids=True
    )
