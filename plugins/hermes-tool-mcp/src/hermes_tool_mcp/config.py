"""The settings of MCP servers: how each is reached, what of it is offered, and what it may reach itself."""

import re
from typing import Any, Literal

from hermes_core.options import ge, gt, le, option, settings

__all__ = ["Config", "ServerSettings"]

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]|_(?!_)){0,22}[a-z0-9]|[a-z0-9]")


def _servers(_instance: Any, _attribute: Any, value: dict[str, Any]) -> None:
    for name in value:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name for a server: write a-z, 0-9, - and _, 24 letters at most")


def _url(_instance: Any, _attribute: Any, value: str) -> None:
    if value and not re.fullmatch(r"https?://[^\s/]+\S*", value):
        raise ValueError(f"{value!r} is no address: write https://host/path")


@settings
class ServerSettings:
    """One MCP server: a ``command`` that is started, or a ``url`` that is connected to."""

    command: str = option("The program that is started; it speaks MCP on its pipes.", default="", example="npx")
    args: list[str] = option(
        "What it is given.", factory=list, example=["-y", "@modelcontextprotocol/server-memory@2026.8.31"]
    )
    env: dict[str, str] = option(
        "Variables it gets; ${NAME} stands for the secret of that name.",
        factory=dict,
        example={"API_KEY": "${MCP_API_KEY}"},
    )
    url: str = option(
        "The address of a server that runs elsewhere.", default="", validator=_url, example="https://example.org/mcp"
    )
    transport: Literal["http", "sse"] = option(
        "How it is spoken to at that address; sse is the old way.", default="http"
    )
    headers: dict[str, str] = option(
        "What each request to it carries; ${NAME} stands for the secret of that name.",
        factory=dict,
        example={"Authorization": "Bearer ${MCP_TOKEN}"},
    )
    client_id: str = option(
        "Who Hermes is to its login, or the address that says so; left out: it registers itself.", default=""
    )
    client_secret: str = option("Its secret; ${NAME} stands for the secret of that name.", default="")
    login: Literal["person", "client"] = option(
        "Who logs in where it wants that: a person in a browser, or Hermes by itself, as client_id with client_secret.",
        default="person",
    )
    include: list[str] = option(
        "Its tools that are offered, as globs; left out: all.", factory=list, example=["read_*"]
    )
    exclude: list[str] = option("Its tools that are not offered, as globs.", factory=list, example=["delete_*"])
    allow: list[str] = option("Its tools that ask nobody, as globs.", factory=list, example=["create_issue"])
    hosts: list[str] = option(
        "Hosts that a started server may reach, besides the package registries.",
        factory=list,
        example=["api.github.com"],
    )
    readable: list[str] = option("Files and folders that a started server may read.", factory=list, example=["~/notes"])
    writable: list[str] = option("Folders that a started server may change.", factory=list, example=["~/notes"])
    folder: str = option("Where a started server works; left out: the folder of the session.", default="")
    wall: bool = option("A started server is behind the wall; false lets it do whatever you can do.", default=True)
    people: list[str] = option(
        "Who may use it besides you, as far as their role has the tools; `*` is everybody.",
        factory=list,
        ids=True,
        example=["anna"],
    )
    sampling: int = option(
        "Calls of your model that the server may ask for in a minute; 0: none.", default=0, validator=[ge(0), le(60)]
    )
    elicitation: bool = option("The server may ask the person something while it works.", default=True)
    timeout: float = option("Seconds that one call may take.", default=120.0, validator=[gt(0), le(3600)])
    connect_timeout: float = option(
        "Seconds until the server must have answered.", default=60.0, validator=[gt(0), le(600)]
    )
    enabled: bool = option("Whether it is used.", default=True)


@settings
class Config:
    """MCP servers."""

    servers: dict[str, ServerSettings] = option("The servers, by names of yours.", factory=dict, validator=_servers)
