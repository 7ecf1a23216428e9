"""The environment of a child process, what it started, and what it said last."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from hermes_core.config.masks import Masks
from hermes_core.environment import PASSWORD_IN_URL, is_secret
from hermes_core.masking.known import Known
from hermes_core.masking.stream import masked_text
from hermes_core.plugins.index import Index

__all__ = ["child_environment", "descendants", "masked_tail"]


def child_environment(environ: Mapping[str, str], index: Index) -> tuple[dict[str, str], dict[str, str]]:
    """An environment in two halves: what a child process gets as its own, and the secrets it is told over the pipe.

    A secret is what looks like one, and what a plugin declares to be one. How Hermes is to behave (``HERMES_YOLO``) is
    said in the order; where a test wants it to die is heard only from ``HERMES_CHILD_DIE_AT``.
    """
    declared = {name for plugin in index.plugins if plugin.manifest for name in plugin.manifest.secrets}
    own: dict[str, str] = {}
    secrets: dict[str, str] = {}
    for name, value in environ.items():
        if name in ("HERMES_YOLO", "HERMES_DIE_AT", "HERMES_CHILD_DIE_AT", "HERMES_PROFILE"):
            continue
        looks = is_secret(name, value) or bool(PASSWORD_IN_URL.search(value))  # a proxy's, too: it is told anyway
        (secrets if looks or name in declared else own)[name] = value
    if fate := environ.get("HERMES_CHILD_DIE_AT"):
        own["HERMES_DIE_AT"] = fate
    return own, secrets


def descendants(pid: int) -> list[int]:
    """The processes below one, nearest first, where the system tells."""
    found, waiting = list[int](), [pid]
    while waiting:
        for tasks in Path(f"/proc/{waiting.pop()}/task").glob("*/children"):
            with suppress(OSError, ValueError):
                below = [int(word) for word in tasks.read_text().split()]
                found += below
                waiting += below
    return found


def masked_tail(tail: bytes, told: Mapping[str, str], masks: Masks) -> str:
    """The end of what a process wrote, as text without secrets; ``told`` are those that it was told."""
    text = tail.decode("utf-8", "replace").strip()
    return masks.always(masked_text(text, Known(told.values()))) if text else ""
