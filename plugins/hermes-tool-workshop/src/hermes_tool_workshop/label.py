"""``tool.toml``: what is known of a version besides its code."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from attrs import asdict

from hermes_core.values import frozen
from hermes_tool_workshop.permissions import Permissions


@frozen(kw_only=True)
class Label:
    """One version: what it may do, what it was tried with, whose it is, when and why it was written."""

    name: str
    owner: str
    permissions: Permissions
    seconds: int
    sha256: str
    when: float
    session: str
    why: str = ""
    version: int = 0
    examples: tuple[Mapping[str, Any], ...] = ()

    @property
    def written(self) -> str:
        """When it was written, in the time of this machine."""
        return datetime.fromtimestamp(self.when, UTC).astimezone().strftime("%Y-%m-%d %H:%M")


def write_label(label: Label) -> bytes:
    """As TOML."""
    facts = {
        "name": label.name, "version": label.version, "owner": label.owner, "when": float(label.when),
        "session": label.session, "why": label.why, "seconds": label.seconds, "sha256": label.sha256,
        "examples": [json.dumps(example, sort_keys=True) for example in label.examples],
    }  # fmt: skip
    lines = ["# What is known of this version. Changed by hand, it runs only after: hermes workshop accept NAME"]
    lines += [f"{key} = {_value(value)}" for key, value in facts.items()]
    lines += ["", "[permissions]", *(f"{key} = {_value(list(v))}" for key, v in asdict(label.permissions).items())]
    return "\n".join([*lines, ""]).encode()


def _value(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, int | float):
        return repr(value)
    return json.dumps(str(value).encode("utf-8", "replace").decode(), ensure_ascii=False).replace("\x7f", "\\u007f")


def read_label(data: bytes) -> Label:
    """From TOML. Raises ValueError for what is none, or not a label."""
    import tomllib

    try:
        found = tomllib.loads(data.decode())
        given = {name: tuple(map(str, values)) for name, values in found.pop("permissions").items()}
        examples = tuple(json.loads(example) for example in found.pop("examples", []))
        return Label(**{**found, "permissions": Permissions(**given), "examples": examples})
    except (TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"tool.toml is no label: {error}") from None
