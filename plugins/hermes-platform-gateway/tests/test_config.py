"""The section `gateway`: people are named in one way only, and what is wrong is told with its line."""

from pathlib import Path

import pytest

from hermes_core.config.paths import Home
from hermes_core.config.settings import config_problems, load_settings
from hermes_platform_gateway.config import GatewaySettings


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("people: {Anna: ['telegram:1']}", "'Anna' cannot be a person's name"),
        ("people: {'a:b': ['telegram:1']}", "'a:b' cannot be a person's name"),
        ("people: {anna: [1]}", "'1' must be an account with its platform, as telegram:1"),
        ("people: {anna: ['telegram:1'], ben: ['telegram:1']}", "telegram:1 cannot be both anna and ben"),
        ("allowed_users: ['@anna:example.org']", "must begin with its platform, as matrix:@anna:example.org does"),
        ("allowed_users: ['telegram:']", "must begin with its platform"),
    ],
)
def test_people_are_named_in_one_way_only(tmp_path: Path, text: str, told: str) -> None:
    tmp_path.joinpath("config.yaml").write_text(f"gateway:\n  {text}\n")
    [problem] = config_problems(Home(tmp_path), {"gateway": GatewaySettings})
    assert problem.startswith(("config.yaml:2 gateway.people", "config.yaml:2 gateway.allowed_users"))
    assert told in problem


def test_one_account_may_stand_alone(tmp_path: Path) -> None:
    tmp_path.joinpath("config.yaml").write_text("gateway:\n  people: {owner: telegram:1}\n  allowed_users: 5\n")
    gateway = load_settings(Home(tmp_path)).section("gateway", GatewaySettings)
    assert (gateway.people, gateway.allowed_users) == ({"owner": ["telegram:1"]}, ["5"])


@pytest.mark.parametrize(
    ("name", "value"), [("backend", "docker"), ("trusted_with_shell", "[anna]"), ("approvals", "self")]
)
def test_what_is_a_setting_of_roles_now_says_so(tmp_path: Path, name: str, value: str) -> None:
    tmp_path.joinpath("config.yaml").write_text(f"gateway:\n  {name}: {value}\n")
    [problem] = config_problems(Home(tmp_path), {"gateway": GatewaySettings})
    assert problem == f"config.yaml:2 gateway.{name}: it is roles.{name} now"
