"""Who may speak, as whom, and which commands they may use."""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.config.paths import Home
from hermes_core.config.secrets import Secrets
from hermes_core.config.settings import Settings
from hermes_core.types import Envelope, Message, Principal, Text
from hermes_platform_gateway.config import GatewaySettings
from hermes_platform_gateway.people.access import Access, AccessRules, admit, chat_principal
from hermes_platform_gateway.rows.values import Person

NOWHERE = Path("/nonexistent")


def rules(
    platform: str = "telegram", here: Mapping[str, Any] = {}, profile: str = "default", **gateway: Any
) -> AccessRules:
    raw = {"platforms": {platform: dict(here)}, "gateway": gateway}
    settings = Settings(Home(NOWHERE, profile), raw, Secrets(NOWHERE / ".env", {}))
    host = SimpleNamespace(section=lambda name: settings.platform(name.partition(".")[2]))
    config = settings.section("gateway", GatewaySettings)
    ctx: Any = SimpleNamespace(config=config, host=host, owner=Principal(profile=profile))
    return AccessRules.of(ctx, platform)


def said(sender: str = "7", chat: str = "", **more: Any) -> Envelope:
    message = Message(role="user", parts=(Text(text="hello"),))
    known = {"platform": "telegram", "account": "bot", "event_id": "1", "message": message}
    return Envelope(**{**known, "sender": sender, "chat": chat or sender, **more})


def group(sender: str = "7", chat: str = "-100", **more: Any) -> Envelope:
    return said(sender, chat, kind="group", **more)


def row(sender: str = "7", person: str = "telegram:7", role: str = "user", platform: str = "telegram") -> Person:
    return Person(platform=platform, sender=sender, person=person, role=role)


def short(access: Access) -> tuple[str, str, str]:
    return access.outcome, access.role, access.principal.person


def test_without_a_word_in_the_settings_a_stranger_gets_a_code_and_nothing_else() -> None:
    assert short(admit(said(), rules())) == ("pair", "user", "telegram:7")
    assert admit(group(), rules()).outcome == "silent"
    assert admit(said("-100", kind="channel"), rules()).outcome == "silent"


@pytest.mark.parametrize(
    ("here", "gateway", "envelope", "outcome"),
    [
        ({"allowed_users": ["7"]}, {}, said(), "in"),
        ({"allowed_users": [7]}, {}, said(), "in"),
        ({"allowed_users": ["6, 7"]}, {}, said(), "in"),
        ({"allowed_users": ["*"]}, {}, said(), "in"),
        ({"allowed_users": ["8"]}, {}, said(), "silent"),
        ({"allowed_users": ["77"]}, {}, said(), "silent"),
        ({"allowed_users": ["7"]}, {}, group(), "in"),
        ({"allowed_users": ["7"]}, {}, said(""), "silent"),
        ({"allow_all_users": True}, {}, said(), "in"),
        ({"allow_all_users": True}, {}, group(""), "in"),
        ({"admins": ["7"]}, {}, said(), "in"),
        ({"allowed_chats": ["-100"]}, {}, group(), "in"),
        ({"allowed_chats": ["*"]}, {}, group(), "in"),
        ({"allowed_chats": ["*"]}, {}, said(), "silent"),
        ({"allowed_chats": ["7"]}, {}, said("7", "7"), "silent"),  # a private chat is not a group of that name
        ({"allowed_chats": ["-1"]}, {}, group(), "silent"),
        ({"allowed_roles": ["crew"]}, {}, group(roles=("crew", "x")), "in"),
        ({"allowed_roles": ["crew"]}, {}, group(roles=("x",)), "silent"),
        ({}, {"allowed_users": ["7"]}, said(), "in"),
        ({}, {"allowed_users": ["telegram:7"]}, said(), "in"),
        ({}, {"allowed_users": ["matrix:7"]}, said(), "silent"),
        ({}, {"allowed_users": ["matrix:7"]}, said("matrix:7"), "silent"),  # what an account is called says nothing
        ({}, {"people": {"anna": ["telegram:7"]}}, said(), "in"),
        ({}, {"people": {"anna": ["matrix:7"]}}, said(), "silent"),
        ({}, {"people": {"anna": ["matrix:7"]}}, said("matrix:7"), "silent"),
        ({}, {"allow_all_users": True}, said(), "in"),
        ({}, {"allow_all_users": True}, said(platform="other"), "silent"),
        ({"unknown": "ignore"}, {}, said(), "silent"),
        ({}, {"unknown": "ignore"}, said(), "silent"),
        ({"unknown": "pair"}, {"unknown": "ignore"}, said(), "pair"),
        ({"unknown": "pair", "allowed_users": ["8"]}, {}, said(), "pair"),
        ({"unknown": "pair"}, {}, group(), "silent"),
        ({}, {"allowed_users": ["8"]}, said(), "silent"),
        ({"allowed_roles": [""]}, {}, said(), "pair"),  # a list of nothing names nobody
    ],
)
def test_the_rules(here: dict[str, Any], gateway: dict[str, Any], envelope: Envelope, outcome: str) -> None:
    assert admit(envelope, rules(here=here, **gateway)).outcome == outcome


