"""The settings of the ssh backend."""

from typing import Literal

from hermes_core.options import ge, le, option, settings


@settings
class Config:
    """Commands on another machine over OpenSSH. What is not set here comes from your ssh configuration and agent."""

    host: str = option("Host name, address, or a Host entry of your ssh configuration.", default="", example="build1")
    user: str = option("Name to log in with.", default="", example="me")
    port: int = option("Port; 0 means the one of your ssh configuration.", default=0, validator=[ge(0), le(65535)])
    key: str = option("File of the private key to use.", default="", example="~/.ssh/id_ed25519")
    folder: str = option("Folder over there to work in; empty means the session's folder.", default="", example="src")
    options: list[str] = option(
        "More options as in ssh -o; they win over ours.", factory=list, example=["ProxyJump=bastion"]
    )
    known_hosts: Literal["accept-new", "refuse"] = option(
        "What to do with a host whose key is not known yet; a changed key is always refused.", default="accept-new"
    )
