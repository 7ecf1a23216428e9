"""The settings of Home Assistant: where it is, what may be called there, and what its events are for."""

import re
from typing import Any

from hermes_core.options import ge, le, min_len, option, settings

__all__ = ["Config", "RuleSettings"]

_SERVICE = re.compile(r"[a-z0-9_]+\.(?:[a-z0-9_]+|\*)")
_DOMAIN = re.compile(r"[a-z0-9_]+")
_GLOB = re.compile(r"[a-z0-9_*?\[\]-]+\.[a-z0-9_*?\[\]-]+")


def _services(_instance: Any, _attribute: Any, value: list[str]) -> None:
    for one in value:
        if not _SERVICE.fullmatch(one):
            raise ValueError(f"{one!r} is no service: write domain.service, or domain.* for all of a domain")


def _domains(_instance: Any, _attribute: Any, value: list[str]) -> None:
    for one in value:
        if not _DOMAIN.fullmatch(one):
            raise ValueError(f"{one!r} is no domain: write it as in `light`")


def _entities(_instance: Any, _attribute: Any, value: list[str]) -> None:
    if not value:
        raise ValueError("name at least one entity")
    for one in value:
        if not _GLOB.fullmatch(one):
            raise ValueError(f"{one!r} is no entity: write domain.name, with * and ? where you like")


def _url(_instance: Any, _attribute: Any, value: str) -> None:
    from hermes_tool_homeassistant.client import address

    address(value)


@settings
class RuleSettings:
    """When a state changes, and what is to be done then."""

    entities: list[str] = option(
        "Entities whose changes count; * and ? stand for letters.",
        validator=_entities,
        example=["binary_sensor.front_door"],
    )
    say: str = option("What Hermes is to do then, in your words.", validator=min_len(1))
    to: str | None = option("The new state; left out: any.", default=None, example="on")
    was: str | None = option("The state before; left out: any.", default=None, example="off")
    above: float | None = option("The number is above this now, and was not before.", default=None)
    below: float | None = option("The number is below this now, and was not before.", default=None)
    session: str = option("The conversation that is told; empty: a new one each time.", default="", example="home")
    deliver: str = option("The chat that gets the answer, as for `hermes send -t`.", default="", example="telegram")
    ask: str = option("The chat that is asked where something needs a yes; empty: it is refused.", default="")
    tools: list[str] | None = option(
        "Tools and toolsets it may use, and no others; left out: all.", default=None, example=["homeassistant"]
    )
    calls: int = option("Calls of the model that one event may take.", default=20, validator=[ge(1), le(1000)])
    pause: float = option(
        "Seconds in which the same entity does not count again.", default=60.0, validator=[ge(0), le(604_800)]
    )


@settings
class Config:
    """Home Assistant."""

    url: str = option(
        "The address of Home Assistant.",
        default="http://homeassistant.local:8123",
        validator=_url,
        example="http://192.168.1.10:8123",
    )
    blocked: list[str] = option(
        "Domains whose services are never called, whoever says yes: they run programs.",
        factory=lambda: ["shell_command", "command_line", "python_script", "pyscript", "hassio", "rest_command"],
        validator=_domains,
    )
    guarded: list[str] = option(
        "Domains whose services, and whose entities in other services, need a person's yes in every mode.",
        factory=lambda: [
            "lock", "alarm_control_panel", "cover", "valve", "siren", "homeassistant", "conversation",
            "mqtt", "zwave_js", "zha", "modbus", "knx", "backup", "recorder",
        ],
        validator=_domains,
    )  # fmt: skip
    allow: list[str] = option(
        "Services that ask nobody. Those of guarded domains only by their full name.",
        factory=list,
        validator=_services,
        example=["light.*", "scene.turn_on"],
    )
    people: list[str] = option(
        "Who may use it besides you, as far as their role has the tools; `*` is everybody.",
        factory=list,
        ids=True,
        example=["anna"],
    )
    rules: dict[str, RuleSettings] = option("What is done when a state changes, by names of yours.", factory=dict)
    hourly: int = option(
        "The most events of an hour that are answered, of all rules together.", default=30, validator=[ge(1), le(3600)]
    )
    seconds: float = option(
        "The longest that one answer of Home Assistant may take.", default=30.0, validator=[ge(1), le(300)]
    )