def test_the_first_rule_that_says_yes_is_named() -> None:
    here: dict[str, Any] = {"allow_all_users": True, "allowed_users": ["7"]}
    everything = {"allow_all_users": True, "people": {"anna": ["telegram:7"]}}
    order = []
    for drop in ("allow_all_users", "allowed_users"):
        order.append(admit(said(), rules(here=here, **everything), row()).by)
        del here[drop]
    order.append(admit(said(), rules(**everything), row()).by)
    order.append(admit(said(), rules(allow_all_users=True), row()).by)
    order.append(admit(said(), rules(allow_all_users=True)).by)
    assert order == [
        "platforms.telegram.allow_all_users",
        "allowed_users",
        "gateway.people",
        "paired",
        "gateway.allow_all_users",
    ]


def test_in_a_group_only_what_speaks_to_the_bot_is_answered() -> None:
    plain = rules(here={"allowed_users": ["7"]})
    assert admit(group(addressed=False), plain).outcome == "silent"
    assert admit(group(addressed=True), plain).outcome == "in"
    free = rules(here={"allowed_users": ["7"], "free_response_chats": ["-100"]})
    assert admit(group(addressed=False), free).outcome == "in"
    assert admit(group(addressed=False, chat="-200"), free).outcome == "silent"
    chatty = rules(here={"allowed_users": ["7"], "require_mention": False})
    assert admit(group(addressed=False), chatty).outcome == "in"
    assert admit(group("8", addressed=True), chatty).outcome == "silent"
    assert admit(said(addressed=False), plain).outcome == "in"


def test_accounts_of_one_person_are_one_principal() -> None:
    people = {"anna": ["telegram:7", "matrix:@anna:example.org"]}
    matrix = said("@anna:example.org", platform="matrix")
    anna = Principal(person="anna")
    assert admit(said(), rules(people=people)).principal == anna
    assert admit(matrix, rules("matrix", people=people)).principal == anna
    assert admit(matrix, rules("matrix", here={"allowed_users": ["*"]})).principal.person == "matrix:@anna:example.org"
    assert admit(said(), rules(profile="work", people=people)).principal == Principal(profile="work", person="anna")


def test_a_paired_account_is_whom_it_was_let_in_as_and_the_settings_know_better() -> None:
    assert short(admit(said(), rules(), row(person="ben"))) == ("in", "user", "ben")
    assert short(admit(group(), rules(), row(person="ben"))) == ("in", "user", "ben")
    named = rules(people={"anna": ["telegram:7"]})
    assert short(admit(said(), named, row(person="ben"))) == ("in", "user", "anna")
    listed = rules(here={"allowed_users": ["7"]})
    assert short(admit(said(), listed, row(person="ben", role="admin"))) == ("in", "admin", "ben")


@pytest.mark.parametrize("wrong", [row("8", "owner", "admin"), row("7", "owner", "admin", platform="matrix")])
def test_the_row_of_another_account_counts_for_nothing(wrong: Person) -> None:
    assert short(admit(said(), rules(), wrong)) == ("pair", "user", "telegram:7")
    assert short(admit(said(), rules(here={"allowed_users": ["7"]}), wrong)) == ("in", "user", "telegram:7")


def test_admins_are_named_or_are_the_owner() -> None:
    assert short(admit(said(), rules(here={"admins": ["7"]}))) == ("in", "admin", "telegram:7")
    assert short(admit(said(), rules(people={"owner": ["telegram:7"]}))) == ("in", "admin", "owner")
    assert short(admit(said(), rules(people={"anna": ["telegram:7"]}, admins=["anna"]))) == ("in", "admin", "anna")
    assert short(admit(said(), rules(people={"anna": ["telegram:7"]}))) == ("in", "user", "anna")
    assert short(admit(said(), rules(), row(role="admin"))) == ("in", "admin", "telegram:7")
    assert short(admit(said(), rules(admins=["anna"]))) == ("pair", "user", "telegram:7")  # a name lets nobody in


def test_what_a_group_shares_is_nobodys_own() -> None:
    owner = admit(group(), rules(people={"owner": ["telegram:7"]}))
    assert owner.owner(group(), shared=False).person == "owner"
    shared = owner.owner(group(), shared=True)
    assert shared == chat_principal(group(), "default") == Principal(person="telegram#-100")
    assert shared == admit(group("8"), rules(here={"allowed_chats": ["*"]})).owner(group("8"), shared=True)


