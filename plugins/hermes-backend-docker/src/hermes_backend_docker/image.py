"""Getting an image that is not there yet, with word of how far it is."""

import logging
import sys
from collections.abc import Callable, Mapping
from typing import Any

from hermes_backend_docker.daemon import said
from hermes_core.errors import UserError

__all__ = ["pull"]

_OFFLINE = ("dial tcp", "no such host", "network is unreachable", "i/o timeout", "connection refused", "TLS handshake")
STEP = 20  # per cent between two words of progress


def pull(client: Any, image: str, log: logging.Logger) -> None:
    """Pull an image; blocking. Raises UserError when it cannot be had."""
    from hermes_backend_docker.sdk import APIError

    name, tag = _split(image)
    progress = Progress(image, _tell)
    log.info("pulling the image %s", image)
    try:
        for line in client.pull(name, tag=tag, stream=True, decode=True):
            if "error" in line:
                raise _missing(image, str(line["error"]))
            progress.take(line)
    except APIError as error:
        raise _missing(image, said(error)) from error
    log.info("pulled the image %s", image)


def _split(image: str) -> tuple[str, str | None]:
    if "@" in image:
        return image, None
    name, colon, tag = image.rpartition(":")
    if colon and "/" not in tag:
        return name, tag
    return image, "latest"


def _missing(image: str, why: str) -> UserError:
    if any(sign in why for sign in _OFFLINE):
        return UserError(
            f"docker: the image {image} is not on this machine, and its registry cannot be reached.",
            hint=f"Go online once and run `docker pull {image}`, or bring it along: `docker save {image}` where it"
            " is, `docker load` here. `docker images` shows what is here already; set backends.docker.image to it.",
        )
    return UserError(
        f"docker: the image {image} cannot be pulled: {why}.",
        hint="Check the name in backends.docker.image; a private one needs `docker login`.",
    )


class Progress:
    """Adds up the layers of an image."""

    def __init__(self, image: str, tell: Callable[[str], None]) -> None:
        self._image = image
        self._tell = tell
        self._layers: dict[str, tuple[int, int]] = {}
        self._told = -1

    def take(self, line: Mapping[str, Any]) -> None:
        """Take one line of what the daemon says."""
        detail, layer = line.get("progressDetail") or {}, str(line.get("id", ""))
        if line.get("status") == "Downloading" and detail.get("total"):
            self._layers[layer] = (int(detail.get("current", 0)), int(detail["total"]))
        elif line.get("status") in ("Download complete", "Pull complete") and layer in self._layers:
            self._layers[layer] = (self._layers[layer][1], self._layers[layer][1])
        elif self._told >= 0:
            return
        done, total = (sum(column) for column in zip(*self._layers.values(), strict=True)) if self._layers else (0, 0)
        step = 100 * done // total // STEP * STEP if total else 0
        if step > self._told:
            self._told = step
            size = f" of {total / 1e6:.0f} MB" if total else ""
            self._tell(f"docker: pulling {self._image}: {step} %{size}\n")


def _tell(text: str) -> None:
    # A person who waits for minutes wants to know why. What is on the standard output is the answer and nothing else.
    sys.stderr.write(text)
    sys.stderr.flush()
