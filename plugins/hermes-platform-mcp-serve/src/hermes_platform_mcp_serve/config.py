"""The settings under ``platforms.mcp_serve``."""

from hermes_core.options import option, settings

__all__ = ["Config"]


@settings
class Config:
    """What MCP clients are served."""

    tools: list[str] = option(
        "Tools and toolsets of Hermes that clients may call besides; never what runs commands or is of files.",
        factory=list,
        example=["web", "skill_view"],
    )
    skills: list[str] = option(
        "Folders of skills that your clients can read, or of one; each file in them, but for hidden ones and links.",
        factory=list,
        example=["~/skills"],
    )
    ask: str = option(
        "The chat in which what such a call needs a yes for is put to you, such as `telegram`; else it is refused.",
        default="",
    )
    approvals: bool = option(
        "Clients may answer what waits for your yes: once, or no. A client may be a model, whose yes is no person's.",
        default=False,
    )