@pytest.mark.parametrize("sender", ["#-100", "-100", "telegram#-100", "owner"])
def test_nobody_can_be_called_like_a_group_or_the_owner(sender: str) -> None:
    person = admit(said(sender), rules(here={"allowed_users": ["*"]})).principal.person
    assert person not in ("owner", chat_principal(group(), "default").person)


def test_who_hides_behind_a_group_speaks_for_the_group_and_is_no_admin() -> None:
    access = admit(group(""), rules(here={"allowed_chats": ["-100"], "admins": ["*"]}))
    assert short(access) == ("in", "user", "telegram#-100")


# --- nobody outside the rules gets past them -----------------------------------------------------------------------

ID = st.sampled_from(["", "*", "1", "2", "11", " 1", "1,2", "@a:b", "p:1", "q:1", "p#1", "owner", "anna", "-100"])
PLATFORM = st.sampled_from(["p", "q"])
IDS = st.lists(ID, max_size=3)
HERE = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("allowed_users", "allowed_chats", "allowed_roles", "admins", "free_response_chats"), IDS),
        "allow_all_users": st.booleans(),
        "require_mention": st.booleans(),
        "unknown": st.sampled_from(["", "pair", "ignore"]),
    },
)
ACCOUNT = st.sampled_from(["p:1", "p:2", "q:1", "p:@a:b"])
GATEWAY = st.fixed_dictionaries(
    {},
    optional={
        "allowed_users": st.lists(st.sampled_from(["*", "1", "p:1", "q:1", "p:@a:b", "1,2"]), max_size=2),
        "allow_all_users": st.booleans(),
        "admins": st.lists(st.sampled_from(["anna", "owner", "p:1"]), max_size=2),
        "unknown": st.sampled_from(["", "pair", "ignore"]),
        "people": st.dictionaries(st.sampled_from(["anna", "owner"]), st.lists(ACCOUNT, max_size=1)).filter(
            lambda people: len({*map(tuple, people.values())}) == len(people)
        ),
    },
)
ENVELOPE = st.builds(
    said,
    platform=PLATFORM,
    kind=st.sampled_from(["dm", "group", "channel"]),
    sender=ID,
    chat=ID,
    addressed=st.booleans(),
    roles=IDS,
)
ROW = st.none() | st.builds(
    row,
    sender=ID,
    person=st.sampled_from(["owner", "anna", "p:1"]),
    role=st.sampled_from(["user", "admin"]),
    platform=PLATFORM,
)


def names(entries: list[str]) -> set[str]:
    return {name.strip() for entry in entries for name in entry.split(",") if name.strip()}


@given(here=HERE, gateway=GATEWAY, envelope=ENVELOPE, known=ROW)
def test_who_gets_past_is_named_somewhere(
    here: dict[str, Any], gateway: dict[str, Any], envelope: Envelope, known: Person | None
) -> None:
    access = admit(envelope, rules("p", here=here, **gateway), known)
    account, sender = f"{envelope.platform}:{envelope.sender}", envelope.sender
    accounts = {a: person for person, named in gateway.get("people", {}).items() for a in named}
    mine = known is not None and (known.platform, known.sender) == (envelope.platform, sender)
    reasons = [
        here.get("allow_all_users", False),
        gateway.get("allow_all_users", False),
        "*" in names([*here.get("allowed_users", []), *gateway.get("allowed_users", [])]),
        bool(sender) and sender in names([*here.get("allowed_users", []), *here.get("admins", [])]),
        bool(sender) and ":" not in sender and sender in names(gateway.get("allowed_users", [])),
        account in names(gateway.get("allowed_users", [])),
        account in accounts,
        envelope.kind != "dm" and bool({"*", envelope.chat} & names(here.get("allowed_chats", []))),
        bool(sender) and bool(set(envelope.roles) & names(here.get("allowed_roles", []))),
        bool(sender) and mine,
    ]
    if access.outcome == "in":
        assert envelope.platform == "p"
        assert any(reasons)
        free = {"*", envelope.chat} & names(here.get("free_response_chats", []))
        assert envelope.kind == "dm" or envelope.addressed or free or not here.get("require_mention", True)
    elif envelope.platform == "p" and (envelope.kind == "dm" or envelope.addressed):
        assert not any(reasons)
    if access.outcome == "pair":
        assert envelope.kind == "dm"
        assert sender
    if access.principal.person == "owner":
        assert accounts.get(account) == "owner" or (mine and known is not None and known.person == "owner")
    if access.role == "admin":
        person = access.principal.person
        by_row = mine and known is not None and known.role == "admin"
        assert by_row or person == "owner" or sender in names(here.get("admins", [])) or person in gateway["admins"]
