"""What lies in the clipboard, through the programs that a desktop has for it."""

import asyncio
import contextlib
import os
import shutil
import sys
from collections.abc import Mapping, Sequence

from hermes_core.patterns import pattern
from hermes_core.values import frozen
from hermes_platform_tui.composer.pictures import LARGEST

__all__ = ["PROGRAMS", "Clip", "NoClipboard", "read_clipboard"]

PATIENCE = 3.0  # seconds; a program that asks a window which does not answer would wait for ever
PROGRAMS = ("wl-paste", "xclip", "pngpaste", "osascript")
_IMAGES = ("image/png", "image/jpeg", "image/webp", "image/gif")
_HEX = pattern(rb"data PNGf([0-9A-Fa-f]+)")


class NoClipboard(Exception):
    """Why nothing can be read."""


@frozen
class Clip:
    """A picture, or text, or neither."""

    image: bytes = b""
    text: str = ""


async def read_clipboard(environment: Mapping[str, str] = os.environ) -> Clip:
    """A picture if there is one, else the text."""
    for program in _present(environment):
        if program == "wl-paste":
            return await _offered(("wl-paste", "--list-types"), ("wl-paste", "--no-newline", "--type"))
        if program == "xclip":
            selection = ("xclip", "-selection", "clipboard", "-o", "-t")
            return await _offered((*selection, "TARGETS"), selection)
        return await _mac(program)
    raise NoClipboard(
        "No picture can be taken from the clipboard: install wl-paste (package wl-clipboard) on Wayland, xclip on X11 "
        "or pngpaste on macOS. The path of a picture can be pasted instead."
    )


def _present(environment: Mapping[str, str]) -> list[str]:
    """The programs that can work here, best first."""
    wanted = ["wl-paste"] if environment.get("WAYLAND_DISPLAY") else []
    wanted += ["xclip"] if environment.get("DISPLAY") else []
    wanted += ["pngpaste", "osascript"] if sys.platform == "darwin" else []
    return [program for program in wanted if shutil.which(program, path=environment.get("PATH"))]


async def _offered(types: Sequence[str], take: Sequence[str]) -> Clip:
    offered = (await _run(*types)).decode(errors="replace").split()
    for kind in _IMAGES:
        if kind in offered:
            return Clip(image=await _run(*take, kind))
    for kind in ("text/plain;charset=utf-8", "UTF8_STRING", "text/plain", "STRING"):
        if kind in offered:
            return Clip(text=(await _run(*take, kind)).decode(errors="replace"))
    return Clip()


async def _mac(program: str) -> Clip:
    if program == "pngpaste":
        image = await _run("pngpaste", "-")
    else:
        found = _HEX.search(await _run("osascript", "-e", "get the clipboard as «class PNGf»", most=3 * LARGEST))
        image = bytes.fromhex(found[1].decode()) if found else b""
    return Clip(image=image) if image else Clip(text=(await _run("pbpaste")).decode(errors="replace"))


async def _run(*command: str, most: int = LARGEST + 1) -> bytes:
    """What a program says, up to ``most`` bytes; nothing when it fails, since an empty clipboard is a failure too."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError:
        return b""
    assert process.stdout is not None
    said = bytearray()
    try:
        async with asyncio.timeout(PATIENCE):
            while len(said) < most and (piece := await process.stdout.read(65_536)):
                said += piece
            if len(said) < most:
                await process.wait()
    except TimeoutError:
        return b""
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return b"" if process.returncode and process.returncode > 0 else bytes(said)
