"""The settings of roles, in the section ``roles``."""

from collections.abc import Mapping
from typing import Any, Literal

from attrs import fields
from attrs.validators import optional

from hermes_core.options import ge, option, settings
from hermes_tool_roles.hours import hours_of, zone_of

__all__ = ["BLOCKED", "BUILT_IN", "OWNER", "Config", "DaySettings", "RoleSettings", "whole"]

OWNER, BLOCKED = "owner", "blocked"  # the one is bound by nothing, the other may do nothing
_Commands = Literal["", "never", "isolated", "walled", "machine"]


@settings
class DaySettings:
    """How much one person may spend from midnight to midnight, in all places together."""

    calls: int | None = option("Model calls; 0: no limit.", default=None, validator=optional(ge(0)))
    tokens: int | None = option("Tokens in and out; 0: no limit.", default=None, validator=optional(ge(0)))
    money: float | None = option(
        "US dollars, as far as prices are known; 0: no limit.", default=None, validator=optional(ge(0))
    )


def _zone(_instance: Any, _attribute: Any, value: str) -> None:
    zone_of(value)


def _hours(_instance: Any, _attribute: Any, value: list[str] | None) -> None:
    hours_of(value or ())


def _models(_instance: Any, _attribute: Any, value: list[str] | None) -> None:
    if value == []:
        raise ValueError("name a model, or leave it out: then all may answer")
    if value and value != ["*"] and (set("*?[") & set(value[0]) or ":" not in value[0]):
        raise ValueError(f"{value[0]!r} comes first, so it answers where nothing else is chosen: write provider:model")


@settings
class RoleSettings:
    """A role. What is left out is as in the role that it is ``like``."""

    like: str = option("The role that it is like.", default="member")
    tools: list[str] | None = option(
        "Tools and toolsets that it has, and no others; `*` is all.", default=None, example=["web", "clarify"]
    )
    without: list[str] | None = option("Tools and toolsets that it does not have.", default=None, example=["delegate"])
    models: list[str] | None = option(
        "Models that may answer, as `provider:model`, with `*`; the first, without, answers where none is chosen. "
        "`*` alone is all.",
        default=None,
        validator=_models,
        example=["ollama:qwen3", "ollama:*"],
    )
    backend: str | None = option("The backend for commands; empty: roles.backend.", default=None, example="docker")
    commands: _Commands = option(
        "Where commands may run: never; only in an isolated workspace; on this machine, but always behind its wall; "
        "on this machine, with your rights.",
        default="",
    )
    files: Literal["", "none", "read", "write"] = option("What may be done with files in one's own folder.", default="")
    hosts: list[str] | None = option(
        "Hosts that tools and commands may reach, and no others; `*` is all.",
        default=None,
        example=["*.wikipedia.org"],
    )
    hours: list[str] | None = option(
        "When anything is done, as `Mon-Fri 15:00-19:30` or `07:00-21:00`; an empty list is always.",
        default=None,
        validator=_hours,
        example=["Mon-Fri 15:00-19:30", "Sat-Sun 09:00-20:00"],
    )
    zone: str = option("The time zone of hours and days.", default="", validator=_zone, example="Europe/Berlin")
    approvals: Literal["", "admin", "self"] = option(
        "Who says yes to risky commands; empty: roles.approvals.", default=""
    )
    day: DaySettings = option("What each of them may spend in a day.", factory=DaySettings)


BUILT_IN: Mapping[str, RoleSettings] = {
    "member": RoleSettings(like="", commands="isolated", files="write"),
    "admin": RoleSettings(),
    "guest": RoleSettings(commands="never", without=["delegate", "terminal", "python"]),
}


def whole(name: str, defined: Mapping[str, RoleSettings], below: tuple[str, ...] = ()) -> RoleSettings:
    """A role with what it takes from the one it is like. Raises ValueError for one that is not there, and a circle."""
    own, usual = defined.get(name), BUILT_IN.get(name)
    if own is None and usual is None:
        known = sorted({*BUILT_IN, *defined, BLOCKED})
        raise ValueError(f"there is no role {name!r}: {', '.join(known)}")
    if name in below:
        raise ValueError(f"the role {name!r} is like itself, by way of {' and '.join(below)}")
    if own is None or usual is None:
        one = own or usual
        assert one
        return one if name == "member" else _over(one, whole(one.like or "member", defined, (*below, name)))
    over = _over(own, usual)  # a usual one with other words
    like = own.like if own.like != name and usual.like else usual.like
    return _over(over, whole(like, defined, (*below, name))) if like else over


def _over(own: RoleSettings, base: RoleSettings) -> RoleSettings:
    """One role with what it says over another; nothing and an empty text say nothing."""
    return RoleSettings(**{**_said(base), **_said(own), "day": DaySettings(**{**_said(base.day), **_said(own.day)})})


def _said(one: Any) -> dict[str, Any]:
    found = {field.name: getattr(one, field.name) for field in fields(type(one))}
    return {name: value for name, value in found.items() if value not in (None, "")}


def _defined(instance: Any, _attribute: Any, value: dict[str, RoleSettings]) -> None:
    for name in value:
        if name in (OWNER, BLOCKED):
            raise ValueError(f"{name!r} is as it is: call yours something else")
        if not name.strip() or name != name.strip():
            raise ValueError(f"{name!r} is no name for a role")
        whole(name, value)


def _role(instance: "Config", _attribute: Any, value: str) -> None:
    if value != BLOCKED:
        whole(value, instance.define)


def _people(instance: "Config", attribute: Any, value: dict[str, str]) -> None:
    for person, role in value.items():
        if person == OWNER:
            raise ValueError("the owner has no other role: name somebody else")
        _role(instance, attribute, role)


@settings
class Config:
    """What people other than you may do."""

    define: dict[str, RoleSettings] = option(
        "Roles of your own, and usual ones with other words.", factory=dict, validator=_defined
    )
    people: dict[str, str] = option(
        "Who has which role, by person, or by account where it has none: telegram:123.",
        factory=dict,
        validator=_people,
        example={"anna": "member", "telegram:2001": "guest"},
    )
    default: str = option("The role of everybody else who was let in by name.", default="member", validator=_role)
    strangers: str = option(
        "The role of who was let in with a place only: by allowed_chats, allowed_roles, or as everybody.",
        default="guest",
        validator=_role,
    )
    backend: str = option(
        "The backend for everybody but you, where a role names none; empty: terminal.backend.", default=""
    )
    trusted_with_shell: list[str] = option(
        "People who may run commands on this machine, with your rights; others only where their role says so. "
        "`*` is everybody.",
        factory=list,
        ids=True,
        example=["anna"],
    )
    approvals: Literal["admin", "self"] = option(
        "Who says yes to a risky command of somebody else than you, where a role does not say it: an admin, or they "
        "themselves.",
        default="admin",
    )
    blocks: list[str] = option(
        "Mailboxes of plugins that may say who is blocked, wherever they come in.",
        factory=lambda: ["gateway"],
        example=["gateway"],
    )
    opens: list[str] = option(
        "Services of plugins that may open further folders to people than their own.",
        factory=lambda: ["shared"],
        example=["shared"],
    )
