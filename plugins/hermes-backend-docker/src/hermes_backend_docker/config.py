"""The settings of the docker backend."""

from hermes_core.options import ge, matches_re, option, settings

_SIZE = matches_re(r"(\d+[kmg]?)?")


@settings
class Config:
    """Commands in a container. Nothing of this machine is in it unless you say so here."""

    image: str = option(
        "Image to run; it needs a POSIX sh, and bash for a folder and variables that last between commands.",
        default="python:3.13-slim",
        example="debian:stable-slim",
    )
    mount: bool = option(
        "Put the session's folder into the container, under the same path: commands then change your files, and are"
        " asked about as on your own machine. Off: a folder of its own under that path, empty at first, in a volume.",
        default=False,
    )
    network: bool = option(
        "Let commands reach the network, which includes services of this machine; they are then asked about as on"
        " your own machine. Off: there is no network at all.",
        default=False,
    )
    forward_env: list[str] = option(
        "Names of environment variables that commands get from Hermes; no others go in.",
        factory=list,
        example=["TZ"],
    )
    cpus: float = option("Processors that all commands together may use; 0: no limit.", default=2.0, validator=ge(0))
    memory: str = option(
        "Memory that all commands together may use, such as 512m or 4g; empty: no limit.",
        default="4g",
        validator=_SIZE,
    )
    pids: int = option("Processes and threads that may exist at once; 0: no limit.", default=256, validator=ge(0))
    disk: str = option(
        "Disk for what is installed into the container, such as 10g; only some storage drivers can limit it.",
        default="",
        validator=_SIZE,
    )
    lifetime_seconds: int = option(
        "A container in which no command ran for this long is stopped; /tmp is empty then.",
        default=1800,
        validator=ge(1),
    )
    keep_days: float = option(
        "A stopped container is removed after this many days; its folder stays, in its volume.",
        default=7.0,
        validator=ge(0),
    )
    host: str = option(
        "Address of the daemon; empty: DOCKER_HOST, the docker command's context, or a socket that is there.",
        default="",
        example="unix:///run/podman/podman.sock",
    )
